//! The language that all of Tenter speaks: values with units, keys with defaults and ranges, and
//! texts as trees in which every value has a place.
//!
//! ```text
//!   units ◀── config: what a key is ◀── notation: YAML, JSON and TOML, read key by key
//! ```
//!
//! **Architecture invariant.** Nothing here knows a key of a scenario, a network or a file.

pub mod config;
pub mod notation;
pub mod units;
