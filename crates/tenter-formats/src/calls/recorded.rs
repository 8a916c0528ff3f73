//! A call, and when it was.

use tenter_workload::graph::CollectiveName;

/// A message between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Whether the rank sends it.
    pub(crate) sends: bool,
    pub(crate) peer: u32,
    pub(crate) bytes: u64,
    /// The number of its group: those of other groups are beside it, and never its counterpart.
    pub(crate) group: u32,
}

/// What a rank has called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A collective with so many bytes of its own in a group, by its number.
    Collective {
        name: CollectiveName,
        bytes: u64,
        group: u32,
    },
    /// Messages that are on their way together.
    Messages(Vec<Message>),
    /// Something that takes the time that was measured.
    Measured,
}

/// A call, and when it was. Times are picoseconds from the start of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The stream that it was on, from 0.
    pub(crate) stream: u32,
    /// Its number among the collectives of its group, where that was recorded.
    pub(crate) sequence: Option<u64>,
    pub(crate) call: Call,
}
