//! Reader for binary GOAL files: little-endian, packed, with offsets that count from byte 8.

use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{Operation, RankBuilder};

use super::collected::{Collected, TIME_MAX};
use crate::content::Content;
use crate::error::{ImportError, Place};
use crate::imported::Imported;
use crate::limits::{MESSAGE_MAX, RANKS_MAX};

/// First eight bytes of a file that `txt2bin` wrote.
const MAGIC: u64 = 4_223;
/// First eight bytes of a file that a simulator has run in place, which changes the file.
const SPENT: u64 = 2_342;
/// The byte from which offsets in the file count.
const BASE: usize = 8;
/// Bytes in an operation: 4 that are not read, kind (1), peer (4), bytes (8), tag (4), CPU (1), NIC
/// (1), then count and offset (4 each) for operations that wait for its end, and likewise for its
/// start.
const NODE: usize = 39;

type Read<T> = Result<T, ImportError>;

/// Returns the error for a file, or a part of it, that ends too early.
fn cut(at: usize, what: impl Into<String>) -> ImportError {
    ImportError::new(Place::Byte(at), what, "give the whole file")
}

/// Returns the error for content that `txt2bin` does not write.
fn damaged(at: usize, what: impl Into<String>) -> ImportError {
    ImportError::new(Place::Byte(at), what, "make the file anew with `txt2bin`")
}

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let magic = bytes.first_chunk().map(|word| u64::from_le_bytes(*word));
    matches!(magic, Some(MAGIC | SPENT))
}

/// Reads the ranks, block by block.
pub(super) fn read(mut content: Content<'_>, budget: &Budget) -> Read<Imported> {
    let length = content.length() as usize;
    let head = content.part(0, BASE as u64 + 6)?;
    if head.first_chunk().map(|word| u64::from_le_bytes(*word)) == Some(SPENT) {
        let what = "the file says that it has been changed by a run in place";
        return Err(ImportError::new(
            Place::Byte(0),
            what,
            "make it anew with `txt2bin`",
        ));
    }
    let ranks = u64::from(Part::new(&head, 0).u32(BASE)?);
    // Each rank has 16 bytes in the table: start and end of its block.
    if ranks > RANKS_MAX || ranks * 16 > length as u64 {
        let what = format!("{ranks} ranks do not fit into {length} bytes");
        return Err(cut(BASE, what));
    }
    let table = content.part(0, BASE as u64 + 6 + 16 * ranks)?;
    let mut collected = Collected::new(ranks as u32, Place::Byte(BASE), budget)?;
    // Overlapping blocks would yield more operations than the file has bytes for.
    let mut left = length;
    for rank in 0..ranks as usize {
        let entry = BASE + 6 + 16 * rank;
        let (start, end) = Part::new(&table, 0).block(entry, length)?;
        left = left.checked_sub(end - start).ok_or_else(|| {
            let what = "the blocks of ranks lie over each other";
            damaged(entry, what)
        })?;
        if (end - start) as u64 > Content::WHOLE_MAX {
            let what = format!("the operations of rank {rank} have {} bytes", end - start);
            let remedy = format!("give at most {} of a rank", Content::WHOLE_MAX);
            return Err(ImportError::new(Place::Byte(entry), what, remedy));
        }
        let allowed = budget.may_take((end - start) as u64);
        allowed.map_err(|over| ImportError::of(Place::Byte(entry), over))?;
        let bytes = content.part(start as u64, (end - start) as u64)?;
        let block = Block {
            file: Part::new(&bytes, start),
            start,
            end,
        };
        let builder = block.read(&mut collected)?;
        collected.builder.add(builder, Place::Byte(start))?;
    }
    collected.finish(Place::Byte(length))
}

/// A part of the file whose places count from the file's beginning.
#[derive(Clone, Copy)]
struct Part<'b> {
    bytes: &'b [u8],
    base: usize,
}

impl<'b> Part<'b> {
    fn new(bytes: &'b [u8], base: usize) -> Part<'b> {
        Part { bytes, base }
    }

    fn bytes<const N: usize>(self, at: usize) -> Read<[u8; N]> {
        let rest = at
            .checked_sub(self.base)
            .and_then(|at| self.bytes.get(at..));
        let found = rest.and_then(|rest| rest.first_chunk());
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

    /// Reads an `entry` in the rank table: a block's begin and end in a file with `length` bytes.
    fn block(self, entry: usize, length: usize) -> Read<(usize, usize)> {
        let [start, end] = [self.u64(entry)?, self.u64(entry + 8)?];
        let within = |offset: u64| {
            let at = usize::try_from(offset).ok()?.checked_add(BASE)?;
            (at <= length).then_some(at)
        };
        let ends = within(start)
            .zip(within(end))
            .filter(|(start, end)| start <= end);
        ends.ok_or_else(|| {
            let what = format!("the operations from {start} to {end} are outside of the file");
            cut(entry, what)
        })
    }
}

/// One rank's block: counts, roots, operations, and a list with operations that wait.
struct Block<'b> {
    file: Part<'b>,
    start: usize,
    end: usize,
}

impl Block<'_> {
    /// Reads the block's operations, then the waits between them.
    fn read(&self, collected: &mut Collected<'_>) -> Read<RankBuilder> {
        let mut rank = RankBuilder::default();
        if self.start == self.end {
            return Ok(rank);
        }
        let nodes = self.file.u32(self.start)? as usize;
        // Roots are the operations that wait for none, which follows from the waits: their list is
        // skipped.
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
        // Lists that share entries would make more waits than the block has entries, so each entry
        // counts only once.
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

    /// Reads the operation at byte `at`, and adds it to `rank`.
    fn operation(
        &self,
        at: usize,
        rank: &mut RankBuilder,
        collected: &mut Collected<'_>,
    ) -> Read<()> {
        let (peer, bytes) = (self.file.u32(at + 5)?, self.file.u64(at + 9)?);
        let tag = self.file.u32(at + 17)?;
        let [cpu, nic] = [self.file.u8(at + 21)?, self.file.u8(at + 22)?];
        let cpu = u32::from(cpu);
        let wrong = |what: String| damaged(at, what);
        let kind = self.file.u8(at + 4)?;
        // Kind 3 is computing, whose field for bytes holds nanoseconds.
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

    /// Adds a wait: the operation whose number stands at byte `at` waits for `other`.
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
