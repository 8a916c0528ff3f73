//! The scenario's section `jobs`.

use std::fmt::Write;

use tenter_workload::collective::CollectiveKind;

use super::draw::Draw;
use super::limits::Limits;
use super::{pattern, steps, workload};

/// Repetitions of a job's collectives.
struct Repetitions {
    collectives: u64,
    iterations: u64,
    warm_up: u64,
}

/// Draws one to three jobs on disjoint or shared hosts; some start after others.
pub(super) fn write(draw: &mut Draw, limits: &Limits) -> String {
    let mut text = write_jobs(draw, limits);
    follow(&mut text);
    text
}

fn write_jobs(draw: &mut Draw, limits: &Limits) -> String {
    let jobs: u64 = *draw.pick(&[&1, &1, &2, &3]);
    let mut text = String::new();
    for index in 0..jobs {
        // The first job is always measured, so that every scenario has results.
        let background = index > 0 && draw.chance(45);
        let hosts = ranks(draw, limits.hosts);
        let queue_pairs = draw.within(1..=3);
        // Endless streams never complete, so a measured job cannot have them.
        if background && draw.chance(30) {
            text.push_str(&endless(draw, index, &hosts, queue_pairs));
            continue;
        }
        let turns = Repetitions {
            collectives: draw.within(1..=2),
            iterations: draw.within(1..=3),
            warm_up: draw.below(2),
        };
        // Each run of each collective may send an equal share of the packets.
        let runs = jobs * turns.collectives * (turns.iterations + turns.warm_up);
        let share = limits.packets / runs;
        let class = class(draw);
        let placement = placement(draw, &hosts, limits.hosts);
        let before = text.len();
        let _ = writeln!(
            text,
            "  - name: job{index}\n{placement}{class}    background: {background}\n    collectives:"
        );
        for _ in 0..turns.collectives {
            let (name, size) = collective(draw, hosts.len() as u64, queue_pairs, share, limits);
            let compute = compute(draw);
            let size = if background && draw.chance(40) {
                let least = draw.within(1..=size);
                format!(
                    "sizes: {{least: {least}B, most: {size}B, count: {}}}",
                    draw.within(1..=3)
                )
            } else {
                format!("size: {size}B")
            };
            let _ = writeln!(text, "      - {{{name}, {size}{compute}}}");
        }
        // Background jobs repeat until the measured ones have ended.
        if !background {
            let (iterations, warm_up) = (turns.iterations, turns.warm_up);
            let _ = writeln!(text, "    iterations: {iterations}\n    warm_up: {warm_up}");
        }
        text.push_str(&times_and_pairs(draw, queue_pairs));
        if background {
            continue;
        }
        // A stream of their own, so that scenarios without such jobs stay as they were.
        let mut own = Draw::new(share.rotate_left(40) ^ text.len() as u64 ^ hosts.len() as u64);
        let job = JobDraw {
            head: &format!("  - name: job{index}\n{placement}{class}"),
            without_ranks: &format!("  - name: job{index}\n{class}"),
            hosts: &hosts,
            placement: &placement,
            queue_pairs,
            packets: limits.packets / jobs,
        };
        if let Some(other) = other(&mut own, &text[before..], &job, limits) {
            text.truncate(before);
            text.push_str(&other);
        }
    }
    text
}

/// Parts that are drawn before a job's work.
struct JobDraw<'a> {
    /// The job's first lines, with its ranks.
    head: &'a str,
    /// The job's first lines without ranks, for workloads, which name hosts themselves.
    without_ranks: &'a str,
    hosts: &'a [u64],
    placement: &'a str,
    queue_pairs: u64,
    packets: u64,
}

/// Draws a job with other work in place of `instead_of`: a flow workload, a pattern or steps.
/// Returns `None` in most cases.
fn other(own: &mut Draw, instead_of: &str, job: &JobDraw, limits: &Limits) -> Option<String> {
    let ranks = job.hosts.len() as u64;
    let (packets, queue_pairs) = (job.packets, job.queue_pairs);
    let work = if own.chance(12) {
        let workload = workload::write(own, job.hosts, job.placement, packets, limits);
        return Some(format!("{}{workload}", job.without_ranks));
    } else if own.chance(15) && !instead_of.contains("hierarchical") {
        // Hierarchical collectives are rare already.
        let pattern = pattern::write(own, ranks, queue_pairs, packets, limits)?;
        format!("    pattern: {pattern}\n")
    } else if own.chance(10) {
        let steps = steps::write(own, ranks, packets / queue_pairs, limits);
        format!("    collectives:\n{steps}")
    } else {
        return None;
    };
    let times = times_and_pairs(own, queue_pairs);
    Some(format!("{}{work}{times}", job.head))
}

