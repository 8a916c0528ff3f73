//! Importers: what other systems write, in the terms of a scenario.
//!
//! ```text
//!   config_db.json ──config_db──▶ tables, each field marked once it is read
//!                                    │ sonic
//!                                    ▼
//!   fragment of a scenario, each line with its origin, and a warning for each field not read
//! ```
//!
//! Communication matrices, size distributions and steps of collectives come from files that a
//! scenario names; they are written out in it.

mod algorithm;
mod algorithm_file;
pub mod chakra;
mod communicators;
mod compressed;
mod config_db;
mod decimal;
mod error;
pub mod flow_list;
mod fragment;
pub mod goal;
pub mod graph_file;
mod imported;
mod limits;
pub mod matrix;
mod msccl;
mod mscclpp;
pub mod simai;
pub mod size_law;
mod sonic;
pub mod steps;
pub mod topo;
mod trace;
mod varint;
mod words;

pub use algorithm::ReadAlgorithm;
pub use algorithm_file::read as read_algorithm;
pub use error::{ImportError, Place};
pub use fragment::Fragment;
pub use imported::{Imported, Source};
pub use sonic::import_sonic;
