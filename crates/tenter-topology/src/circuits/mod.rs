//! Circuits: what optical switches connect, and how it is chosen.

pub mod steering;
