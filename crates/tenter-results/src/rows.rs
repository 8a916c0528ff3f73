//! A trial's rows, one type for each table.
//!
//! Times are exact [`Time`]s here, and become `_ns` columns in files. Frame bytes are Ethernet
//! frames with their FCS, without preamble and inter-frame gap.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// One data chunk on one queue pair: the messages posted together and acknowledged together. It
    /// has a row once both have happened; what the end of the trial cuts off has none, nor have
    /// continuous streams.
    pub struct FlowRow in "flows" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Index of the collective in the job's run order, as in `collectives`.
        collective: u32 => "collective_index", "";
        /// Iteration of the collective, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// Index of the data chunk within the collective's buffer.
        chunk: u32 => "chunk", "";
        /// Step of the algorithm at which the chunk is sent.
        step: u32 => "step", "";
        /// Number of the transfer in the collective's schedule.
        transfer: u32 => "transfer", "";
        /// Index of the queue pair among those of the rank pair.
        queue_pair: u16 => "queue_pair", "";
        /// Rank that sends.
        src_rank: u32 => "src_rank", "";
        /// Rank that receives.
        dst_rank: u32 => "dst_rank", "";
        /// Node index of the sending NIC.
        src_host: u32 => "src_host", "";
        /// Node index of the receiving NIC.
        dst_host: u32 => "dst_host", "";
        /// UDP source port of the queue pair, the entropy that ECMP hashes; with
        /// `endpoint.nic.entropy` data packets have others.
        udp_source_port: u16 => "udp_source_port", "";
        /// Payload of the chunk, without headers.
        payload_bytes: u64 => "payload_bytes", "bytes";
        /// Instant at which the chunk was posted to the queue pair.
        posted: Time => "posted_ns", "ns";
        /// Instant at which its first frame began to leave the NIC.
        first_sent: Time => "first_sent_ns", "ns";
        /// Instant at which its last byte had arrived, in order, at the receiving NIC.
        received: Time => "received_ns", "ns";
        /// Instant at which the acknowledgement of its last byte had arrived at the sending NIC.
        acknowledged: Time => "acknowledged_ns", "ns";
        /// Data frames sent, retransmitted ones included.
        tx_frames: u64 => "tx_frames", "frames";
        /// Bytes of the data frames sent.
        tx_bytes: u64 => "tx_bytes", "bytes";
        /// Data frames accepted in order by the receiver.
        rx_frames: u64 => "rx_frames", "frames";
        /// Bytes of the data frames accepted in order.
        rx_bytes: u64 => "rx_bytes", "bytes";
        /// Data frames sent again after a NAK or a timeout.
        retransmitted_frames: u64 => "retransmitted_frames", "frames";
        /// Data frames that arrived with congestion experienced (CE) on this queue pair since the
        /// chunk before was complete, those discarded included; where packets overtake each other,
        /// some of them may be of the next chunk.
        rx_marked_frames: u64 => "rx_marked_frames", "frames";
        /// Congestion notifications the receiver sent for them: frames of their own (CNPs), or
        /// marks in acknowledgements (`cnp: in-acknowledgement`).
        cnp_frames: u64 => "cnp_frames", "frames";
        /// Least latency of an accepted frame, from its first bit on the wire to its last bit at
        /// the receiver, to 0.128 ns. Missing, like the two that follow, for a flow that took 0.549
        /// seconds or more from its first bit: packets carry the time modulo that.
        latency_min: Option<Time> => "latency_min_ns", "ns";
        /// Mean latency of the accepted frames, rounded down to a picosecond.
        latency_avg: Option<Time> => "latency_avg_ns", "ns";
        /// Greatest latency of an accepted frame.
        latency_max: Option<Time> => "latency_max_ns", "ns";
    }
    undigested {
        /// Time for which the chunk was held by its rate: the queue pair had data and the NIC's
        /// port was idle and not paused, but congestion control (its rate, its window or the credit
        /// of the receiver) did not allow the next frame. 0 without congestion control, at flow
        /// level, and in trials of real hosts, which do not tell.
        held_by_rate: Time => "held_by_rate_ns", "ns";
        /// The part of it before the first frame, waits for earlier chunks of the queue pair
        /// included.
        held_before_first: Time => "held_before_first_ns", "ns";
    }
    derived {
        /// Flow completion time: from posting to the last byte at the receiver.
        fct: Time => "fct_ns", "ns" = |row| row.received.saturating_sub(row.posted);
        /// Frames sent less frames accepted: those lost, discarded as out of order, or duplicate.
        frames_delta: i64 => "frames_delta", "frames" = |row| difference(row.tx_frames, row.rx_frames);
    }
    joined {
        /// Name of the job.
        "job_name" = |row, names| names.job(row.job);
    }
}

