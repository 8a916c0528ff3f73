//! Reader for MSCCL algorithms as XML: the steps for each thread block on each GPU.
//!
//! Source for the format and its meaning: `src/graph/topo.cc` and the interpreter in
//! microsoft/msccl, and `msccl/language/ir.py` in microsoft/msccl-tools.

mod element;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use tenter_workload::collective::{
    Buffer, Program, ProgramBlock, ProgramCollective, ProgramLines, ProgramParts, WireProtocol,
};

use crate::algorithm::{ReadAlgorithm, collective, of_program};
use crate::error::Place;
use crate::xml_text;
use element::{Element, Read};

/// Most elements and texts in a file; each step is two of them.
const NODES_MAX: u32 = 8 << 20;
/// Largest size for an algorithm without `maxBytes`, as MSCCL has it.
const MAX_BYTES: u64 = 128 << 20;

/// Reads and checks an algorithm.
///
/// # Errors
/// The first violation of the format, or the first mistake in the algorithm, by its line.
pub(crate) fn read(text: &str) -> Read<ReadAlgorithm> {
    let document = xml_text::parsed(text, NODES_MAX)?;
    let root = Element::of(document.root_element());
    if root.name() != "algo" {
        let what = format!(
            "the file is a `{}`, and an algorithm is an `algo`",
            root.name()
        );
        return Err(root.wrong(what, "name a file of MSCCL"));
    }
    let mut reading = Reading {
        newlines: text.match_indices('\n').map(|(byte, _)| byte).collect(),
        ..Reading::default()
    };
    let parts = reading.algorithm(&root)?;
    let program = Program::new(parts)
        .map_err(|error| of_program(Place::Line(reading.lines.line(error.at)), &error))?;
    Ok(ReadAlgorithm {
        program,
        notes: reading.notes,
    })
}

/// State of the reader, with notes for the user.
#[derive(Default)]
struct Reading {
    /// Bytes at which lines end, in ascending order.
    newlines: Vec<usize>,
    lines: ProgramLines,
    notes: Vec<String>,
    unknown: BTreeSet<String>,
}

impl Reading {
    /// Returns an element's line by bisection, since it is needed for each step. Errors search the
    /// text instead.
    fn line(&self, element: &Element<'_, '_>) -> usize {
        let start = element.start();
        self.newlines.partition_point(|&end| end < start) + 1
    }

    /// Notes attributes without meaning here, each name once.
    fn know(&mut self, element: &Element<'_, '_>, known: &[&str]) {
        for name in element.attributes() {
            if known.contains(&name) || !self.unknown.insert(format!("{}@{name}", element.name())) {
                continue;
            }
            let line = self.line(element);
            self.notes.push(format!(
                "line {line}: `{name}` of a `{}` has no meaning here and is left out",
                element.name()
            ));
        }
    }

    /// Reads the algorithm from the root element.
    fn algorithm(&mut self, root: &Element<'_, '_>) -> Read<ProgramParts> {
        let known = [
            "name",
            "proto",
            "nchannels",
            "nchunksperloop",
            "ngpus",
            "coll",
            "inplace",
            "outofplace",
            "minBytes",
            "maxBytes",
            "nthreads",
            "redop",
        ];
        self.know(root, &known);
        let in_place = root.number_or::<u8>("inplace", 0)? != 0;
        // Guess: without `outofplace` an algorithm has separate buffers, unless it is in place.
        let out_of_place = root.number_or("outofplace", u8::from(!in_place))? != 0;
        let least = root.number_or("minBytes", 0)?;
        let mut parts = ProgramParts {
            collective: collective_of(root)?,
            ranks: root.number("ngpus")?,
            chunks: root.number("nchunksperloop")?,
            in_place,
            out_of_place,
            protocol: protocol(root)?,
            sizes: least..=root.number_or("maxBytes", MAX_BYTES)?,
            blocks: Vec::new(),
        };
        let mut seen = BTreeSet::new();
        for gpu in root.children(&["gpu"])? {
            let rank: u32 = gpu.number("id")?;
            if !seen.insert(rank) {
                return Err(gpu.wrong(format!("GPU {rank} is there twice"), "keep one of them"));
            }
            self.gpu(&gpu, rank, &mut parts)?;
        }
        // The count is not checked yet, so it must not decide the length of this search.
        let missing = (0..parts.ranks.min(1 << 20)).find(|rank| !seen.contains(rank));
        if let Some(rank) = missing {
            let what = format!("there is no GPU {rank}, and `ngpus` is {}", parts.ranks);
            return Err(root.wrong(what, "add it, or correct `ngpus`"));
        }
        Ok(parts)
    }

