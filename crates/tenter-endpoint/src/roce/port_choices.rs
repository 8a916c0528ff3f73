//! Source ports that queue pairs choose for each packet, and the outcomes from which they learn.

use std::collections::VecDeque;
use std::sync::Arc;

use tenter_fabric::net::{Missing, Packet, SendSlot};
use tenter_language::units::{ById, Instant};

use crate::entropy::{Choice, PathNews, SplitMix};
use crate::source_ports::Entropy;

/// Remembered packets per queue pair, if no window bounds the packets in flight.
const PACKETS_MAX: u32 = 4096;

/// Choices of all queue pairs at a NIC.
#[derive(Clone, Debug)]
pub(super) struct PortChoices {
    entropy: Arc<Entropy>,
    /// Remembered packets per queue pair; if more are in flight, the oldest are forgotten and their
    /// outcome is lost.
    most: usize,
    /// State of each queue pair, created with its first packet.
    queue_pairs: ById<SendSlot, Option<Box<PortChoice>>>,
}

/// Choice of one queue pair.
#[derive(Clone, Debug)]
struct PortChoice {
    choice: Choice,
    random: SplitMix,
    /// Packets without a known outcome, in the order sent.
    under_way: VecDeque<UnderWay>,
}

/// A packet in flight and its entropy value.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// Send time in units of [`SENT_UNIT_PS`](tenter_fabric::net::SENT_UNIT_PS), by which the
    /// answer names the packet. It is unique, because a queue pair's packets leave one after the
    /// other.
    sent: u32,
    sequence: u32,
    value: u16,
}

impl PortChoices {
    /// Creates the choices of `slots` queue pairs, each with at most `window` packets
    /// unacknowledged.
    pub(super) fn new(entropy: Arc<Entropy>, window: Option<u32>, slots: usize) -> PortChoices {
        PortChoices {
            entropy,
            most: window.unwrap_or(PACKETS_MAX) as usize,
            queue_pairs: vec![None; slots].into(),
        }
    }

    /// Returns true if the kind learns from outcomes, so that each packet must be answered.
    pub(super) fn learn(&self) -> bool {
        self.entropy.kind().learns()
    }

    /// Gives a source port to a data packet that is about to leave.
    pub(super) fn leaves(&mut self, slot: SendSlot, packet: &mut Packet) {
        let PortChoices { entropy, most, .. } = self;
        let differences = entropy.differences();
        let own = self.queue_pairs[slot].get_or_insert_with(|| {
            // The hash differs between queue pairs, and hence their sequences of ports.
            let mut random = SplitMix::new(u64::from(packet.hash));
            let values = differences.len() as u16;
            Box::new(PortChoice {
                choice: entropy.kind().start(values, &mut random),
                random,
                under_way: VecDeque::new(),
            })
        });
        let value = own.choice.next(&mut own.random);
        // Hashes are linear: another source port changes each hash by a fixed XOR mask.
        packet.hash ^= differences[usize::from(value)];
        if !entropy.kind().learns() {
            return;
        }
        if own.under_way.len() == *most {
            own.under_way.pop_front();
        }
        own.under_way.push_back(UnderWay {
            sent: packet.sent,
            sequence: packet.sequence,
            value,
        });
    }

    /// Learns that the packet which left at `sent` was answered at `now`, with a mark or without.
    pub(super) fn answered(&mut self, slot: SendSlot, sent: u32, marked: bool, now: Instant) {
        let Some(own) = &mut self.queue_pairs[slot] else {
            return;
        };
        let Some(packet) = own.take(sent) else {
            return;
        };
        let news = if marked {
            PathNews::Marked
        } else {
            PathNews::Good
        };
        own.choice.hear(packet.value, news, now);
    }

    /// Learns the outcome `news` of packets that will be resent.
    pub(super) fn repeated(
        &mut self,
        slot: SendSlot,
        packets: Missing,
        news: PathNews,
        now: Instant,
    ) {
        let Some(own) = &mut self.queue_pairs[slot] else {
            return;
        };
        let PortChoice {
            choice, under_way, ..
        } = &mut **own;
        let count = packets.end.wrapping_sub(packets.first);
        under_way.retain(|packet| {
            let hit = packet.sequence.wrapping_sub(packets.first) < count;
            if hit {
                choice.hear(packet.value, news, now);
            }
            !hit
        });
    }

    /// Forgets packets before `sequence`, which are acknowledged: their answers have come or were
    /// lost.
    pub(super) fn acknowledged(&mut self, slot: SendSlot, sequence: u32) {
        let Some(own) = &mut self.queue_pairs[slot] else {
            return;
        };
        let is_old = |packet: &UnderWay| packet.sequence.wrapping_sub(sequence).cast_signed() < 0;
        while own.under_way.front().is_some_and(is_old) {
            own.under_way.pop_front();
        }
    }
}

