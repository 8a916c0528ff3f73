//! Chunks by sending rank over time: bars, or if there are too many of them, strips.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::plot::{Heat, Num, Plot, Timeline};
use super::runs::Run;
use crate::trial_data::{Chunk, TrialData};

const LABEL: &str = "Time since the collective began";
/// The most bars of one drawing, and the most rows of bars.
const BARS: usize = 3_000;
const LANES: usize = 130;
/// The most rows of strips.
const ROWS: usize = 32;

/// The most marks of all timelines of a page together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    bars: usize,
    cells: usize,
}

impl Budget {
    /// For a number of drawings.
    pub(super) fn of(drawings: usize) -> Budget {
        let drawings = drawings.max(1);
        Budget {
            bars: (9_000 / drawings).clamp(300, BARS),
            cells: (20_000 / drawings).clamp(800, 4_500),
        }
    }
}

/// Adds the timeline of one iteration.
pub(super) fn draw(trial: &TrialData, run: &Run<'_>, budget: Budget, page: &mut String) {
    let start = run.row.start.as_ns();
    let end = run.row.end.map_or_else(
        || run.chunks.iter().map(|c| c.received).fold(start, f64::max),
        tenter_units::Time::as_ns,
    );
    let mut ranks: BTreeMap<u32, Vec<&Chunk>> = BTreeMap::new();
    for chunk in run.chunks {
        ranks.entry(chunk.src_rank).or_default().push(chunk);
    }
    let lanes: Vec<(u32, Vec<Vec<&Chunk>>)> = if run.chunks.len() <= budget.bars {
        ranks.iter().map(|(&rank, c)| (rank, lanes(c))).collect()
    } else {
        Vec::new()
    };
    let count: usize = lanes.iter().map(|rank| rank.1.len()).sum();
    if (1..=LANES).contains(&count) {
        draw_bars(&lanes, start, end, page);
    } else {
        draw_strips(trial, &ranks, start, end, budget, page);
    }
}

/// Chunks in as few rows as they need not to overlap.
fn lanes<'a>(chunks: &[&'a Chunk]) -> Vec<Vec<&'a Chunk>> {
    let mut order = chunks.to_vec();
    order.sort_by(|a, b| a.first_sent.total_cmp(&b.first_sent));
    let mut lanes: Vec<Vec<&Chunk>> = Vec::new();
    for chunk in order {
        let free = |lane: &&mut Vec<&Chunk>| {
            lane.last()
                .is_none_or(|last| last.received <= chunk.first_sent)
        };
        match lanes.iter_mut().find(free) {
            Some(lane) => lane.push(chunk),
            None => lanes.push(vec![chunk]),
        }
    }
    lanes
}

fn draw_bars(lanes: &[(u32, Vec<Vec<&Chunk>>)], start: f64, end: f64, page: &mut String) {
    page.push_str("<p class=\"lead\">One bar per chunk, from its first bit on the wire to its last byte at the receiver, in the rows of the rank that sends. Colours distinguish steps of the algorithm, and a red edge marks retransmissions.</p>");
    let mut names = Vec::new();
    let mut bars = Vec::new();
    for (rank, lanes) in lanes {
        for lane in lanes {
            let number = names.len();
            bars.extend(lane.iter().map(|chunk| bar(chunk, number, start)));
            names.push(format!("rank {rank}"));
        }
    }
    Plot::Timeline(Timeline {
        title: "Chunks by sending rank over time",
        label: LABEL,
        from_ns: Num(0.0),
        to_ns: Num(end - start),
        lanes: names,
        names: 96,
        columns: &COLUMNS,
        marked: Some(COLUMNS.len() - 1),
        bars,
    })
    .draw(page);
}

/// What the numbers of a chunk are.
const COLUMNS: [(&str, &str); 7] = [
    ("to rank", ""),
    ("step", ""),
    ("chunk", ""),
    ("QP", ""),
    ("payload", "bytes"),
    ("complete in", "ns"),
    ("frames retransmitted:", ""),
];

fn bar(chunk: &Chunk, lane: usize, start: f64) -> Vec<Num> {
    let numbers = [
        lane as f64,
        chunk.first_sent - start,
        chunk.received - start,
        f64::from(chunk.step % 8),
        f64::from(chunk.dst_rank),
        f64::from(chunk.step),
        f64::from(chunk.chunk),
        f64::from(chunk.queue_pair),
        chunk.payload_bytes,
        chunk.received - chunk.posted,
        chunk.retransmitted_frames,
    ];
    numbers.into_iter().map(Num).collect()
}