rows! {
    /// One iteration of one collective of one job.
    pub struct CollectiveRow in "collectives" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Index of the collective (one entry of the size list) in the job's run order.
        index: u32 => "collective_index", "";
        /// Iteration of the collective, warm-up iterations first.
        iteration: u32 => "iteration", "";
        /// True for warm-up iterations, which comparisons leave out.
        warm_up: bool => "warm_up", "";
        /// The operation, `all-to-all` or `all-reduce` for instance.
        collective: String => "collective", "";
        /// How it is carried out, `ring` or `parallel` for instance.
        algorithm: String => "algorithm", "";
        /// Size of the collective as nccl-tests counts it; its model page says of which buffer.
        size_bytes: u64 => "size_bytes", "bytes";
        /// Ranks that take part.
        ranks: u32 => "ranks", "";
        /// Instant at which the first rank started.
        start: Time => "start_ns", "ns";
        /// Instant at which the last rank was done; missing when the trial ended before.
        end: Option<Time> => "end_ns", "ns";
        /// From the start of the first rank to the end of the last; missing when the trial ended
        /// before.
        completion_time: Option<Time> => "completion_time_ns", "ns";
        /// Algorithm bandwidth: size over completion time (hypercube: without a rank's own block);
        /// where lost frames are not sent again, of the share that arrived. Missing, like all that
        /// follows from it and like ideal times and ratios, for graphs of operations, whose
        /// messages are no single collective.
        algbw_gbytes_per_s: Option<f64> => "algbw_gbytes_per_s", "GB/s (10⁹)";
        /// Bus bandwidth: algorithm bandwidth times the factor nccl-tests gives the operation.
        busbw_gbytes_per_s: Option<f64> => "busbw_gbytes_per_s", "GB/s (10⁹)";
        /// Bus bandwidth over what headers leave of the line rate of the slowest NIC; missing where
        /// a scale-up domain carried some of it.
        line_rate_percent: Option<f64> => "line_rate_percent", "%";
        /// The ideal time, as `tenter explain` foretells it: what the collective takes if nobody
        /// ever waits for anybody else's traffic, headers, latency, delays and scale-up domain
        /// included. Missing for workloads of flows and graphs of operations.
        ideal: Option<Time> => "ideal_ns", "ns";
        /// The ideal time over the completion time; missing where not all bytes arrived.
        percent_of_ideal: Option<f64> => "percent_of_ideal", "%";
        /// Time of the same transfers over a full mesh of point-to-point links at port speed: the
        /// payload that arrived through the busiest port, without headers, and the transfers within
        /// hosts.
        full_mesh_time: Time => "full_mesh_time_ns", "ns";
        /// Ideal ratio: completion time over the time on the full mesh.
        ideal_ratio: Option<f64> => "ideal_ratio", "";
        /// Mean over the flows of flow completion time over that on the full mesh, which is that of
        /// all transfers of the same step at the sender's or the receiver's port; missing, like the
        /// four that follow, when no flow has completed.
        flow_ratio_mean: Option<f64> => "flow_ideal_ratio_mean", "";
        /// Median of these ratios.
        flow_ratio_p50: Option<f64> => "flow_ideal_ratio_p50", "";
        /// 99th percentile of these ratios.
        flow_ratio_p99: Option<f64> => "flow_ideal_ratio_p99", "";
        /// 99.9th percentile of these ratios.
        flow_ratio_p999: Option<f64> => "flow_ideal_ratio_p999", "";
        /// Greatest of these ratios.
        flow_ratio_max: Option<f64> => "flow_ideal_ratio_max", "";
        /// Least flow completion time; missing, like the five that follow, when no flow has
        /// completed.
        fct_min: Option<Time> => "fct_min_ns", "ns";
        /// Median flow completion time (nearest rank, as all percentiles).
        fct_p50: Option<Time> => "fct_p50_ns", "ns";
        /// 95th percentile of the flow completion times.
        fct_p95: Option<Time> => "fct_p95_ns", "ns";
        /// 99th percentile of the flow completion times.
        fct_p99: Option<Time> => "fct_p99_ns", "ns";
        /// 99.9th percentile of the flow completion times.
        fct_p999: Option<Time> => "fct_p999_ns", "ns";
        /// Greatest flow completion time.
        fct_max: Option<Time> => "fct_max_ns", "ns";
        /// Completed flows (data chunks on queue pairs): its rows in `flows`, of which the three
        /// counts of frames that follow are the sums. Flows that the end of the trial cut off are
        /// in none of them.
        flows: u64 => "flows", "flows";
        /// Data frames sent, retransmitted ones included.
        tx_frames: u64 => "tx_frames", "frames";
        /// Data frames accepted in order by the receivers.
        rx_frames: u64 => "rx_frames", "frames";
        /// Data frames sent again after a NAK or a timeout.
        retransmitted_frames: u64 => "retransmitted_frames", "frames";
        /// Mean latency of the frames accepted, from the first bit on the wire to the last at the
        /// receiver; missing when no flow has completed, or one took 0.549 seconds or more.
        latency_avg: Option<Time> => "latency_avg_ns", "ns";
        /// Payload of the flows completed; where lost frames are not sent again, the share of it
        /// that arrived.
        rx_payload_bytes: u64 => "rx_payload_bytes", "bytes";
        /// True if every rank was done before the trial ended.
        complete: bool => "complete", "";
    }
    undigested {
        /// Data frames that arrived with congestion experienced (CE), those discarded included: the
        /// sum over its rows in `flows`.
        rx_marked_frames: u64 => "rx_marked_frames", "frames";
        /// Congestion notifications that the receivers sent for them: the sum over its rows in
        /// `flows`.
        cnp_frames: u64 => "cnp_frames", "frames";
    }
    derived {
        /// Frames sent less frames accepted: those lost, discarded as out of order, or duplicate.
        frames_delta: i64 => "frames_delta", "frames" = |row| difference(row.tx_frames, row.rx_frames);
    }
    joined {
        /// Name of the job.
        "job_name" = |row, names| names.job(row.job);
    }
}

