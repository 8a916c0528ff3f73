//! Errors that make operations unfit to run as a graph.

use crate::WorkloadError;

/// An error in an operation graph. Fields name an operation by its place within its rank, from 0;
/// importers turn places into lines or labels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// A graph with fewer than two ranks.
    #[error("there are operations of {ranks} rank(s) alone; give those of at least 2 ranks")]
    TooFewRanks {
        /// Number of ranks that the graph has.
        ranks: u32,
    },
    /// A graph in which no rank does anything.
    #[error("no rank has an operation; give at least one")]
    NoOperations,
    /// More operations than `u32` places with room for two flag bits can number.
    #[error("there are more than {most} operations; split the graph over several jobs")]
    TooManyOperations {
        /// Largest number of operations allowed.
        most: u32,
    },
    /// More streams in one rank than `u16` can number.
    #[error("rank {rank} has more than 65,535 streams; give it fewer")]
    TooManyStreams {
        /// Rank that has the streams.
        rank: u32,
    },
    /// A peer that is no rank.
    #[error("rank {rank} names rank {peer}, and there are {ranks}; name another peer")]
    NoSuchPeer {
        /// Rank whose operation names the peer.
        rank: u32,
        /// Place of that operation within its rank.
        operation: u32,
        /// Peer that the operation names.
        peer: u32,
        /// Number of ranks that the graph has.
        ranks: u32,
    },
    /// A send with the reserved tag that stands for any.
    #[error("a send of rank {rank} has the tag 4,294,967,295, which stands for any; give another")]
    TagOfAny {
        /// Rank whose send has the tag.
        rank: u32,
        /// Place of the send within its rank.
        operation: u32,
    },
    /// A group that lists a rank twice.
    #[error("rank {rank} is twice in a group; list it once")]
    TwiceInGroup {
        /// Rank that is listed twice.
        rank: u32,
    },
    /// A collective run by a rank outside its group.
    #[error("rank {rank} runs a collective in group {group} and is not in it; add it to the group")]
    NotInGroup {
        /// Rank that runs the collective.
        rank: u32,
        /// Number of the group, in the order of addition.
        group: u32,
    },
    /// Different collectives run by a group's ranks as their `nth`.
    #[error(
        "collective {nth} of group {group} is {own} at rank {rank} and {other} at another one; give \
         all ranks of a group the same collectives in the same order"
    )]
    CollectivesDiffer {
        /// Rank at which the difference shows.
        rank: u32,
        /// Number of the group, in the order of addition.
        group: u32,
        /// The collective's position within its group, from 0.
        nth: u32,
        /// Collective and size that `rank` runs.
        own: String,
        /// Collective and size that another rank runs there.
        other: String,
    },
    /// A collective that some rank in its group does not run, or runs twice.
    #[error(
        "{ranks} ranks run collective {which}, whose group has {group_size}; give every rank of the \
         group the same collectives"
    )]
    NotAllTakePart {
        /// Number of the collective, as [`Collectives::add`](super::Collectives::add) returned it.
        which: u32,
        /// Times that ranks run it.
        ranks: u32,
        /// Number of ranks in its group.
        group_size: u32,
    },
    /// An algorithm that cannot run with the group's ranks or the collective's size.
    #[error(transparent)]
    Collective(#[from] WorkloadError),
    /// More messages, handshakes and collective transfers than `u32` can number.
    #[error("there are more than 4,294,967,295 transfers; split the graph over several jobs")]
    TooManyTransfers,
    /// Operations that wait for each other in a cycle.
    #[error(
        "an operation of rank {rank} waits for itself, by way of those that it waits for; \
         let one of them start without"
    )]
    Circle {
        /// Rank whose operations form the cycle.
        rank: u32,
        /// Place of an operation that can never start.
        operation: u32,
    },
}

/// A mismatch between messages from one rank to another under one tag, and the receives for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "rank {from} sends {sent} message(s) with tag {tag} to rank {to}, which waits for {received} of \
     them; make the numbers equal"
)]
pub struct Unmatched {
    /// Rank that sends the messages.
    pub from: u32,
    /// Rank that waits for the messages.
    pub to: u32,
    /// Tag on the messages and receives.
    pub tag: u32,
    /// Number of messages with the tag.
    pub sent: u64,
    /// Receives that ask for them.
    pub received: u64,
}
