//! GOAL as a binary file: little-endian, packed, offsets from byte 8.

use tenter_units::Time;
use tenter_workload::graph::{Operation, RankBuilder};

use super::collected::{Collected, TIME_MAX};
use crate::error::{ImportError, Place};
use crate::imported::Imported;
use crate::limits::{MESSAGE_MAX, RANKS_MAX};

/// What the first eight bytes say.
const MAGIC: u64 = 4_223;
/// What they say once a simulator has run the file in place and changed it.
const SPENT: u64 = 2_342;
/// The offsets of the file count from here.
const BASE: usize = 8;
/// Bytes of an operation.
const NODE: usize = 39;

type Read<T> = Result<T, ImportError>;

/// The file ends too early, or says so of a part of itself.
fn cut(at: usize, what: impl Into<String>) -> ImportError {
    ImportError::new(Place::Byte(at), what, "give the whole file")
}

/// What `txt2bin` does not write.
fn damaged(at: usize, what: impl Into<String>) -> ImportError {
    ImportError::new(Place::Byte(at), what, "make the file anew with `txt2bin`")
}

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let magic = bytes.first_chunk().map(|word| u64::from_le_bytes(*word));
    matches!(magic, Some(MAGIC | SPENT))
}

pub(super) fn read(bytes: &[u8]) -> Read<Imported> {
    if bytes.first_chunk().map(|word| u64::from_le_bytes(*word)) == Some(SPENT) {
        let what = "the file says that it has been changed by a run in place";
        return Err(ImportError::new(
            Place::Byte(0),
            what,
            "make it anew with `txt2bin`",
        ));
    }
    let file = File(bytes);
    let ranks = u64::from(file.u32(BASE)?);
    // Each has 16 bytes that say where it is.
    if ranks > RANKS_MAX || ranks * 16 > bytes.len() as u64 {
        let what = format!("{ranks} ranks do not fit into {} bytes", bytes.len());
        return Err(cut(BASE, what));
    }
    let mut collected = Collected::new(ranks as u32);
    // Blocks that lie over each other would make more of a file than it has.
    let mut left = bytes.len();
    for rank in 0..ranks as usize {
        let entry = BASE + 6 + 16 * rank;
        let block = file.block(entry)?;
        let length = block.end - block.start;
        left = left.checked_sub(length).ok_or_else(|| {
            let what = "the blocks of ranks lie over each other";
            damaged(entry, what)
        })?;
        let builder = block.read(&mut collected)?;
        let added = collected.builder.add(builder);
        added.map_err(|error| ImportError::of(Place::Byte(block.start), error))?;
    }
    collected.finish(Place::Byte(bytes.len()))
}

#[derive(Clone, Copy)]
struct File<'b>(&'b [u8]);

impl<'b> File<'b> {
    fn bytes<const N: usize>(self, at: usize) -> Read<[u8; N]> {
        let found = self.0.get(at..).and_then(|rest| rest.first_chunk());
        found.copied().ok_or_else(|| {
            let what = format!("the file ends before the {N} bytes that are expected here");
            cut(at, what)
        })
    }

    fn u8(self, at: usize) -> Read<u8> {
        self.bytes::<1>(at).map(|[byte]| byte)
    }

    fn u32(self, at: usize) -> Read<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    fn u64(self, at: usize) -> Read<u64> {
        self.bytes(at).map(u64::from_le_bytes)
    }

    /// The block of a rank, from what stands at an entry of the table of ranks.
    fn block(self, entry: usize) -> Read<Block<'b>> {
        let [start, end] = [self.u64(entry)?, self.u64(entry + 8)?];
        let within = |offset: u64| {
            let at = usize::try_from(offset).ok()?.checked_add(BASE)?;
            (at <= self.0.len()).then_some(at)
        };
        let ends = within(start)
            .zip(within(end))
            .filter(|(start, end)| start <= end);
        let Some((start, end)) = ends else {
            let what = format!("the operations from {start} to {end} are outside of the file");
            return Err(cut(entry, what));
        };
        let file = File(&self.0[..end]);
        Ok(Block { file, start, end })
    }
}