impl PortChoice {
    /// Takes out the packet that left at `sent`. Earlier packets stay: packets overtake each other,
    /// so their answers may still come.
    fn take(&mut self, sent: u32) -> Option<UnderWay> {
        // Times wrap, so compare by the distance from the oldest one.
        let first = self.under_way.front()?.sent;
        let age = |sent: u32| sent.wrapping_sub(first);
        let before = |packet: &UnderWay| age(packet.sent) < age(sent);
        let place = self.under_way.partition_point(before);
        let is_it = self.under_way.get(place)?.sent == sent;
        is_it.then(|| self.under_way.remove(place)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tenter_fabric::net::{Missing, Packet, PacketKind, SendSlot};
    use tenter_fabric::topology::HostId;
    use tenter_language::units::Instant;

    use super::{Entropy, PathNews, PortChoices};
    use crate::entropy::EntropyKind;

    const SLOT: SendSlot = SendSlot::new(0);
    const NOW: Instant = Instant::from_ps(1_000);

    /// A choice among eight ports, whose hashes are those of the queue pair and 0 to 7.
    fn choices(kind: EntropyKind, window: u32) -> PortChoices {
        let entropy = Entropy::new(kind, 1, (0..8).collect());
        PortChoices::new(Arc::new(entropy), Some(window), 1)
    }

    /// Sends packet `sequence`, at ten times that, from just before times wrap; its value.
    fn send(choices: &mut PortChoices, sequence: u32) -> u32 {
        let mut packet = Packet {
            at: Instant::START,
            queue_pair: 0,
            sequence,
            destination: HostId::new(1),
            hash: 0x50,
            sent: sent(sequence),
            frame_bytes: 100,
            kind: PacketKind::Middle,
            flags: 0,
        };
        choices.leaves(SLOT, &mut packet);
        packet.hash ^ 0x50
    }

    fn sent(sequence: u32) -> u32 {
        (10 * sequence).wrapping_sub(25)
    }

    fn under_way(choices: &PortChoices) -> Vec<u32> {
        let own = choices.queue_pairs[SLOT].as_ref().expect("it has sent");
        own.under_way.iter().map(|packet| packet.sequence).collect()
    }

    #[test]
    fn answers_find_their_packets_in_any_order() {
        let mut choices = choices(EntropyKind::Reps, 8);
        let values: Vec<u32> = (0..6).map(|number| send(&mut choices, number)).collect();
        for answered in [4, 1, 4, 2] {
            choices.answered(SLOT, sent(answered), answered == 1, NOW);
        }
        assert_eq!(under_way(&choices), [0, 3, 5]);
        // Packet 1 was marked, 4 and 2 are used again.
        assert_eq!(send(&mut choices, 6), values[4]);
        assert_eq!(send(&mut choices, 7), values[2]);
        // No packet left then.
        choices.answered(SLOT, sent(3) + 1, false, NOW);
        choices.acknowledged(SLOT, 5);
        assert_eq!(under_way(&choices), [5, 6, 7]);
    }

    #[test]
    fn a_lost_packet_is_bad_news_of_its_port_once() {
        let mut choices = choices(EntropyKind::Bitmap, 64);
        let values: Vec<u32> = (0..8).map(|number| send(&mut choices, number)).collect();
        let lost = Missing { first: 2, end: 4 };
        choices.repeated(SLOT, lost, PathNews::Lost, NOW);
        choices.repeated(SLOT, lost, PathNews::Lost, NOW);
        choices.answered(SLOT, sent(3), false, NOW);
        assert_eq!(under_way(&choices), [0, 1, 4, 5, 6, 7]);
        // Passed over four times each: one of the two loses one with each packet that meets one.
        let next: Vec<u32> = (8..16).map(|number| send(&mut choices, number)).collect();
        assert!(next.iter().all(|value| !values[2..4].contains(value)));
    }

    #[test]
    fn no_more_is_remembered_than_the_window_lets_out() {
        let mut choices = choices(EntropyKind::Mixed, 4);
        (0..9).for_each(|number| {
            send(&mut choices, number);
        });
        assert_eq!(under_way(&choices), [5, 6, 7, 8]);
    }

    #[test]
    fn what_goes_by_no_news_remembers_nothing() {
        let mut choices = choices(EntropyKind::Oblivious, 4);
        let mut values: Vec<u32> = (0..8).map(|number| send(&mut choices, number)).collect();
        values.sort_unstable();
        assert_eq!(values, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(under_way(&choices), []);
    }
}
