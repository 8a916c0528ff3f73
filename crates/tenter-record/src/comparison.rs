//! The table of trials side by side.

use tenter_units::Time;

use crate::column::rows;

rows! {
    /// One job of one trial, or one collective and size of it, beside the same of the first trial.
    pub struct ComparisonRow in "comparison" {
        /// Name of the trial's folder, or of the log.
        trial: String => "trial", "";
        /// Name of the job; of the one it stands beside, for a log.
        job_name: String => "job_name", "";
        /// The operation, `all-to-all` or `all-reduce` for instance; missing, like the two that
        /// follow, in the row of the job itself.
        collective: Option<String> => "collective", "";
        /// How it is carried out, `ring` or `parallel` for instance.
        algorithm: Option<String> => "algorithm", "";
        /// Size of the collective as nccl-tests counts it.
        size_bytes: Option<u64> => "size_bytes", "bytes";
        /// Job completion time, or mean over the judged iterations of the collective; missing where
        /// it was not done.
        time: Option<Time> => "time_ns", "ns";
        /// How much longer that is than in the first trial.
        time_difference: Option<f64> => "time_difference_percent", "%";
        /// Bus bandwidth at that time; missing in the row of a job.
        busbw_gbytes_per_s: Option<f64> => "busbw_gbytes_per_s", "GB/s (10⁹)";
        /// How much more that is than in the first trial.
        busbw_difference: Option<f64> => "busbw_difference_percent", "%";
        /// Bus bandwidth over the goodput of the line rate after headers; missing in the row of a
        /// job, and for a log.
        ideal_percent: Option<f64> => "ideal_percent", "%";
        /// The 99th percentile of the flow completion times, in the iteration where it was
        /// greatest.
        fct_p99: Option<Time> => "fct_p99_ns", "ns";
        /// How much longer that is than in the first trial.
        fct_p99_difference: Option<f64> => "fct_p99_difference_percent", "%";
        /// Frames sent less frames accepted, over the judged iterations.
        frames_delta: Option<i64> => "frames_delta", "frames";
        /// Data frames sent again, over the judged iterations.
        retransmitted_frames: Option<u64> => "retransmitted_frames", "frames";
        /// In the row of a job, frames dropped anywhere in the trial.
        dropped_frames: Option<u64> => "dropped_frames", "frames";
        /// In the row of a job, pause frames anywhere in the trial that stopped a class.
        xoff_frames: Option<u64> => "xoff_frames", "frames";
        /// In the row of a job, how long ports were stopped anywhere in the trial, summed over
        /// ports and classes.
        paused: Option<Time> => "paused_ns", "ns";
        /// In the row of a job, static power over throughput of the trial; missing, like the next,
        /// where it has no power profile.
        static_per_gbps: Option<f64> => "static_w_per_gbps", "W per Gbit/s";
        /// In the row of a job, dynamic power over throughput of the trial.
        dynamic_per_gbps: Option<f64> => "dynamic_w_per_gbps", "W per Gbit/s";
    }
}
