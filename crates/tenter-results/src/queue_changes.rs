//! Queue lengths over time, at every change.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// A queue of a switch after a frame was put into it or left it; with
    /// `observe.queue_changes_from` first what waits then.
    pub struct QueueChangeRow in "queue_changes" {
        /// The instant.
        time: Time => "time_ns", "ns";
        /// Node index, after those of the NICs.
        node: u32 => "node", "";
        /// Port number on the node.
        port: u16 => "port", "";
        /// The class of the queue.
        class: u16 => "class", "";
        /// Bytes waiting from then on.
        queue_bytes: u64 => "queue_bytes", "bytes";
    }
    joined {
        /// Name of the node.
        "node_name" = |row, names| names.node(row.node);
    }
}
