//! Reader and writer for `InfraGraph` 3 infrastructures.
//!
//! ```text
//!   YAML, JSON ─document─▶ devices, instances, edges ─expand─▶ cables between components
//!                                     │ server                       │ read
//!                                     ▼                              ▼
//!                     NPUs, NICs and scale-up of a server    hosts and switches by name
//! ```
//!
//! A device with an `xpu` or a `nic` is a server, and each cabled component in it is a host. All
//! other devices are switches.
//!
//! Source: the schema in Keysight/infragraph, and its Python package 3.1.0 for slices and schemes.

mod annotations;
mod document;
mod expand;
mod index;
mod parts;
mod read;
mod server;
#[cfg(test)]
mod tests;
mod write;

pub use read::read;
pub use write::{Server, write};
