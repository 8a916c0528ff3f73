//! A lab of network namespaces, from `up` to `down`: 8 hosts, 2 leaves, 2 spines.
//!
//! The test is its own agent: `tenter lab up` starts the program that it is told. Where namespaces
//! cannot be made, it says why and ends.

#![cfg_attr(
    target_os = "linux",
    expect(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "it is a program of tests"
    )
)]

#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod on_linux;
#[cfg(target_os = "linux")]
mod rack;
#[cfg(target_os = "linux")]
mod traffic;

/// There are namespaces on Linux alone.
#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    on_linux::main()
}
