use tenter_fabric::net::Hop;
use tenter_language::units::{Instant, Time};

use super::super::{Control, Feedback, Link, Window};
use super::{BYTE, Flow, Hpcc, ONE};

const LINE: u64 = 100_000_000_000;

fn us(us: u64) -> Instant {
    Instant::at(Time::from_us(us))
}

/// 100 Gb/s and 10 us: 125,000 bytes in a round trip.
fn hpcc() -> Hpcc {
    Hpcc {
        base_round_trip: Some(Time::from_us(10)),
        ..Hpcc::default()
    }
}

fn hop(at: Instant, sent_bytes: u64, queue_bytes: u64) -> Hop {
    Hop {
        link: 1,
        at,
        sent_bytes,
        queue_bytes,
        rate: LINE,
    }
}

fn acknowledge(flow: &mut Flow, sequence: u32, next_sequence: u32, hops: &[Hop]) {
    let feedback = Feedback {
        sequence,
        next_sequence,
        hops,
        ..Feedback::default()
    };
    hpcc().acknowledged(flow, &Link::of_gbps(100), &feedback);
}

fn begun(first: &[Hop]) -> Flow {
    let mut flow = hpcc().start(&Link::of_gbps(100), Instant::START);
    acknowledge(&mut flow, 1, 20, first);
    flow
}

fn bytes(window: u64) -> f64 {
    window as f64 / BYTE as f64
}

#[test]
fn a_flow_begins_with_what_the_line_carries_in_a_round_trip() {
    let mut flow = hpcc().start(&Link::of_gbps(100), Instant::START);
    assert_eq!(flow.window, 125_000 * BYTE);
    assert_eq!(hpcc().rate(&mut flow, Instant::START), u64::MAX);
    // 4,200 + 20 bytes a packet: a thirtieth one may be begun.
    hpcc().sent(&mut flow, 4_200);
    assert_eq!(
        hpcc().window(&flow, &Link::of_gbps(100)),
        Window::Packets(30)
    );
    flow.window = 1_000 * BYTE;
    assert_eq!(
        hpcc().window(&flow, &Link::of_gbps(100)),
        Window::Packets(1)
    );
    // 8,000 bits in 10 us.
    assert_eq!(hpcc().rate(&mut flow, Instant::START), 800_000_000);
}

#[test]
fn telemetry_takes_42_bytes_for_five_hops() {
    assert_eq!(hpcc().header_bytes(), 42);
}

#[test]
fn utilisation_is_what_waits_and_what_was_sent() {
    // In 5 us 31,250 of 62,500 bytes were sent: 0.5. Of the queues the shorter counts: 25,000 of
    // 125,000 bytes: 0.2. Half a round trip old: half of 1 and half of 0.7.
    let mut flow = begun(&[hop(us(10), 0, 25_000)]);
    acknowledge(&mut flow, 2, 20, &[hop(us(15), 31_250, 60_000)]);
    let utilisation = flow.utilisation as f64 / ONE as f64;
    assert!((utilisation - 0.85).abs() < 1e-5, "{utilisation}");
}

#[test]
fn the_busiest_link_counts() {
    let other = |at, sent| Hop {
        link: 2,
        ..hop(at, sent, 0)
    };
    let mut flow = begun(&[hop(us(10), 0, 0), other(us(11), 0)]);
    let next = [hop(us(20), 25_000, 0), other(us(21), 100_000)];
    acknowledge(&mut flow, 2, 20, &next);
    // A whole round trip: only the new value counts, 0.8 of the second link.
    let utilisation = flow.utilisation as f64 / ONE as f64;
    assert!((utilisation - 0.8).abs() < 1e-5, "{utilisation}");
}

#[test]
fn the_window_follows_the_utilisation_and_its_reference_once_in_a_round_trip() {
    // Full and a queue of a whole round trip's bytes: U = 2, W = 125,000 * 0.95 / 2 + 80.
    let mut flow = begun(&[hop(us(10), 0, 125_000)]);
    acknowledge(&mut flow, 2, 40, &[hop(us(20), 125_000, 125_000)]);
    assert!(
        (bytes(flow.window) - 59_455.0).abs() < 1.0,
        "{}",
        flow.window
    );
    assert_eq!((flow.reference, flow.updated), (flow.window, 40));
    // The next answers are of packets sent before that: W follows, its reference stays.
    acknowledge(&mut flow, 40, 50, &[hop(us(30), 250_000, 125_000)]);
    assert!(
        (bytes(flow.window) - 28_321.1).abs() < 1.0,
        "{}",
        flow.window
    );
    assert!((bytes(flow.reference) - 59_455.0).abs() < 1.0);
    acknowledge(&mut flow, 41, 50, &[hop(us(40), 375_000, 125_000)]);
    assert_eq!((flow.reference, flow.updated), (flow.window, 50));
}

#[test]
fn below_the_target_it_adds_five_times_and_then_follows() {
    let mut flow = begun(&[hop(us(10), 0, 0)]);
    flow.window = 20_000 * BYTE;
    flow.reference = flow.window;
    // Half of what the link carries is sent.
    let mut now = 0;
    let mut step = |flow: &mut Flow| {
        now += 1;
        let next = hop(us(10 + 10 * now), 62_500 * now, 0);
        acknowledge(flow, 100 * now as u32, 100 * now as u32, &[next]);
        bytes(flow.window)
    };
    for stage in 1..=5 {
        let expected = 20_000.0 + 80.0 * f64::from(stage);
        assert!((step(&mut flow) - expected).abs() < 0.1);
    }
    // 20,400 * 0.95 / 0.5 + 80.
    assert!((step(&mut flow) - 38_840.0).abs() < 1.0);
    assert_eq!(flow.stage, 0);
}

#[test]
fn a_new_way_begins_anew_and_late_answers_say_nothing() {
    let mut flow = begun(&[hop(us(10), 0, 125_000)]);
    let before = flow.window;
    let elsewhere = Hop {
        link: 9,
        ..hop(us(20), 900_000, 125_000)
    };
    acknowledge(&mut flow, 2, 40, &[elsewhere]);
    assert_eq!((flow.window, flow.hops[0].link), (before, 9));
    let late = Hop {
        at: us(19),
        ..elsewhere
    };
    acknowledge(&mut flow, 3, 40, &[late]);
    assert_eq!((flow.window, flow.hops[0].at), (before, us(20)));
}

#[test]
fn additive_increases_are_in_proportion_to_the_line() {
    // 80 bytes at 100G; what a line carries in a round trip grows with it, and so must the step
    // for as many flows to share it.
    let at = |gbps: u64| {
        hpcc()
            .on_link(&Link::of_gbps(gbps))
            .additive_increase
            .count()
    };
    assert_eq!([25, 100, 400].map(at), [20, 80, 320]);
    let fixed = Hpcc {
        scale_from: None,
        ..hpcc()
    };
    assert_eq!(
        fixed.on_link(&Link::of_gbps(400)).additive_increase.count(),
        80
    );
}
