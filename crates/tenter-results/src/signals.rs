//! Congestion signals from switches to senders, and the time until they take effect.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// A switch that tells senders of long queues, or passes such signals on to hosts.
    pub struct SignalRow in "signals" {
        /// Node index, after those of the NICs.
        node: u32 => "node", "";
        /// Name of the switch.
        node_name: String => "node_name", "";
        /// Signals it sent to senders: packets of their own.
        tx_signal_frames: u64 => "tx_signal_frames", "frames";
        /// Data frames that came for a queue at or above the threshold whose sender had been told
        /// already, so that no signal was sent.
        suppressed_frames: u64 => "suppressed_frames", "frames";
        /// Signals of other switches that ended here, as a pause of a host.
        converted_frames: u64 => "converted_frames", "frames";
        /// How often it told a host of its own because of a queue of its own.
        own_senders: u64 => "own_senders", "";
        /// How often it told a host of its own because another one had been told.
        cache_hits: u64 => "cache_hits", "";
        /// Signals that it could not remember, for want of room in its cache.
        cache_refused: u64 => "cache_refused", "";
        /// Pauses for which no frame was sent, as the host was to stand still as long already.
        covered: u64 => "covered", "";
        /// Pause frames it sent because of signals, XOFF all of them.
        tx_xoff_frames: u64 => "tx_xoff_frames", "frames";
    }
}

rows! {
    /// Times from a queue's being too long to a sender's pause, for a sender, a receiver and a
    /// cause.
    pub struct ReactionRow in "reactions" {
        /// Node index of the NIC that paused.
        sender: u32 => "sender", "";
        /// Name of the NIC that paused.
        sender_name: String => "sender_name", "";
        /// Node index of the NIC whose queue was too long.
        receiver: u32 => "receiver", "";
        /// Name of the NIC whose queue was too long.
        receiver_name: String => "receiver_name", "";
        /// `signal` of another switch, `own-queue` of the switch the sender is cabled to, or
        /// `cache` of that switch, which then counts from the sender's packet there.
        cause: String => "cause", "";
        /// Pauses of the sender for this cause, towards this receiver.
        pauses: u64 => "pauses", "";
        /// Shortest time from the arrival of a data packet at the queue to the sender's pause, to
        /// 0.128 ns as all of these.
        reaction_min: Time => "reaction_min_ns", "ns";
        /// Mean of these times.
        reaction_mean: Time => "reaction_mean_ns", "ns";
        /// Median of these times, within 1.6 %.
        reaction_p50: Time => "reaction_p50_ns", "ns";
        /// 99th percentile of these times, within 1.6 %.
        reaction_p99: Time => "reaction_p99_ns", "ns";
        /// Longest of these times.
        reaction_max: Time => "reaction_max_ns", "ns";
        /// Uncongested round trip from the sender to the receiver: from the first bit of a full
        /// packet to the last of its acknowledgement.
        round_trip: Time => "round_trip_ns", "ns";
        /// Time for which signals kept the sender from sending to the receiver, where NICs obey
        /// them; rows of all causes have the same value.
        held: Time => "held_ns", "ns";
    }
}
