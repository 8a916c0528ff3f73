//! Writer that turns operation graphs into GOAL texts.

use std::fmt::{self, Write};

use tenter_workload::graph::{Graph, Operation};

/// Picoseconds in the format's unit of time.
const NS: u64 = 1_000;

/// Writes a graph as text. Returns how many computing times were cut to whole nanoseconds.
///
/// # Errors
/// Errors from `out`.
pub fn write(graph: &Graph, out: &mut impl Write) -> Result<u64, fmt::Error> {
    let mut cut = 0;
    writeln!(out, "num_ranks {}", graph.ranks())?;
    for rank in 0..graph.ranks() {
        writeln!(out, "\nrank {rank} {{")?;
        for place in 0..graph.operations_of(rank) {
            cut += operation(graph, rank, place, out)?;
        }
        for place in 0..graph.operations_of(rank) {
            // Waits stand behind all operations, so each label is known where it is used.
            for (follower, on_start) in graph.followers(rank, place) {
                let word = if on_start { "irequires" } else { "requires" };
                writeln!(out, "o{follower} {word} o{place}")?;
            }
        }
        writeln!(out, "}}")?;
    }
    Ok(cut)
}

/// Writes an operation with a label. Returns 1 if its time was cut, else 0.
fn operation(
    graph: &Graph,
    rank: u32,
    place: u32,
    out: &mut impl Write,
) -> Result<u64, fmt::Error> {
    let (operation, stream) = graph.operation(rank, place);
    write!(out, "o{place}: ")?;
    let mut cut = 0;
    match operation {
        Operation::Compute { time } | Operation::Wait { time } => {
            cut = u64::from(!time.ps().is_multiple_of(NS));
            write!(out, "calc {}", time.ps() / NS)?;
        }
        Operation::Send { peer, bytes, tag } => {
            write!(out, "send {bytes}b to {peer} tag {tag}")?;
        }
        Operation::Receive { peer, bytes, tag } => {
            let any = |of: Option<u32>| of.map_or_else(|| "-1".to_owned(), |of| of.to_string());
            write!(out, "recv {bytes}b from {} tag {}", any(peer), any(tag))?;
        }
        // GOAL has no collectives. Graphs with collectives are refused before, and schedules have
        // none.
        Operation::Collective { .. } => write!(out, "calc 0")?,
    }
    if stream > 0 {
        write!(out, " cpu {stream}")?;
    }
    writeln!(out)?;
    Ok(cut)
}
