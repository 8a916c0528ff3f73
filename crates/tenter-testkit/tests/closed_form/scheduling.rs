//! What classes get of a wire that they compete for.

use tenter_fabric::net::{ClassSpec, Scheduling, UNLIMITED_POOL};

use crate::lone_switch::{LoneSwitch, wire_ps};

/// The largest frame.
const LARGEST: u64 = 1_000;
/// Class, quantum and frame bytes.
const WEIGHTED: [(u8, u64, u64); 4] = [
    (0, 1_000, 1_000),
    (1, 2_000, 700),
    (2, 5_000, 300),
    (3, 3_000, 1_000),
];

fn weighted(number: u8, quantum: u64) -> ClassSpec {
    ClassSpec {
        scheduling: Scheduling::Weighted {
            quantum_bytes: quantum as u32,
        },
        ..ClassSpec::without_end(number)
    }
}

/// A port with the weighted classes and two strict ones.
fn backlogged() -> LoneSwitch {
    let weighted = WEIGHTED.map(|(number, quantum, _)| weighted(number, quantum));
    let classes = weighted
        .into_iter()
        .chain([ClassSpec::without_end(6), ClassSpec::without_end(7)])
        .collect();
    let mut lone = LoneSwitch::new(1, UNLIMITED_POOL, classes);
    for _ in 0..4_000 {
        for (number, _, frame) in WEIGHTED {
            lone.offer(0, 0, number, frame as u16);
        }
    }
    lone
}

#[test]
fn backlogged_classes_share_by_their_weights() {
    // After each frame, no class is more than its quantum away from its share of the bytes so far:
    // 1/11, 2/11, 5/11, 3/11. In a round each sends its quantum, give or take the part of a frame
    // that its deficit does not cover; in mid-round some have had their turn and some have not.
    let mut lone = backlogged();
    // The first frame found the wire idle, and so was in no round.
    lone.advance_to(1);
    lone.take_sent();
    lone.advance_to(1_000 * wire_ps(LARGEST));
    let all: u64 = WEIGHTED.iter().map(|(_, quantum, _)| quantum).sum();
    let mut sent = [0_u64; 4];
    let mut frames = 0;
    for (_, number, bytes) in lone.take_sent() {
        sent[usize::from(number)] += bytes;
        frames += 1;
        let total: u64 = sent.iter().sum();
        for (number, quantum, frame) in WEIGHTED {
            let share = total * quantum / all;
            let off = sent[usize::from(number)].abs_diff(share);
            assert!(
                off <= quantum + frame,
                "class {number} is {off} bytes off after {frames} frames"
            );
        }
    }
    assert!(frames > 1_000);
}

#[test]
fn a_round_is_every_quantum() {
    // Where the frames divide the quantum, a class sends exactly that much in each round.
    let classes = vec![weighted(0, 1_000), weighted(1, 3_000)];
    let mut lone = LoneSwitch::new(1, UNLIMITED_POOL, classes);
    for _ in 0..2_000 {
        lone.offer(0, 0, 0, 1_000);
        lone.offer(0, 0, 1, 500);
    }
    lone.advance_to(300 * wire_ps(LARGEST));
    let sent: Vec<u8> = lone
        .take_sent()
        .iter()
        .map(|(_, class, _)| *class)
        .collect();
    // Skip the first, which found the wire idle, and the round that was under way.
    let start = sent.windows(2).position(|pair| pair == [1, 0]);
    let rounds = sent[start.expect("there are rounds") + 1..].chunks_exact(7);
    assert!(rounds.len() > 30);
    for round in rounds {
        assert_eq!(round, [0, 1, 1, 1, 1, 1, 1]);
    }
}

#[test]
fn strict_classes_go_before_weighted_ones_and_the_higher_first() {
    let mut lone = backlogged();
    // A pair of strict frames now and then, at odd instants, the lower class first.
    let gap = 1_234_567;
    for turn in 1..=100 {
        lone.offer(turn * gap, 0, 6, 200);
        lone.offer(turn * gap, 0, 7, 200);
    }
    lone.advance_to(101 * gap);
    let sent = lone.take_sent();
    let strict: Vec<usize> = (0..sent.len()).filter(|&nth| sent[nth].1 >= 6).collect();
    assert_eq!(strict.len(), 200);
    for (turn, pair) in (1..).zip(strict.chunks_exact(2)) {
        let (first, second) = (sent[pair[0]], sent[pair[1]]);
        assert_eq!((first.1, second.1), (7, 6));
        // They wait for the frame that is on the wire, and for nothing else.
        let on_wire = sent[pair[0] - 1];
        assert_eq!(first.0, on_wire.0 + wire_ps(on_wire.2));
        assert!(on_wire.0 <= turn * gap && turn * gap <= first.0);
        assert_eq!(second.0, first.0 + wire_ps(200));
    }
}
