use tenter_language::units::Instant;

use super::{
    Admission, Buffer, PoolRecord, PriorityGroupRecord, QueuedFrame, SharedBuffer, Storage,
};
use crate::net::{ClassSpec, Headroom, Limit, LosslessSpec, PfcTrigger};

const LOSSLESS: usize = 0;
const LOSSY: usize = 1;
const FRAME: u64 = 1_000;

/// Two ports; a lossless class and a lossy one, each with a pool of its own.
fn buffer() -> SharedBuffer {
    let class = |pool, reserved_bytes, lossless| ClassSpec {
        pool,
        reserved_bytes,
        limit: Limit::Static(20_000),
        lossless,
        ..ClassSpec::without_end(pool)
    };
    let lossless = LosslessSpec {
        trigger: PfcTrigger::Ingress,
        xon_offset_bytes: 0,
        headroom: Headroom::Bytes(5_000),
        quanta: 40,
        refresh_percent: 50,
    };
    let classes = [class(0, 1_500, Some(lossless)), class(1, 700, None)];
    SharedBuffer::new(
        &classes,
        &[60_000; 2],
        &[5_000, 0, 5_000, 0],
        vec![1; 2],
        Vec::new(),
    )
}

fn state(buffer: &SharedBuffer) -> (Vec<PoolRecord>, Vec<PriorityGroupRecord>) {
    let groups = (0..2).flat_map(|port| [LOSSLESS, LOSSY].map(|queue| (port, queue)));
    let groups = groups.map(|(port, queue)| buffer.ingress(port, queue, at(9_000)));
    (buffer.pools().collect(), groups.collect())
}

/// A frame is stored, or leaves, at an instant: its priority group, and the bytes of the others in
/// its queue.
#[derive(Clone, Copy)]
struct Step {
    at: Instant,
    is_charge: bool,
    port: u16,
    queue: usize,
    others: u64,
}

fn frame(port: u16, queue: usize, others: u64) -> QueuedFrame {
    QueuedFrame {
        input: port,
        output: port,
        queue,
        bytes: FRAME,
        others,
    }
}

fn step(at: Instant, is_charge: bool, port: u16, queue: usize, others: u64) -> Step {
    Step {
        at,
        is_charge,
        port,
        queue,
        others,
    }
}

fn take(buffer: &mut SharedBuffer, step: &Step) {
    let (at, frame) = (step.at, frame(step.port, step.queue, step.others));
    if step.is_charge {
        buffer.charge(Admission::Stored, frame, at);
    } else {
        buffer.release(frame, at);
    }
}

fn at(ps: u64) -> Instant {
    Instant::from_ps(ps)
}

#[test]
fn a_journal_gives_the_books_of_the_order_of_time_also_after_a_pause_that_was_forgotten() {
    let mut buffer = buffer();
    for _ in 0..20 {
        buffer.charge(Admission::Stored, frame(0, LOSSLESS, 0), at(1));
    }
    for _ in 0..3 {
        buffer.charge(Admission::Headroom, frame(0, LOSSLESS, 0), at(2));
    }
    assert!(buffer.is_armed());
    buffer.take_all_pending();
    // Its link goes down and comes up: the sender knows of no pause, and what it sent is there.
    buffer.link_down(0, at(3));
    assert!(!buffer.is_armed());
    let mut ordered = buffer.clone();

    // Of one output port, whose lossless frames came through port 0, …
    let times = [5_000, 5_090, 5_180, 5_270, 5_360, 5_450, 5_900, 5_950];
    let leaves = |ps| step(at(ps), false, 0, LOSSLESS, 0);
    let mut steps: Vec<Step> = times.map(leaves).into();
    // … and of another, which stores as well: lossless ones of both ports, and lossy ones.
    let stored = |nth: u64| step(at(5_010 + nth * 70), true, (nth % 2) as u16, LOSSLESS, 0);
    steps.extend((0..6).map(stored));
    steps.push(step(at(5_500), true, 1, LOSSY, 0));
    steps.push(step(at(5_510), true, 0, LOSSY, FRAME));
    steps.push(step(at(5_600), false, 1, LOSSY, FRAME));
    buffer.open_journal_if_peak(8 * FRAME, 0b11, at(6_000));
    assert!(buffer.journal.is_open(), "the pools are as full as ever");
    for step in &steps {
        take(&mut buffer, step);
    }
    buffer.close_journal();
    steps.sort_by_key(|step| (step.at, step.is_charge));
    for step in &steps {
        take(&mut ordered, step);
    }
    assert_eq!(state(&buffer), state(&ordered));
    let groups = state(&buffer).1;
    assert_eq!((groups[0].bytes, groups[0].bytes_in_headroom), (18_000, 0));
    assert_eq!(groups[0].headroom_high_water_bytes, 3_000);
    let counts = buffer.journal_counts();
    assert!(
        counts.slots_in_order > 0 && counts.slots_by_port > 0,
        "{counts:?}"
    );
}

#[test]
fn pause_frames_are_counted_beyond_32_bits() {
    let mut buffer = buffer();
    let group = buffer.memory.group(1, LOSSLESS);
    buffer.pauses.groups[group].xoff_frames = u32::MAX - 1;
    buffer.pauses.groups[group].xon_frames = u32::MAX;
    for ps in 1..=3 {
        buffer.pauses.pause(&buffer.memory, group as u32, at(ps));
        buffer.pauses.resume(&buffer.memory, group as u32, at(ps));
    }
    let record = buffer.ingress(1, LOSSLESS, at(9_000));
    assert_eq!(record.xoff_frames, (1 << 32) + 1);
    assert_eq!(record.xon_frames, (1 << 32) + 2);
    assert_eq!(buffer.xoffs(1), (1 << 32) + 1);
    assert_eq!(buffer.xoffs(0), 0);
}
