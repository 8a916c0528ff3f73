//! Importers: foreign files in a scenario's terms.
//!
//! ```text
//!   config_db.json ──config_db──▶ tables, each field marked once it is read
//!                                    │ sonic
//!                                    ▼
//!   fragment of a scenario, each line with its origin, and a warning for each field not read
//! ```
//!
//! Communication matrices, size distributions and collective steps come from files that a scenario
//! names, and are written out in it.

pub mod aicb;
mod algorithm;
mod algorithm_file;
mod calls;
pub mod chakra;
mod compressed;
mod config_db;
mod content;
mod decimal;
mod error;
pub mod fabric;
pub mod flight_recorder;
pub mod flow_list;
mod fragment;
pub mod goal;
pub mod graph_file;
mod grid;
mod guarded;
mod imported;
pub mod infragraph;
mod json_text;
pub mod kineto;
mod likely;
mod limits;
pub mod matrix;
mod msccl;
mod mscclpp;
pub mod nccl_log;
pub mod nccl_topo;
pub mod netbox;
pub mod ns3_topology;
mod parquet_file;
pub mod pytorch_et;
pub mod simai;
pub mod size_law;
mod sonic;
pub mod steps;
mod taken_graph;
pub mod topo;
mod trace;
mod varint;
mod words;
mod xml_text;

pub use algorithm::ReadAlgorithm;
pub use algorithm_file::read as read_algorithm;
pub use content::{Content, Form};
pub use error::{ImportError, Place};
pub use fragment::Fragment;
pub use guarded::{guarded, is_decoding};
pub use imported::{Imported, RankFiles, Source};
pub use likely::{LIKELY_HEAD, likely_format};
pub use sonic::import_sonic;