/// Lets some jobs start after other measured ones. The stream is its own, so that the rest of the
/// scenario is as without it.
fn follow(text: &mut String) {
    let mut own = Draw::new((text.len() as u64).rotate_left(24));
    let begins = text.match_indices("  - name: job").map(|(at, _)| at);
    let begins: Vec<usize> = begins.collect();
    // The last job first: changes then leave the offsets before them valid.
    for (index, &begin) in begins.iter().enumerate().skip(1).rev() {
        // Background jobs never complete, so no job can start after one.
        let judged = |other: &&usize| {
            let (from, to) = (begins[**other], begins[**other + 1]);
            !text[from..to].contains("background: true")
        };
        let numbers: Vec<usize> = (0..index).collect();
        let others: Vec<&usize> = numbers.iter().filter(judged).collect();
        let start = text[begin..].find("    start: ").map(|at| begin + at);
        let (Some(start), true) = (start, own.chance(30)) else {
            continue;
        };
        let end = start + text[start..].find('\n').unwrap_or(0);
        let other = own.pick(&others);
        let delay = own.time(2_000, 15_000);
        let after = format!("    start: {{after: job{other}, delay: {delay}}}");
        text.replace_range(start..end, &after);
    }
}

/// Draws a job's start, the gap between its iterations, and its queue pairs.
fn times_and_pairs(draw: &mut Draw, queue_pairs: u64) -> String {
    let (start, gap) = (draw.seldom_time(50, 15_000), draw.time(2_000, 12_000));
    let scope = draw.pick(&["rank-pair", "chunk"]);
    format!(
        "    start: {start}\n    gap: {gap}\n    queue_pairs: {queue_pairs}\n    \
         queue_pair_scope: {scope}\n"
    )
}

/// Draws a background job of one to four endless streams between `hosts`, each at a rate or as fast
/// as it can.
fn endless(draw: &mut Draw, index: u64, hosts: &[u64], queue_pairs: u64) -> String {
    let class = class(draw);
    let mut text = format!("  - name: job{index}\n{class}    background: true\n    flows:\n");
    for _ in 0..draw.within(1..=4) {
        let from = hosts[draw.below(hosts.len() as u64) as usize];
        let others: Vec<u64> = hosts.iter().copied().filter(|&host| host != from).collect();
        let to = others[draw.below(others.len() as u64) as usize];
        let rate = if draw.chance(60) {
            format!("{}Mbps", draw.within(100..=20_000))
        } else {
            "none".to_owned()
        };
        let _ = writeln!(text, "      - {{from: {from}, to: {to}, rate: {rate}}}");
    }
    let _ = writeln!(
        text,
        "    start: {}\n    queue_pairs: {queue_pairs}\n    queue_pair_scope: {}",
        draw.seldom_time(50, 15_000),
        draw.pick(&["rank-pair", "chunk"]),
    );
    text
}

/// Draws process groups, and the order in which distances change if a collective has a choice.
fn groups_and_distances(draw: &mut Draw, ranks: u64, kind: &CollectiveKind) -> String {
    let mut text = groups(draw, ranks, kind);
    if kind.has_key("distances") {
        let order = draw.pick(&["halving", "doubling"]);
        let _ = write!(text, ", distances: {order}");
    }
    text
}

/// Draws process groups for a collective if they divide the ranks and the algorithm accepts their
/// size.
fn groups(draw: &mut Draw, ranks: u64, kind: &CollectiveKind) -> String {
    let size = draw.within(2..=ranks);
    let stride = draw.within(1..=ranks);
    let full = ranks.is_multiple_of(size) && (ranks / size).is_multiple_of(stride);
    if !full || kind.schedule(size as u32, UNIT).is_err() {
        return String::new();
    }
    format!(", groups: {{size: {size}, stride: {stride}}}")
}

