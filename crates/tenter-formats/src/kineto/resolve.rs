//! Assignment of recorded calls to the kernels that carry them out.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::rc::Rc;
use std::vec::IntoIter;

use super::kernels::{Kernel, Kernels};
use crate::calls::{Called, Described, Recorded, Resolving};
use crate::error::Wrong;

/// A communication kernel with descriptions of the calls that it carries out.
#[derive(Clone, Debug)]
pub(super) struct Matched {
    place: u64,
    pub(super) start: u64,
    pub(super) end: u64,
    stream: u32,
    infos: Vec<Rc<Described>>,
}

/// Numbers of kernels without a call, and calls without a kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unmatched {
    pub(super) kernels: u64,
    pub(super) calls: u64,
}

/// Finds the calls that each kernel of a rank carries out.
pub(super) fn matched(kernels: &Kernels) -> (Vec<Matched>, Unmatched) {
    let mut matching = Matching::new(kernels);
    let communications = &kernels.communications;
    // Kernels are launched in the order of their calls, so messages are handed out in that order.
    let mut order: Vec<usize> = (0..communications.len()).collect();
    order.sort_by_key(|&place| matching.called(&communications[place]));
    let mut found: Vec<Vec<Rc<Described>>> = vec![Vec::new(); communications.len()];
    for place in order {
        found[place] = matching.infos(&communications[place]);
    }
    let unmatched = matching.unmatched();
    let matched = communications.iter().zip(found);
    let matched = matched.map(|(kernel, infos)| Matched {
        place: kernel.place,
        start: kernel.start,
        end: kernel.end,
        stream: kernel.stream,
        infos,
    });
    (matched.collect(), unmatched)
}

/// Calls on the CPU, while kernels are found for them.
struct Matching<'k> {
    kernels: &'k Kernels,
    /// Places of calls, by their number `External id`.
    by_external: BTreeMap<u64, usize>,
    /// Messages that no kernel carries out yet, in the order of their calls.
    messages: Peekable<IntoIter<usize>>,
    used: BTreeSet<usize>,
    annotations: Spans,
    unknown: u64,
}

/// For each time, the place of the first span in the list that covers it.
struct Spans(Vec<(u64, Option<usize>)>);

impl Spans {
    /// Sweeps over the ends of all spans in the order of time.
    fn of(spans: impl Iterator<Item = (u64, u64)>) -> Spans {
        // A span includes its last nanosecond. At equal times spans begin before others end, but
        // only the state after all changes at a time counts.
        let mut changes: Vec<(u64, usize, bool)> = Vec::new();
        for (place, (start, end)) in spans.enumerate() {
            changes.push((start, place, true));
            changes.extend(end.checked_add(1).map(|over| (over, place, false)));
        }
        changes.sort_unstable();
        let (mut open, mut found) = (BTreeSet::new(), Vec::new());
        for at_once in changes.chunk_by(|one, other| one.0 == other.0) {
            for &(_, place, begins) in at_once {
                if begins {
                    open.insert(place);
                } else {
                    open.remove(&place);
                }
            }
            let time = at_once.first().map_or(0, |change| change.0);
            found.push((time, open.first().copied()));
        }
        Spans(found)
    }

    fn at(&self, time: u64) -> Option<usize> {
        let next = self.0.partition_point(|(start, _)| *start <= time);
        self.0.get(next.checked_sub(1)?)?.1
    }
}