rows! {
    /// One job, over the whole trial.
    pub struct JobRow in "jobs" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Name of the job.
        name: String => "job_name", "";
        /// Ranks that take part in the job.
        ranks: u32 => "ranks", "";
        /// True if the job is load for the others: it is not measured, and ends when they have
        /// ended.
        background: bool => "background", "";
        /// Leaves that its hosts span, over the fewest that could hold as many.
        leaf_fragmentation: Option<f64> => "leaf_fragmentation", "";
        /// Pods that its hosts span, over the fewest that could hold as many; a pod is what stays
        /// connected without the highest tier.
        pod_fragmentation: Option<f64> => "pod_fragmentation", "";
        /// Instant at which the job started; missing when the job that it waits for did not end.
        start: Option<Time> => "start_ns", "ns";
        /// Instant at which its last collective was done; missing when the trial ended before.
        end: Option<Time> => "end_ns", "ns";
        /// Job completion time: from start to end; missing when the trial ended before.
        jct: Option<Time> => "jct_ns", "ns";
        /// Computing time of its ranks before the collectives that started.
        compute: Time => "compute_ns", "ns";
        /// Exposed communication: the job completion time without computing.
        exposed: Option<Time> => "exposed_communication_ns", "ns";
        /// Time of its measured collectives together over their time on a full mesh of links at
        /// port speed; missing when the trial ended before, and for graphs of operations.
        ideal_ratio: Option<f64> => "ideal_ratio", "";
        /// Bytes of the data frames accepted, those of flows under way at the end included.
        rx_bytes: u64 => "rx_bytes", "bytes";
        /// These bytes over the time from the start of the job to its end, or to that of the trial;
        /// missing where that is none.
        rx_gbps: Option<f64> => "rx_gbps", "Gbit/s (10⁹)";
        /// True if the job was done before the trial ended.
        complete: bool => "complete", "";
        /// Why the job could not be done, where it could not.
        failure: Option<String> => "failure", "";
    }
}

