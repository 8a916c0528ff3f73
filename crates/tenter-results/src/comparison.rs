//! The table that compares trials.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// One job of one trial, one collective and size of it, the last step of a training or the
    /// requests of an inference, beside the same of the first trial; and a row of each trial as a
    /// whole. A job that is one collective has the row of that alone.
    pub struct ComparisonRow in "comparison" {
        /// Name of the trial's folder, or of the log.
        trial: String => "trial", "";
        /// Name of the job; of the one it stands beside, for a log; empty in the row of a trial.
        job_name: String => "job_name", "";
        /// The operation, `all-to-all` or `all-reduce` for instance; missing, like the two that
        /// follow, in the rows of a job itself and of a trial.
        collective: Option<String> => "collective", "";
        /// How it is carried out, `ring` or `parallel` for instance.
        algorithm: Option<String> => "algorithm", "";
        /// Size of the collective as nccl-tests counts it.
        size_bytes: Option<u64> => "size_bytes", "bytes";
        /// Job completion time, or mean over the measured iterations of the collective; missing
        /// where it was not done.
        time: Option<Time> => "time_ns", "ns";
        /// Change of that time from the first trial's, in percent of the latter; positive if
        /// longer.
        time_difference: Option<f64> => "time_difference_percent", "%";
        /// Bus bandwidth at that time; missing in the row of a job.
        busbw_gbytes_per_s: Option<f64> => "busbw_gbytes_per_s", "GB/s (10⁹)";
        /// Change of that bandwidth from the first trial's, in percent of the latter.
        busbw_difference: Option<f64> => "busbw_difference_percent", "%";
        /// Bus bandwidth over what headers leave of the line rate of the slowest NIC; missing in
        /// the
        /// row of a job, for a log, and where a scale-up domain carried some of it.
        line_rate_percent: Option<f64> => "line_rate_percent", "%";
        /// The ideal time, as `tenter explain` foretells it, over that time; missing in the row of
        /// a
        /// job, for a log, and where not all bytes arrived.
        percent_of_ideal: Option<f64> => "percent_of_ideal", "%";
        /// The 99th percentile of the flow completion times, in the iteration where it was
        /// greatest.
        fct_p99: Option<Time> => "fct_p99_ns", "ns";
        /// Change of that percentile from the first trial's, in percent of the latter.
        fct_p99_difference: Option<f64> => "fct_p99_difference_percent", "%";
        /// Frames sent less frames accepted, over the measured iterations.
        frames_delta: Option<i64> => "frames_delta", "frames";
        /// Data frames sent again, over the measured iterations.
        retransmitted_frames: Option<u64> => "retransmitted_frames", "frames";
        /// Data frames that arrived with congestion experienced (CE), over the measured iterations.
        rx_marked_frames: Option<u64> => "rx_marked_frames", "frames";
        /// Congestion notifications that receivers sent, over the measured iterations.
        cnp_frames: Option<u64> => "cnp_frames", "frames";
        /// In the row of a training's last step, computing; missing, like the four that follow, in
        /// all other rows.
        compute: Option<Time> => "compute_ns", "ns";
        /// Communication of any parallelism that computing waited for.
        exposed: Option<Time> => "exposed_ns", "ns";
        /// Time in which a stage waited for messages that had not been sent, or for other ranks to
        /// end the step.
        bubble: Option<Time> => "bubble_ns", "ns";
        /// Model FLOPs utilisation: the share of the accelerators' peak that the model's operations
        /// reach.
        mfu: Option<f64> => "mfu_percent", "%";
        /// Tokens over the time, in the rows of trainings and of inferences.
        tokens_per_second: Option<f64> => "tokens_per_s", "tokens/s";
        /// In the row of an inference, the median time to the first token; missing, like the three
        /// that follow, in all other rows.
        ttft_p50: Option<Time> => "ttft_p50_ns", "ns";
        /// The 99th percentile of the time to the first token.
        ttft_p99: Option<Time> => "ttft_p99_ns", "ns";
        /// The median time per output token behind the first; missing where requests have one.
        tpot_p50: Option<Time> => "tpot_p50_ns", "ns";
        /// The 99th percentile of the time per output token behind the first.
        tpot_p99: Option<Time> => "tpot_p99_ns", "ns";
        /// In the row of a trial, frames dropped anywhere.
        dropped_frames: Option<u64> => "dropped_frames", "frames";
        /// In the row of a trial, pause frames anywhere that stopped a class.
        xoff_frames: Option<u64> => "xoff_frames", "frames";
        /// In the row of a trial, how long ports were stopped anywhere, summed over
        /// ports and classes.
        paused: Option<Time> => "paused_ns", "ns";
        /// In the row of a trial, static power over throughput; missing, like the next,
        /// where it has no power profile.
        static_per_gbps: Option<f64> => "static_w_per_gbps", "W per Gbit/s";
        /// In the row of a trial, dynamic power over throughput.
        dynamic_per_gbps: Option<f64> => "dynamic_w_per_gbps", "W per Gbit/s";
    }
}
