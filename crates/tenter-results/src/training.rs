//! Training steps: their times, divided into computing and waiting.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// A step of a training that ended. Times but that of the step are means over the ranks;
    /// computing, exposed communication and bubble add up to the step.
    pub struct TrainingStepRow in "training_steps" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Name of the job in the scenario.
        job_name: String => "job_name", "";
        /// Iteration of the job, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// True for warm-up iterations, which comparisons leave out.
        warm_up: bool => "warm_up", "";
        /// From the start of the step to the end of its last operation at any rank.
        step: Time => "step_ns", "ns";
        /// Time in which a rank computed.
        compute: Time => "compute_ns", "ns";
        /// Of computing, the time of forward passes.
        forward: Time => "forward_ns", "ns";
        /// Of computing, the time of backward passes.
        backward: Time => "backward_ns", "ns";
        /// Of computing, the time of recomputation before backward passes.
        recompute: Time => "recompute_ns", "ns";
        /// Of computing, the time of the optimizer.
        optimizer: Time => "optimizer_ns", "ns";
        /// Tensor-parallel communication that computing waited for.
        tensor: Time => "exposed_tp_ns", "ns";
        /// Dispatch to experts and combination that computing waited for.
        expert: Time => "exposed_ep_ns", "ns";
        /// Keys and values from other ranks of a ring that computing waited for.
        context: Time => "exposed_cp_ns", "ns";
        /// Messages between stages that were under way while computing waited for them.
        pipeline: Time => "exposed_pp_ns", "ns";
        /// Time in which a stage waited for messages that had not been sent, or for other ranks to
        /// end the step.
        bubble: Time => "bubble_ns", "ns";
        /// Sums of gradients and gathering of weights that computing waited for.
        data: Time => "exposed_dp_ns", "ns";
        /// Tokens of the step, over all sequences.
        tokens: u64 => "tokens", "tokens";
        /// Tokens over the time of the step.
        tokens_per_second: f64 => "tokens_per_s", "tokens/s";
        /// Operations of the model over time and accelerators: three times those of the forward
        /// pass, with scores of whole sequences and without what was computed again.
        tflops: f64 => "tflops_per_accelerator", "TFLOP/s";
        /// These over the peak of the accelerator (model FLOPs utilisation).
        mfu: f64 => "mfu_percent", "%";
        /// Memory of the rank that needs most, by formula.
        memory: u64 => "memory_bytes", "bytes";
        /// Tensor-parallel payload within scale-up domains, sent by all ranks.
        tensor_within: u64 => "tp_scale_up_bytes", "bytes";
        /// Tensor-parallel payload over the network.
        tensor_network: u64 => "tp_network_bytes", "bytes";
        /// Payload of experts within scale-up domains.
        expert_within: u64 => "ep_scale_up_bytes", "bytes";
        /// Payload of experts over the network.
        expert_network: u64 => "ep_network_bytes", "bytes";
        /// Payload of rings of context parallelism within scale-up domains.
        context_within: u64 => "cp_scale_up_bytes", "bytes";
        /// Payload of rings of context parallelism over the network.
        context_network: u64 => "cp_network_bytes", "bytes";
        /// Payload between stages within scale-up domains.
        pipeline_within: u64 => "pp_scale_up_bytes", "bytes";
        /// Payload between stages over the network.
        pipeline_network: u64 => "pp_network_bytes", "bytes";
        /// Gradients and weights within scale-up domains.
        data_within: u64 => "dp_scale_up_bytes", "bytes";
        /// Gradients and weights over the network.
        data_network: u64 => "dp_network_bytes", "bytes";
    }
}

impl TrainingStepRow {
    /// Returns the communication that computing waited for, summed over all kinds of parallelism.
    pub fn exposed(&self) -> Time {
        [
            self.tensor,
            self.expert,
            self.context,
            self.pipeline,
            self.data,
        ]
        .into_iter()
        .sum()
    }
}

rows! {
    /// Use of a rank's time in a step that ended. Computing, exposed communication and bubble add
    /// up to the step.
    pub struct TrainingRankRow in "training_ranks" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Iteration of the job, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// The rank.
        rank: u32 => "rank", "";
        /// Node index of the NIC that the rank uses.
        host: u32 => "host", "";
        /// Instant at which its last operation was done.
        end: Time => "end_ns", "ns";
        /// Time in which the rank computed.
        compute: Time => "compute_ns", "ns";
        /// Tensor-parallel communication that computing waited for.
        tensor: Time => "exposed_tp_ns", "ns";
        /// Dispatch to experts and combination that computing waited for.
        expert: Time => "exposed_ep_ns", "ns";
        /// Keys and values from other ranks of a ring that computing waited for.
        context: Time => "exposed_cp_ns", "ns";
        /// Messages between stages that were under way while computing waited for them.
        pipeline: Time => "exposed_pp_ns", "ns";
        /// Time in which it waited for messages that had not been sent, or for other ranks to end
        /// the step.
        bubble: Time => "bubble_ns", "ns";
        /// Sums of gradients and gathering of weights that computing waited for.
        data: Time => "exposed_dp_ns", "ns";
    }
    joined {
        /// Name of the job.
        "job_name" = |row, names| names.job(row.job);
        /// Name of the NIC.
        "host_name" = |row, names| names.node(row.host);
    }
}
