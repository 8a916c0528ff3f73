//! What a user types, and what comes back: exit codes, streams and files of the `tenter` binary.

mod bench;
mod broken;
mod capture;
mod credit;
mod damaged;
#[path = "../embedded/mod.rs"]
mod embedded;
mod explain;
mod fabrics;
mod flow_workloads;
mod graphs;
mod host;
mod hostile;
mod import;
mod interrupt;
mod jobs;
#[path = "../kinds/mod.rs"]
mod kinds;
#[cfg(target_os = "linux")]
mod lab;
mod new;
mod notes;
mod patterns;
mod pauses;
mod query;
mod readme;
mod report;
mod run;
mod seeds;
mod servers;
mod shell;
mod signals;
mod silicon;
mod validate;
mod watch;
mod workplace;
