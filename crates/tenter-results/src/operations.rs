//! Start and end of a graph's operations, and the critical path through them.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// An operation of a rank of a graph, in one iteration.
    pub struct OperationRow in "operations" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Iteration of the graph, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// The rank.
        rank: u32 => "rank", "";
        /// Place of the operation among those of the rank, from 0.
        operation: u32 => "operation", "";
        /// `compute`, `wait`, `send`, `receive` or `collective`.
        kind: String => "kind", "";
        /// The stream of the rank that it is on, as the file numbers them.
        stream: u32 => "stream", "";
        /// The rank that it sends to, or that has sent its message.
        peer: Option<u32> => "peer_rank", "";
        /// The tag of a message; missing for a receive of any.
        tag: Option<u32> => "tag", "";
        /// Payload of a message, or the size of a collective.
        bytes: u64 => "payload_bytes", "bytes";
        /// Number of the transfer of a send, as in `flows`.
        transfer: Option<u32> => "transfer", "";
        /// Instant at which all that it waits for was over; missing, as the times that follow,
        /// where the trial ended before.
        ready: Option<Time> => "ready_ns", "ns";
        /// Instant at which its stream began with it; that of a receive asked for its message then.
        started: Option<Time> => "started_ns", "ns";
        /// Instant at which a receive had its message.
        matched: Option<Time> => "matched_ns", "ns";
        /// Instant at which it was done.
        done: Option<Time> => "done_ns", "ns";
        /// The operation of the rank that it waited for last.
        released_by: Option<u32> => "released_by", "";
        /// The operation of the rank that kept its stream busy when it was ready.
        behind: Option<u32> => "behind", "";
        /// The send, by its place at the peer, whose message a receive got.
        sent_by: Option<u32> => "sent_by", "";
        /// When it began where it was recorded, from the start of the recording; missing where the
        /// workload has no such time.
        measured_start: Option<Time> => "measured_start_ns", "ns";
        /// Duration of the operation where it was recorded.
        measured_time: Option<Time> => "measured_time_ns", "ns";
        /// True if the operation is on the critical path of its iteration.
        critical: bool => "critical", "";
    }
    joined {
        /// Name of the job.
        "job_name" = |row, names| names.job(row.job);
    }
}

rows! {
    /// Use of a rank's time in one iteration of a graph that ended.
    pub struct RankTimeRow in "rank_times" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Iteration of the graph, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// The rank.
        rank: u32 => "rank", "";
        /// Node index of the NIC that the rank uses.
        host: u32 => "host", "";
        /// Instant at which its last operation was done.
        end: Time => "end_ns", "ns";
        /// Time in which a stream of it computed.
        computing: Time => "computing_ns", "ns";
        /// Time in which a send, a receive or a collective of it was under way: receives from when
        /// they ask for their message.
        communicating: Time => "communicating_ns", "ns";
        /// Exposed communication: time in which it communicated and no stream computed; of
        /// trainings and inferences communication that computing waited for, as in `training_steps`
        /// and `inference_pools`, without the bubble.
        exposed: Time => "exposed_communication_ns", "ns";
        /// Time from the start of the iteration to its end in which it neither computed nor had
        /// exposed communication.
        idle: Time => "idle_ns", "ns";
        /// Time of the critical path that its own operations, and messages to it, account for.
        critical: Time => "critical_ns", "ns";
    }
    joined {
        /// Name of the job.
        "job_name" = |row, names| names.job(row.job);
        /// Name of the NIC.
        "host_name" = |row, names| names.node(row.host);
    }
}

rows! {
    /// A part of the critical path of a graph in one iteration that ended: the chain of operations
    /// and messages of which each began when the one before was over, up to the end.
    pub struct CriticalPathRow in "critical_path" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Iteration of the graph, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// Number of the part, in the order of time.
        part: u32 => "part", "";
        /// `compute`; `wait` for a time to come; `overhead` of a send or a receive on its stream;
        /// `message`, from its posting to its arrival; `acknowledgement` of a send that is done
        /// with it, after the arrival of its message; `collective`, from its last rank to its end;
        /// `start`, before the first operation.
        kind: String => "kind", "";
        /// The rank of the operation; of a message the one that receives it, or its sender where
        /// that waits for it.
        rank: u32 => "rank", "";
        /// The operation, by its place in its rank; of a message the receive, or the send.
        operation: u32 => "operation", "";
        /// The rank that sent a message.
        peer: Option<u32> => "peer_rank", "";
        /// The send of a message, by its place in that rank.
        sent_by: Option<u32> => "sent_by", "";
        /// Payload of a message, or the size of a collective.
        bytes: u64 => "payload_bytes", "bytes";
        /// Instant at which the part began.
        from: Time => "from_ns", "ns";
        /// Instant at which the part was over.
        to: Time => "to_ns", "ns";
    }
    derived {
        /// Duration of this part of the path.
        time: Time => "time_ns", "ns" = |row| row.to.saturating_sub(row.from);
    }
    joined {
        /// Name of the job.
        "job_name" = |row, names| names.job(row.job);
    }
}

rows! {
    /// Parts of the critical path of a graph in one iteration that ended, and the exposed
    /// communication of its ranks.
    pub struct CriticalShareRow in "critical_shares" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Name of the job in the scenario.
        job_name: String => "job_name", "";
        /// Iteration of the graph, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// From the iteration's start to its end.
        whole: Time => "completion_time_ns", "ns";
        /// Time of computing operations on the path.
        compute: Time => "compute_ns", "ns";
        /// Messages on the path, from posting to arrival.
        message: Time => "message_ns", "ns";
        /// Collectives on the path, each from its last rank to its end.
        collective: Time => "collective_ns", "ns";
        /// Acknowledgements on the path, of sends that are done with them.
        acknowledgement: Time => "acknowledgement_ns", "ns";
        /// Overheads of sends and receives on the path.
        overhead: Time => "overhead_ns", "ns";
        /// Mean over the ranks of their exposed communication, as in `rank_times`.
        exposed_mean: Time => "exposed_communication_mean_ns", "ns";
        /// The longest such time of a rank.
        exposed_max: Time => "exposed_communication_max_ns", "ns";
        /// The rank that has it.
        exposed_max_rank: u32 => "exposed_communication_max_rank", "";
    }
    derived {
        /// Waits for a time to come on the path, which recorded gaps and arrivals of requests are,
        /// and the time before its first operation. With the five parts before it adds up to the
        /// completion time.
        wait: Time => "wait_ns", "ns" = |row| {
            let waited_for = row.compute + row.message + row.collective;
            let protocol = row.acknowledgement + row.overhead;
            row.whole.saturating_sub(waited_for).saturating_sub(protocol)
        };
    }
}
