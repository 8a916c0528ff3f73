//! Symbolic execution: each chunk is the sum of named ranks' inputs in named chunks.
//!
//! If nothing orders two steps, the result must not depend on their order. Each algorithm is
//! therefore run in several orders.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::ProgramError;
use super::order::Wired;
use super::parts::{Buffer, ProgramCollective, ProgramParts, Slot};

/// Content of one rank's input chunk, as a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Term {
    rank: u32,
    chunk: u32,
}

/// Terms of consecutive ranks with the same chunk number, each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    chunk: u32,
    first: u32,
    last: u32,
}

/// Most runs that all sums in one order may have together; 200 MB if all of them are live at once.
const RUNS_MAX: usize = 1 << 24;

/// Symbolic content of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    /// No step has written the chunk.
    Nothing,
    /// Sum of these runs, in ascending order, with adjacent runs merged.
    Sum(Arc<[Run]>),
    /// A sum with more terms than any collective needs; no output is right any more.
    TooMuch,
}

/// A chunk's content and the step that stored it.
#[derive(Clone, Debug)]
struct Cell {
    content: Content,
    writer: Option<u32>,
}

/// Buffers of all ranks, chunk by chunk.
struct Memory<'p> {
    parts: &'p ProgramParts,
    in_place: bool,
    cells: BTreeMap<(u32, Buffer, u32), Cell>,
}

/// Runs an algorithm in the given step order, with input and output in one buffer if `in_place`.
///
/// # Errors
/// A step that reads an unwritten chunk; the first wrong output chunk; sums with more terms than
/// can be checked.
pub(super) fn run(
    parts: &ProgramParts,
    wired: &Wired,
    order: &[u32],
    in_place: bool,
) -> Result<(), ProgramError> {
    let mut memory = Memory::new(parts, in_place);
    let mut flying: BTreeMap<u32, Vec<Content>> = BTreeMap::new();
    let mut runs = 0;
    for &step in order {
        let (rank, of) = wired.step(parts, step);
        // A message is taken out when it is received: each send meets exactly one receive.
        let arrived = wired.sender(step).and_then(|sender| flying.remove(&sender));
        let mut values = Vec::with_capacity(of.count as usize);
        for place in 0..of.count {
            let mut sum = arrived
                .as_ref()
                .and_then(|values| values.get(place as usize).cloned());
            for source in &of.sources {
                let own = memory.read(rank, *source, place);
                if own == Content::Nothing {
                    let slot = name(Slot {
                        chunk: source.chunk + place,
                        ..*source
                    });
                    let what = format!("it reads {slot}, to which nothing has been written before");
                    let remedy = "let it wait for the step that writes it";
                    return Err(ProgramError::new(Some(wired.at(parts, step)), what, remedy));
                }
                sum = Some(match sum {
                    None => own,
                    Some(sum) => {
                        let sum = added(&sum, &own, parts.ranks);
                        runs += sum.runs();
                        sum
                    }
                });
                if runs > RUNS_MAX {
                    return Err(too_large(parts));
                }
            }
            values.push(sum.unwrap_or(Content::Nothing));
        }
        if let Some(store) = of.store {
            for (place, value) in (0..).zip(&values) {
                memory.write(rank, store, place, value.clone(), step);
            }
        }
        if of.send.is_some() {
            flying.insert(step, values);
        }
    }
    memory.check(wired)
}

impl Content {
    fn of(terms: Run) -> Content {
        Content::Sum([terms].into())
    }

    /// Returns how many runs the sum has.
    fn runs(&self) -> usize {
        match self {
            Content::Sum(runs) => runs.len(),
            Content::Nothing | Content::TooMuch => 0,
        }
    }
}

impl Run {
    fn one(rank: u32, chunk: u32) -> Run {
        Run {
            chunk,
            first: rank,
            last: rank,
        }
    }

    fn len(&self) -> u32 {
        self.last - self.first + 1
    }

    fn terms(self) -> impl Iterator<Item = Term> {
        (self.first..=self.last).map(move |rank| Term {
            rank,
            chunk: self.chunk,
        })
    }
}

