//! A scenario in, a plan out: one text becomes a [`Plan`](tenter_sim::plan::Plan) of plain numbers,
//! or a list with every problem in it.
//!
//! ```text
//!   text ──yaml | toml──▶ tree ──overrides──▶ tree ──sections──▶ values ──resolve──▶ Plan
//!                     with places                 and effective configuration    addresses, ranks
//! ```
//!
//! Invariants:
//!
//! - No input makes this room panic, recurse without bound or allocate out of proportion to it:
//!   texts have at most [`MAX_SOURCE_BYTES`] and nest at most 64 deep, YAML aliases are refused,
//!   and topologies have upper limits.
//! - Every problem names its place in the text (or in the override) and says what to write instead.
//! - The effective configuration, read again, gives the same plan.
//! - This room opens no file and reads no clock or environment; the caller hands in open files
//!   that a scenario names.
//!
//! ```
//! use tenter::resolve::{Format, load};
//!
//! let text = "
//! fabric: {kind: single-switch, hosts: 4}
//! jobs: [{collectives: [{collective: all-to-all, size: 16MiB}]}]
//! ";
//! let loaded = load(text, "four.yaml", Format::Yaml, &[], None)?;
//! assert_eq!(loaded.plan.jobs[0].ranks(), 4);
//! assert!(loaded.effective.contains("message_size: 128KiB"));
//!
//! let errors = load("fabric: {kind: leaf-spin}", "x.yaml", Format::Yaml, &[], None).unwrap_err();
//! assert!(errors.render().contains("did you mean `leaf-spine`?"));
//! # Ok::<(), tenter::resolve::Diagnostics>(())
//! ```

mod addresses;
mod algorithm_files;
mod assemble;
mod buffer;
mod capture;
mod circuits;
mod classes;
mod copies;
mod delays;
mod device_defaults;
mod document;
mod endpoint;
mod entropy;
mod equipment;
mod fabric;
mod faults;
mod files;
mod findings;
mod given;
mod graphs;
mod hand_over;
mod host;
mod host_notices;
mod hosts;
mod impairments;
mod jobs;
mod limits_at_rates;
mod links;
mod load;
mod load_balancing;
mod named_ports;
mod nic_impairments;
mod observe;
mod operations;
mod planes;
mod power;
mod presets;
mod profiles;
mod queue_changes;
mod queue_pair_packets;
mod reach;
mod regions;
mod sampling;
mod scenario;
mod schema;
mod seeds;
mod serial;
mod source_flow_control;
pub mod spec;
mod switch;
mod switch_model;
mod switching;
mod telemetry_room;
mod topologies;
mod trimming;
mod ultra_ethernet;

pub use document::{read_document, read_workload};
pub use files::{Files, MAX_SOURCE_BYTES};
pub use load::{
    Format, Input, Loaded, Overlay, WrittenPaths, load, load_beside, load_overlaid, load_typed,
    load_without, text_of, written_paths,
};
pub(crate) use operations::read_operations;
pub use presets::{PRESETS, Preset};
pub use scenario::key_reference;
pub use schema::schema;
pub use tenter_language::notation::diagnostics::{Diagnostics, Position, Problem};
pub use tenter_language::units::suggestion;
