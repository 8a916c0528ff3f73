//! Scenarios as texts: YAML, JSON and TOML become trees with places, sections are read key by key,
//! and every problem is reported.
//!
//! ```text
//!   text ──yaml | toml──▶ tree ──overrides──▶ tree ──sections──▶ values, and the tree with all
//!                     with places                              its defaults ──emit──▶ YAML
//! ```
//!
//! Invariants:
//!
//! - Nothing here knows a scenario's keys; [`crate::config`] defines what a key is.
//! - No input makes this room panic, recurse without bound or allocate out of proportion to its
//!   length: texts nest at most 64 deep, and YAML aliases are refused.
//! - Every problem names its place in the text (or in the override) and says what to write instead.

pub mod decode;
pub mod diagnostics;
pub mod emit;
mod location;
pub mod overrides;
mod quote;
pub mod toml;
pub mod tree;
pub mod yaml;
