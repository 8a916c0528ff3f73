//! The table that compares simulated with measured times.

use tenter_units::Time;

use crate::column::rows;

rows! {
    /// A size of a collective in a trial beside the same in a file of measurements.
    pub struct DeviationRow in "deviations" {
        /// Name of the file of measurements.
        measured: String => "measured", "";
        /// Name of the trial's folder.
        trial: String => "trial", "";
        /// Name of the job.
        job_name: String => "job_name", "";
        /// The operation.
        collective: String => "collective", "";
        /// Its size as nccl-tests counts it.
        size_bytes: u64 => "size_bytes", "bytes";
        /// The measured time; missing where only a bandwidth was measured.
        measured_time: Option<Time> => "measured_time_ns", "ns";
        /// The simulated time, a mean over the measured iterations.
        time: Option<Time> => "time_ns", "ns";
        /// How much longer the simulated time is than the measured one.
        time_deviation: Option<f64> => "time_deviation_percent", "%";
        /// The measured bus bandwidth.
        measured_busbw_gbytes_per_s: Option<f64> => "measured_busbw_gbytes_per_s", "GB/s (10⁹)";
        /// The simulated bus bandwidth.
        busbw_gbytes_per_s: Option<f64> => "busbw_gbytes_per_s", "GB/s (10⁹)";
        /// How much more the simulated bus bandwidth is than the measured one.
        busbw_deviation: Option<f64> => "busbw_deviation_percent", "%";
    }
}
