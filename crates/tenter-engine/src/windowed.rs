//! The window loop, on one thread or several.

use tenter_units::Instant;

use crate::arrival::Arrival;
use crate::crew;
use crate::lane::{Lane, Nodes, Peers, Visit};
use crate::pace::Pace;
use crate::parts::{Control, Part, RunOutcome, Windows};

/// Runs all parts from `from` until an edge, or until nothing is left to happen, on at most one
/// thread per part: `pace` says which windows are shared.
///
/// # Panics
/// When there is no part, or when a node breaks its contract (see [`Nodes::visit`]).
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

/// Lets the model of one part act at an edge at `at`, and delivers what it sends. All else that
/// [`Visit`] offers is for visits.
///
/// # Panics
/// When there is no such part.
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
        now = part.lane.window_end(next, windows).min(edge);
        part.lane
            .run_window(&mut part.nodes, next, now, Peers::none());
        edge = edge.min(control.edge_after(now));
    }
}

impl<T: Arrival> Lane<T> {
    /// When something next happens at a node of this part, no earlier than `now`;
    /// [`Instant::NEVER`] if nothing does.
    pub(crate) fn next(&mut self, now: Instant, windows: Windows) -> Instant {
        let next = match windows {
            Windows::Buckets => self.calendar.next(now),
            Windows::Central(_) => self.calendar.next_exactly(now),
        };
        // What arrives far ahead is known to the calendar only once its bucket has a slot.
        next.unwrap_or(Instant::NEVER).min(self.next_later(now))
    }

    /// The end of the window that starts at an instant.
    pub(crate) fn window_end(&self, start: Instant, windows: Windows) -> Instant {
        let end = self.calendar.bucket_end(start);
        match windows {
            Windows::Buckets => end,
            Windows::Central(lookahead) => end.min(start.saturating_add(lookahead)),
        }
    }
}
