//! Algorithms run on symbols: each chunk is the sum of what named ranks had in named chunks.
//!
//! Where the order of two steps is open, the result must not depend on it; so an algorithm is run
//! in several orders.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::ProgramError;
use super::order::Wired;
use super::parts::{Buffer, ProgramCollective, ProgramParts, Slot};

/// What a rank had in a chunk of its input.
type Term = (u32, u32);

/// What is in a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    /// Nobody knows.
    Nothing,
    /// The sum of these, ascending.
    Sum(Arc<[Term]>),
    /// A sum of more than any collective asks for.
    TooMuch,
}

/// A chunk, and the step that has stored it.
#[derive(Clone, Debug)]
struct Cell {
    content: Content,
    writer: Option<u32>,
}

/// What ranks have in their buffers.
struct Memory<'p> {
    parts: &'p ProgramParts,
    in_place: bool,
    cells: BTreeMap<(u32, Buffer, u32), Cell>,
}

/// Runs an algorithm in an order of its steps, with input and output in one buffer or not.
///
/// # Errors
/// A step that reads what nobody has written, and the first chunk of an output that is wrong.
pub(super) fn run(
    parts: &ProgramParts,
    wired: &Wired,
    (order, in_place): (&[u32], bool),
) -> Result<(), ProgramError> {
    let mut memory = Memory::new(parts, in_place);
    let mut flying: BTreeMap<u32, Vec<Content>> = BTreeMap::new();
    for &step in order {
        let (rank, of) = wired.step(parts, step);
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
                    Some(sum) => added(&sum, &own, parts.ranks),
                });
            }
            values.push(sum.unwrap_or(Content::Nothing));
        }
        if let Some(store) = of.store {
            for (place, value) in (0..).zip(&values) {
                memory.write(rank, (store, place), value.clone(), step);
            }
        }
        if of.send.is_some() {
            flying.insert(step, values);
        }
    }
    memory.check(wired)
}

fn added(one: &Content, other: &Content, most: u32) -> Content {
    let (Content::Sum(one), Content::Sum(other)) = (one, other) else {
        return Content::TooMuch;
    };
    // No output has more than what each rank had once.
    if one.len() + other.len() > most as usize {
        return Content::TooMuch;
    }
    let mut sum: Vec<Term> = one.iter().chain(other.iter()).copied().collect();
    sum.sort_unstable();
    Content::Sum(sum.into())
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
                let content = Content::Sum([(rank, chunk)].into());
                let cell = Cell {
                    content,
                    writer: None,
                };
                memory.cells.insert(key, cell);
            }
        }
        memory
    }

    /// In place the smaller of input and output is a part of the larger one.
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

    fn write(&mut self, rank: u32, (slot, place): (Slot, u32), content: Content, step: u32) {
        let chunk = slot.chunk + place;
        let key = self.key(rank, Slot { chunk, ..slot });
        let writer = Some(step);
        self.cells.insert(key, Cell { content, writer });
    }

    /// Compares outputs with what the collective promises. The root of those that have one is the
    /// rank with which the fewest ranks are wrong.
    fn check(&self, wired: &Wired) -> Result<(), ProgramError> {
        let wrong = |root: u32| (0..self.parts.ranks).find_map(|rank| self.wrong(rank, root));
        let has_root = matches!(
            self.parts.collective,
            ProgramCollective::Broadcast | ProgramCollective::Reduce
        );
        let roots = if has_root { self.parts.ranks } else { 1 };
        let mut first = None;
        for root in 0..roots {
            match wrong(root) {
                None => return Ok(()),
                Some(found) => first = first.or(Some(found)),
            }
        }
        let Some((rank, chunk)) = first else {
            return Ok(());
        };
        Err(self.tell(wired, (rank, chunk)))
    }

    /// The first wrong chunk of the output of a rank.
    fn wrong(&self, rank: u32, root: u32) -> Option<(u32, u32)> {
        let (_, output) = self.parts.lengths();
        let asked = match self.parts.collective {
            ProgramCollective::Reduce => rank == root,
            // Whether the root copies its own is up to it.
            ProgramCollective::Broadcast => rank != root,
            _ => true,
        };
        let holds = |chunk: &u32| {
            let cell = self.output(rank, *chunk);
            let content = cell.map(|cell| &cell.content);
            content == Some(&Content::Sum(self.promised((rank, *chunk), root).into()))
        };
        let wrong = (0..output).find(|chunk| asked && !holds(chunk))?;
        Some((rank, wrong))
    }

    fn output(&self, rank: u32, chunk: u32) -> Option<&Cell> {
        let buffer = Buffer::Output;
        self.cell(rank, Slot { buffer, chunk }, 0)
    }

    /// What a chunk of an output must be the sum of.
    fn promised(&self, (rank, chunk): Term, root: u32) -> Vec<Term> {
        let share = self.parts.share().max(1);
        let of_all = |chunk: u32| (0..self.parts.ranks).map(|of| (of, chunk)).collect();
        match self.parts.collective {
            ProgramCollective::AllReduce | ProgramCollective::Reduce => of_all(chunk),
            ProgramCollective::ReduceScatter => of_all(rank * share + chunk),
            ProgramCollective::AllGather => vec![(chunk / share, chunk % share)],
            ProgramCollective::AllToAll => vec![(chunk / share, rank * share + chunk % share)],
            ProgramCollective::Broadcast => vec![(root, chunk)],
        }
    }

    fn tell(&self, wired: &Wired, (rank, chunk): Term) -> ProgramError {
        let promised = self.promised((rank, chunk), 0);
        let cell = self.output(rank, chunk);
        let had = |terms: &[Term]| {
            let terms = terms
                .iter()
                .map(|(of, at)| format!("chunk {at} of rank {of}"));
            terms.collect::<Vec<_>>().join(" + ")
        };
        let found = match cell.map(|cell| &cell.content) {
            None | Some(Content::Nothing) => "is never written".to_owned(),
            Some(Content::TooMuch) => {
                format!("is a sum of more than the {} ranks had", self.parts.ranks)
            }
            Some(Content::Sum(terms)) => {
                let lacks = promised.iter().find(|term| !terms.contains(term));
                let strange = terms.iter().find(|term| !promised.contains(term));
                let twice = terms.windows(2).find(|two| two[0] == two[1]);
                match (twice, strange, lacks) {
                    _ if promised.len() == 1 => {
                        format!("is {} in place of {}", had(terms), had(&promised))
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
            tenter_config::Words::word(&self.parts.collective)
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
