//! Inference: request times, and how ranks spent their time.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// An iteration of an inference that ended: all of its requests.
    pub struct InferenceRow in "inference" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Name of the job in the scenario.
        job_name: String => "job_name", "";
        /// Iteration of the job, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// True for warm-up iterations, which comparisons leave out.
        warm_up: bool => "warm_up", "";
        /// From the start to the end of the last request.
        duration: Time => "duration_ns", "ns";
        /// Duration by the clock of the scheduler, which knows no congestion; missing where batches
        /// do not depend on time.
        planned: Option<Time> => "planned_ns", "ns";
        /// Requests that the iteration answered.
        requests: u64 => "requests", "requests";
        /// Tokens of these requests' prompts.
        prompt_tokens: u64 => "prompt_tokens", "tokens";
        /// Tokens of these requests' answers.
        output_tokens: u64 => "output_tokens", "tokens";
        /// Requests over the duration, per second.
        requests_per_second: f64 => "requests_per_s", "requests/s";
        /// Tokens of answers over the duration, per second.
        tokens_per_second: f64 => "tokens_per_s", "tokens/s";
        /// Tokens of answers per second, over the number of accelerators.
        tokens_of_accelerator: f64 => "tokens_per_s_per_accelerator", "tokens/s";
        /// Mean time to first token, from the arrival of a request.
        ttft_mean: Time => "ttft_mean_ns", "ns";
        /// Median of the times to first token.
        ttft_p50: Time => "ttft_p50_ns", "ns";
        /// 99th percentile of the times to first token.
        ttft_p99: Time => "ttft_p99_ns", "ns";
        /// Mean time per output token behind the first, of requests with several.
        tpot_mean: Option<Time> => "tpot_mean_ns", "ns";
        /// Median of the times per output token.
        tpot_p50: Option<Time> => "tpot_p50_ns", "ns";
        /// 99th percentile of the times per output token.
        tpot_p99: Option<Time> => "tpot_p99_ns", "ns";
        /// Mean wait of a request for its batch, which is part of the time to first token.
        queueing_mean: Time => "queueing_mean_ns", "ns";
        /// 99th percentile of these waits for a batch.
        queueing_p99: Time => "queueing_p99_ns", "ns";
        /// Of the time to first token, the iterations that computed the prompt: the mean.
        prefill_mean: Time => "prefill_mean_ns", "ns";
        /// Of the time to first token, the transfer of keys and values to the pool that decodes:
        /// the mean over requests that have one.
        kv_mean: Option<Time> => "kv_transfer_mean_ns", "ns";
        /// 99th percentile of these transfers of keys and values.
        kv_p99: Option<Time> => "kv_transfer_p99_ns", "ns";
        /// Tensor-parallel payload within scale-up domains, sent by all ranks.
        tensor_within: u64 => "tp_scale_up_bytes", "bytes";
        /// Tensor-parallel payload over the network.
        tensor_network: u64 => "tp_network_bytes", "bytes";
        /// Payload of experts within scale-up domains.
        expert_within: u64 => "ep_scale_up_bytes", "bytes";
        /// Payload of experts over the network.
        expert_network: u64 => "ep_network_bytes", "bytes";
        /// Payload between stages within scale-up domains.
        pipeline_within: u64 => "pp_scale_up_bytes", "bytes";
        /// Payload between stages over the network.
        pipeline_network: u64 => "pp_network_bytes", "bytes";
        /// Keys and values between pools within scale-up domains.
        kv_within: u64 => "kv_scale_up_bytes", "bytes";
        /// Keys and values between pools over the network.
        kv_network: u64 => "kv_network_bytes", "bytes";
    }
}

rows! {
    /// Where the time of the ranks of a pool went in an iteration that ended: means over its ranks,
    /// which add up to the duration.
    pub struct InferencePoolRow in "inference_pools" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Name of the job in the scenario.
        job_name: String => "job_name", "";
        /// Iteration of the job, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// The pool: `all`, `prefill` or `decode`.
        pool: String => "pool", "";
        /// Ranks that the pool has, one for each accelerator.
        ranks: u32 => "ranks", "";
        /// Replicas of the model that the pool runs.
        replicas: u32 => "replicas", "";
        /// Iterations over batches; replicas with experts in common go step by step and count once.
        batches: u64 => "batches", "";
        /// Tokens of prompts that were computed.
        prompt_tokens: u64 => "prompt_tokens", "tokens";
        /// Other tokens that were computed.
        decode_tokens: u64 => "decode_tokens", "tokens";
        /// From the start to the end of the last request.
        duration: Time => "duration_ns", "ns";
        /// Time in which a rank computed.
        compute: Time => "compute_ns", "ns";
        /// Tensor-parallel communication that computing waited for.
        tensor: Time => "exposed_tp_ns", "ns";
        /// Dispatch to experts and combination that computing waited for.
        expert: Time => "exposed_ep_ns", "ns";
        /// Messages between stages that were under way while computing waited for them.
        pipeline: Time => "exposed_pp_ns", "ns";
        /// Keys and values that were under way while computing waited for them.
        kv: Time => "exposed_kv_ns", "ns";
        /// Time in which a stage waited for messages of others that had not been sent, without the
        /// time in which the first stage waited for requests.
        bubble: Time => "bubble_ns", "ns";
        /// Time in which there was no request to compute: waiting for arrivals, and for keys and
        /// values that had not been sent.
        idle: Time => "idle_ns", "ns";
        /// Memory of the rank that needs most, by formula.
        memory: u64 => "memory_bytes", "bytes";
    }
}

rows! {
    /// A request of an inference that ended.
    pub struct RequestRow in "requests" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Iteration of the job, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// Number of the request within the iteration.
        request: u32 => "request", "";
        /// Replica that computed its prompt.
        replica: u32 => "replica", "";
        /// Replica that computed the other tokens of its answer, where it had any.
        decode_replica: Option<u32> => "decode_replica", "";
        /// Tokens that its prompt has.
        prompt_tokens: u32 => "prompt_tokens", "tokens";
        /// Tokens of its answer, the first included.
        output_tokens: u32 => "output_tokens", "tokens";
        /// Instant at which the request arrived.
        arrival: Time => "arrival_ns", "ns";
        /// Start of the first iteration that computed its prompt.
        prefill_start: Time => "prefill_start_ns", "ns";
        /// End of the last of these.
        prefill_end: Time => "prefill_end_ns", "ns";
        /// Instant at which its keys and values were at the other pool.
        kv_end: Option<Time> => "kv_transfer_end_ns", "ns";
        /// Instant of its first token: the end of the prompt, or of the KV transfer.
        first_token: Time => "first_token_ns", "ns";
        /// Start of the first iteration that computed another token.
        decode_start: Option<Time> => "decode_start_ns", "ns";
        /// Instant of its last token.
        end: Time => "end_ns", "ns";
        /// Time to first token, from the arrival of the request.
        ttft: Time => "ttft_ns", "ns";
        /// Time per output token behind the first.
        tpot: Option<Time> => "tpot_ns", "ns";
    }
    joined {
        /// Name of the job.
        "job_name" = |row, names| names.job(row.job);
    }
}
