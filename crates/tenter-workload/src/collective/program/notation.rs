//! Algorithms in Tenter's own notation: one line for the whole, one per thread block, one per step.
//! Semicolons may replace line ends.
//!
//! ```text
//!   algorithm all-reduce ranks 2 chunks 2 in-place protocol simple sizes 0 1073741824
//!   block 0 0
//!   step 1 of i0 to 1.0
//!   step 1 from 1.0 of i1 into i1 after 0.0
//! ```
//!
//! After `to` and `from`, `1.0` is rank 1 on channel 0; after `after`, `0.0` is step 0 in block 0.
//! `i1` is chunk 1 in the input; `o` and `s` stand for output and scratch.

use std::fmt::Write as _;
use std::str::FromStr;

use tenter_language::config::Words;

use super::checked::Program;
use super::error::ProgramError;
use super::lines::Lines;
use super::parts::{
    Buffer, Port, ProgramBlock, ProgramCollective, ProgramParts, ProgramStep, Slot, StepName,
    WireProtocol,
};

/// First characters of every text in this notation.
pub const HEADING: &str = "algorithm ";

/// A mistake in a text, with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {error}")]
pub struct NotationError {
    /// Number of the line, from 1.
    pub line: usize,
    /// Mistake that was found there.
    pub error: ProgramError,
}

/// Writes an algorithm as text, with `end` after each line.
pub fn write(program: &Program, end: char) -> String {
    let parts = program.parts();
    let mut out = format!(
        "{HEADING}{} ranks {} chunks {}",
        parts.collective.word(),
        parts.ranks,
        parts.chunks
    );
    for (is_so, word) in [
        (parts.in_place, "in-place"),
        (parts.out_of_place, "out-of-place"),
    ] {
        if is_so {
            let _ = write!(out, " {word}");
        }
    }
    let (least, most) = (parts.sizes.start(), parts.sizes.end());
    let _ = write!(
        out,
        " protocol {} sizes {least} {most}{end}",
        parts.protocol.word()
    );
    for block in &parts.blocks {
        let _ = write!(out, "block {} {}{end}", block.rank, block.number);
        for step in &block.steps {
            write_step(step, &mut out);
            out.push(end);
        }
    }
    out
}

fn write_step(step: &ProgramStep, out: &mut String) {
    let _ = write!(out, "step {}", step.count);
    let slot = |out: &mut String, word: &str, slot: &Slot| {
        let _ = write!(out, " {word} {}{}", slot.buffer.letter(), slot.chunk);
    };
    let pair = |out: &mut String, word: &str, one: u32, other: u32| {
        let _ = write!(out, " {word} {one}.{other}");
    };
    if let Some(port) = step.receive {
        pair(out, "from", port.peer, port.channel);
    }
    for source in &step.sources {
        slot(out, "of", source);
    }
    if let Some(store) = &step.store {
        slot(out, "into", store);
    }
    if let Some(port) = step.send {
        pair(out, "to", port.peer, port.channel);
    }
    for name in &step.after {
        pair(out, "after", name.block, name.step);
    }
}