rows! {
    /// One port of one node, over the whole trial. A counter that the switch or the NIC of a lab
    /// does not have, or that nobody could read, is missing.
    pub struct PortRow in "ports" without unread {
        /// Node index: NICs first, then switches.
        node: u32 => "node", "";
        /// Name of the node.
        node_name: String => "node_name", "";
        /// Port number on the node.
        port: u16 => "port", "";
        /// Name of the node at the other end of the cable.
        peer_name: String => "peer_name", "";
        /// Line rate of the port.
        rate_gbps: f64 => "rate_gbps", "Gbit/s (10⁹)";
        /// Queue pairs whose data is sent by this port, as the hash of their addresses decides
        /// while all links are up; missing where packets are balanced one by one, by switches or by
        /// NICs, and in trials of more than 2²⁰ queue pairs.
        queue_pairs: Option<u64> => "queue_pairs", "";
        /// Frames sent, of every kind but pause frames.
        tx_frames: u64 => "tx_frames", "frames", unread;
        /// Bytes of the frames sent.
        tx_bytes: u64 => "tx_bytes", "bytes", unread;
        /// Bytes that data frames took on the wire, preamble and inter-frame gap included.
        tx_data_wire_bytes: u64 => "tx_data_wire_bytes", "bytes", unread;
        /// Bytes that frames without payload took on the wire: acknowledgements, NAKs, congestion
        /// notifications and connection set-up.
        tx_control_wire_bytes: u64 => "tx_control_wire_bytes", "bytes", unread;
        /// Bytes that pause frames, flow-control packets and notices between switches took on the
        /// wire.
        tx_pause_wire_bytes: u64 => "tx_pause_wire_bytes", "bytes", unread;
        /// Frames received, of every kind but pause frames.
        rx_frames: u64 => "rx_frames", "frames", unread;
        /// Bytes of the frames received.
        rx_bytes: u64 => "rx_bytes", "bytes", unread;
        /// Of the frames received, those that found no room in the receive buffer of the NIC, or
        /// that the switch of a lab dropped when they came in.
        rx_dropped_frames: u64 => "rx_dropped_frames", "frames", unread;
        /// Bytes of those frames.
        rx_dropped_bytes: u64 => "rx_dropped_bytes", "bytes", unread;
        /// Most bytes ever waiting in the receive buffer of the NIC.
        rx_high_water_bytes: u64 => "rx_high_water_bytes", "bytes", unread;
        /// Congestion notifications that the NIC sent: frames of their own (CNPs), or marks in
        /// acknowledgements (`cnp: in-acknowledgement`).
        tx_cnp_frames: u64 => "tx_cnp_frames", "frames", unread;
        /// Congestion notifications that the NIC received.
        rx_cnp_frames: u64 => "rx_cnp_frames", "frames", unread;
        /// Frames dropped at this port for want of room in its queue.
        dropped_frames: u64 => "dropped_frames", "frames", unread;
        /// Bytes of the frames dropped.
        dropped_bytes: u64 => "dropped_bytes", "bytes", unread;
        /// Of the frames sent, those lost on the wire: the link went down or was impaired.
        lost_frames: u64 => "lost_frames", "frames", unread;
        /// Bytes of the frames lost on the wire.
        lost_bytes: u64 => "lost_bytes", "bytes", unread;
        /// Of the pause frames sent, those lost on the wire, or not sent because the link was down.
        lost_pause_frames: u64 => "lost_pause_frames", "frames", unread;
        /// Frames lost at this port because its link was down: they waited, or came to it.
        unsent_frames: u64 => "unsent_frames", "frames", unread;
        /// Bytes of the frames lost because the link was down.
        unsent_bytes: u64 => "unsent_bytes", "bytes", unread;
        /// How often the PFC watchdog found a queue of the port stuck.
        watchdog_storms: u64 => "watchdog_storms", "storms", unread;
        /// Frames dropped at this port by the PFC watchdog.
        watchdog_dropped_frames: u64 => "watchdog_dropped_frames", "frames", unread;
        /// Bytes of the frames that the watchdog dropped.
        watchdog_dropped_bytes: u64 => "watchdog_dropped_bytes", "bytes", unread;
        /// Most bytes ever waiting in the port's queue.
        queue_high_water_bytes: u64 => "queue_high_water_bytes", "bytes", unread;
        /// Frames marked with congestion experienced when they were put into the port's queues.
        marked_frames: u64 => "marked_frames", "frames", unread;
        /// Pause frames sent that stopped a class of the other end; in a lab those that let it go
        /// on, too, which switches do not tell apart, and each counts once for each class.
        tx_xoff_frames: u64 => "tx_xoff_frames", "frames", unread;
        /// Pause frames sent that let a class of the other end go on.
        tx_xon_frames: u64 => "tx_xon_frames", "frames", unread;
        /// Pause frames received that stopped a class of this port; in a lab as those sent.
        rx_xoff_frames: u64 => "rx_xoff_frames", "frames", unread;
        /// Pause frames received that let a class of this port go on.
        rx_xon_frames: u64 => "rx_xon_frames", "frames", unread;
        /// When the first pause frame took effect that stopped a class of this port; missing where
        /// none did.
        first_xoff: Option<Time> => "first_xoff_ns", "ns";
        /// Time for which the other end stopped this port's classes, by pauses or for want of
        /// credit, summed over classes.
        paused: Time => "paused_ns", "ns", unread;
        /// Time for which this port wanted the other end's classes stopped, from each XOFF to its
        /// XON, summed over classes.
        pausing: Time => "pausing_ns", "ns", unread;
        /// Share of the span from the start of the first job to the last event (the end of a frame
        /// or of a flow, a queue pair that gives up, or where the trial was stopped) in which the
        /// port was sending, preamble and inter-frame gap included; of a frame that was on the wire
        /// at the end, the part that was sent.
        utilisation: f64 => "utilisation", "", unread;
    }
    undigested {
        /// Of the frames received, data that the NIC discarded because a frame before them was
        /// missing; those of several ports are at the first.
        rx_discarded_frames: u64 => "rx_discarded_frames", "frames", unread;
        /// Of the frames received, data that the NIC discarded because it had accepted them before,
        /// or given them up; those of several ports are at the first.
        rx_duplicate_frames: u64 => "rx_duplicate_frames", "frames", unread;
    }
}

