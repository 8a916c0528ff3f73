//! Small fabrics with a few long transfers, whose states repeat: for jumps over steady states.

use std::fmt::Write;

use tenter_fabric::net::load_balancing::{Ecmp, LoadBalancing};
use tenter_fabric::net::{MarkAt, UNLIMITED_POOL};
use tenter_sim::plan::{Plan, SteadyState};

use super::draw::Draw;
use super::{RandomScenario, endpoint, fabric, flow_control};

/// Makes a scenario from a seed in which most queue pairs have hundreds of packets to send, and
/// steady states are jumped over. The same seed gives the same scenario.
///
/// # Panics
/// Panics if the scenario is refused, which is a defect in this crate.
pub fn random_transfers(seed: u64) -> RandomScenario {
    RandomScenario::made(seed, "transfers", text(seed), |plan| {
        change(plan, &mut Draw::new(!seed));
    })
}

/// Makes such a scenario with rings, whose steps repeat.
///
/// # Panics
/// As [`random_transfers`].
pub fn random_rings(seed: u64) -> RandomScenario {
    RandomScenario::made(seed, "rings", ring_text(seed), |plan| {
        let mut draw = Draw::new(!seed);
        change(plan, &mut draw);
        if draw.chance(50) {
            // Without timers, states repeat sooner.
            plan.host_delays.step = tenter_language::units::Time::ZERO;
        }
    })
}

fn text(seed: u64) -> String {
    let mut draw = Draw::new(seed ^ 0x5eed);
    let fabric = fabric::write_calm(&mut draw);
    let endpoint = endpoint::write(&mut draw);
    let jobs = jobs(&mut draw, fabric.hosts, endpoint.packet_bytes);
    let observe = if draw.chance(30) {
        format!("{{sample_interval: {}}}", draw.time(3_000, 200_000))
    } else {
        "{samples: false}".to_owned()
    };
    let seed = draw.below(1 << 32);
    format!(
        "seed: {seed}\nfabric:\n{}endpoint:\n{}jobs:\n{jobs}observe: {observe}\n",
        fabric.text, endpoint.text
    )
}

/// Draws one or two jobs on any hosts, each with one or two collectives.
fn jobs(draw: &mut Draw, hosts: u64, packet_bytes: u64) -> String {
    let jobs: u64 = *draw.pick(&[&1, &1, &2]);
    let mut text = String::new();
    for index in 0..jobs {
        let mut ranks: Vec<u64> = (0..hosts).collect();
        draw.shuffle(&mut ranks);
        let count = draw.within(2..=hosts.min(8));
        ranks.truncate(count as usize);
        let queue_pairs: u64 = *draw.pick(&[&1, &1, &2, &3]);
        let size = packet_bytes * draw.within(300..=1_500) * queue_pairs;
        let start = draw.seldom_time(40, 30_000);
        text.push_str(&head(index, &ranks, queue_pairs, &start));
        let (what, size): (&str, u64) = match draw.below(5) {
            0 => ("permutation, algorithm: random, seed: 3", size),
            1 => ("all-to-all, algorithm: parallel", size * count),
            2 => ("all-reduce, algorithm: ring", size * count),
            3 => ("all-gather, algorithm: ring", size * count),
            _ => ("incast", size * (count - 1)),
        };
        // A second collective begins while other jobs are sending.
        for _ in 0..*draw.pick(&[&1, &1, &2]) {
            let _ = writeln!(text, "      - {{collective: {what}, size: {size}B}}");
        }
        if draw.chance(50) {
            let _ = writeln!(text, "    gap: {}", draw.time(2_000, 50_000));
        }
        if index > 0 && draw.chance(20) {
            text.push_str("    background: true\n");
        }
    }
    text
}