/// Draws a placement for as many ranks as there are `hosts`: on these hosts, or by a policy on any
/// of the fabric's.
fn placement(draw: &mut Draw, hosts: &[u64], all: u64) -> String {
    if draw.chance(60) {
        return format!("    ranks: {hosts:?}\n");
    }
    let group = draw.within(1..=all);
    let policy = match draw.below(4) {
        0 => "packed".to_owned(),
        1 => "random".to_owned(),
        2 if group.is_multiple_of(2) => "random-leaves".to_owned(),
        2 => "round-robin".to_owned(),
        _ => format!("random-groups\n    group_size: {group}"),
    };
    format!("    ranks: {}\n    placement: {policy}\n", hosts.len())
}

/// Draws a traffic class for every other job.
fn class(draw: &mut Draw) -> String {
    if draw.chance(50) {
        return String::new();
    }
    format!("    class: {}\n", draw.below(8))
}

/// Draws how long a rank computes before a collective; 70 % compute nothing.
fn compute(draw: &mut Draw) -> String {
    if draw.chance(70) {
        return String::new();
    }
    let ns = draw.within(1..=20_000);
    let spread = if draw.chance(50) { draw.below(ns) } else { 0 };
    format!(", compute: {ns}ns, compute_spread: {spread}ns")
}

/// Draws two or more hosts, in their order or shuffled.
fn ranks(draw: &mut Draw, hosts: u64) -> Vec<u64> {
    let mut ranks: Vec<u64> = (0..hosts).collect();
    if draw.chance(60) {
        draw.shuffle(&mut ranks);
        ranks.truncate(draw.within(2..=hosts) as usize);
    }
    ranks
}

/// Size in bytes at which a collective's transfers and volume are measured; every algorithm can
/// divide it.
const UNIT: u64 = 1 << 20;

/// Draws a collective with at most about `share` packets, and returns its text and its size in
/// bytes.
fn collective(
    draw: &mut Draw,
    ranks: u64,
    queue_pairs: u64,
    share: u64,
    limits: &Limits,
) -> (String, u64) {
    let root = draw.below(ranks);
    // Per choice: text, number of transfers, their bytes at the size `UNIT`, and the number of
    // chunks.
    let mut choices = Vec::new();
    for kind in CollectiveKind::defaults() {
        let member = kind.member();
        // Lists of steps are drawn in `steps.rs`, kernels of experts below.
        if kind.own_size().is_some() || kind.has_key("experts") {
            continue;
        }
        // Algorithms that cut by length get a length that makes this number of chunks.
        let pieces = draw.within(1..=3);
        let keys = keys(draw, &kind, ranks, root);
        let mut name = format!(
            "collective: {}, algorithm: {}",
            member.collective, member.algorithm
        );
        for (key, value) in &keys {
            let _ = write!(name, ", {key}: {value}");
        }
        let is_cut = kind.has_key("chunk_size");
        let chunk = is_cut.then(|| ("chunk_size", format!("{}B", UNIT.div_ceil(pieces))));
        let keys: Vec<_> = keys.into_iter().chain(chunk).collect();
        let kind = kind.with(&keys).expect("these are values of its keys");
        // Some algorithms need a power of two or other numbers of ranks.
        let Ok(schedule) = kind.schedule(ranks as u32, UNIT) else {
            continue;
        };
        let transfers = u64::from(schedule.transfer_count());
        let bytes = |id| schedule.transfer(id).bytes;
        let volume: u64 = (0..schedule.transfer_count()).map(bytes).sum();
        if transfers * queue_pairs <= share || transfers <= ranks {
            let pieces = is_cut.then_some(pieces);
            let weight = match (member.collective, member.algorithm) {
                // Frames are dropped where several ranks send to one: engines may differ there.
                ("all-to-all" | "gather" | "incast", "parallel") | ("permutation", _) => 4,
                // Few numbers of ranks are powers of two.
                ("hypercube", _) => 3,
                _ => 1,
            };
            let choice = (name, transfers, volume, pieces, kind);
            choices.extend(std::iter::repeat_n(choice, weight));
        }
    }
    let (mut name, transfers, volume, pieces, kind) =
        choices.swap_remove(draw.below(choices.len() as u64) as usize);
    let size = if draw.chance(8) {
        // Some transfers then have no byte at all.
        draw.within(1..=ranks)
    } else {
        let packets = draw.within(1..=(share / transfers).max(1));
        let bytes = packets * limits.packet_bytes - draw.below(limits.packet_bytes);
        (bytes * transfers * UNIT / volume).max(1)
    };
    if let Some(pieces) = pieces {
        let chunk = size.div_ceil(pieces);
        let _ = write!(name, ", chunk_size: {chunk}B");
    }
    // A stream of their own, so that scenarios without groups stay as they were.
    let mut own = Draw::new(size.rotate_left(32) ^ ranks);
    name.push_str(&groups_and_distances(&mut own, ranks, &kind));
    or_experts(&mut own, (name, size), ranks, share / queue_pairs)
}

