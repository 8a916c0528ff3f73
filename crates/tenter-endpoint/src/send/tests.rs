use tenter_fabric::net::{Packet, PacketKind, ReceiveSlot, SendSlot};
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;

use super::{
    Acknowledged, Connection, PacketRules, Requests, SendPeer, SendQueuePair, WorkRequest,
};
use crate::message::MessageCut;
use crate::spec::AckPolicy;

const SLOT: SendSlot = SendSlot::new(0);

struct Bench {
    cut: MessageCut,
    queue_pair: SendQueuePair,
    requests: Requests,
    done: Vec<Acknowledged>,
}

impl Bench {
    /// A ready queue pair whose next sequence number is `sequence`; messages have 4 packets of
    /// 1,024 bytes.
    fn at(sequence: u32) -> Bench {
        let cut = MessageCut::new(4096, 1024);
        let mut queue_pair = SendQueuePair::default();
        let peer = SendPeer {
            destination: HostId::new(1),
            slot: ReceiveSlot::new(2),
            hash: 3,
        };
        queue_pair.open(peer, 0);
        queue_pair.connection = Connection::Ready;
        queue_pair.next_sequence = sequence;
        queue_pair.acknowledged = sequence;
        queue_pair.posted_sequence = sequence;
        Bench {
            cut,
            queue_pair,
            requests: Requests::new(1),
            done: Vec::new(),
        }
    }

    fn post(&mut self, tag: u64, bytes: u64) {
        let request = WorkRequest {
            tag,
            group: 0,
            bytes,
            posted: Instant::START,
        };
        self.queue_pair
            .post(&mut self.requests, SLOT, request, self.cut);
    }

    /// Sends everything that may be sent.
    fn send(&mut self) -> Vec<Packet> {
        let mut sent = Vec::new();
        while self.queue_pair.may_send(None) {
            let rules = PacketRules {
                acknowledge: &AckPolicy::PerMessage,
                cut: &self.cut,
                entropy: &None,
            };
            sent.push(
                self.queue_pair
                    .next_packet(&mut self.requests, SLOT, rules, Instant::from_ps(7))
                    .packet,
            );
        }
        sent
    }

    fn acknowledge(&mut self, sequence: u32) -> bool {
        let done = &mut self.done;
        self.queue_pair.acknowledge(
            &mut self.requests,
            SLOT,
            sequence,
            self.cut,
            Instant::from_ps(9),
            |a| {
                done.push(a);
            },
        )
    }

    fn rewind(&mut self, sequence: u32) -> u32 {
        self.queue_pair
            .rewind(&mut self.requests, SLOT, sequence, self.cut)
    }
}

#[test]
fn requests_are_cut_into_messages_one_after_the_other() {
    use PacketKind::{First, Last, Middle, Only};
    let mut bench = Bench::at(0);
    bench.post(1, 5_000);
    bench.post(2, 0);
    let sent = bench.send();
    let kinds: Vec<_> = sent.iter().map(|packet| packet.kind).collect();
    // 4,096 bytes in four packets; 904 in one; nothing in one.
    assert_eq!(kinds, [First, Middle, Middle, Last, Only, Only]);
    let ends = |flag| {
        sent.iter()
            .map(|packet| packet.has(flag))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ends(Packet::ACK_REQUEST),
        [false, false, false, true, true, true]
    );
    assert_eq!(
        ends(Packet::END_OF_TRANSFER),
        [false, false, false, false, true, true]
    );
    assert_eq!(sent[4].frame_bytes, 904 + 62 + 16);
}

#[test]
fn sequence_numbers_may_wrap_round() {
    let mut bench = Bench::at(u32::MAX - 2);
    bench.post(1, 5_000);
    let sent = bench.send();
    let sequences: Vec<_> = sent.iter().map(|packet| packet.sequence).collect();
    assert_eq!(sequences, [u32::MAX - 2, u32::MAX - 1, u32::MAX, 0, 1]);
    assert_eq!(bench.rewind(u32::MAX), 3);
    assert_eq!(bench.send().len(), 3);
    assert!(bench.acknowledge(2));
    assert!(!bench.acknowledge(2), "an old acknowledgement is no news");
    assert!(!bench.acknowledge(1), "nor is an older one");
    let done = bench.done[0];
    assert_eq!((done.sent_frames, done.retransmitted_frames), (8, 3));
}

#[test]
fn acknowledgements_of_a_part_change_what_others_do_and_no_more() {
    let mut bench = Bench::at(u32::MAX - 1);
    bench.post(1, 5_000);
    bench.send();
    let mut twin = bench.queue_pair;
    let part = |pair: &mut SendQueuePair, last: u32| {
        pair.acknowledge_part(last, Instant::from_ps(9), None)
    };
    for sequence in [u32::MAX, 1] {
        assert!(part(&mut twin, sequence));
        assert!(bench.acknowledge(sequence));
        assert_eq!(format!("{twin:?}"), format!("{:?}", bench.queue_pair));
    }
    // Old ones, what has not been posted, and the end of the request are for others.
    for sequence in [1, u32::MAX, 3, 4] {
        assert!(!part(&mut twin, sequence), "{sequence}");
    }
    assert_eq!(format!("{twin:?}"), format!("{:?}", bench.queue_pair));
    // With a window it may have to be given a turn, unless it has one.
    assert!(!twin.acknowledge_part(2, Instant::from_ps(9), Some(1)));
    // So is what concerns several requests, or has been sent again.
    bench.post(2, 5_000);
    assert!(!part(&mut bench.queue_pair, 2));
    let mut bench = Bench::at(0);
    bench.post(1, 5_000);
    bench.send();
    bench.rewind(2);
    assert!(!part(&mut bench.queue_pair, 3));
}

#[test]
fn a_rewind_counts_what_is_sent_again_and_no_more() {
    let mut bench = Bench::at(0);
    bench.post(1, 4_096);
    bench.post(2, 4_096);
    bench.send();
    // Packets 2 to 7 are to be sent again: two of the first request and four of the second …
    assert_eq!(bench.rewind(2), 6);
    let again = bench.send();
    assert_eq!((again[0].kind, again[0].sequence), (PacketKind::Middle, 2));
    // … and once more from 6 on, but an acknowledgement of everything overtakes that.
    assert_eq!(bench.rewind(6), 2);
    assert!(bench.acknowledge(8));
    assert_eq!(bench.send().len(), 0);
    let frames: Vec<_> = bench
        .done
        .iter()
        .map(|done| (done.request.tag, done.sent_frames))
        .collect();
    assert_eq!(frames, [(1, 4 + 2), (2, 4 + 4)]);
    let full = bench.cut.frame_bytes(4_096, 0, 4);
    assert_eq!(
        bench.done[0].sent_bytes,
        full + bench.cut.frame_bytes(4_096, 2, 4)
    );
}

#[test]
fn an_acknowledgement_in_the_middle_finishes_what_lies_before() {
    let mut bench = Bench::at(10);
    for tag in 0..3 {
        bench.post(tag, 2_048);
    }
    bench.send();
    assert!(bench.acknowledge(13));
    assert_eq!(bench.done.len(), 1);
    assert_eq!(bench.queue_pair.outstanding(), 3);
    assert_eq!(bench.rewind(13), 3);
    bench.post(3, 1);
    assert_eq!(bench.send().len(), 4);
    assert!(bench.acknowledge(17));
    assert_eq!(
        bench
            .done
            .iter()
            .map(|done| done.request.tag)
            .collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
}
