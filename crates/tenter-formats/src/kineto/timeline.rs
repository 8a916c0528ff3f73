//! Reconstruction of a rank's operations from its kernels' times.
//!
//! ```text
//!   compute kernels ─ segments ─▶ computing stretches between the starts and ends of calls
//!   stretches, calls ─ operations ─▶ RankTrace
//! ```
//!
//! Each operation starts at its recorded distance from its dependencies. A run whose calls take as
//! long as recorded therefore reproduces the recording.

use std::collections::{BTreeMap, BTreeSet};

use tenter_language::units::Time;
use tenter_workload::spec::{Gaps, Waits};

use crate::calls::{Emitter, Recorded};
use crate::trace::{RankTrace, What, stream};

/// A stretch of computing in which no call begins or ends. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Time for which kernels compute.
    pub(super) busy: u64,
}

/// Merges kernels into stretches of computing, in order, cut where a call starts or ends.
pub(super) fn segments(computes: &mut [(u64, u64)], calls: &[(u64, u64)]) -> Vec<Segment> {
    computes.sort_unstable();
    let mut cuts: Vec<u64> = calls
        .iter()
        .flat_map(|&(start, end)| [start, end])
        .collect();
    cuts.sort_unstable();
    let mut segments: Vec<Segment> = Vec::new();
    // Number of cuts up to the last start; true if the last kernel runs across a cut, so that its
    // segment must not grow.
    let (mut passed, mut closed) = (0, true);
    let mut computed = 0;
    for &(start, end) in computes.iter() {
        let before = passed;
        while cuts.get(passed).is_some_and(|&cut| cut <= start) {
            passed += 1;
        }
        let from = start.max(computed);
        // A kernel within earlier ones adds nothing; the first one counts even if it is empty.
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

/// A finished operation that later ones may wait for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Done {
    end: u64,
    number: u64,
}

impl Done {
    /// Returns a bound behind all operations that end at `time` or before.
    fn over_at(time: u64) -> Done {
        let (end, number) = (time, u64::MAX);
        Done { end, number }
    }
}

/// The user's choice of dependencies and gaps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) waits: Waits,
    pub(super) gaps: Gaps,
}

/// Makes a rank's operations. Call times are nanoseconds here.
pub(super) fn operations(segments: &[Segment], calls: &[Recorded], rules: Rules) -> RankTrace {
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by_key(|&place| (calls[place].start, place));
    // Times of a rank count from its first segment or call, whichever is earlier.
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
        // What was computed before the call began comes before it in the order of operations.
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

/// State while operations are added in the order of their starts.
struct Timeline {
    rules: Rules,
    emitter: Emitter,
    origin: u64,
    /// The last stretch of computing, and the one before it.
    computed: Option<Done>,
    computed_before: Option<Done>,
    /// Calls that no computing has waited for yet.
    over: BTreeSet<Done>,
    /// The last call on each stream, and these calls sorted by end.
    on_stream: BTreeMap<u32, Done>,
    last_ones: BTreeSet<Done>,
}

impl Timeline {
    /// Adds a stretch of computing, which waits for the stretch before and for calls.
    fn compute(&mut self, segment: &Segment) {
        // Guess: no trace says which computing needs which result. In `exposed` mode it waits for
        // calls that ended while nothing computed.
        let since = self.computed.map_or(0, |done| done.end);
        // Each ended call is waited for once: later computing waits for it through this stretch.
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

    /// Adds a call, which waits for computing and for calls that were over at its start.
    fn call(&mut self, call: &Recorded) {
        let before = self.on_stream.get(&call.stream).copied();
        let computed = [self.computed, self.computed_before].into_iter().flatten();
        // A call does not wait for a kernel that runs across its start, but for the stretch before.
        let computed = computed.into_iter().find(|done| done.end <= call.start);
        // The last call that was over: without it, the time of that call would appear as a gap.
        let mut calls = self.last_ones.range(..=Done::over_at(call.start));
        let last = calls.next_back().copied();
        let last = last.filter(|last| computed.is_none_or(|done| done.end < last.end));
        let mut after: Vec<Done> = computed.into_iter().chain(before).collect();
        // The call before on this stream may be the one that was over last.
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

    /// Converts nanoseconds to ps since the rank's first operation. Recorded times may count from
    /// 1970, which exceeds 64 bits in ps.
    fn in_ps(&self, ns: u64) -> u64 {
        ns.saturating_sub(self.origin).saturating_mul(1_000)
    }

    /// Adds a wait behind `after` that lasts until `start`, and `idle` longer. Returns the
    /// operations that the next one waits for.
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
