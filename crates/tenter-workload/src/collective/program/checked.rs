//! Algorithms that have been checked to do what their collectives promise.

use std::ops::RangeInclusive;

use super::error::ProgramError;
use super::order::{Preference, Wired, order};
use super::parts::{Buffer, ProgramCollective, ProgramParts, ProgramStep, Slot};
use super::values;

/// Most ranks in an algorithm; larger ones are not written by hand.
const RANKS_MAX: u32 = 4_096;
const STEPS_MAX: usize = Program::STEPS_MAX;
const CHUNKS_MAX: u64 = Program::CHUNKS_MAX;

/// An algorithm that has been run on symbols: no step waits forever, each send meets a receive, and
/// every output is what the collective promises.
#[derive(Debug)]
pub struct Program {
    parts: ProgramParts,
    wired: Wired,
    /// Steps in an order in which they can run.
    order: Vec<u32>,
}

/// Equal parts make equal algorithms; the rest follows from them.
impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        self.parts == other.parts
    }
}

impl Program {
    /// Most steps that all ranks may have together.
    pub const STEPS_MAX: usize = 1 << 20;
    /// Most chunks that all ranks may have together, and most chunks that all steps may move.
    pub const CHUNKS_MAX: u64 = 1 << 22;

    /// Checks an algorithm.
    ///
    /// # Errors
    /// The first mistake, with the step to blame if there is one.
    pub fn new(mut parts: ProgramParts) -> Result<Program, ProgramError> {
        parts.blocks.sort_by_key(|block| (block.rank, block.number));
        check_numbers(&parts)?;
        check_slots(&parts)?;
        let wired = Wired::new(&parts)?;
        let usual = order(&parts, &wired, Preference::Shallowest)?;
        let places = [(parts.out_of_place, false), (parts.in_place, true)];
        for (_, in_place) in places.into_iter().filter(|(is_meant, _)| *is_meant) {
            // If nothing orders two steps, their order must not matter. Four orders find most
            // missing waits, not all.
            values::run(&parts, &wired, &usual, in_place)?;
            for preference in Preference::OTHERS {
                let other = order(&parts, &wired, preference)?;
                values::run(&parts, &wired, &other, in_place).map_err(|error| racing(&error))?;
            }
        }
        Ok(Program {
            parts,
            wired,
            order: usual,
        })
    }

    /// Returns the parts as they were written.
    pub fn parts(&self) -> &ProgramParts {
        &self.parts
    }

    /// Returns the collective that the algorithm carries out.
    pub(crate) fn collective(&self) -> ProgramCollective {
        self.parts.collective
    }

    /// Returns the number of ranks that it is written for.
    pub fn ranks(&self) -> u32 {
        self.parts.ranks
    }

    /// Returns the sizes in bytes for which it is meant.
    pub(crate) fn sizes(&self) -> &RangeInclusive<u64> {
        &self.parts.sizes
    }

    /// Lists the steps in an order in which they can run: number, rank and step.
    pub(super) fn steps(&self) -> impl Iterator<Item = (u32, u32, &ProgramStep)> {
        self.order.iter().map(|&step| {
            let (rank, of) = self.wired.step(&self.parts, step);
            (step, rank, of)
        })
    }

    pub(super) fn wired(&self) -> &Wired {
        &self.wired
    }
}

/// Rephrases an error that occurs in one order but not in another.
fn racing(error: &ProgramError) -> ProgramError {
    ProgramError {
        what: format!(
            "the result depends on which of two steps comes first; in one order {}",
            error.what
        ),
        remedy: "let one of the steps that use the chunk wait for the other".to_owned(),
        at: error.at,
    }
}

