//! Features that take a NIC's frames off the fast path.

/// A feature that adds a stage to each frame's way, or timers to the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    /// Lanes with credit, in a fabric that sends by credit.
    Credit,
    /// Receive side that may be slower than the wire.
    ReceiveBuffer,
    /// In-band telemetry in data packets.
    Telemetry,
    /// Pause storm; gained with the first storm.
    Storm,
    /// Flows that move to another source port; gained with the first congestion notice.
    Reroutes,
}

/// The features of a NIC: those that it is built with, and those that it gains.
///
/// Without features, frames go straight from the wire to the protocol and straight onto the wire. A
/// feature is never lost again, so the test stays one comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Features(u8);

impl Features {
    /// Returns the features whose flag is set.
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

    /// Returns true if frames take the fast path.
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
