//! The window loop, on one thread or several.

use tenter_language::units::Instant;

use crate::arrival::Arrival;
use crate::crew;
use crate::lane::{Lane, Nodes, Peers, Visit};
use crate::pace::Pace;
use crate::parts::{Control, Part, RunOutcome, Windows};

/// Runs all partitions from `from` until a sync point, at `edge` at the latest, or until no event
/// is left. It uses at most one thread per partition; `pace` chooses the windows that threads
/// share.
///
/// # Panics
/// If `parts` is empty, or if a node breaks its contract (see [`Nodes::visit`]).
pub fn run_windowed<N: Nodes>(
    parts: &mut [Part<N>],
    from: Instant,
    edge: Instant,
    windows: Windows,
    control: &impl Control,
    pace: &mut Pace,
) -> RunOutcome {
    if let [part] = parts {
        return run_single(part, from, edge, windows, control);
    }
    pace.resume();
    let outcome = crew::run(parts, from, edge, windows, control, pace);
    pace.pause();
    outcome
}

/// Runs `act` on one partition's model at a sync point at `at`, and delivers the items that it
/// sends. [`Visit`] only serves to send here.
///
/// # Panics
/// If there is no partition `part`.
pub fn act_at_edge<N: Nodes, R>(
    parts: &mut [Part<N>],
    part: usize,
    at: Instant,
    act: impl FnOnce(&mut N, &mut Visit<'_, N::Item>) -> R,
) -> R {
    let Part { lane, nodes } = &mut parts[part];
    let result = lane.act(at, |visit| act(nodes, visit));
    lane.earliest_outgoing = Instant::NEVER;
    for receiver in 0..parts.len() {
        let outbox = std::mem::take(&mut parts[part].lane.outboxes[receiver]);
        for (node, input, item) in outbox {
            let lane = &mut parts[receiver].lane;
            lane.deliver(node, input, item.at(), &item);
        }
    }
    result
}

fn run_single<N: Nodes>(
    part: &mut Part<N>,
    from: Instant,
    mut edge: Instant,
    windows: Windows,
    control: &impl Control,
) -> RunOutcome {
    let mut now = from;
    loop {
        let next = part.lane.next(now, windows);
        if next.is_never() {
            return RunOutcome::Empty;
        }
        if next >= edge {
            return RunOutcome::Edge(edge);
        }
        // A sync point that came up during the last window may lie inside the next one.
        now = part.lane.window_end(next, windows).min(edge);
        part.lane
            .run_window(&mut part.nodes, next, now, Peers::none());
        edge = edge.min(control.edge_after(now));
    }
}

impl<T: Arrival> Lane<T> {
    /// Returns the next time at which a node in this partition has work, no earlier than `now`;
    /// [`Instant::NEVER`] if none has.
    pub(crate) fn next(&mut self, now: Instant, windows: Windows) -> Instant {
        let next = match windows {
            Windows::Buckets => self.calendar.next(now),
            Windows::Central(_) => self.calendar.next_exactly(now),
        };
        // Items in `later` are not in the calendar; they enter it when their bucket gets a slot.
        next.unwrap_or(Instant::NEVER).min(self.next_later(now))
    }

    /// Returns the end of the window that starts at `start`.
    pub(crate) fn window_end(&self, start: Instant, windows: Windows) -> Instant {
        let end = self.calendar.bucket_end(start);
        match windows {
            Windows::Buckets => end,
            Windows::Central(lookahead) => end.min(start.saturating_add(lookahead)),
        }
    }
}
