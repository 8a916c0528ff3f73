//! `tenter ui` and `tenter trials`: what a browser asks, and what it gets.

mod bad_requests;
mod budgets;
mod client;
#[path = "../embedded/mod.rs"]
mod embedded;
#[path = "../kinds/mod.rs"]
mod kinds;
mod ledger;
mod limits;
#[cfg(unix)]
mod links;
mod names;
mod numbers;
#[cfg(target_os = "linux")]
mod processes;
mod repair;
mod restart;
mod sweeps;

/// Eight NICs on two leaves, and a collective in three sizes.
const SCENARIO: &str = "
name: small
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2}
jobs:
  - name: train
    collectives:
      - {collective: all-to-all, size: 1MiB}
      - {collective: all-reduce, sizes: [256KiB, 1MiB]}
observe: {sample_interval: 10us}
";

/// A million small all-to-alls: hours of work, and flows that end all the time.
const LONG: &str = "
name: long
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 2}
jobs:
  - {name: endless, iterations: 1000000, gap: 2us, collectives: [{collective: all-to-all, size: 256KiB}]}
observe: {sample_interval: 10us}
";
