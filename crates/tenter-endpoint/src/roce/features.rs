//! What keeps frames of a NIC off the fast path.

/// Something that frames of a NIC pass, or that has timers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    /// Lanes, in a fabric that sends by credit.
    Credit,
    /// A receive side slower than the wire.
    ReceiveBuffer,
    /// In-band telemetry.
    Telemetry,
    /// A pause storm, from when the first one starts.
    Storm,
    /// Flows that change their way, from the first notice.
    Reroutes,
}

/// The features of a NIC: those that it is built with, and those that it gains.
///
/// Without any of them frames come straight from the wire and go straight onto it. No feature is
/// ever lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Features(u8);

impl Features {
    /// Those of a list for which the second word says so.
    pub(super) fn of<const N: usize>(all: [(Feature, bool); N]) -> Features {
        let mut features = Features::default();
        for (feature, _) in all.into_iter().filter(|(_, has)| *has) {
            features.add(feature);
        }
        features
    }

    pub(super) fn add(&mut self, feature: Feature) {
        self.0 |= 1 << feature as u8;
    }

    /// Whether frames take the fast path.
    #[inline]
    pub(super) fn are_none(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Feature, Features};

    #[test]
    fn any_feature_keeps_frames_off_the_fast_path() {
        assert!(Features::of([(Feature::Credit, false), (Feature::Telemetry, false)]).are_none());
        for feature in [Feature::Credit, Feature::Storm, Feature::Reroutes] {
            assert!(!Features::of([(feature, true)]).are_none());
        }
        let mut features = Features::default();
        features.add(Feature::Storm);
        assert!(!features.are_none());
    }
}