    /// Reads the thread blocks of a GPU.
    fn gpu(&mut self, gpu: &Element<'_, '_>, rank: u32, parts: &mut ProgramParts) -> Read<()> {
        self.know(gpu, &["id", "i_chunks", "o_chunks", "s_chunks"]);
        let scratch: u32 = gpu.number_or("s_chunks", 0)?;
        check_chunks(gpu, parts)?;
        for tb in gpu.children(&["tb"])? {
            self.know(&tb, &["id", "send", "recv", "chan"]);
            let number = tb.number("id")?;
            let line = self.line(&tb);
            self.lines.add_block(rank, number, line);
            let ends = steps::Ends::of(&tb)?;
            let mut block = ProgramBlock {
                rank,
                number,
                steps: Vec::new(),
            };
            for element in tb.children(&["step", "op"])? {
                let known = [
                    "s", "step", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid",
                    "deps", "hasdep",
                ];
                self.know(&element, &known);
                let line = self.line(&element);
                self.lines.add_step(line);
                let place = block.steps.len();
                let step = steps::step(&element, ends, place)?;
                // Input and output follow from the collective; only the file tells the size of
                // scratch.
                let slots = step.sources.iter().chain(&step.store);
                let beyond = |chunk: u32| u64::from(chunk) + u64::from(step.count);
                let last = slots
                    .filter(|slot| slot.buffer == Buffer::Scratch)
                    .map(|slot| beyond(slot.chunk))
                    .max();
                if last.is_some_and(|end| end > u64::from(scratch)) {
                    let what = format!("it uses more than the {scratch} chunks of scratch");
                    return Err(element.wrong(what, "correct `s_chunks` of the `gpu`"));
                }
                block.steps.push(step);
            }
            parts.blocks.push(block);
        }
        Ok(())
    }
}

fn collective_of(root: &Element<'_, '_>) -> Read<ProgramCollective> {
    let word = root.text("coll")?;
    collective(word).ok_or_else(|| {
        let what = format!("the collective is `{word}`, whose result cannot be checked");
        let remedy = "name a file of allreduce, allgather, reduce_scatter, alltoall, \
                      broadcast or reduce";
        root.wrong(what, remedy)
    })
}

fn protocol(root: &Element<'_, '_>) -> Read<WireProtocol> {
    match root.text("proto")? {
        "Simple" => Ok(WireProtocol::Simple),
        "LL" => Ok(WireProtocol::Ll),
        "LL128" => Ok(WireProtocol::Ll128),
        other => {
            let what = format!("the protocol is `{other}`");
            Err(root.wrong(what, "write `Simple`, `LL` or `LL128`"))
        }
    }
}

/// Checks that input and output have the chunks that the collective needs, if the file counts them.
fn check_chunks(gpu: &Element<'_, '_>, parts: &ProgramParts) -> Read<()> {
    let share = |of: ProgramCollective| {
        let shares = if parts.collective == of {
            parts.ranks
        } else {
            1
        };
        parts.chunks / shares.max(1)
    };
    for (name, expected) in [
        ("i_chunks", share(ProgramCollective::AllGather)),
        ("o_chunks", share(ProgramCollective::ReduceScatter)),
    ] {
        let given: u32 = gpu.number_or(name, 0)?;
        // 0 stands for a buffer that the file does not count.
        if given > 0 && given != expected {
            let what = format!("`{name}` is {given}, and the collective needs {expected}");
            return Err(gpu.wrong(what, "correct it, or `nchunksperloop`"));
        }
    }
    Ok(())
}
