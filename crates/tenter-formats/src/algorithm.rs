//! Results and errors that all readers for collective algorithms share.

use tenter_workload::collective::{Program, ProgramCollective, ProgramError};

use crate::error::{ImportError, Place};

/// An algorithm that has been read from a file and checked, with notes for the user.
#[derive(Debug)]
pub struct ReadAlgorithm {
    /// All ranks' steps, which do what their collective promises.
    pub program: Program,
    /// Parts that were ignored and facts worth knowing, one sentence each.
    pub notes: Vec<String>,
}

/// Turns an error in a checked program into one in the file, at `place`.
pub(crate) fn of_program(place: Place, error: &ProgramError) -> ImportError {
    let at = error.at.map_or_else(String::new, |at| format!("{at}: "));
    ImportError::new(place, format!("{at}{}", error.what), error.remedy.clone())
}

/// Returns the collective that MSCCL and MSCCL++ call `word`, if they have one of that name.
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
