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

pub mod chakra;
mod communicators;
mod compressed;
mod config_db;
mod decimal;
mod error;
pub mod fabric;
pub mod flow_list;
mod fragment;
pub mod goal;
pub mod graph_file;
mod imported;
pub mod infragraph;
mod limits;
pub mod matrix;
pub mod nccl_topo;
pub mod netbox;
pub mod ns3_topology;
pub mod simai;
pub mod size_law;
mod sonic;
pub mod steps;
pub mod topo;
mod trace;
mod varint;
mod words;

pub use error::{ImportError, Place};
pub use fragment::Fragment;
pub use imported::{Imported, Source};
pub use sonic::import_sonic;
