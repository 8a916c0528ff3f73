//! Why operations are no graph that can be carried out.

use crate::WorkloadError;

/// Why operations are no graph that can be carried out. Operations are named by their places in
/// their rank, from 0, which importers turn into lines or labels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// A graph of fewer than two ranks.
    #[error("there are operations of {ranks} rank(s) alone; give those of at least 2 ranks")]
    TooFewRanks {
        /// How many there are.
        ranks: u32,
    },
    /// No rank does anything.
    #[error("no rank has an operation; give at least one")]
    NoOperations,
    /// More operations than can be numbered.
    #[error("there are more than {most} operations; split the graph over several jobs")]
    TooManyOperations {
        /// How many there may be.
        most: u32,
    },
    /// More streams of a rank than can be numbered.
    #[error("rank {rank} has more than 65,535 streams; give it fewer")]
    TooManyStreams {
        /// Whose.
        rank: u32,
    },
    /// A peer that is no rank.
    #[error("rank {rank} names rank {peer}, and there are {ranks}; name another peer")]
    NoSuchPeer {
        /// Whose operation.
        rank: u32,
        /// Its place there.
        operation: u32,
        /// The peer that it names.
        peer: u32,
        /// How many ranks there are.
        ranks: u32,
    },
    /// A tag that stands for any.
    #[error("a send of rank {rank} has the tag 4,294,967,295, which stands for any; give another")]
    TagOfAny {
        /// Whose send.
        rank: u32,
        /// Its place there.
        operation: u32,
    },
    /// A rank that is twice in a group.
    #[error("rank {rank} is twice in a group; list it once")]
    TwiceInGroup {
        /// The rank.
        rank: u32,
    },
    /// A rank that runs a collective of a group without it.
    #[error("rank {rank} runs a collective in group {group} and is not in it; add it to the group")]
    NotInGroup {
        /// The rank.
        rank: u32,
        /// The group.
        group: u32,
    },
    /// Ranks of a group that run different collectives at the same place.
    #[error(
        "collective {nth} of group {group} is {own} at rank {rank} and {other} at another one; give \
         all ranks of a group the same collectives in the same order"
    )]
    CollectivesDiffer {
        /// The rank.
        rank: u32,
        /// The group.
        group: u32,
        /// Which of its collectives, from 0.
        nth: u32,
        /// What the rank runs.
        own: String,
        /// What another one runs.
        other: String,
    },
    /// A collective that a rank of its group does not run, or runs twice.
    #[error(
        "{ranks} ranks run collective {which}, whose group has {group_size}; give every rank of the \
         group the same collectives"
    )]
    NotAllTakePart {
        /// The number of the collective.
        which: u32,
        /// How often it is run.
        ranks: u32,
        /// How many ranks its group has.
        group_size: u32,
    },
    /// A collective that its ranks cannot run.
    #[error(transparent)]
    Collective(#[from] WorkloadError),
    /// More transfers than can be numbered.
    #[error("there are more than 4,294,967,295 transfers; split the graph over several jobs")]
    TooManyTransfers,
    /// Operations that wait for each other.
    #[error(
        "an operation of rank {rank} waits for itself, by way of those that it waits for; \
         let one of them start without"
    )]
    Circle {
        /// Whose operations.
        rank: u32,
        /// One of them, by its place there.
        operation: u32,
    },
}

/// Messages between two ranks that are not as many as the receives for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "rank {from} sends {sent} message(s) with tag {tag} to rank {to}, which waits for {received} of \
     them; make the numbers equal"
)]
pub struct Unmatched {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The tag.
    pub tag: u32,
    /// How many are sent.
    pub sent: u64,
    /// How many are received.
    pub received: u64,
}
