//! A flow workload's completion times by flow size.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// The flows of a job, all of them or those of some sizes; of jobs that run a workload of flows
    /// alone. Percentiles are rounded up by at most 1/1,024.
    pub struct FlowSizeRow in "flow_sizes" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Name of the job.
        job_name: String => "job_name", "";
        /// Which tenth of the size distribution, from 0, the smallest; missing in the row of all
        /// sizes. Tenths that a distribution gives the same greatest size are one row, under the
        /// first of them.
        bucket: Option<u32> => "bucket", "";
        /// The least size counted here.
        from: u64 => "from_bytes", "bytes";
        /// The greatest size counted here.
        to: u64 => "to_bytes", "bytes";
        /// Flows whose last byte has been acknowledged.
        flows: u64 => "flows", "flows";
        /// Payload of these flows, without headers.
        payload: u64 => "payload_bytes", "bytes";
        /// Mean flow completion time: from the start of a flow at its sender to the arrival of its
        /// last byte at the receiver. Missing, like all that follow, when no flow has completed.
        fct_mean: Option<Time> => "fct_mean_ns", "ns";
        /// Median flow completion time.
        fct_p50: Option<Time> => "fct_p50_ns", "ns";
        /// 99th percentile of the flow completion times.
        fct_p99: Option<Time> => "fct_p99_ns", "ns";
        /// 99.9th percentile of the flow completion times.
        fct_p999: Option<Time> => "fct_p999_ns", "ns";
        /// 99.99th percentile of the flow completion times.
        fct_p9999: Option<Time> => "fct_p9999_ns", "ns";
        /// Greatest flow completion time.
        fct_max: Option<Time> => "fct_max_ns", "ns";
        /// Mean slowdown: flow completion time over that of the same flow alone on the same path,
        /// where nothing but the links holds it up. Missing, like all that follow, also in
        /// scheduled fabrics.
        slowdown_mean: Option<f64> => "slowdown_mean", "";
        /// Median slowdown.
        slowdown_p50: Option<f64> => "slowdown_p50", "";
        /// 99th percentile of the slowdowns.
        slowdown_p99: Option<f64> => "slowdown_p99", "";
        /// 99.9th percentile of the slowdowns.
        slowdown_p999: Option<f64> => "slowdown_p999", "";
        /// 99.99th percentile of the slowdowns.
        slowdown_p9999: Option<f64> => "slowdown_p9999", "";
        /// Greatest slowdown.
        slowdown_max: Option<f64> => "slowdown_max", "";
    }
}
