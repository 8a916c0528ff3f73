//! Parts that a step-by-step algorithm consists of.

use std::ops::RangeInclusive;

use tenter_language::config::choice;

use super::error::At;

/// A collective for which the result of an algorithm can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramCollective {
    /// Every rank receives the sum over all buffers.
    AllReduce,
    /// Every rank receives the inputs of all ranks.
    AllGather,
    /// Every rank receives its part of the sum over all buffers.
    ReduceScatter,
    /// Every rank has a part for every rank.
    AllToAll,
    /// Every rank receives the root's buffer.
    Broadcast,
    /// The root receives the sum over all buffers.
    Reduce,
}

choice!(ProgramCollective {
    "all-reduce" => AllReduce,
    "all-gather" => AllGather,
    "reduce-scatter" => ReduceScatter,
    "all-to-all" => AllToAll,
    "broadcast" => Broadcast,
    "reduce" => Reduce,
});

/// Layout of data on the wire, which decides how many bytes they take there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireProtocol {
    /// Data alone, without flags: every byte is payload.
    Simple,
    /// Four bytes of flags after every four bytes of data.
    Ll,
    /// Eight bytes of flags in every 128 bytes.
    Ll128,
}

choice!(WireProtocol {
    "simple" => Simple,
    "ll" => Ll,
    "ll128" => Ll128,
});

impl WireProtocol {
    /// Returns the wire bytes for `data` bytes, rounded up.
    ///
    /// Source: the lines of the protocols LL and LL128 in NCCL.
    pub fn bytes(self, data: u64) -> u64 {
        let (times, of) = match self {
            WireProtocol::Simple => (1, 1),
            WireProtocol::Ll => (2, 1),
            WireProtocol::Ll128 => (128, 120),
        };
        let wire = (u128::from(data) * times).div_ceil(of);
        u64::try_from(wire).unwrap_or(u64::MAX)
    }
}

/// A buffer that each rank has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Buffer {
    /// Data that the rank contributes.
    Input,
    /// Result that the rank ends with.
    Output,
    /// Extra memory that the algorithm needs.
    Scratch,
}

impl Buffer {
    /// Returns the buffer's letter in the notation.
    pub(super) fn letter(self) -> char {
        match self {
            Buffer::Input => 'i',
            Buffer::Output => 'o',
            Buffer::Scratch => 's',
        }
    }

    /// Returns the buffer for a letter, `None` for an unknown one.
    pub fn of_letter(letter: &str) -> Option<Buffer> {
        match letter {
            "i" => Some(Buffer::Input),
            "o" => Some(Buffer::Output),
            "s" => Some(Buffer::Scratch),
            _ => None,
        }
    }
}

/// The first of a step's chunks in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Buffer that holds the chunks.
    pub buffer: Buffer,
    /// First chunk, by its number.
    pub chunk: u32,
}

/// The other end of a message. Messages between two ranks on a channel arrive in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Rank at the other end.
    pub peer: u32,
    /// Channel that connects the two ranks, by its number.
    pub channel: u32,
}

/// A step in a thread block of the same rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepName {
    /// Block number within the rank.
    pub block: u32,
    /// Step number within the block, from 0.
    pub step: u32,
}

/// A step of a thread block: it takes chunks, adds them up, stores the sum and sends it on. Each
/// part may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramStep {
    /// Chunks that the step handles, consecutive from each slot.
    pub count: u32,
    /// Port at which chunks arrive, if the step receives.
    pub receive: Option<Port>,
    /// The rank's own chunks; the step adds up all of them and what arrives.
    pub sources: Vec<Slot>,
    /// Slot in which the sum is stored.
    pub store: Option<Slot>,
    /// Port to which the sum is sent.
    pub send: Option<Port>,
    /// Steps that must be done before.
    pub after: Vec<StepName>,
}

/// A thread block: steps of a rank that run one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramBlock {
    /// Rank that runs the block.
    pub rank: u32,
    /// Block number within the rank.
    pub number: u32,
    /// Steps in the order in which they run.
    pub steps: Vec<ProgramStep>,
}

impl ProgramBlock {
    pub(super) fn at(&self, step: Option<u32>) -> At {
        At {
            rank: self.rank,
            block: self.number,
            step,
        }
    }
}

/// An algorithm as written, not yet checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramParts {
    /// Collective whose result the algorithm promises.
    pub collective: ProgramCollective,
    /// Ranks that the algorithm is written for.
    pub ranks: u32,
    /// Chunks into which the collective's size is cut.
    pub chunks: u32,
    /// Set if input and output may be the same buffer.
    pub in_place: bool,
    /// Set if input and output may be separate buffers.
    pub out_of_place: bool,
    /// Protocol that all its messages use.
    pub protocol: WireProtocol,
    /// Sizes in bytes for which the algorithm is meant.
    pub sizes: RangeInclusive<u64>,
    /// Thread blocks of all ranks, in any order.
    pub blocks: Vec<ProgramBlock>,
}

impl ProgramParts {
    /// Returns the chunks that one rank owns, in collectives whose size is shared among ranks.
    pub(super) fn share(&self) -> u32 {
        self.chunks / self.ranks.max(1)
    }

    /// Returns true if the size consists of one share per rank.
    pub(super) fn has_shares(&self) -> bool {
        matches!(
            self.collective,
            ProgramCollective::AllGather
                | ProgramCollective::ReduceScatter
                | ProgramCollective::AllToAll
        )
    }

    /// Returns the lengths of a rank's input and output, in chunks.
    pub(super) fn lengths(&self) -> (u32, u32) {
        match self.collective {
            ProgramCollective::AllGather => (self.share(), self.chunks),
            ProgramCollective::ReduceScatter => (self.chunks, self.share()),
            _ => (self.chunks, self.chunks),
        }
    }
}
