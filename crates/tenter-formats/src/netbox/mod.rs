//! Reader for cables of `NetBox`: the CSV file that it exports from its list of cables, or the one
//! from which it imports cables.
//!
//! The user's patterns tell hosts from switches, then the roles of devices, then their names. Rates
//! come from a file of interfaces, if it is given.
//!
//! Source: `CableTable`, `CableImportForm` and `InterfaceTypeChoices` in netbox-community/netbox.

mod cables;
mod devices;
mod interfaces;
mod table;
#[cfg(test)]
mod tests;

pub use cables::{Files, read};
