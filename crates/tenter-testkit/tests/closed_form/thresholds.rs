//! Where queues that share a pool by a dynamic threshold settle.

use tenter_fabric::net::{BufferSharing, ClassSpec, Limit};

use crate::lone_switch::{LoneSwitch, wire_ps};

const FRAME: u64 = 1_000;
const POOL: u64 = 1_000_000;

#[test]
fn congested_queues_hold_alpha_of_what_is_free() {
    // Each of n queues q holds alpha times what is free: q = alpha·(B − n·q), so q is
    // alpha/(1 + n·alpha)·B. With B = 1 MB: 500,000 bytes for one queue and alpha 1, 111,111 for
    // eight.
    for (numerator, denominator) in [(1, 8), (1, 2), (1, 1), (4, 1)] {
        for queues in [1, 2, 5, 8] {
            let sharing = ClassSpec {
                limit: Limit::Dynamic {
                    numerator,
                    denominator,
                },
                ..ClassSpec::without_end(0)
            };
            let mut lone = LoneSwitch::new(queues, POOL, vec![sharing]);
            // Twice as much comes as can leave, until nothing changes any more.
            for slot in 0..3 * POOL / FRAME {
                for port in (0..queues).chain(0..queues) {
                    lone.offer(slot * wire_ps(FRAME), port, 0, FRAME as u16);
                }
            }
            let alpha = f64::from(numerator) / f64::from(denominator);
            let expected = POOL as f64 * alpha / (1.0 + f64::from(queues) * alpha);
            for port in lone.switch.ports() {
                let held = port.queue_bytes() as f64;
                assert!(
                    (held - expected).abs() <= 2.0 * FRAME as f64,
                    "alpha {alpha}, {queues} queues: {held} bytes for {expected}"
                );
                assert!(port.counters().dropped_frames > 0);
            }
        }
    }
}

#[test]
fn a_queue_that_empties_leaves_its_share_to_the_others() {
    // Two queues with alpha 1 hold a third each; when the second gets nothing more, the first grows
    // to a half.
    let sharing = ClassSpec {
        limit: Limit::Dynamic {
            numerator: 1,
            denominator: 1,
        },
        ..ClassSpec::without_end(0)
    };
    let mut lone = LoneSwitch::new(2, POOL, vec![sharing]);
    let slots = 3 * POOL / FRAME;
    for slot in 0..2 * slots {
        for port in [0, 0, 1, 1] {
            if port == 0 || slot < slots {
                lone.offer(slot * wire_ps(FRAME), port, 0, FRAME as u16);
            }
        }
        let held = lone.switch.ports()[0].queue_bytes();
        let expected = match slot + 1 {
            n if n == slots => POOL / 3,
            n if n == 2 * slots => POOL / 2,
            _ => continue,
        };
        assert!(
            held.abs_diff(expected) <= 2 * FRAME,
            "{held} for {expected}"
        );
    }
}

#[test]
fn a_partitioned_buffer_gives_a_port_the_share_of_its_part() {
    // Four ports and alpha 4. One that is congested alone may hold 4/5 of a shared buffer of 1 MB,
    // and of a quarter of it where each port has a part: 800 kB against 200 kB. When all are, both
    // give 4/17 of 1 MB = 235 kB and 4/5 of 250 kB = 200 kB each.
    for (partitions, congested, expected) in [
        (1, 1, POOL * 4 / 5),
        (4, 1, POOL / 4 * 4 / 5),
        (2, 1, POOL / 2 * 4 / 5),
        (1, 4, POOL * 4 / 17),
        (4, 4, POOL / 4 * 4 / 5),
        (2, 4, POOL / 2 * 4 / 9),
    ] {
        let sharing = ClassSpec {
            limit: Limit::Dynamic {
                numerator: 4,
                denominator: 1,
            },
            ..ClassSpec::without_end(0)
        };
        let parts = BufferSharing {
            partitions,
            ..BufferSharing::default()
        };
        let mut lone = LoneSwitch::with_sharing(4, POOL, vec![sharing], parts);
        for slot in 0..3 * POOL / FRAME {
            for port in (0..congested).chain(0..congested) {
                lone.offer(slot * wire_ps(FRAME), port, 0, FRAME as u16);
            }
        }
        for port in &lone.switch.ports()[..usize::from(congested)] {
            let held = port.queue_bytes();
            assert!(
                held.abs_diff(expected) <= 2 * FRAME,
                "{partitions} parts, {congested} congested: {held} bytes for {expected}"
            );
        }
    }
}
