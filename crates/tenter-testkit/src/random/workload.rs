//! Flow workloads in place of collectives.

use std::fmt::Write;

use super::draw::Draw;
use super::limits::Limits;
use super::pattern;

/// Draws a workload with about `packets` packets, as a job's text without its first lines: sizes
/// (one, or a distribution with two points), pairs or a pattern, and a flow count or a duration.
/// The text `ranks` is for a pattern, which needs ranks.
pub(super) fn write(
    draw: &mut Draw,
    hosts: &[u64],
    ranks: &str,
    packets: u64,
    limits: &Limits,
) -> String {
    let mut text = String::new();
    let flows = draw.within(1..=(packets / 2).clamp(1, 60));
    let most = (packets / flows).max(1) * limits.packet_bytes;
    match draw.below(3) {
        0 => {
            let _ = writeln!(text, "      sizes: {}B", draw.within(1..=most));
        }
        distribution => {
            let between = if distribution == 1 { "steps" } else { "lines" };
            let least = draw.below(most);
            let _ = writeln!(text, "      between: {between}\n      points:");
            let _ = writeln!(text, "        - {{size: {least}B, cumulative: 0.4}}");
            let _ = writeln!(text, "        - {{size: {most}B, cumulative: 1}}");
        }
    }
    let distributions = text.len();
    text.push_str("      pairs:\n");
    let mut from_one = false;
    for _ in 0..draw.within(1..=2) {
        let from = draw.below(hosts.len() as u64) as usize;
        let to = (from + draw.within(1..=hosts.len() as u64 - 1) as usize) % hosts.len();
        let from = if draw.chance(50) {
            format!("{hosts:?}")
        } else {
            from_one = true;
            hosts[from].to_string()
        };
        let parallel = draw.within(1..=3);
        let to = hosts[to];
        let _ = writeln!(
            text,
            "        - {{from: {from}, to: {to}, parallel: {parallel}}}"
        );
    }
    let before = text.len();
    let (mut ranks_of_job, is_open) = ("", draw.chance(50));
    if is_open {
        open_loop(draw, hosts, from_one, &mut text);
    }
    // By time alone, there might be thousands of short flows.
    let timed = draw.chance(40);
    let _ = writeln!(
        text,
        "      flows: {}",
        if timed { 4 * flows } else { flows }
    );
    if timed {
        // If the NIC is slow, few flows end in that time, and none may start later.
        let _ = writeln!(text, "      duration: {}", draw.time(1, 20_000));
    }
    let _ = writeln!(text, "    start: {}", draw.seldom_time(50, 15_000));
    if is_open && !text.contains("fan_in") && draw.chance(60) {
        let pattern = pattern::demand(draw, hosts.len() as u64);
        let parallel = draw.within(1..=9);
        let senders = draw.pick(&["by-bytes", "by-bytes", "alike"]);
        let instead = format!(
            "      pattern: {pattern}\n      senders: {senders}\n      parallel: {parallel}\n"
        );
        text.replace_range(distributions..before, &instead);
        ranks_of_job = ranks;
    }
    format!("{ranks_of_job}    workload:\n{text}")
}

/// Draws when an open loop's flows arrive. Incasts need several senders for each receiver.
fn open_loop(draw: &mut Draw, hosts: &[u64], from_one: bool, text: &mut String) {
    let distribution = draw.pick(&["poisson", "log-normal"]);
    let load = draw.within(5..=100);
    let _ = writeln!(
        text,
        "      arrivals: {distribution}\n      load: {}",
        load as f64 / 100.0
    );
    if !from_one && draw.chance(50) {
        let _ = writeln!(
            text,
            "      fan_in: {}",
            draw.within(1..=hosts.len() as u64 - 1)
        );
    }
}