fn added(one: &Content, other: &Content, most: u32) -> Content {
    let (Content::Sum(one), Content::Sum(other)) = (one, other) else {
        return Content::TooMuch;
    };
    // No output has more than one term per rank. With at most 4,096 ranks the sum cannot overflow.
    let terms = |runs: &[Run]| runs.iter().map(Run::len).sum::<u32>();
    if terms(one) + terms(other) > most {
        return Content::TooMuch;
    }
    let mut sum: Vec<Run> = Vec::with_capacity(one.len() + other.len());
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    loop {
        // Both lists ascend, so a merge is linear. Neither short nor long lists are typical.
        let next = match (one.peek(), other.peek()) {
            (Some(a), Some(b)) if a <= b => one.next(),
            (Some(_), None) => one.next(),
            _ => other.next(),
        };
        let Some(&next) = next else {
            break;
        };
        match sum.last_mut() {
            // Overlapping runs stay separate: no output with a repeated term is right.
            Some(last) if (last.chunk, last.last + 1) == (next.chunk, next.first) => {
                last.last = next.last;
            }
            _ => sum.push(next),
        }
    }
    Content::Sum(sum.into())
}

fn too_large(parts: &ProgramParts) -> ProgramError {
    let ProgramParts { ranks, chunks, .. } = *parts;
    let what = format!(
        "its sums of {ranks} ranks × {chunks} chunks have more terms than the {RUNS_MAX} that are \
         checked"
    );
    ProgramError::new(
        None,
        what,
        "cut the size into fewer chunks, or take fewer ranks",
    )
}

fn name(slot: Slot) -> String {
    let buffer = match slot.buffer {
        Buffer::Input => "the input",
        Buffer::Output => "the output",
        Buffer::Scratch => "the scratch buffer",
    };
    format!("chunk {} of {buffer}", slot.chunk)
}

