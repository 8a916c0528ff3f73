//! SLEEK: loss detection without trimming, by packets that overtake others and by probes.
//!
//! Source: the Ultra Ethernet Consortium's reference simulator (uet-htsim, 2025).

use tenter_units::Instant;

/// What a connection notes of losses. Places count from the first packet that is not acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Sleek {
    /// The place at which recovery ends, and up to which packets have been sent again.
    end: Option<u32>,
    repeated: u32,
    /// The last acknowledged packet that places count from.
    base: u32,
    /// When a probe is due, and when the last one left.
    pub(super) probe_at: Instant,
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
    /// Whether it sends again what is missing.
    pub(super) fn recovers(&self) -> bool {
        self.end.is_some()
    }

    /// Begins to send again what is missing before a place.
    pub(super) fn begin(&mut self, end: u32) {
        self.end = Some(end);
        self.repeated = 0;
    }

    /// Everything before a packet is acknowledged.
    pub(super) fn follow(&mut self, acknowledged: u32) {
        let more = acknowledged.wrapping_sub(self.base);
        self.base = acknowledged;
        self.repeated = self.repeated.saturating_sub(more);
        self.end = self
            .end
            .and_then(|end| end.checked_sub(more))
            .filter(|end| *end > 0);
    }

    /// Places of packets that may have to be sent again: within `reach` packets, and before the end
    /// of the recovery.
    pub(super) fn holes(&self, reach: u32) -> std::ops::Range<u32> {
        let end = self.end.unwrap_or(0).min(reach);
        self.repeated.min(end)..end
    }

    /// The packet at a place is sent again.
    pub(super) fn repeated(&mut self, place: u32) {
        self.repeated = self.repeated.max(place + 1);
    }
}
