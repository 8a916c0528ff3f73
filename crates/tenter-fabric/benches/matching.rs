//! How long the choice of circuits takes, against k·r⁴ for k switches of r ports.
//!
//! `cargo test -p tenter-fabric --bench matching`, with the optimised profile of tests.

use std::time::Instant;

use tenter_fabric::steering::matching::{Demand, Policy, steer};

/// Every pod sends to sixteen others, near and far, and has `uplinks` ports on optical switches of
/// `radix` ports, each of which has pods that follow each other at some distance.
fn case(pods: u32, radix: u32, uplinks: u32) -> (Demand, Vec<Vec<u32>>) {
    let amount = |a: u32, n: u32| u64::from((a * 7 + n * 13) % 29 + 1) << 20;
    let sends =
        (0..pods).flat_map(|a| (1..=16).map(move |n| (a, (a + n * n) % pods, amount(a, n))));
    let switches = (0..uplinks).flat_map(|plane| {
        let stride = 1 << (plane % 4);
        (0..pods / radix).map(move |group| {
            let first = group / stride * stride * radix + group % stride;
            (0..radix)
                .map(|port| (first + port * stride) % pods)
                .collect()
        })
    });
    (Demand::of(pods, sends), switches.collect())
}

#[allow(clippy::print_stdout)]
fn main() {
    println!("   pods  radix  switches  circuits    time (ms)  time/(k r^4) (ns)");
    for (pods, radix, uplinks) in [
        (64, 4, 8),
        (64, 8, 8),
        (64, 16, 8),
        (256, 16, 8),
        (1_024, 8, 16),
        (1_024, 16, 16),
        (1_024, 32, 16),
    ] {
        let (demand, switches) = case(pods, radix, uplinks);
        let started = Instant::now();
        // Every pair that sends anything is an edge: the most work there can be.
        let policy = Policy {
            least_share: 0,
            keep: 1,
        };
        let chosen = steer(&demand, &switches, policy);
        let time = started.elapsed().as_secs_f64();
        let circuits: usize = chosen.iter().map(Vec::len).sum();
        let steps = switches.len() as f64 * f64::from(radix).powi(4);
        println!(
            "{pods:>7} {radix:>6} {:>9} {circuits:>9} {:>12.2} {:>18.3}",
            switches.len(),
            time * 1e3,
            time * 1e9 / steps
        );
    }
}
