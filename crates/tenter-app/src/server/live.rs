//! The last sample of a running trial, for clients that watch it.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tenter::Plan;
use tenter_results::SampleRow;

/// A trial counts as watched for this time after a request for its sample.
const WATCHED: Duration = Duration::from_secs(5);

/// A running trial's state in its last sampling interval.
///
/// Rows are copied only while a client watches, and only those at the last instant: a trial that is
/// not watched pays for one look at a lock and a clock with each batch of samples.
#[derive(Debug, Default)]
pub(crate) struct Live {
    plan: OnceLock<Plan>,
    asked: Mutex<Option<Instant>>,
    seen: Mutex<Seen>,
}

/// Rows from one sampling instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Sampling instant, in ns since the simulation began; `None` before the first sample.
    pub(crate) time_ns: Option<f64>,
    /// Time since the previous instant, in ns.
    pub(crate) interval_ns: f64,
    /// Samples at ports that were active.
    pub(crate) rows: Vec<SampleRow>,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    /// Notes the trial's plan when the trial starts.
    pub(crate) fn begin(&self, plan: &Plan) {
        // A trial starts once, so the cell is empty.
        let _ = self.plan.set(plan.clone());
    }

    /// Returns the trial's plan, or `None` before the trial has started.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.plan.get()
    }

    /// True while a client watches.
    pub(crate) fn is_watched(&self) -> bool {
        held(&self.asked).is_some_and(|asked| asked.elapsed() < WATCHED)
    }

    /// Receives a batch of samples, in time order; keeps those at the last instant if a client
    /// watches.
    pub(crate) fn samples(&self, rows: &[SampleRow]) {
        let Some(last) = rows.last().filter(|_| self.is_watched()) else {
            return;
        };
        // A batch may cover several instants; only the last one is shown.
        let first = rows.partition_point(|row| row.time < last.time);
        let interval = self.plan().and_then(|plan| plan.resolved().sample_interval);
        let time = last.time.as_ns();
        // The last instant of a trial may lie between two multiples of the interval.
        let interval = interval.map_or(time, tenter::Time::as_ns);
        let rest = time % interval.max(1e-3);
        *held(&self.seen) = Seen {
            time_ns: Some(time),
            interval_ns: if rest > 0.0 { rest } else { interval },
            rows: rows[first..].to_vec(),
        };
    }

    /// Returns the last sample, and keeps the trial watched for [`WATCHED`].
    pub(crate) fn watch(&self) -> Seen {
        *held(&self.asked) = Some(Instant::now());
        held(&self.seen).clone()
    }
}

#[cfg(test)]
mod tests {
    use tenter::Time;

    use super::*;

    #[test]
    fn rows_are_kept_of_the_last_instant_and_only_while_someone_watches() {
        let row = |time, port| SampleRow {
            time: Time::from_ps(time),
            port,
            ..SampleRow::default()
        };
        let live = Live::default();
        live.samples(&[row(1_000, 1)]);
        assert_eq!(live.watch().time_ns, None);
        live.samples(&[row(1_000, 1), row(2_000, 1), row(2_000, 2)]);
        let seen = live.watch();
        assert_eq!((seen.time_ns, seen.rows.len()), (Some(2.0), 2));
        // A call without rows leaves what there was.
        live.samples(&[]);
        assert_eq!(live.watch().rows.len(), 2);
    }
}
