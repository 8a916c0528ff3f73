//! A port's state, value by value, for the search for steady states.

use tenter_language::units::Instant;

use super::Port;
use crate::net::steady::Visitor;

impl Port {
    /// Visits the state. High-water marks are left out: they have seen a whole period already.
    pub(crate) fn steady(&mut self, now: Instant, visitor: &mut impl Visitor) {
        let Port {
            queues,
            waiting,
            paused,
            turn,
            closed,
            watchdog_active,
            marking: _,
            marking_late: _,
            leads_to_host: _,
            transmitter,
            bytes,
            high_water_bytes: _,
            lanes,
            unsent,
            watchdog_dropped,
            trimmed,
            storms,
            earlier_high_water_bytes: _,
            first_xoff,
        } = self;
        if lanes.is_some() {
            visitor.refuse();
        }
        // A bit may outlast its pause: such a bit is no difference.
        let lasting = (0..)
            .zip(&queues[..])
            .filter(|(_, of)| of.paused_until > now);
        let lasting = lasting.fold(0_u8, |bits, (number, _)| bits | 1 << number);
        let flags = [
            *waiting,
            *paused & lasting,
            *turn,
            *closed,
            *watchdog_active,
        ];
        visitor.exact(
            flags
                .iter()
                .fold(0, |all, &flag| all << 8 | u64::from(flag)),
        );
        for queue in queues {
            queue.steady(visitor);
        }
        transmitter.steady(visitor);
        // Frames lost to failures, and storms, do not recur with a period.
        for value in [*bytes, unsent.0, unsent.1, *storms] {
            visitor.exact(value);
        }
        let counts = [Some(watchdog_dropped), trimmed.as_deref_mut()];
        for (frames, bytes) in counts.into_iter().flatten() {
            visitor.total(frames);
            visitor.total(bytes);
        }
        visitor.exact(first_xoff.ps());
    }
}