/// The operations of one rank.
struct Block<'b> {
    file: File<'b>,
    start: usize,
    end: usize,
}

impl Block<'_> {
    fn read(&self, collected: &mut Collected) -> Read<RankBuilder> {
        let mut rank = RankBuilder::default();
        if self.start == self.end {
            return Ok(rank);
        }
        let nodes = self.file.u32(self.start)? as usize;
        let roots = self.file.u32(self.start + 4)? as usize;
        let first = roots
            .checked_mul(4)
            .and_then(|of| of.checked_add(self.start + 8));
        let appendix = first
            .zip(nodes.checked_mul(NODE))
            .and_then(|(first, of)| first.checked_add(of));
        let Some((first, appendix)) = first.zip(appendix).filter(|(_, at)| *at <= self.end) else {
            let what = format!("{nodes} operations do not fit into their block");
            return Err(cut(self.start, what));
        };
        for node in 0..nodes {
            self.operation(first + node * NODE, &mut rank, collected)?;
        }
        let edges = (self.end - appendix) / 4;
        let mut left = edges;
        for node in 0..nodes {
            let at = first + node * NODE + 23;
            for (list, on_start) in [(at, false), (at + 8, true)] {
                let [count, from] = [self.file.u32(list)?, self.file.u32(list + 4)?];
                let [count, from] = [count as usize, from as usize];
                let is_there = count <= left && from <= edges - count;
                left = left.saturating_sub(count);
                if !is_there {
                    let what =
                        format!("operation {node} names followers that the file does not have");
                    return Err(cut(list, what));
                }
                for edge in from..from + count {
                    self.edge(appendix + 4 * edge, nodes, node as u32, on_start, &mut rank)?;
                }
            }
        }
        Ok(rank)
    }

    fn operation(&self, at: usize, rank: &mut RankBuilder, collected: &mut Collected) -> Read<()> {
        let (peer, bytes) = (self.file.u32(at + 5)?, self.file.u64(at + 9)?);
        let tag = self.file.u32(at + 17)?;
        let [cpu, nic] = [self.file.u8(at + 21)?, self.file.u8(at + 22)?];
        let cpu = u32::from(cpu);
        let wrong = |what: String| damaged(at, what);
        let kind = self.file.u8(at + 4)?;
        if kind != 3 && bytes > MESSAGE_MAX {
            return Err(wrong(format!("a message of {bytes} bytes is beyond 2^50")));
        }
        match kind {
            1 if tag == Operation::ANY => return Err(wrong("a send has no tag".to_owned())),
            1 => {
                collected.send(rank, peer, bytes, tag, cpu);
            }
            2 => {
                let [peer, tag] = [peer, tag].map(Operation::unless_any);
                rank.add(Operation::Receive { peer, bytes, tag }, cpu);
            }
            3 if bytes > TIME_MAX => {
                return Err(wrong(format!("a time of {bytes} ns is too long")));
            }
            3 => {
                let time = Time::from_ns(bytes);
                rank.add(Operation::Compute { time }, cpu);
            }
            other => return Err(wrong(format!("there is no kind {other} of operations"))),
        }
        collected.other_nics += u64::from(nic > 0 && kind != 3);
        Ok(())
    }

    fn edge(
        &self,
        at: usize,
        nodes: usize,
        other: u32,
        on_start: bool,
        rank: &mut RankBuilder,
    ) -> Read<()> {
        let follower = self.file.u32(at)?;
        if follower as usize >= nodes {
            let what = format!("there is no operation {follower} of {nodes}");
            return Err(damaged(at, what));
        }
        if on_start {
            rank.after_start(follower, other);
        } else {
            rank.after(follower, other);
        }
        Ok(())
    }
}