impl Memory<'_> {
    fn new(parts: &ProgramParts, in_place: bool) -> Memory<'_> {
        let mut memory = Memory {
            parts,
            in_place,
            cells: BTreeMap::new(),
        };
        let (input, _) = parts.lengths();
        for rank in 0..parts.ranks {
            for chunk in 0..input {
                let slot = Slot {
                    buffer: Buffer::Input,
                    chunk,
                };
                let key = memory.key(rank, slot);
                let content = Content::of(Run::one(rank, chunk));
                let cell = Cell {
                    content,
                    writer: None,
                };
                memory.cells.insert(key, cell);
            }
        }
        memory
    }

    /// Returns a cell's key. In place, the smaller of input and output is a part of the larger one.
    fn key(&self, rank: u32, slot: Slot) -> (u32, Buffer, u32) {
        let Slot { buffer, chunk } = slot;
        if !self.in_place || buffer == Buffer::Scratch {
            return (rank, buffer, chunk);
        }
        let share = match (self.parts.collective, buffer) {
            (ProgramCollective::AllGather, Buffer::Input)
            | (ProgramCollective::ReduceScatter, Buffer::Output) => rank * self.parts.share(),
            _ => 0,
        };
        (rank, Buffer::Input, chunk + share)
    }

    fn read(&self, rank: u32, slot: Slot, place: u32) -> Content {
        let cell = self.cell(rank, slot, place);
        cell.map_or(Content::Nothing, |cell| cell.content.clone())
    }

    fn cell(&self, rank: u32, slot: Slot, place: u32) -> Option<&Cell> {
        let chunk = slot.chunk + place;
        self.cells.get(&self.key(rank, Slot { chunk, ..slot }))
    }

    fn write(&mut self, rank: u32, slot: Slot, place: u32, content: Content, step: u32) {
        let chunk = slot.chunk + place;
        let key = self.key(rank, Slot { chunk, ..slot });
        let writer = Some(step);
        self.cells.insert(key, Cell { content, writer });
    }

    /// Compares outputs with what the collective promises.
    fn check(&self, wired: &Wired) -> Result<(), ProgramError> {
        let root = self.root();
        let wrong = (0..self.parts.ranks).find_map(|rank| self.wrong(rank, root));
        wrong.map_or(Ok(()), |(rank, chunk)| {
            Err(self.tell(wired, rank, chunk, root))
        })
    }

    /// Returns the root of a broadcast or a reduce, which the algorithm does not name: the rank for
    /// which most chunks are right. For a reduce, the rank whose output has most terms breaks ties.
    fn root(&self) -> u32 {
        let collective = self.parts.collective;
        let mut right = vec![(0_u64, 0_u64); self.parts.ranks as usize];
        if !matches!(
            collective,
            ProgramCollective::Broadcast | ProgramCollective::Reduce
        ) {
            return 0;
        }
        let (_, output) = self.parts.lengths();
        for rank in 0..self.parts.ranks {
            for chunk in 0..output {
                let cell = self.output(rank, chunk);
                let Some(Content::Sum(runs)) = cell.map(|cell| &cell.content) else {
                    continue;
                };
                let root = match (collective, runs.first()) {
                    (ProgramCollective::Broadcast, Some(run)) => run.first,
                    _ => rank,
                };
                let is_right = runs[..] == [self.promised(rank, chunk, root)];
                // The root of a broadcast already has its data; a copy to its output is optional.
                let counts = collective == ProgramCollective::Reduce || rank != root;
                if let Some(of_root) = right.get_mut(root as usize)
                    && counts
                {
                    of_root.0 += u64::from(is_right);
                    of_root.1 += runs.iter().map(|run| u64::from(run.len())).sum::<u64>();
                }
            }
        }
        // Of equally good ranks the lowest counts, so that the message is the same every time.
        let best = (0..)
            .zip(right)
            .max_by_key(|&(rank, of)| (of, Reverse(rank)));
        best.map_or(0, |(rank, _)| rank)
    }

    /// Returns rank and chunk of the first wrong output chunk on a rank.
    fn wrong(&self, rank: u32, root: u32) -> Option<(u32, u32)> {
        let (_, output) = self.parts.lengths();
        let asked = match self.parts.collective {
            ProgramCollective::Reduce => rank == root,
            // A broadcast's root may copy its own data or not.
            ProgramCollective::Broadcast => rank != root,
            _ => true,
        };
        let holds = |chunk: &u32| {
            let promised = self.promised(rank, *chunk, root);
            let cell = self.output(rank, *chunk);
            let content = cell.map(|cell| &cell.content);
            matches!(content, Some(Content::Sum(runs)) if runs[..] == [promised])
        };
        let wrong = (0..output).find(|chunk| asked && !holds(chunk))?;
        Some((rank, wrong))
    }

    fn output(&self, rank: u32, chunk: u32) -> Option<&Cell> {
        let buffer = Buffer::Output;
        self.cell(rank, Slot { buffer, chunk }, 0)
    }

    /// Returns the sum that an output chunk must hold.
    fn promised(&self, rank: u32, chunk: u32, root: u32) -> Run {
        let share = self.parts.share().max(1);
        let of_all = |chunk: u32| Run {
            chunk,
            first: 0,
            last: self.parts.ranks - 1,
        };
        match self.parts.collective {
            ProgramCollective::AllReduce | ProgramCollective::Reduce => of_all(chunk),
            ProgramCollective::ReduceScatter => of_all(rank * share + chunk),
            ProgramCollective::AllGather => Run::one(chunk / share, chunk % share),
            ProgramCollective::AllToAll => Run::one(chunk / share, rank * share + chunk % share),
            ProgramCollective::Broadcast => Run::one(root, chunk),
        }
    }

    fn tell(&self, wired: &Wired, rank: u32, chunk: u32, root: u32) -> ProgramError {
        let promised: Vec<Term> = self.promised(rank, chunk, root).terms().collect();
        let cell = self.output(rank, chunk);
        let had = |terms: &[Term]| {
            let terms = terms
                .iter()
                .map(|term| format!("chunk {} of rank {}", term.chunk, term.rank));
            terms.collect::<Vec<_>>().join(" + ")
        };
        let found = match cell.map(|cell| &cell.content) {
            None | Some(Content::Nothing) => "is never written".to_owned(),
            Some(Content::TooMuch) => {
                format!("is a sum of more than the {} ranks had", self.parts.ranks)
            }
            Some(Content::Sum(runs)) => {
                let mut terms: Vec<Term> = runs.iter().copied().flat_map(Run::terms).collect();
                terms.sort_unstable();
                let lacks = promised.iter().find(|term| !terms.contains(term));
                let strange = terms.iter().find(|term| !promised.contains(term));
                let twice = terms.windows(2).find(|two| two[0] == two[1]);
                match (twice, strange, lacks) {
                    // A chunk that is promised unsummed has one term, so the two are shown beside
                    // each other.
                    _ if promised.len() == 1 => {
                        format!("is {} in place of {}", had(&terms), had(&promised))
                    }
                    (Some(two), ..) => format!("has {} twice", had(&two[..1])),
                    (_, Some(of), _) => format!("has {}, which is not of it", had(&[*of])),
                    (.., lacks) => {
                        let lacks = lacks.copied();
                        format!("lacks {}", had(lacks.as_slice()))
                    }
                }
            }
        };
        let what = format!(
            "it is no {}: chunk {chunk} of the output of rank {rank} {found}",
            tenter_language::config::Words::word(&self.parts.collective)
        );
        let writer = cell.and_then(|cell| cell.writer);
        let at = writer.map(|step| wired.at(self.parts, step));
        let remedy = if at.is_some() {
            "correct this step, which has written it last, or those before it"
        } else {
            "add the steps that write it"
        };
        ProgramError::new(at, what, remedy)
    }
}
