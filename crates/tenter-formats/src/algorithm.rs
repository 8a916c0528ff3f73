//! Algorithms of collectives from files.

use tenter_workload::collective::{Program, ProgramCollective, ProgramError};

use crate::error::{ImportError, Place};

/// An algorithm that has been read and checked, and what is to be said of it.
#[derive(Debug)]
pub struct ReadAlgorithm {
    /// The algorithm.
    pub program: Program,
    /// What was left out or is noteworthy, a sentence each.
    pub notes: Vec<String>,
}

/// What is wrong with an algorithm, at a line.
pub(crate) fn of_program(place: Place, error: &ProgramError) -> ImportError {
    let at = error.at.map_or_else(String::new, |at| format!("{at}: "));
    ImportError::new(place, format!("{at}{}", error.what), error.remedy.clone())
}

/// The collective of a file, as both MSCCL and MSCCL++ name it.
pub(crate) fn collective(word: &str) -> Option<ProgramCollective> {
    Some(match word {
        "allreduce" => ProgramCollective::AllReduce,
        "allgather" => ProgramCollective::AllGather,
        "reduce_scatter" | "reducescatter" => ProgramCollective::ReduceScatter,
        "alltoall" => ProgramCollective::AllToAll,
        "broadcast" => ProgramCollective::Broadcast,
        "reduce" => ProgramCollective::Reduce,
        _ => return None,
    })
}
