//! What an algorithm step by step consists of.

use std::ops::RangeInclusive;

use tenter_config::choice;

use super::error::At;

/// A collective whose result can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramCollective {
    /// Every rank gets the sum of all buffers.
    AllReduce,
    /// Every rank gets what every rank has.
    AllGather,
    /// Every rank gets its part of the sum of all buffers.
    ReduceScatter,
    /// Every rank has a part for every rank.
    AllToAll,
    /// Every rank gets what one rank has.
    Broadcast,
    /// One rank gets the sum of all buffers.
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

/// How data are laid out on the wire, which decides how many bytes they take there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireProtocol {
    /// Data alone.
    Simple,
    /// Four bytes of flags behind every four bytes of data.
    Ll,
    /// Eight bytes of flags in every 128.
    Ll128,
}

choice!(WireProtocol {
    "simple" => Simple,
    "ll" => Ll,
    "ll128" => Ll128,
});

impl WireProtocol {
    /// The bytes that `data` bytes take on the wire, rounded up.
    ///
    /// Source: the lines of the protocols LL and LL128 of NCCL.
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

/// A buffer of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Buffer {
    /// What the rank brings.
    Input,
    /// What it gets.
    Output,
    /// What the algorithm needs beside.
    Scratch,
}

impl Buffer {
    /// The letter that stands for it.
    pub(super) fn letter(self) -> char {
        match self {
            Buffer::Input => 'i',
            Buffer::Output => 'o',
            Buffer::Scratch => 's',
        }
    }

    /// The buffer of a letter.
    pub fn of_letter(letter: &str) -> Option<Buffer> {
        match letter {
            "i" => Some(Buffer::Input),
            "o" => Some(Buffer::Output),
            "s" => Some(Buffer::Scratch),
            _ => None,
        }
    }
}

/// The first of the chunks of a step in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The buffer.
    pub buffer: Buffer,
    /// The chunk.
    pub chunk: u32,
}

/// The other end of a message: what a rank sends another on a channel arrives there in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The other rank.
    pub peer: u32,
    /// The channel.
    pub channel: u32,
}

/// A step of a thread block of the same rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepName {
    /// The number of the block among those of the rank.
    pub block: u32,
    /// The number of the step in the block.
    pub step: u32,
}

/// What a thread block does at once: it takes chunks, adds them up, stores the sum and sends it on.
/// Each part may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramStep {
    /// How many chunks.
    pub count: u32,
    /// Chunks that arrive.
    pub receive: Option<Port>,
    /// Chunks of the rank's own; all of them and what arrives are added up.
    pub sources: Vec<Slot>,
    /// Where the sum is stored.
    pub store: Option<Slot>,
    /// Where the sum is sent.
    pub send: Option<Port>,
    /// What must be done before.
    pub after: Vec<StepName>,
}

/// Steps of a rank, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramBlock {
    /// The rank.
    pub rank: u32,
    /// Its number among the blocks of the rank.
    pub number: u32,
    /// What it does.
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

/// An algorithm as it is written, which may be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramParts {
    /// What it promises.
    pub collective: ProgramCollective,
    /// For how many ranks.
    pub ranks: u32,
    /// Into how many chunks it cuts the size of the collective.
    pub chunks: u32,
    /// Whether input and output may be one buffer.
    pub in_place: bool,
    /// Whether they may be two.
    pub out_of_place: bool,
    /// Its protocol.
    pub protocol: WireProtocol,
    /// The sizes in bytes for which it is meant.
    pub sizes: RangeInclusive<u64>,
    /// What its ranks do; the blocks of a rank in any order.
    pub blocks: Vec<ProgramBlock>,
}

impl ProgramParts {
    /// How many chunks of a size a rank has as its own, of all-gathers and reduce-scatters.
    pub(super) fn share(&self) -> u32 {
        self.chunks / self.ranks.max(1)
    }

    /// Whether the size is what all ranks have a share of.
    pub(super) fn has_shares(&self) -> bool {
        matches!(
            self.collective,
            ProgramCollective::AllGather
                | ProgramCollective::ReduceScatter
                | ProgramCollective::AllToAll
        )
    }

    /// Chunks of the input and of the output of a rank.
    pub(super) fn lengths(&self) -> (u32, u32) {
        match self.collective {
            ProgramCollective::AllGather => (self.share(), self.chunks),
            ProgramCollective::ReduceScatter => (self.chunks, self.share()),
            _ => (self.chunks, self.chunks),
        }
    }
}
