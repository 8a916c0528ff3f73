//! Scenarios as texts: YAML, JSON and TOML in, trees with places, sections read key by key, and
//! everything that is wrong with them.
//!
//! ```text
//!   text ──yaml | toml──▶ tree ──overrides──▶ tree ──sections──▶ values, and the tree with all
//!                     with places                              its defaults ──emit──▶ YAML
//! ```
//!
//! Invariants:
//!
//! - Nothing here knows a key of a scenario; [`tenter_config`] has what a key is.
//! - No input makes this crate panic, recurse without bound or allocate out of proportion to it:
//!   texts nest at most 64 deep, and YAML aliases are refused.
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