fn check_numbers(parts: &ProgramParts) -> Result<(), ProgramError> {
    let ProgramParts { ranks, chunks, .. } = *parts;
    let whole = |what: String, remedy: &str| Err(ProgramError::new(None, what, remedy));
    if !(2..=RANKS_MAX).contains(&ranks) {
        let what = format!("it has {ranks} ranks, and an algorithm has 2 to {RANKS_MAX}");
        return whole(what, "give as many ranks as take part");
    }
    if chunks == 0 || u64::from(ranks) * u64::from(chunks) > CHUNKS_MAX {
        let what = format!("it cuts the size into {chunks} chunks for {ranks} ranks");
        let remedy = format!("give 1 to {} chunks", CHUNKS_MAX / u64::from(ranks));
        return whole(what, &remedy);
    }
    if parts.has_shares() && !chunks.is_multiple_of(ranks) {
        let what = format!("its {chunks} chunks cannot be shared among {ranks} ranks");
        return whole(what, "give a multiple of the number of ranks");
    }
    if !parts.in_place && !parts.out_of_place {
        return whole(
            "it is neither in place nor out of place".to_owned(),
            "say which it is",
        );
    }
    if parts.sizes.is_empty() {
        let (least, most) = (parts.sizes.start(), parts.sizes.end());
        let what =
            format!("it is meant for sizes from {least} to {most} bytes, of which there is none");
        return whole(what, "give a larger upper bound");
    }
    let steps: usize = parts.blocks.iter().map(|block| block.steps.len()).sum();
    if steps > STEPS_MAX {
        return whole(format!("it has {steps} steps"), "give at most 1,048,576");
    }
    // Every check on symbols costs time in proportion to the chunks moved, so these are bounded,
    // too.
    let moved = parts.blocks.iter().flat_map(|block| &block.steps);
    let moved: u64 = moved
        .map(|step| u64::from(step.count) * (1 + step.sources.len() as u64))
        .sum();
    if moved > CHUNKS_MAX {
        let what = format!("its steps move {moved} chunks, and at most {CHUNKS_MAX} are checked");
        return whole(what, "cut the size into fewer chunks");
    }
    Ok(())
}

/// Refuses chunks beyond their buffer, and steps that use data without having any.
fn check_slots(parts: &ProgramParts) -> Result<(), ProgramError> {
    let (input, output) = parts.lengths();
    for block in &parts.blocks {
        if block.rank >= parts.ranks {
            let what = format!("there is no rank {}", block.rank);
            let remedy = format!("ranks are 0 to {}", parts.ranks - 1);
            return Err(ProgramError::new(Some(block.at(None)), what, &remedy));
        }
        for (number, step) in (0..).zip(&block.steps) {
            let at = Some(block.at(Some(number)));
            for slot in step.sources.iter().chain(&step.store) {
                let (name, length) = match slot.buffer {
                    Buffer::Input => ("input", u64::from(input)),
                    Buffer::Output => ("output", u64::from(output)),
                    // Programs do not declare how much scratch they need: only its largest size is
                    // checked.
                    Buffer::Scratch => ("scratch buffer", CHUNKS_MAX),
                };
                let end = u64::from(slot.chunk) + u64::from(step.count);
                if end > length {
                    let last = end - 1;
                    let what = format!("it uses chunk {last} of the {name}, which has {length}");
                    let remedy = "name a chunk of the buffer";
                    return Err(ProgramError::new(at, what, remedy));
                }
            }
            check_data(step).map_err(|what| {
                let remedy = "let it receive or read what it stores and sends";
                ProgramError::new(at, what, remedy)
            })?;
        }
    }
    Ok(())
}

fn check_data(step: &ProgramStep) -> Result<(), &'static str> {
    let has_data = step.receive.is_some() || !step.sources.is_empty();
    let uses_data = step.store.is_some() || step.send.is_some();
    if step.count > 0 && uses_data && !has_data {
        return Err("it stores or sends data that it does not have");
    }
    Ok(())
}

/// Constructor that all readers of algorithms share.
impl Slot {
    /// Names a chunk in a buffer.
    pub fn new(buffer: Buffer, chunk: u32) -> Slot {
        Slot { buffer, chunk }
    }
}