rows! {
    /// One class at one port of one node, over the whole trial. A class has a row where something
    /// happened beside frames that passed: where frames waited, or were dropped or marked, where
    /// there were pauses, or headroom was taken. Counters that a lab lacks are missing, as in
    /// `ports`.
    pub struct QueueRow in "queues" without unread {
        /// Node index: NICs first, then switches.
        node: u32 => "node", "";
        /// Name of the node.
        node_name: String => "node_name", "";
        /// Port number on the node.
        port: u16 => "port", "";
        /// Name of the node at the other end of the cable.
        peer_name: String => "peer_name", "";
        /// The traffic class, 0 to 7; at a switch the row counts those that share its queue with
        /// it.
        class: u16 => "class", "";
        /// True if the class is lossless at this node: its senders are paused, or have no credit,
        /// before frames would be dropped.
        lossless: bool => "lossless", "";
        /// Frames dropped for want of room when they were to wait at this port.
        dropped_frames: u64 => "dropped_frames", "frames", unread;
        /// Bytes of the frames dropped.
        dropped_bytes: u64 => "dropped_bytes", "bytes", unread;
        /// Frames marked with congestion experienced when they were put into the queue.
        marked_frames: u64 => "marked_frames", "frames", unread;
        /// Most bytes ever waiting in the queue of the class; 0 at NICs, whose frames wait in host
        /// memory.
        queue_high_water_bytes: u64 => "queue_high_water_bytes", "bytes", unread;
        /// Pause frames received that stopped the class.
        rx_xoff_frames: u64 => "rx_xoff_frames", "frames", unread;
        /// Pause frames received that let the class go on.
        rx_xon_frames: u64 => "rx_xon_frames", "frames", unread;
        /// Time for which the other end stopped the class: paused, or without credit for its next
        /// frame (at NICs: for their longest).
        paused: Time => "paused_ns", "ns", unread;
        /// Pause frames sent that stopped the class at the other end.
        tx_xoff_frames: u64 => "tx_xoff_frames", "frames", unread;
        /// Pause frames sent that let the class go on at the other end.
        tx_xon_frames: u64 => "tx_xon_frames", "frames", unread;
        /// Time for which this port wanted the class stopped at the other end, from each XOFF to
        /// its XON, or to the end of the trial.
        pausing: Time => "pausing_ns", "ns", unread;
        /// Headroom kept for what comes in through this port in the class; 0 where the class is not
        /// lossless, and at NICs.
        headroom_bytes: u64 => "headroom_bytes", "bytes";
        /// Most bytes of the headroom ever taken.
        headroom_high_water_bytes: u64 => "headroom_high_water_bytes", "bytes", unread;
        /// Size of the input buffer of this port and lane, in a fabric that sends by credit;
        /// elsewhere 0, as the two that follow.
        input_buffer_bytes: u64 => "input_buffer_bytes", "bytes";
        /// Most bytes ever taken of it, in whole blocks of 64 bytes.
        input_high_water_bytes: u64 => "input_high_water_bytes", "bytes", unread;
        /// Flow-control packets sent that told the other end of credit in this lane.
        tx_flow_control_packets: u64 => "tx_flow_control_packets", "packets", unread;
    }
}