/// The sending rate of each rank, as colour: the bytes of chunks are spread over their time.
fn draw_strips(
    trial: &TrialData,
    ranks: &BTreeMap<u32, Vec<&Chunk>>,
    start: f64,
    end: f64,
    budget: Budget,
    page: &mut String,
) {
    let per_row = ranks.len().div_ceil(ROWS).max(1);
    let all: Vec<(&u32, &Vec<&Chunk>)> = ranks.iter().collect();
    let rows: Vec<&[(&u32, &Vec<&Chunk>)]> = all.chunks(per_row).collect();
    let bins = (budget.cells / rows.len().max(1)).clamp(30, 150);
    // A NIC may have several ports.
    let mut rates: HashMap<u32, f64> = HashMap::new();
    for port in &trial.ports {
        *rates.entry(port.node).or_default() += port.rate_gbps;
    }
    page.push_str("<p class=\"lead\">Too many chunks for single bars: the colour is the rate at which the ranks of a row sent, as a share of their line rate, with each chunk spread evenly over its time on the wire.</p>");
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for row in rows {
        let Some((&first, &last)) = row.first().zip(row.last()).map(|(a, b)| (a.0, b.0)) else {
            continue;
        };
        names.push(if first == last {
            format!("rank {first}")
        } else {
            format!("ranks {first}–{last}")
        });
        let chunks = row.iter().flat_map(|rank| rank.1.iter().copied());
        // Ranks may share a NIC.
        let hosts = row.iter().filter_map(|rank| Some(rank.1.first()?.src_host));
        let hosts: BTreeSet<u32> = hosts.collect();
        let capacity: f64 = hosts.iter().filter_map(|host| rates.get(host)).sum();
        let shares = shares(chunks, start, end - start, bins, capacity);
        // A colour has no more than 25 levels.
        let percent = |share: f64| Num((share * 1_000.0).round() / 10.0);
        values.push(shares.into_iter().map(percent).collect());
    }
    let width = (end - start) / bins as f64;
    Plot::Heat(Heat {
        title: "Rate of sending ranks over time",
        label: LABEL,
        rows: names,
        times: (0..bins).map(|bin| Num(bin as f64 * width)).collect(),
        end: Num(end - start),
        to: Num(end - start),
        values,
        unit: "%",
        max: Num(100.0),
    })
    .draw(page);
}

/// Share of `capacity` (Gb/s) in each of `bins` equal parts of the time.
fn shares<'a>(
    chunks: impl Iterator<Item = &'a Chunk>,
    start: f64,
    span: f64,
    bins: usize,
    capacity: f64,
) -> Vec<f64> {
    let width = span / bins as f64;
    let mut carried = vec![0.0; bins];
    for chunk in chunks {
        let (from, to) = (chunk.first_sent - start, chunk.received - start);
        let rate = chunk.payload_bytes / (to - from).max(1e-3);
        let first = (from / width).floor().max(0.0) as usize;
        let last = ((to / width).floor() as usize).min(bins - 1);
        for (bin, carried) in carried.iter_mut().enumerate().take(last + 1).skip(first) {
            let (begin, end) = (bin as f64 * width, (bin + 1) as f64 * width);
            *carried += rate * (to.min(end) - from.max(begin)).max(0.0);
        }
    }
    let full = capacity * width / 8.0;
    let share = |bytes: f64| {
        if full > 0.0 {
            (bytes / full).min(1.0)
        } else {
            0.0
        }
    };
    carried.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(first_sent: f64, received: f64) -> Chunk {
        Chunk {
            first_sent,
            received,
            payload_bytes: 1_000.0,
            ..Chunk::default()
        }
    }

    #[test]
    fn overlapping_chunks_get_lanes_of_their_own() {
        let chunks = [chunk(0.0, 10.0), chunk(5.0, 15.0), chunk(10.0, 20.0)];
        let lanes = lanes(&chunks.iter().collect::<Vec<_>>());
        let counts: Vec<usize> = lanes.iter().map(Vec::len).collect();
        assert_eq!(counts, [2, 1]);
    }

    #[test]
    fn bytes_are_spread_over_the_time_on_the_wire() {
        // 1,000 B from 5 to 15 ns are 100 B/ns; of two bins of 10 ns each gets 500 B, which is half
        // of what 800 Gb/s carry there (100 B/ns × 10 ns).
        let chunks = [chunk(5.0, 15.0)];
        let shares = shares(chunks.iter(), 0.0, 20.0, 2, 800.0);
        assert_eq!(shares, [0.5, 0.5]);
    }
}
