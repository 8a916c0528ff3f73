//! The `jobs` section.

use std::fmt::Write;

use tenter_workload::collective::{CollectiveKind, ScaleUp};

use super::draw::Draw;

/// How much the jobs may send.
pub(super) struct Limits {
    pub(super) hosts: u64,
    /// Data packets of all jobs together, not counting those that are sent again.
    pub(super) packets: u64,
    /// Payload of a packet.
    pub(super) packet_bytes: u64,
}

/// How often a job's collectives are run.
struct Turns {
    collectives: u64,
    iterations: u64,
    warm_up: u64,
}

/// Chooses one to three jobs, on hosts of their own or not.
pub(super) fn write(draw: &mut Draw, limits: &Limits) -> String {
    let jobs = *draw.pick(&[&1, &1, &2, &3]);
    let mut text = String::new();
    for index in 0..jobs {
        let hosts = ranks(draw, limits.hosts);
        let queue_pairs = draw.within(1..=3);
        let turns = Turns {
            collectives: draw.within(1..=2),
            iterations: draw.within(1..=3),
            warm_up: draw.below(2),
        };
        let runs = jobs * turns.collectives * (turns.iterations + turns.warm_up);
        let share = limits.packets / runs;
        let _ = writeln!(
            text,
            "  - name: job{index}\n    ranks: {hosts:?}\n    collectives:"
        );
        for _ in 0..turns.collectives {
            let collective = collective(draw, hosts.len() as u64, queue_pairs, share, limits);
            let _ = writeln!(text, "      - {{{collective}}}");
        }
        let _ = writeln!(
            text,
            "    iterations: {}\n    warm_up: {}\n    start: {}\n    gap: {}\n    queue_pairs: {queue_pairs}\n    \
             queue_pair_scope: {}",
            turns.iterations,
            turns.warm_up,
            draw.seldom_time(50, 15_000),
            draw.time(2_000, 12_000),
            draw.pick(&["rank-pair", "chunk"]),
        );
    }
    text
}

/// At least two of the hosts, in their order or in any.
fn ranks(draw: &mut Draw, hosts: u64) -> Vec<u64> {
    let mut ranks: Vec<u64> = (0..hosts).collect();
    if draw.chance(60) {
        draw.shuffle(&mut ranks);
        ranks.truncate(draw.within(2..=hosts) as usize);
    }
    ranks
}

/// What random sizes are measured with; every algorithm can cut it.
const UNIT: u64 = 1 << 20;

/// One collective of at most about `share` packets.
fn collective(
    draw: &mut Draw,
    ranks: u64,
    queue_pairs: u64,
    share: u64,
    limits: &Limits,
) -> String {
    let root = draw.below(ranks);
    // What to write, how many transfers that makes, and how many bytes they are of one unit.
    let mut choices = Vec::new();
    for member in CollectiveKind::MEMBERS {
        let mut kind = member.default.clone();
        let mut name = format!(
            "collective: {}, algorithm: {}",
            member.collective, member.algorithm
        );
        if let Some(own) = kind.root_mut() {
            *own = root as u32;
            let _ = write!(name, ", root: {root}");
        }
        // How many chunks, where they are cut by length: that length for one unit.
        let pieces = draw.within(1..=3);
        if let Some(chunk_bytes) = kind.chunk_bytes_mut() {
            *chunk_bytes = UNIT.div_ceil(pieces);
        }
        if let Some(own) = kind.scale_up_mut() {
            name.push_str(&scale_up(draw, ranks, own));
        }
        // A hypercube wants a power of two.
        let Ok(schedule) = kind.schedule(ranks as u32, UNIT) else {
            continue;
        };
        let transfers = u64::from(schedule.transfer_count());
        let bytes = |id| schedule.transfer(id).bytes;
        let volume: u64 = (0..schedule.transfer_count()).map(bytes).sum();
        if transfers * queue_pairs <= share || transfers <= ranks {
            let pieces = kind.chunk_bytes_mut().map(|_| pieces);
            let weight = match (member.collective, member.algorithm) {
                // Where several send to one, frames are dropped, over which engines may differ.
                ("all-to-all" | "gather" | "incast", "parallel") | ("permutation", _) => 4,
                // Few numbers of ranks are powers of two.
                ("hypercube", _) => 3,
                _ => 1,
            };
            let choice = (name, transfers, volume, pieces);
            choices.extend(std::iter::repeat_n(choice, weight));
        }
    }
    let (name, transfers, volume, pieces) =
        choices.swap_remove(draw.below(choices.len() as u64) as usize);
    let size = if draw.chance(8) {
        // Less than a byte for some of the transfers.
        draw.within(1..=ranks)
    } else {
        let packets = draw.within(1..=(share / transfers).max(1));
        let bytes = packets * limits.packet_bytes - draw.below(limits.packet_bytes);
        (bytes * transfers * UNIT / volume).max(1)
    };
    match pieces {
        Some(pieces) => {
            let chunk = size.div_ceil(pieces);
            format!("{name}, size: {size}B, chunk_size: {chunk}B")
        }
        None => format!("{name}, size: {size}B"),
    }
}

/// Hosts of any size that the ranks fill, and their scale-up domain.
fn scale_up(draw: &mut Draw, ranks: u64, own: &mut ScaleUp) -> String {
    let fits = |npus: &u64| ranks.is_multiple_of(*npus);
    let npus: Vec<u64> = (1..=ranks / 2).filter(fits).collect();
    own.npus_per_host = npus[draw.below(npus.len() as u64) as usize] as u32;
    format!(
        ", npus_per_host: {}, scale_up_rate: {}Gbps, scale_up_latency: {}",
        own.npus_per_host,
        draw.within(10..=4_000),
        draw.seldom_time(50, 15_000),
    )
}
