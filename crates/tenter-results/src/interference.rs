//! Slowdown that jobs cause each other.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// A job under test beside other jobs, and alone on the same fabric with the same seed.
    pub struct InterferenceRow in "interference" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Name of the job.
        job_name: String => "job_name", "";
        /// Index of the one job that ran beside it; missing where all jobs of the scenario did.
        beside: Option<u32> => "beside", "";
        /// Name of the job that ran beside it.
        beside_name: Option<String> => "beside_name", "";
        /// Job completion time alone; missing where the job was not done.
        alone: Option<Time> => "jct_alone_ns", "ns";
        /// Job completion time beside the others; missing where the job was not done.
        together: Option<Time> => "jct_ns", "ns";
        /// The time beside the others over the time alone; missing where either is.
        slow_down: Option<f64> => "slow_down", "";
    }
}

impl InterferenceRow {
    /// Sets both times and their ratio; a job without any time alone has no ratio.
    #[must_use]
    pub fn timed(self, alone: Option<Time>, together: Option<Time>) -> InterferenceRow {
        // A job that takes no time alone has no slowdown: the ratio would be infinite.
        let divisor = alone.filter(|time| !time.is_zero());
        let slow_down = divisor.zip(together);
        InterferenceRow {
            alone,
            together,
            slow_down: slow_down.map(|(alone, together)| together.as_ns() / alone.as_ns()),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_down_is_a_ratio_of_two_times() {
        let ratio = |alone, together| {
            let row = InterferenceRow::default();
            row.timed(alone, together).slow_down
        };
        let time = |us| Some(Time::from_us(us));
        assert_eq!(ratio(time(10), time(15)), Some(1.5));
        assert_eq!(ratio(time(0), time(15)), None);
        assert_eq!(ratio(time(10), None), None);
    }
}
