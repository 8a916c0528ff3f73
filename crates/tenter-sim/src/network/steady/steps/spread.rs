//! Latencies of a transfer's packets, as they vary from period to period.

use tenter_endpoint::Latencies;
use tenter_fabric::net::SENT_UNIT_PS;
use tenter_language::units::Instant;

use crate::network::steady::latency::UNIT;

/// The travel of a packet, in latency units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Travel {
    /// Unit boundaries that pass while it travels.
    units: u32,
    /// Offset of its acceptance within a unit, in ps.
    at: u8,
    /// Offset of its departure within a unit, in ps.
    start: u8,
}

impl Travel {
    /// Makes the travel of a packet that is sent at `start` and accepted at `at`.
    pub(super) fn new(start: Instant, at: Instant) -> Travel {
        let (start, at) = (start.ps(), at.ps());
        Travel {
            units: (at / SENT_UNIT_PS - start / SENT_UNIT_PS) as u32,
            at: (at % SENT_UNIT_PS) as u8,
            start: (start % SENT_UNIT_PS) as u8,
        }
    }

    /// Returns the same travel, delayed by `by` ps beyond whole units.
    pub(super) fn later(self, by: u8) -> Travel {
        let turn = |part: u8| (part + by) / UNIT as u8;
        let more = i32::from(turn(self.at)) - i32::from(turn(self.start));
        Travel {
            units: self.units.wrapping_add_signed(more),
            at: (self.at + by) % UNIT as u8,
            start: (self.start + by) % UNIT as u8,
        }
    }

    /// Returns the offsets at which it takes one unit more: a bit is set if a delay that moves this
    /// offset to the next unit boundary has that effect.
    fn longer(self) -> u128 {
        parts(self.start, self.at)
    }

    /// Returns the offsets at which it takes one unit less.
    fn shorter(self) -> u128 {
        parts(self.at, self.start)
    }
}

/// Returns the bits `after` to `to` − 1; none if `to` is not greater.
fn parts(after: u8, to: u8) -> u128 {
    let up_to = |part: u8| (1_u128 << part) - 1;
    if after < to {
        up_to(to) & !up_to(after)
    } else {
        0
    }
}

/// The largest or smallest latency among a transfer's packets. Depending on the delay each packet
/// may take a unit more or less, and then others may be the extreme ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extreme {
    units: u32,
    /// Offsets at which an extreme packet goes a unit beyond `units`.
    any_beyond: u128,
    /// Offsets at which all extreme packets fall a unit short.
    all_behind: u128,
    /// Offsets at which a packet that is a unit short reaches `units`.
    any_level: u128,
}

/// The latencies of a transfer's packets after any delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    sum: u64,
    /// For each offset within a unit the packets accepted there.
    accepted: [u32; UNIT],
    /// For each offset within a unit the packets sent there.
    sent: [u32; UNIT],
    longest: Extreme,
    shortest: Extreme,
}

impl Spread {
    /// Evaluates packets, of which there must be at least one.
    pub(super) fn new(travels: impl Iterator<Item = Travel> + Clone) -> Spread {
        let units = travels.clone().map(|travel| travel.units);
        let extreme = |units: Option<u32>| Extreme {
            units: units.unwrap_or(0),
            any_beyond: 0,
            all_behind: u128::MAX,
            any_level: 0,
        };
        // Extremes first, because offsets are recorded relative to them.
        let mut spread = Spread {
            sum: 0,
            accepted: [0; UNIT],
            sent: [0; UNIT],
            longest: extreme(units.clone().max()),
            shortest: extreme(units.min()),
        };
        for travel in travels {
            spread.sum += u64::from(travel.units);
            spread.accepted[usize::from(travel.at)] += 1;
            spread.sent[usize::from(travel.start)] += 1;
            let behind = spread.longest.units - travel.units;
            let (longer, shorter) = (travel.longer(), travel.shorter());
            spread.longest.add(behind, longer, shorter);
            let behind = travel.units - spread.shortest.units;
            spread.shortest.add(behind, shorter, longer);
        }
        spread
    }

    /// Returns the latencies if everything is delayed by `by` ps.
    pub(super) fn later(&self, by: u64) -> Latencies {
        // Packets at this offset or later pass one more unit boundary.
        let from = UNIT - (by % SENT_UNIT_PS) as usize;
        let count = |of: &[u32; UNIT]| of[from..].iter().map(|count| u64::from(*count)).sum();
        let (ended, begun): (u64, u64) = (count(&self.accepted), count(&self.sent));
        // A packet takes a unit more if `start` < `from` ≤ `at`, which is bit `from` − 1 of
        // `longer`.
        let bit = if from == UNIT { 0 } else { 1 << (from - 1) };
        Latencies {
            min: self
                .shortest
                .units
                .wrapping_add_signed(-self.shortest.beyond(bit)),
            max: self
                .longest
                .units
                .wrapping_add_signed(self.longest.beyond(bit)),
            sum: self.sum + ended - begun,
        }
    }
}

impl Extreme {
    /// Adds a packet that is `behind` units short of the extreme.
    fn add(&mut self, behind: u32, beyond: u128, falls: u128) {
        match behind {
            0 => {
                self.any_beyond |= beyond;
                self.all_behind &= falls;
            }
            1 => self.any_level |= beyond,
            _ => {}
        }
    }

    /// Returns how far the extreme latency is beyond `units`: −1, 0 or 1.
    fn beyond(&self, bit: u128) -> i32 {
        if self.any_beyond & bit != 0 {
            1
        } else {
            -i32::from(self.all_behind & !self.any_level & bit != 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_language::units::Time;

    #[test]
    fn latencies_are_those_of_each_packet_at_any_later_time() {
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for packets in [1, 2, 3, 40] {
            for _ in 0..20 {
                let packet = |draw: &mut dyn FnMut(u64) -> u64| {
                    let start = 1_000_000 + draw(400);
                    (start, start + 3_000 + draw(300))
                };
                let all: Vec<(u64, u64)> = (0..packets).map(|_| packet(&mut draw)).collect();
                let travels = all
                    .iter()
                    .map(|&(start, at)| Travel::new(Instant::from_ps(start), Instant::from_ps(at)));
                let spread = Spread::new(travels.clone());
                for by in 0..300 {
                    let later = |at: u64| (at + Time::from_ps(by).ps()) / SENT_UNIT_PS;
                    let each = all.iter().map(|&(start, at)| later(at) - later(start));
                    let shifted = travels.clone().map(|travel| travel.later((by % 128) as u8));
                    assert_eq!(Spread::new(shifted).later(0), spread.later(by));
                    let latencies = spread.later(by);
                    assert_eq!(latencies.sum, each.clone().sum::<u64>());
                    assert_eq!(Some(u64::from(latencies.min)), each.clone().min());
                    assert_eq!(Some(u64::from(latencies.max)), each.max());
                }
            }
        }
    }
}