/// Puts a kernel of experts of at most `most` transfers in the place of some collectives: also by
/// the stream of their own, so that the others stay as they were.
fn or_experts(own: &mut Draw, drawn: (String, u64), ranks: u64, most: u64) -> (String, u64) {
    if !own.chance(10) {
        return drawn;
    }
    let experts = experts(own, ranks, drawn.1);
    let experts = experts.filter(|(_, _, transfers)| *transfers <= most);
    experts.map_or(drawn, |(name, size, _)| (name, size))
}

/// Draws dispatch to experts or combination with about as many bytes as a collective of `size`;
/// returns its text, its size in bytes and its number of transfers.
fn experts(draw: &mut Draw, ranks: u64, size: u64) -> Option<(String, u64, u64)> {
    let kinds = CollectiveKind::defaults().into_iter();
    let kinds: Vec<_> = kinds.filter(|kind| kind.has_key("experts")).collect();
    let kind = &kinds[draw.below(kinds.len() as u64) as usize];
    let npus = if kind.algorithm() == "nvlink" {
        ranks
    } else {
        u64::from(draw_npus(draw, ranks))
    };
    let top_k = draw.within(1..=4);
    let size = (size / top_k).max(1);
    let mut keys = vec![
        ("npus_per_host", npus.to_string()),
        ("top_k", top_k.to_string()),
        ("launch", draw.seldom_time(50, 15_000)),
        ("kernel_rate", format!("{}Gbps", draw.within(1..=4_000))),
    ];
    if kind.has_key("hosts_per_token") {
        keys.push(("hosts_per_token", draw.within(1..=ranks).to_string()));
        let pieces = draw.within(1..=3);
        keys.push(("chunk_size", format!("{}B", size.div_ceil(pieces))));
    }
    let transfers = kind.with(&keys)?.schedule(ranks as u32, size).ok()?;
    let mut name = format!(
        "collective: {}, algorithm: {}",
        kind.name(),
        kind.algorithm()
    );
    for (key, value) in &keys {
        let _ = write!(name, ", {key}: {value}");
    }
    Some((name, size, u64::from(transfers.transfer_count())))
}

/// Draws how many NPUs a host has; the number divides the ranks.
fn draw_npus(draw: &mut Draw, ranks: u64) -> u32 {
    let fits = |npus: &u64| ranks.is_multiple_of(*npus);
    let npus: Vec<u64> = (1..=ranks / 2).filter(fits).collect();
    npus[draw.below(npus.len() as u64) as usize] as u32
}

/// Draws values for the keys of a collective, except chunk lengths: roots, NPUs per host, and the
/// rate and latency of the scale-up domain.
fn keys(
    draw: &mut Draw,
    kind: &CollectiveKind,
    ranks: u64,
    root: u64,
) -> Vec<(&'static str, String)> {
    let mut keys = Vec::new();
    if kind.has_key("root") {
        keys.push(("root", root.to_string()));
    }
    if kind.has_key("npus_per_host") {
        let npus = draw_npus(draw, ranks).to_string();
        if kind.has_key("nics_per_host") {
            keys.push(("nics_per_host", npus.clone()));
        }
        keys.push(("npus_per_host", npus));
    }
    if kind.has_key("scale_up_rate") {
        keys.push(("scale_up_rate", format!("{}Gbps", draw.within(10..=4_000))));
        keys.push(("scale_up_latency", draw.seldom_time(50, 15_000)));
    }
    keys
}
