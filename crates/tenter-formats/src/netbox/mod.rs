//! Cables of `NetBox` as a fabric: the CSV file that it exports from the list of cables, or the one
//! that it imports cables from.
//!
//! Hosts and switches are told apart by what the command says, by the roles of devices, and by
//! their names. Rates are those of interfaces, where their file is given.
//!
//! Source: `CableTable`, `CableImportForm` and `InterfaceTypeChoices` of netbox-community/netbox.

mod cables;
mod devices;
mod interfaces;
mod table;
#[cfg(test)]
mod tests;

pub use cables::{Files, read};
