//! The last sample of a trial that runs, for whoever watches.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tenter::Plan;
use tenter_record::SampleRow;

/// How long after a question a trial counts as watched.
const WATCHED: Duration = Duration::from_secs(5);

/// What a trial did in its last sampling interval.
///
/// Rows are copied only while someone watches, and only those of the last instant: a trial that
/// nobody watches pays for one look at a clock with each batch of samples.
#[derive(Debug, Default)]
pub(crate) struct Live {
    plan: OnceLock<Plan>,
    asked: Mutex<Option<Instant>>,
    seen: Mutex<Seen>,
}

/// The rows of one instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// In nanoseconds; missing before there is any.
    pub(crate) time_ns: Option<f64>,
    /// Time since the instant before, in nanoseconds.
    pub(crate) interval_ns: f64,
    /// Ports that did anything.
    pub(crate) rows: Vec<SampleRow>,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    /// The trial begins.
    pub(crate) fn begin(&self, plan: &Plan) {
        // A trial begins once.
        let _ = self.plan.set(plan.clone());
    }

    /// Its plan, once it has begun.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.plan.get()
    }

    /// Takes samples, in the order of time, if someone watches.
    pub(crate) fn samples(&self, rows: &[SampleRow]) {
        let is_watched = held(&self.asked).is_some_and(|asked| asked.elapsed() < WATCHED);
        let Some(last) = rows.last().filter(|_| is_watched) else {
            return;
        };
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

    /// What was seen last; from now on the trial is watched for a while.
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
