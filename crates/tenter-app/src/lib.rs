//! The `tenter` command and the server of its page.
//!
//! [`command`] reads arguments, calls the library and prints; [`server`] answers a browser from a
//! workspace. Neither computes a result of its own.

pub mod command;
pub mod server;