fn ring_text(seed: u64) -> String {
    let mut draw = Draw::new(seed ^ 0x5eed);
    let (fabric, hosts) = if draw.chance(60) {
        let hosts = draw.within(6..=24);
        (format!("kind: single-switch, hosts: {hosts}, rate"), hosts)
    } else {
        let (leaves, each) = (draw.within(2..=4), draw.within(1..=5));
        let spines = draw.within(1..=4);
        let sizes = format!("leaves: {leaves}, hosts_per_leaf: {each}, spines: {spines}");
        let fabric = format!("kind: leaf-spine, {sizes}, host_rate");
        (fabric, leaves * each)
    };
    let rate = draw.pick(&["100Gbps", "200Gbps", "400Gbps", "800Gbps"]);
    let latency = draw.time(120, 900);
    let endpoint = endpoint::write(&mut draw);
    let jobs = rings(&mut draw, hosts, endpoint.packet_bytes);
    let observe = if draw.chance(20) {
        format!("{{sample_interval: {}}}", draw.time(30_000, 900_000))
    } else {
        "{samples: false}".to_owned()
    };
    let seed = draw.below(1 << 32);
    format!(
        "seed: {seed}\nfabric: {{{fabric}: {rate}, switch: {{pipeline_latency: {latency}}}}}\nendpoint:\n{}jobs:\n{jobs}observe: {observe}\n",
        endpoint.text
    )
}

/// Returns a job's text up to its collectives.
fn head(index: u64, ranks: &[u64], queue_pairs: u64, start: &str) -> String {
    format!(
        "  - name: job{index}\n    ranks: {ranks:?}\n    queue_pairs: {queue_pairs}\n    start: {start}\n    collectives:\n"
    )
}

/// Draws one or two rings, in host order or shuffled.
fn rings(draw: &mut Draw, hosts: u64, packet_bytes: u64) -> String {
    let jobs: u64 = *draw.pick(&[&1, &1, &1, &2]);
    let mut text = String::new();
    for index in 0..jobs {
        let mut ranks: Vec<u64> = (0..hosts).collect();
        if draw.chance(50) {
            draw.shuffle(&mut ranks);
        }
        let count = draw.within(hosts.div_ceil(2).max(2)..=hosts);
        ranks.truncate(count as usize);
        let queue_pairs: u64 = *draw.pick(&[&1, &1, &1, &2]);
        let packets = draw.within(20..=200) * queue_pairs;
        // One byte more gives some chunks another size.
        let odd = u64::from(draw.chance(10));
        let size = packet_bytes * packets * count + odd;
        let what = draw.pick(&[
            "all-reduce, algorithm: ring",
            "all-reduce, algorithm: ring",
            "all-reduce, algorithm: bidirectional-ring",
            "all-gather, algorithm: ring",
            "reduce-scatter, algorithm: ring",
        ]);
        let start = draw.seldom_time(30, 30_000);
        text.push_str(&head(index, &ranks, queue_pairs, &start));
        for _ in 0..*draw.pick(&[&1, &1, &2]) {
            let _ = writeln!(text, "      - {{collective: {what}, size: {size}B}}");
        }
    }
    text
}

/// Draws settings under which states repeat: in most plans equal clocks, in half of them buffers
/// with pauses and marks, and no random marks or load balancing.
fn change(plan: &mut Plan, draw: &mut Draw) {
    plan.steady_state = SteadyState::Jump;
    if draw.chance(80) {
        plan.nic.clock_offset_max_ppm = 0;
    }
    if draw.chance(60) {
        plan.nic.retransmission_timeout = tenter_language::units::Time::from_us(5_000);
    }
    flow_control::change(plan, draw);
    plan.nic.receive_buffer = None;
    let is_roomy = draw.chance(70);
    for bytes in &mut plan.switches.usual.pool_bytes {
        // With room for what arrives after a pause, little is dropped.
        if is_roomy && *bytes != UNLIMITED_POOL {
            *bytes *= 4;
        }
    }
    for class in &mut plan.switches.usual.classes {
        if let Some(ecn) = &mut class.ecn {
            // Marks between two thresholds are random; a single threshold makes them repeat.
            ecn.min_bytes = ecn.max_bytes;
            ecn.mark_at = *draw.pick(&[&MarkAt::Enqueue, &MarkAt::Dequeue]);
        }
    }
    // Other load balancers draw, or depend on time.
    if plan.switches.usual.load_balancing.ecmp().is_none() {
        plan.switches.usual.load_balancing = LoadBalancing::Ecmp(*Ecmp::usual());
    }
}