rows! {
    /// The buffer of one switch, over the whole trial.
    pub struct SwitchRow in "switches" without unread {
        /// Node index, after those of the NICs.
        node: u32 => "node", "";
        /// Name of the switch.
        node_name: String => "node_name", "";
        /// Pools of shared space that its buffer has, each part of a divided buffer its own.
        pools: u32 => "pools", "";
        /// Size of the pools, without those that never run out; missing where there is no other.
        pool_bytes: Option<u64> => "pool_bytes", "bytes";
        /// Most bytes ever taken from each of these pools, added up; missing where there is none.
        pool_high_water_bytes: Option<u64> => "pool_high_water_bytes", "bytes";
        /// Index of the pool that was fullest, measured by its size; missing where there is none.
        /// In a divided buffer those of the first part come first.
        fullest_pool: Option<u32> => "fullest_pool", "";
        /// How full that pool ever was, of its size.
        fullest_pool_percent: Option<f64> => "fullest_pool_percent", "%";
        /// Bytes taken from all pools at the end of the trial; 0 when the switch is empty.
        shared_bytes: u64 => "shared_bytes", "bytes", unread;
        /// Headroom that lossless classes may use, all ports added up; where ports share it
        /// (`buffer.headroom_pool`) less is kept.
        headroom_bytes: u64 => "headroom_bytes", "bytes";
        /// Most bytes ever taken of the headroom of each port and class, added up.
        headroom_high_water_bytes: u64 => "headroom_high_water_bytes", "bytes", unread;
        /// Frames dropped at its ports.
        dropped_frames: u64 => "dropped_frames", "frames", unread;
        /// Bytes of the frames dropped.
        dropped_bytes: u64 => "dropped_bytes", "bytes", unread;
        /// Of the frames dropped, those of lossless classes.
        lossless_dropped_frames: u64 => "lossless_dropped_frames", "frames", unread;
        /// Frames marked with congestion experienced.
        marked_frames: u64 => "marked_frames", "frames", unread;
        /// Most bytes that ever waited in one virtual output queue of a leaf of a scheduled fabric;
        /// missing for other switches, as is what follows.
        voq_high_water_bytes: Option<u64> => "voq_high_water_bytes", "bytes";
        /// Most bytes that ever waited in all of them.
        voqs_high_water_bytes: Option<u64> => "voqs_high_water_bytes", "bytes";
        /// Credits that its ports granted.
        credits: Option<u64> => "credits", "";
        /// Most packets of one virtual output queue of another leaf that were ever on their way
        /// here at once, or waited for one that was.
        reorder_high_water_packets: Option<u64> => "reorder_high_water_packets", "packets";
        /// Packets given up because a cell of theirs did not come.
        reassembly_lost_frames: Option<u64> => "reassembly_lost_frames", "frames";
        /// Notices of long queues that it sent to other switches or to hosts, for
        /// telemetry-assisted load balancing.
        notice_frames: u64 => "notice_frames", "frames", unread;
        /// How often such notices made it move a flow, or flows that share a bucket, to another
        /// link.
        flow_moves: u64 => "flow_moves", "", unread;
    }
}

