//! What a rank does, from what its kernels did.
//!
//! ```text
//!   kernels that compute ─ segments ─▶ stretches of computing between the starts and ends of calls
//!   stretches, calls ─ operations ─▶ RankTrace
//! ```
//!
//! Each operation starts as long after what it waits for as it was recorded, so a run in which
//! calls take as long as they were recorded is the recording.

use std::collections::{BTreeMap, BTreeSet};

use tenter_units::Time;
use tenter_workload::spec::{Gaps, Waits};

use crate::calls::{Emitter, Recorded};
use crate::trace::{RankTrace, What, stream};

/// A stretch of computing that no call begins or ends in. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) start: u64,
    pub(super) end: u64,
    /// How much of it kernels compute.
    pub(super) busy: u64,
}

/// Stretches of computing, in order: the union of kernels, cut where a call starts or ends.
pub(super) fn segments(computes: &mut [(u64, u64)], calls: &[(u64, u64)]) -> Vec<Segment> {
    computes.sort_unstable();
    let mut cuts: Vec<u64> = calls
        .iter()
        .flat_map(|&(start, end)| [start, end])
        .collect();
    cuts.sort_unstable();
    let mut segments: Vec<Segment> = Vec::new();
    // The cuts up to the last start, and whether the last segment is one kernel across a cut.
    let (mut passed, mut closed) = (0, true);
    let mut computed = 0;
    for &(start, end) in computes.iter() {
        let before = passed;
        while cuts.get(passed).is_some_and(|&cut| cut <= start) {
            passed += 1;
        }
        let from = start.max(computed);
        if end <= from && computed > 0 {
            continue;
        }
        let runs_across = cuts.get(passed).is_some_and(|&cut| cut < end);
        computed = computed.max(end);
        let busy = end - from;
        match segments.last_mut() {
            Some(last) if !closed && !runs_across && passed == before => {
                last.end = end;
                last.busy += busy;
            }
            _ => segments.push(Segment {
                start: from,
                end,
                busy,
            }),
        }
        closed = runs_across;
    }
    segments
}

/// An operation that is done, while others are put behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Done {
    end: u64,
    number: u64,
}

impl Done {
    /// Behind all that are over at a time.
    fn over_at(time: u64) -> Done {
        let (end, number) = (time, u64::MAX);
        Done { end, number }
    }
}

/// How computing waits, and what becomes of gaps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) waits: Waits,
    pub(super) gaps: Gaps,
}

/// The operations of a rank. Times of calls are nanoseconds.
pub(super) fn operations(segments: &[Segment], calls: &[Recorded], rules: Rules) -> RankTrace {
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by_key(|&place| (calls[place].start, place));
    let starts = segments.first().map(|segment| segment.start).into_iter();
    let origin = starts.chain(order.first().map(|&place| calls[place].start));
    let mut timeline = Timeline {
        rules,
        emitter: Emitter::default(),
        origin: origin.min().unwrap_or(0),
        computed: None,
        computed_before: None,
        over: BTreeSet::new(),
        on_stream: BTreeMap::new(),
        last_ones: BTreeSet::new(),
    };
    let mut segments = segments.iter().peekable();
    for place in order {
        let call = &calls[place];
        while let Some(segment) = segments.next_if(|segment| segment.start < call.start) {
            timeline.compute(segment);
        }
        timeline.call(call);
    }
    for segment in segments {
        timeline.compute(segment);
    }
    timeline.emitter.trace
}

struct Timeline {
    rules: Rules,
    emitter: Emitter,
    origin: u64,
    /// The last stretch of computing, and the one before.
    computed: Option<Done>,
    computed_before: Option<Done>,
    /// Calls that no computing has waited for yet.
    over: BTreeSet<Done>,
    /// The last call of each stream, and the same by their ends.
    on_stream: BTreeMap<u32, Done>,
    last_ones: BTreeSet<Done>,
}

impl Timeline {
    fn compute(&mut self, segment: &Segment) {
        let since = self.computed.map_or(0, |done| done.end);
        let left = self.over.split_off(&Done::over_at(segment.start));
        let ended = std::mem::replace(&mut self.over, left);
        let exposed = |done: &Done| done.end >= since;
        let waits = ended
            .into_iter()
            .filter(|done| self.rules.waits == Waits::Recorded || exposed(done));
        let after: Vec<Done> = waits.chain(self.computed).collect();
        let idle = segment.end - segment.start - segment.busy;
        let after = self.gap(&after, segment.start, idle, stream::COMPUTE);
        let time = Time::from_ps(segment.busy.saturating_mul(1_000));
        let start = self.in_ps(segment.start);
        let number = self.emitter.compute(start, time, &after);
        self.computed_before = self.computed;
        self.computed = Some(Done {
            number,
            end: segment.end,
        });
    }

    fn call(&mut self, call: &Recorded) {
        let before = self.on_stream.get(&call.stream).copied();
        let computed = [self.computed, self.computed_before].into_iter().flatten();
        let computed = computed.into_iter().find(|done| done.end <= call.start);
        // What was over last: without it, the time of another call would be a gap.
        let mut calls = self.last_ones.range(..=Done::over_at(call.start));
        let last = calls.next_back().copied();
        let last = last.filter(|last| computed.is_none_or(|done| done.end < last.end));
        let mut after: Vec<Done> = computed.into_iter().chain(before).collect();
        after.extend(last.filter(|last| before.is_none_or(|of| of.number != last.number)));
        let label = stream::OTHERS + call.stream;
        let after = self.gap(&after, call.start, 0, label);
        let in_ps = Recorded {
            start: self.in_ps(call.start),
            end: self.in_ps(call.end),
            call: call.call.clone(),
            ..*call
        };
        let number = self.emitter.call(&in_ps, &after);
        let done = Done {
            number,
            end: call.end,
        };
        if let Some(before) = self.on_stream.insert(call.stream, done) {
            self.last_ones.remove(&before);
        }
        self.last_ones.insert(done);
        self.over.insert(done);
    }

    /// A time from the start of the rank: those of a recording may count from 1970, which are more
    /// picoseconds than 64 bits hold.
    fn in_ps(&self, ns: u64) -> u64 {
        ns.saturating_sub(self.origin).saturating_mul(1_000)
    }

    /// Puts a wait behind operations, as long as it was until the start of the next one, which
    /// stands still for a further time; gives what that one waits for.
    fn gap(&mut self, after: &[Done], start: u64, idle: u64, stream: u32) -> Vec<u64> {
        let numbers: Vec<u64> = after.iter().map(|done| done.number).collect();
        let ends = after.iter().map(|done| done.end);
        let since = ends.max().unwrap_or(self.origin);
        let gap = start.saturating_sub(since) + idle;
        if gap == 0 || self.rules.gaps == Gaps::Drop {
            return numbers;
        }
        let time = Time::from_ps(gap.saturating_mul(1_000));
        vec![self.emitter.add(What::Wait(time), stream, &numbers)]
    }
}
