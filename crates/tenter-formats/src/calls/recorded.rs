//! A recorded call with its times.

use tenter_workload::graph::CollectiveName;

/// A message between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// True if the rank sends it, false if the rank receives it.
    pub(crate) sends: bool,
    pub(crate) peer: u32,
    pub(crate) bytes: u64,
    /// Group number. Messages in other groups go beside it, and are never its counterpart.
    pub(crate) group: u32,
}

/// A recorded call's content, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A collective: `bytes` is a rank's own part, `group` a number among the trace's groups.
    Collective {
        name: CollectiveName,
        bytes: u64,
        group: u32,
    },
    /// Messages that are under way together.
    Messages(Vec<Message>),
    /// A call with unknown content, which takes its measured time.
    Measured,
}

/// A call with its times, in ps from the recording's start. Both are 0 if they are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Stream on which it ran, from 0.
    pub(crate) stream: u32,
    /// Number among its group's collectives, if it was recorded.
    pub(crate) sequence: Option<u64>,
    pub(crate) call: Call,
}
