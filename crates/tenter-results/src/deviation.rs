//! The table that compares simulated with measured times.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// A size of a collective in a trial beside the same in a file of measurements.
    pub struct DeviationRow in "deviations" {
        /// Name of the file of measurements.
        measured: String => "measured", "";
        /// Name of the trial's folder.
        trial: String => "trial", "";
        /// Name of the job that ran the collective.
        job_name: String => "job_name", "";
        /// The operation, `all-to-all` or `all-reduce` for instance.
        collective: String => "collective", "";
        /// Size of the collective as nccl-tests counts it.
        size_bytes: u64 => "size_bytes", "bytes";
        /// The measured time; missing where only a bandwidth was measured.
        measured_time: Option<Time> => "measured_time_ns", "ns";
        /// The simulated time, a mean over the measured iterations.
        time: Option<Time> => "time_ns", "ns";
        /// Deviation of the simulated time from the measured one, in percent of the latter;
        /// positive if longer.
        time_deviation: Option<f64> => "time_deviation_percent", "%";
        /// The measured bus bandwidth; missing where the file has none.
        measured_busbw_gbytes_per_s: Option<f64> => "measured_busbw_gbytes_per_s", "GB/s (10⁹)";
        /// The simulated bus bandwidth, at the mean time.
        busbw_gbytes_per_s: Option<f64> => "busbw_gbytes_per_s", "GB/s (10⁹)";
        /// Deviation of the simulated bus bandwidth from the measured one, in percent of the
        /// latter.
        busbw_deviation: Option<f64> => "busbw_deviation_percent", "%";
    }
}