impl<'k> Matching<'k> {
    fn new(kernels: &'k Kernels) -> Matching<'k> {
        let calls = kernels.calls.iter().enumerate();
        let by_external = calls.filter_map(|(place, call)| Some((call.external?, place)));
        let of_messages = |&place: &usize| is_message(&kernels.calls[place].info);
        let mut messages: Vec<usize> = (0..kernels.calls.len()).filter(of_messages).collect();
        messages.sort_by_key(|&place| kernels.calls[place].start);
        let annotations = kernels.annotations.iter();
        let annotations = annotations.map(|call| (call.start, call.end));
        Matching {
            kernels,
            by_external: by_external.collect(),
            messages: messages.into_iter().peekable(),
            used: BTreeSet::new(),
            annotations: Spans::of(annotations),
            unknown: 0,
        }
    }

    /// Returns the place of the call that launched a kernel.
    fn call(&self, kernel: &Kernel) -> Option<usize> {
        self.by_external.get(&kernel.external?).copied()
    }

    /// Returns the time at which a kernel was called for: its launch, its call, or else its start
    /// (a guess).
    fn called(&self, kernel: &Kernel) -> u64 {
        let of_call = || Some(self.kernels.calls[self.call(kernel)?].start);
        let launch = self.kernels.launch(kernel).or_else(of_call);
        launch.unwrap_or(kernel.start)
    }

    /// Returns descriptions of the calls that a kernel carries out.
    fn infos(&mut self, kernel: &Kernel) -> Vec<Rc<Described>> {
        let calls = &self.kernels.calls;
        let call = self.call(kernel);
        // Calls that no kernel uses are counted at the end.
        self.used.extend(call);
        let of_call = call.map(|place| &calls[place].info);
        let own = kernel.info.as_ref().or(of_call);
        let mut found = Vec::new();
        if own.is_none_or(|own| is_message(own)) && kernel.sends_and_receives {
            // Guess: one kernel carries out all messages that were called for since the kernel
            // before.
            let launch = self.called(kernel);
            while let Some(next) = self.messages.next_if(|&next| calls[next].start <= launch) {
                found.push(Rc::clone(&calls[next].info));
                self.used.insert(next);
            }
        }
        if found.is_empty() {
            let own = own.or_else(|| self.annotation(kernel));
            self.unknown += u64::from(own.is_none());
            found.extend(own.cloned());
        }
        found
    }

    /// Returns the annotation during which a kernel was launched; the first in the file if they
    /// overlap.
    fn annotation(&self, kernel: &Kernel) -> Option<&'k Rc<Described>> {
        let place = self.annotations.at(self.kernels.launch(kernel)?)?;
        self.kernels.annotations.get(place).map(|call| &call.info)
    }

    fn unmatched(&self) -> Unmatched {
        // Without links between kernels and calls, a call without kernel proves nothing.
        let linked = self.kernels.communications.iter();
        let is_linked = linked.map(|kernel| kernel.external).any(|id| id.is_some());
        let calls = self.kernels.calls.len() - self.used.len();
        Unmatched {
            kernels: self.unknown,
            calls: if is_linked { calls as u64 } else { 0 },
        }
    }
}

fn is_message(info: &Described) -> bool {
    matches!(info.called, Called::Send | Called::Receive)
}

/// Bytes of lists that kernels may repeat when several carry out one call, in addition to four
/// times the lists of all calls.
const TEXT: usize = 1 << 24;

/// Resolves a rank's calls, in their kernels' file order.
///
/// # Errors
/// A call that names a rank outside the job, or a group whose ranks nothing tells.
pub(super) fn calls(
    matched: &[Matched],
    resolving: &mut Resolving<'_, '_>,
) -> Result<Vec<Recorded>, Wrong> {
    // Kernels may share one call with lists of any length, so what they repeat is bounded.
    let own = matched.iter().flat_map(|kernel| &kernel.infos);
    let mut known = BTreeSet::new();
    let own = own.filter(|info| known.insert(Rc::as_ptr(info)));
    let mut left = TEXT.saturating_add(own.map(|info| info.length()).sum::<usize>() * 4);
    let calls = matched.iter().map(|kernel| {
        let described: Vec<&Described> = kernel.infos.iter().map(Rc::as_ref).collect();
        let length = described.iter().map(|info| info.length()).sum();
        left = left.checked_sub(length).ok_or_else(|| {
            let place = kernel.place;
            let what =
                format!("event {place}: it repeats, as those before it, a call with long lists");
            Wrong::new(what, "give a part of the trace")
        })?;
        let call = resolving.call(&described);
        Ok(Recorded {
            start: kernel.start,
            end: kernel.end,
            stream: kernel.stream,
            sequence: described.first().and_then(|of| of.sequence),
            call: call.map_err(|wrong| wrong.of(&format!("event {}", kernel.place)))?,
        })
    });
    calls.collect()
}
