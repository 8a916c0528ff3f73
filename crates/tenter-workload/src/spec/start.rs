//! Start of a job: at a time, or after another job.

use tenter_language::config::{Reader, Shape, Value, Written, component};
use tenter_language::units::Time;

use super::limits::{TIMES, too_soon};

component! {
    /// A start after the end of another job.
    pub struct AfterJob as "`jobs[].start`", derive(Clone, Debug, PartialEq, Eq) {
        /// The job that must have ended: any but background load, before or after this one in the
        /// list.
        after: String, in 64;
        /// From the end of that job to the start of this one, 2us or more: the end of a job takes
        /// effect in the whole network, as the barrier of a `gap` does.
        delay: Time = "10us", in TIMES, unless too_soon_after_a_job;
    }
}

/// Refuses a delay shorter than [`GAP_MIN`](super::limits::GAP_MIN).
fn too_soon_after_a_job(delay: Time) -> Option<(String, String)> {
    too_soon("the end of a job", delay)
}

/// Condition under which a job starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// At a time since the simulation's start.
    At(Time),
    /// At a delay after another job's end.
    After(AfterJob),
}

impl Value for Start {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Either(Box::new(Time::shape(TIMES)), Box::new(AfterJob::shape(())))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Start> {
        if reader.is_mapping(key) {
            AfterJob::read(reader, key, ()).map(Start::After)
        } else {
            Time::read(reader, key, TIMES).map(Start::At)
        }
    }

    fn written(&self) -> Written {
        match self {
            Start::At(time) => time.written(),
            Start::After(after) => Value::written(after),
        }
    }
}
