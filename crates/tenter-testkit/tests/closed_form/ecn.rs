//! The share of marked frames at a queue length that is held.

use tenter_fabric::net::{ClassSpec, EcnSpec, MarkAt, UNLIMITED_POOL};

use crate::lone_switch::{LoneSwitch, wire_ps};

const FRAME: u64 = 1_000;
const KMIN: u64 = 100_000;
const KMAX: u64 = 400_000;
const FRAMES: u64 = 40_000;

/// How many of [`FRAMES`] are marked when each makes the queue hold `queue` bytes.
fn marked(queue: u64, max_probability_ppm: u32) -> u64 {
    let early = marked_at(MarkAt::Enqueue, queue, max_probability_ppm);
    // Each frame leaves what the next one fills up: a frame more must wait to leave as much.
    let late = marked_at(MarkAt::Dequeue, queue + FRAME, max_probability_ppm);
    // A frame is marked by the same draw whenever it is looked at; those that wait at the beginning
    // have not left, or have not come, while it is counted.
    let apart = early.abs_diff(late);
    assert!(
        apart <= 2 * (queue / FRAME + 1),
        "{early}, {late} where they leave"
    );
    early
}

fn marked_at(mark_at: MarkAt, queue: u64, max_probability_ppm: u32) -> u64 {
    let ecn = EcnSpec {
        min_bytes: KMIN,
        max_bytes: KMAX,
        max_probability_ppm,
        scale_from: None,
        mark_at,
        at_hosts: true,
    };
    let marking = ClassSpec {
        ecn: Some(ecn),
        ..ClassSpec::without_end(0)
    };
    let mut lone = LoneSwitch::new(1, UNLIMITED_POOL, vec![marking]);
    // One goes onto the wire; then one more comes whenever one leaves.
    for _ in 0..=queue / FRAME {
        lone.offer(0, 0, 0, FRAME as u16);
    }
    let before = lone.switch.ports()[0].counters().marked_frames;
    for slot in 1..=FRAMES {
        lone.offer(slot * wire_ps(FRAME), 0, 0, FRAME as u16);
        assert_eq!(lone.switch.ports()[0].queue_bytes(), queue);
    }
    lone.switch.ports()[0].counters().marked_frames - before
}

#[test]
fn the_share_of_marks_rises_linearly_from_kmin_to_kmax() {
    // Pmax·(q − Kmin)/(Kmax − Kmin). Of n frames a share p is marked with a standard deviation of
    // √(n·p·(1 − p)); four of them are exceeded once in sixteen thousand times, and the draws are
    // the same every time.
    for (queue, pmax, share) in [
        (101_000, 1.0, 1.0 / 300.0),
        (130_000, 0.2, 0.02),
        (250_000, 0.2, 0.1),
        (250_000, 0.05, 0.025),
        (250_000, 1.0, 0.5),
        (399_000, 0.2, 0.2 * 299.0 / 300.0),
        (400_000, 0.2, 0.2),
        (400_000, 0.05, 0.05),
    ] {
        let marked = marked(queue, (pmax * 1e6) as u32) as f64;
        let expected = FRAMES as f64 * share;
        let deviation = (expected * (1.0 - share)).sqrt();
        assert!(
            (marked - expected).abs() <= 4.0 * deviation,
            "queue of {queue}, Pmax {pmax}: {marked} marked, {expected} ± {deviation} expected"
        );
    }
}

#[test]
fn nothing_is_marked_up_to_kmin_and_everything_beyond_kmax() {
    for queue in [1_000, 99_000, KMIN] {
        assert_eq!(marked(queue, 1_000_000), 0, "queue of {queue}");
    }
    for queue in [KMAX + FRAME, 2 * KMAX] {
        assert_eq!(marked(queue, 0), FRAMES, "queue of {queue}");
    }
    assert_eq!(marked(KMAX, 1_000_000), FRAMES);
    assert_eq!(marked(KMAX, 0), 0);
}

#[test]
fn of_a_burst_the_last_are_marked_as_they_come_or_the_first_as_they_leave() {
    // 500 frames at once: one passes, and they make the queue hold 1 to 499 kB. As they come those
    // beyond 400 kB are marked: the last 99. As they leave they leave 498 to 0 kB behind: the first
    // 98 more than 400.
    for (mark_at, count, first) in [(MarkAt::Enqueue, 99, 401), (MarkAt::Dequeue, 98, 1)] {
        let ecn = EcnSpec {
            mark_at,
            ..EcnSpec::above(KMAX)
        };
        let marking = ClassSpec {
            ecn: Some(ecn),
            ..ClassSpec::without_end(0)
        };
        let mut lone = LoneSwitch::new(1, UNLIMITED_POOL, vec![marking]);
        for _ in 0..500 {
            lone.offer(0, 0, 0, FRAME as u16);
        }
        lone.advance_to(u64::MAX / 2);
        let places = lone.take_marked();
        assert_eq!(places.len(), count, "{mark_at:?}");
        assert!(places.into_iter().eq(first..first + count), "{mark_at:?}");
        let counted = lone.switch.ports()[0].counters().marked_frames;
        assert_eq!(counted, count as u64, "{mark_at:?}");
    }
}
