//! SLEEK: loss detection without trimming, by packets that overtake others and by probes.
//!
//! Source: the Ultra Ethernet Consortium's reference simulator (uet-htsim, 2025).

use tenter_language::units::Instant;

/// SLEEK's state for one connection. Places count from the first unacknowledged packet.
#[derive(Clone, Debug)]
pub(super) struct Sleek {
    /// Place at which recovery ends, while there is one.
    end: Option<u32>,
    /// Place up to which missing packets have been resent in this recovery.
    repeated: u32,
    /// Number of the packet at place 0.
    base: u32,
    /// Instant at which the next probe is due, or [`Instant::NEVER`].
    pub(super) probe_at: Instant,
    /// Instant at which the last probe left.
    pub(super) probed: Instant,
}

impl Default for Sleek {
    fn default() -> Sleek {
        Sleek {
            end: None,
            repeated: 0,
            base: 0,
            probe_at: Instant::NEVER,
            probed: Instant::START,
        }
    }
}

impl Sleek {
    /// Returns true during recovery, while missing packets are resent.
    pub(super) fn recovers(&self) -> bool {
        self.end.is_some()
    }

    /// Starts recovery: everything missing before the place `end` will be resent.
    pub(super) fn begin(&mut self, end: u32) {
        self.end = Some(end);
        self.repeated = 0;
    }

    /// Moves place 0 to `acknowledged`. Recovery ends once it has passed its end.
    pub(super) fn follow(&mut self, acknowledged: u32) {
        let more = acknowledged.wrapping_sub(self.base);
        self.base = acknowledged;
        self.repeated = self.repeated.saturating_sub(more);
        self.end = self
            .end
            .and_then(|end| end.checked_sub(more))
            .filter(|end| *end > 0);
    }

    /// Returns the places at which packets may have to be resent: below `reach`, and before
    /// recovery ends.
    pub(super) fn holes(&self, reach: u32) -> std::ops::Range<u32> {
        let end = self.end.unwrap_or(0).min(reach);
        self.repeated.min(end)..end
    }

    /// Notes that the packet at a place is resent.
    pub(super) fn repeated(&mut self, place: u32) {
        self.repeated = self.repeated.max(place + 1);
    }
}