rows! {
    /// One port at one sampling instant.
    pub struct SampleRow in "samples" {
        /// The instant: a multiple of the sampling interval, or the end of the trial.
        time: Time => "time_ns", "ns";
        /// Node index: NICs first, then switches.
        node: u32 => "node", "";
        /// Port number on the node.
        port: u16 => "port", "";
        /// Bytes waiting in the port's queues.
        queue_bytes: u64 => "queue_bytes", "bytes";
        /// The most bytes that waited in them at once since the sample before, exactly.
        queue_high_water_bytes: u64 => "queue_high_water_bytes", "bytes";
        /// Bytes of frames sent since the sample before; of a frame on the wire at that instant the
        /// part that has been sent, to within its preamble and gap.
        tx_bytes: u64 => "tx_bytes", "bytes";
        /// Classes that the other end has stopped at that instant, one bit each: 8 says that class
        /// 3 is, 0 that none is.
        paused_classes: u16 => "paused_classes", "";
    }
    joined {
        /// Name of the node.
        "node_name" = |row, names| names.node(row.node);
    }
}

rows! {
    /// All links that lead from one tier of the fabric to another, over the whole trial: how evenly
    /// the load and the pauses were spread over them.
    pub struct TierRow in "tiers" without unread {
        /// Where the links lead: `NIC → leaf`, `leaf → spine` and so on; tiers by number in fabrics
        /// with more than three tiers of switches.
        direction: String => "direction", "";
        /// Tier of the sending end: 0 for NICs, 1 for the switches they are cabled to, and so on.
        from_tier: u32 => "from_tier", "";
        /// Tier of the other end.
        to_tier: u32 => "to_tier", "";
        /// Links in that direction.
        links: u64 => "links", "";
        /// Least bytes that a link carried.
        tx_min_bytes: u64 => "tx_min_bytes", "bytes", unread;
        /// Mean of the bytes that links carried.
        tx_mean_bytes: f64 => "tx_mean_bytes", "bytes", unread;
        /// Most bytes that a link carried.
        tx_max_bytes: u64 => "tx_max_bytes", "bytes", unread;
        /// Most bytes over mean bytes: 1 for an even spread; missing where nothing was carried.
        tx_max_over_mean: Option<f64> => "tx_max_over_mean", "";
        /// Least utilisation of a link.
        utilisation_min: f64 => "utilisation_min", "", unread;
        /// Mean utilisation of the links.
        utilisation_mean: f64 => "utilisation_mean", "", unread;
        /// Greatest utilisation of a link.
        utilisation_max: f64 => "utilisation_max", "", unread;
        /// Least pause frames received on a link that stopped a class.
        rx_xoff_min_frames: u64 => "rx_xoff_min_frames", "frames", unread;
        /// Mean of these pause frames.
        rx_xoff_mean_frames: f64 => "rx_xoff_mean_frames", "frames", unread;
        /// Most of these pause frames on a link.
        rx_xoff_max_frames: u64 => "rx_xoff_max_frames", "frames", unread;
        /// Shortest time a link was stopped by its other end, summed over classes.
        paused_min: Time => "paused_min_ns", "ns", unread;
        /// Mean of these times, rounded down to a picosecond.
        paused_mean: Time => "paused_mean_ns", "ns", unread;
        /// Longest of these times.
        paused_max: Time => "paused_max_ns", "ns", unread;
        /// Frames dropped at the sending ports of all these links.
        dropped_frames: u64 => "dropped_frames", "frames", unread;
    }
}

/// Subtracts two counts; the difference may be negative.
fn difference(a: u64, b: u64) -> i64 {
    a.wrapping_sub(b).cast_signed()
}
