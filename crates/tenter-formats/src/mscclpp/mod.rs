//! Reader for execution plans of MSCCL++ as JSON: thread blocks put data into other GPUs' memory,
//! or get it from there, and signal when they have.
//!
//! ```text
//!   put, signal ── a message that a helper block takes at the receiver; a wait for the signal
//!                  also waits for the messages before it
//!   get         ── a request without bytes, and a helper at the other rank that answers with data
//!   packets     ── a step that reads a packet chunk waits for the step that writes it
//! ```
//!
//! Source for the format and its meaning: `src/core/executor/execution_plan.cc` and the executor in
//! microsoft/mscclpp.

mod blocks;
mod gpu;
mod json;
mod operations;
mod taken;
#[cfg(test)]
mod tests;

use tenter_language::units::Budget;
use tenter_workload::collective::{Program, ProgramCollective, ProgramParts, WireProtocol};

use crate::algorithm::{ReadAlgorithm, collective};
use crate::json_text;
use blocks::Blocks;
use gpu::Gpu;
use json::{Json, Read, wrong};

/// Most GPUs in a plan.
const GPUS_MAX: usize = 4_096;

/// Reads and checks a plan's algorithm.
///
/// # Errors
/// The first entry that violates the format, or the algorithm's first mistake.
pub(crate) fn read(text: &str, budget: &Budget) -> Read<ReadAlgorithm> {
    // With 0 stored bytes the limit on values does not grow with the text.
    let value = json_text::parsed(text.as_bytes(), 0, "give the whole file", budget)?;
    let plan = Json::new(&value, "the plan");
    let gpus = plan.list("gpus", "GPU")?;
    if gpus.is_empty() || gpus.len() > GPUS_MAX {
        let what = format!("the plan has {} GPUs", gpus.len());
        return Err(wrong(what, format!("give 2 to {GPUS_MAX} `gpus`")));
    }
    let gpus: Vec<Gpu<'_>> = gpus.iter().map(Gpu::read).collect::<Read<_>>()?;
    for (rank, gpu) in gpus.iter().enumerate() {
        if gpu.id as usize != rank {
            let what = format!("GPU {} stands where GPU {rank} should", gpu.id);
            return Err(wrong(what, "list the GPUs by their numbers"));
        }
    }
    let parts = header(&plan, &gpus)?;
    let mut blocks = Blocks::new(&gpus);
    operations::run(&gpus, &mut blocks)?;
    let (listed, names, notes) = blocks.finish();
    let parts = ProgramParts {
        blocks: listed,
        ..parts
    };
    let program = Program::new(parts).map_err(|error| {
        let name = error.at.map(|at| names.of(at));
        let place = name.map_or_else(String::new, |name| format!("{name}: "));
        wrong(format!("{place}{}", error.what), error.remedy)
    })?;
    Ok(ReadAlgorithm { program, notes })
}

/// Reads all but the blocks.
fn header(plan: &Json<'_>, gpus: &[Gpu<'_>]) -> Read<ProgramParts> {
    let word = plan.text("collective")?;
    let collective = collective(word).ok_or_else(|| {
        let what = format!("the collective is `{word}`, whose result cannot be checked");
        let remedy = "name a plan of allreduce, allgather, reducescatter, alltoall, \
                      broadcast or reduce";
        wrong(what, remedy)
    })?;
    let protocol = match plan.text("protocol")? {
        "Simple" => WireProtocol::Simple,
        "LL" => WireProtocol::Ll,
        other => {
            let what = format!("the protocol is `{other}`");
            return Err(wrong(what, "write `Simple` or `LL`"));
        }
    };
    // Sizes are those of nccl-tests: an all-gather counts the output.
    let of_size = |gpu: &Gpu<'_>| match collective {
        ProgramCollective::AllGather => gpu.output_chunks,
        _ => gpu.input_chunks,
    };
    let chunks = gpus.first().map_or(0, of_size);
    if let Some(other) = gpus.iter().find(|gpu| of_size(gpu) != chunks) {
        let what = format!(
            "GPU {} has {} chunks, and GPU 0 has {chunks}",
            other.id,
            of_size(other)
        );
        return Err(wrong(what, "give all GPUs as many chunks"));
    }
    // Guesses: a plan without the flag has separate buffers, one without bounds is for all sizes.
    let in_place = plan.flag("inplace");
    let least = plan.large("min_message_size", 0)?;
    Ok(ProgramParts {
        collective,
        ranks: gpus.len() as u32,
        chunks,
        in_place,
        // A plan is for one of the two alone.
        out_of_place: !in_place,
        protocol,
        sizes: least..=plan.large("max_message_size", u64::MAX)?,
        blocks: Vec::new(),
    })
}