/// Reads an algorithm from its text and checks it.
///
/// # Errors
/// The first line that is not understood; otherwise the first mistake in the algorithm.
pub fn read(text: &str) -> Result<Program, NotationError> {
    let mut lines = Lines::default();
    let mut parts: Option<ProgramParts> = None;
    // A semicolon ends a line as well, so that one line of text can hold an algorithm.
    for (number, line) in text.split(['\n', ';']).enumerate() {
        let number = number + 1;
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(word) = words.next() else {
            continue;
        };
        let wrong = |what: &str| NotationError {
            line: number,
            error: ProgramError::new(None, what, "write it as `algorithm`, `block` or `step`"),
        };
        match (word, &mut parts) {
            ("algorithm", None) => parts = Some(heading(words).map_err(|what| wrong(&what))?),
            (_, None) => return Err(wrong("an algorithm begins with the line `algorithm`")),
            ("block", Some(parts)) => {
                let numbers: Vec<u32> = words.map_while(|word| word.parse().ok()).collect();
                let [rank, block] = numbers[..] else {
                    return Err(wrong("a block has a rank and a number"));
                };
                lines.add_block(rank, block, number);
                parts.blocks.push(ProgramBlock {
                    rank,
                    number: block,
                    steps: Vec::new(),
                });
            }
            ("step", Some(parts)) => {
                let step = step(words).map_err(|what| wrong(&what))?;
                let block = parts.blocks.last_mut();
                let block = block.ok_or_else(|| wrong("a step stands behind its block"))?;
                lines.add_step(number);
                block.steps.push(step);
            }
            _ => return Err(wrong(&format!("`{word}` is no word of the notation"))),
        }
    }
    let Some(parts) = parts else {
        let error = ProgramError::new(None, "there is no algorithm", "give at least one line");
        return Err(NotationError { line: 1, error });
    };
    Program::new(parts).map_err(|error| NotationError {
        line: lines.line(error.at),
        error,
    })
}

fn number<T: FromStr>(word: Option<&str>) -> Result<T, String> {
    let shown = word.unwrap_or("nothing");
    let parsed = word.and_then(|word| word.parse().ok());
    parsed.ok_or_else(|| format!("{shown} stands where a number should"))
}

fn chosen<T: Words + Copy>(word: Option<&str>) -> Result<T, String> {
    let shown = word.unwrap_or("nothing");
    let found = T::ALL.iter().find(|of| Some(of.word()) == word);
    let known = || {
        T::ALL
            .iter()
            .map(Words::word)
            .collect::<Vec<_>>()
            .join(", ")
    };
    found
        .copied()
        .ok_or_else(|| format!("{shown} stands where one of {} should", known()))
}

fn heading<'w>(mut words: impl Iterator<Item = &'w str>) -> Result<ProgramParts, String> {
    let mut parts = ProgramParts {
        collective: chosen::<ProgramCollective>(words.next())?,
        ranks: 0,
        chunks: 0,
        in_place: false,
        out_of_place: false,
        protocol: WireProtocol::Simple,
        sizes: 0..=u64::MAX,
        blocks: Vec::new(),
    };
    while let Some(word) = words.next() {
        match word {
            "ranks" => parts.ranks = number(words.next())?,
            "chunks" => parts.chunks = number(words.next())?,
            "in-place" => parts.in_place = true,
            "out-of-place" => parts.out_of_place = true,
            "protocol" => parts.protocol = chosen(words.next())?,
            "sizes" => parts.sizes = number(words.next())?..=number(words.next())?,
            _ => return Err(format!("`{word}` says nothing of an algorithm")),
        }
    }
    Ok(parts)
}

fn step<'w>(mut words: impl Iterator<Item = &'w str>) -> Result<ProgramStep, String> {
    let mut step = ProgramStep {
        count: number(words.next())?,
        ..ProgramStep::default()
    };
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_default();
        let pair = || {
            let (one, other) = value.split_once('.').unwrap_or((value, ""));
            Ok::<(u32, u32), String>((number(Some(one))?, number(Some(other))?))
        };
        let slot = || {
            let buffer = value.get(..1).and_then(Buffer::of_letter);
            let buffer = buffer.ok_or_else(|| format!("`{value}` is no chunk of a buffer"))?;
            Ok::<Slot, String>(Slot::new(buffer, number(value.get(1..))?))
        };
        let port = || pair().map(|(peer, channel)| Port { peer, channel });
        match word {
            "from" => step.receive = Some(port()?),
            "of" => step.sources.push(slot()?),
            "into" => step.store = Some(slot()?),
            "to" => step.send = Some(port()?),
            "after" => {
                let (block, of) = pair()?;
                step.after.push(StepName { block, step: of });
            }
            _ => return Err(format!("`{word}` says nothing of a step")),
        }
    }
    Ok(step)
}
