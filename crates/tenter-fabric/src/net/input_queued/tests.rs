//! The throughput of saturated switches, slot after slot: every input has a frame in every place it
//! may have one, for outputs that are drawn at random.

use tenter_engine::Stream;
use tenter_language::units::Instant;

use super::{Crossbar, InputQueuedSpec, InputQueues, Place};

/// The part of the slots in which an output of a saturated switch sends. All frames take one slot,
/// and a constant number waits at each input at all times.
fn throughput(ports: u16, queues: InputQueues, iterations: u16, waiting: u32, slots: u64) -> f64 {
    let spec = InputQueuedSpec { queues, iterations };
    let mut crossbar = Crossbar::new(spec, usize::from(ports), 1);
    let mut stream = Stream::new(7, "test", "saturation");
    let mut draw = || stream.below(u64::from(ports)) as u16;
    for input in 0..ports {
        for _ in 0..waiting {
            crossbar.push(place(input, draw()), Instant::START);
        }
    }
    let mut sent = 0;
    for slot in 0..slots {
        let matched = crossbar.allocate(0, at(slot), |_| true);
        sent += matched.len() as u64;
        for &(input, _) in &matched {
            crossbar.occupy(input, at(slot + 1));
            crossbar.push(place(input, draw()), at(slot));
        }
    }
    sent as f64 / (slots * u64::from(ports)) as f64
}

fn near(measured: f64, expected: f64) {
    assert!(
        (measured - expected).abs() < 0.004,
        "{measured}, expected {expected}"
    );
}

fn place(input: u16, output: u16) -> Place {
    Place {
        input,
        output,
        queue: 0,
    }
}

/// Karol, Hluchyj and Morgan, table I: 0.7500, 0.6553 and 0.6184 for 2, 4 and 8 ports, and 2 - √2,
/// 0.5858, for many; 0.5858 + 0.25/N or so between, 0.594 for 32 and 0.590 for 64.
fn at(ps: u64) -> Instant {
    Instant::from_ps(ps)
}

#[test]
fn the_head_of_the_line_limits_first_come_first_served() {
    let fifo = |ports, slots| throughput(ports, InputQueues::Fifo(1), 1, 1, slots);
    near(fifo(2, 200_000), 0.75);
    near(fifo(4, 100_000), 0.6553);
    near(fifo(8, 50_000), 0.6184);
    near(fifo(64, 20_000), 2.0 - 2.0_f64.sqrt() + 0.25 / 64.0);
    // It is the same however many frames wait behind the first one.
    near(throughput(8, InputQueues::Fifo(1), 8, 20, 50_000), 0.6184);
}

#[test]
fn more_channels_let_others_pass_the_head_of_the_line() {
    let of = |channels| throughput(16, InputQueues::Fifo(channels), 4, 32, 20_000);
    let [one, two, four, eight] = [1, 2, 4, 8].map(of);
    assert!(one < 0.61 && two > one + 0.08, "{one}, {two}");
    assert!(four > two + 0.08 && eight > four + 0.05, "{four}, {eight}");
}

/// With a frame for every output at every input, a single round does: pointers spread until each
/// output grants another input (`McKeown`, theorem 1).
#[test]
fn a_queue_for_each_output_lets_all_ports_send() {
    for ports in [2, 16, 70_u16] {
        let spec = InputQueuedSpec {
            queues: InputQueues::PerOutput,
            iterations: 1,
        };
        let mut crossbar = Crossbar::new(spec, usize::from(ports), 1);
        let pairs = (0..ports).flat_map(|input| (0..ports).map(move |output| (input, output)));
        pairs.for_each(|(input, output)| crossbar.push(place(input, output), Instant::START));
        let all = usize::from(ports);
        for slot in 0..4 * u64::from(ports) {
            let matched = crossbar.allocate(0, at(slot), |_| true);
            assert!(slot < 2 * u64::from(ports) || matched.len() == all);
            for (input, output) in matched {
                crossbar.occupy(input, at(slot + 1));
                crossbar.push(place(input, output), at(slot));
            }
        }
    }
    // With random destinations some queues are empty at times.
    let drawn = throughput(16, InputQueues::PerOutput, 4, 400, 20_000);
    assert!(drawn > 0.98, "{drawn}");
}

/// Two inputs with a frame for output 0, one of them with another for output 1 behind it.
#[test]
fn frames_behind_the_head_wait_in_one_queue_alone() {
    for (queues, second) in [
        (InputQueues::Fifo(1), vec![]),
        (InputQueues::Fifo(2), vec![(1, 0), (0, 1)]),
        (InputQueues::PerOutput, vec![(1, 0), (0, 1)]),
    ] {
        let spec = InputQueuedSpec {
            queues,
            iterations: 3,
        };
        let mut crossbar = Crossbar::new(spec, 2, 1);
        // Output 0 grants input 1 first.
        crossbar.lanes[0].grant[0] = 1;
        for (input, output) in [(0, 0), (0, 1), (1, 0)] {
            crossbar.push(place(input, output), at(5));
        }
        assert_eq!(crossbar.next(), at(5));
        let matched = crossbar.allocate(0, at(5), |_| true);
        let expected = if second.is_empty() {
            vec![(1, 0)]
        } else {
            second
        };
        assert_eq!(matched, expected, "{queues:?}");
        for (input, _) in matched {
            crossbar.occupy(input, at(25));
        }
        crossbar.plan(at(5), |_, _| at(25));
        assert_eq!(crossbar.next(), at(25));
    }
}
