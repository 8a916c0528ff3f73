//! A trial's queue pair numbers and first sequence numbers.
//!
//! Both ends compute them from the trial's random number, which only this coordinator's agents
//! know. Packets from other trials, and guesses, therefore do not match.

use tenter_engine::mix64;
use tenter_fabric::topology::HostId;
use tenter_sim::real_time::Slot;

/// Usable queue pair numbers: 24 bits, without 0 and 1, which `InfiniBand` reserves for management.
const QUEUE_PAIRS: u32 = (1 << 24) - 2;
const FIRST_QUEUE_PAIR: u32 = 2;
/// Mask for the 24 bits that a sequence number has on the wire.
pub(super) const SEQUENCE_MASK: u32 = (1 << 24) - 1;

/// Derives a trial's numbers from its random number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    fn first_queue_pair(self, host: HostId) -> u32 {
        (mix64(self.0 ^ mix64(u64::from(host.number()))) % u64::from(QUEUE_PAIRS)) as u32
    }

    /// Returns the number of a host's queue pair. A host's queue pairs have consecutive numbers,
    /// send and receive alternating, from a start that depends on the trial.
    pub(super) fn queue_pair(self, host: HostId, slot: Slot) -> u32 {
        let place = match slot {
            Slot::Send(slot) => 2 * slot.number(),
            Slot::Receive(slot) => 2 * slot.number() + 1,
        };
        let first = u64::from(self.first_queue_pair(host));
        let number = (first + u64::from(place)) % u64::from(QUEUE_PAIRS);
        number as u32 + FIRST_QUEUE_PAIR
    }

    /// Returns the queue pair of `host` that has this number; `None` for 0 and 1. The host may have
    /// fewer queue pairs, so the caller must check the index.
    pub(super) fn slot(self, host: HostId, number: u32) -> Option<Slot> {
        let number = number.checked_sub(FIRST_QUEUE_PAIR)?;
        let first = self.first_queue_pair(host);
        let place = (number + QUEUE_PAIRS - first) % QUEUE_PAIRS;
        Some(if place.is_multiple_of(2) {
            Slot::Send(tenter_fabric::net::SendSlot::new(place / 2))
        } else {
            Slot::Receive(tenter_fabric::net::ReceiveSlot::new(place / 2))
        })
    }

    /// Returns the 24-bit sequence number with which data to a receive queue pair at host
    /// `receiver` begins.
    pub(super) fn first_sequence(self, receiver: HostId, slot: u32) -> u32 {
        let of = u64::from(receiver.number()) << 32 | u64::from(slot);
        // The rotation keeps sequence numbers independent of queue pair numbers.
        mix64(self.0.rotate_left(32) ^ mix64(of)) as u32 & SEQUENCE_MASK
    }
}

/// Returns the 32-bit number with lower 24 bits `low` that is nearest to `to`.
pub(super) fn nearest(low: u32, to: u32) -> u32 {
    let ahead = low.wrapping_sub(to) & SEQUENCE_MASK;
    if ahead > SEQUENCE_MASK / 2 {
        to.wrapping_sub(SEQUENCE_MASK + 1 - ahead)
    } else {
        to.wrapping_add(ahead)
    }
}

#[cfg(test)]
mod tests {
    use tenter_fabric::net::{ReceiveSlot, SendSlot};

    use super::*;

    #[test]
    fn numbers_lead_back_to_their_slots() {
        let host = HostId::new(3);
        for trial in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            let numbers = Numbers(trial);
            for slot in 0..100 {
                for slot in [
                    Slot::Send(SendSlot::new(slot)),
                    Slot::Receive(ReceiveSlot::new(slot)),
                ] {
                    let number = numbers.queue_pair(host, slot);
                    assert!((2..1 << 24).contains(&number));
                    assert_eq!(numbers.slot(host, number), Some(slot));
                }
            }
            assert_eq!(numbers.slot(host, 1), None);
        }
    }

    #[test]
    fn sequence_numbers_go_on_beyond_24_bits() {
        assert_eq!(nearest(5, 3), 5);
        assert_eq!(nearest(0xff_ffff, 0), u32::MAX);
        assert_eq!(nearest(0, 0xff_ffff), 0x100_0000);
        assert_eq!(nearest(2, 0x500_0003), 0x500_0002);
    }
}
