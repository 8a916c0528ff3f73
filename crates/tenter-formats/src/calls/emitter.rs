//! Conversion of calls into a rank's operations.

use tenter_language::units::Time;

use super::recorded::{Call, Message, Recorded};
use crate::trace::{RankTrace, What, stream};

/// A rank's operations under construction, numbered from 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Emitter {
    pub(crate) trace: RankTrace,
    next: u64,
}

impl Emitter {
    /// Adds an operation that waits for `after`, and returns its number.
    pub(crate) fn add(&mut self, what: What, stream: u32, after: &[u64]) -> u64 {
        for &other in after {
            self.trace.waits_for(other);
        }
        self.trace.add(self.next, what, stream, None);
        self.next += 1;
        self.next - 1
    }

    /// Adds computing that was recorded from `start` (ps) on and waits for `after`. Returns its
    /// number.
    pub(crate) fn compute(&mut self, start: u64, took: Time, after: &[u64]) -> u64 {
        self.trace.was_measured(Some(start), took);
        self.add(What::Compute(took), stream::COMPUTE, after)
    }

    /// Adds a call that waits for `after`. Returns the number of its last operation.
    pub(crate) fn call(&mut self, recorded: &Recorded, after: &[u64]) -> u64 {
        let stream = stream::OTHERS + recorded.stream;
        match &recorded.call {
            Call::Measured => {
                let took = Time::from_ps(recorded.end.saturating_sub(recorded.start));
                // Without a time the operation stays all the same, since later ones wait for it.
                let what = if took.is_zero() {
                    What::Nothing
                } else {
                    What::Wait(took)
                };
                self.add(what, stream, after)
            }
            &Call::Collective { name, bytes, group } => {
                let what = What::Collective { name, bytes, group };
                self.was_measured(recorded);
                self.add(what, stream, after)
            }
            Call::Messages(messages) => self.messages(recorded, messages, stream, after),
        }
    }

    /// Notes `call`'s recorded time for the next operation; an empty span means that it is unknown.
    fn was_measured(&mut self, call: &Recorded) {
        if call.end > call.start {
            let took = Time::from_ps(call.end - call.start);
            self.trace.was_measured(Some(call.start), took);
        }
    }

    /// Adds messages that are under way together. Returns the operation that waits for all.
    fn messages(
        &mut self,
        call: &Recorded,
        messages: &[Message],
        stream: u32,
        after: &[u64],
    ) -> u64 {
        let what = |message: &Message| {
            // NCCL orders messages only within a communicator, so the group serves as tag.
            let Message {
                peer,
                bytes,
                group: tag,
                ..
            } = *message;
            if message.sends {
                What::Send { peer, bytes, tag }
            } else {
                What::Receive { peer, bytes, tag }
            }
        };
        if let [one] = messages {
            self.was_measured(call);
            return self.add(what(one), stream, after);
        }
        // The call was measured once, so its time goes to the longest message.
        let longest = messages.iter().map(|message| message.bytes).max();
        let longest = messages
            .iter()
            .position(|message| Some(message.bytes) == longest);
        // Messages of one call are under way together, so each has a stream to itself.
        let own = (stream::MESSAGES..).zip(messages).enumerate();
        let ends: Vec<u64> = own
            .map(|(place, (own, message))| {
                if Some(place) == longest {
                    self.was_measured(call);
                }
                self.add(what(message), own, after)
            })
            .collect();
        self.add(What::Nothing, stream::NOTHING, &ends)
    }
}

/// Makes a rank's trace in which each call waits for the one before. `gaps` gives the computing
/// time in front of each call.
pub(crate) fn one_after_another(calls: &[Recorded], gaps: impl Fn(usize) -> Time) -> RankTrace {
    let mut emitter = Emitter::default();
    let mut before: Option<u64> = None;
    for (place, recorded) in calls.iter().enumerate() {
        let gap = gaps(place);
        if !gap.is_zero() {
            let after: Vec<u64> = before.into_iter().collect();
            let start = recorded.start.saturating_sub(gap.ps());
            before = Some(emitter.compute(start, gap, &after));
        }
        let after: Vec<u64> = before.into_iter().collect();
        before = Some(emitter.call(recorded, &after));
    }
    emitter.trace
}
