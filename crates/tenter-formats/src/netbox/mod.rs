//! Reader for cables of `NetBox`: the CSV file that it exports from its cable list, or the one from
//! which it imports cables.
//!
//! The user's patterns tell hosts from switches, then device roles, then device names. Rates come
//! from a file with interfaces, if it is given.
//!
//! Source: `CableTable`, `CableImportForm` and `InterfaceTypeChoices` in netbox-community/netbox.

mod cables;
mod devices;
mod interfaces;
mod table;
#[cfg(test)]
mod tests;

pub use cables::{Files, read};
