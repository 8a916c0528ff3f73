//! Algorithms that others write step by step, such as those in MSCCL.
//!
//! ```text
//!   ProgramParts ── Program::new: sends meet receives, no deadlock, right outputs ──▶ Program
//!   Program ─────── Table::new: arrivals that each send needs, for a size ─────────▶ Schedule
//! ```
//!
//! Thread blocks run their steps in order. Messages from one rank to another on a channel arrive in
//! order.

mod checked;
mod error;
mod lines;
mod notation;
mod order;
mod parts;
mod programs;
#[cfg(test)]
mod tests;
mod transfers;
mod values;

pub use checked::Program;
pub use error::{At, ProgramError};
pub use lines::Lines as ProgramLines;
pub use notation::{HEADING, NotationError, read as read_program, write as write_program};
pub use parts::{
    Buffer, Port, ProgramBlock, ProgramCollective, ProgramParts, ProgramStep, Slot, StepName,
    WireProtocol,
};
pub use programs::{AlgorithmFiles, Programs};
