//! Chunks by sending rank over time: bars, or if there are too many of them, strips.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::line_chart::{labelled, x_axis};
use super::runs::Run;
use super::scale::Scale;
use super::text::{Unit, add, bytes, escape, number, time};
use crate::trial_data::{Chunk, TrialData};

const LEFT: f64 = 104.0;
const RIGHT: f64 = 1_084.0;
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
    let x = Scale {
        unit: Unit::time(end - start),
        ..Scale::span(0.0, end - start, (LEFT, RIGHT))
    };
    let lanes: Vec<(u32, Vec<Vec<&Chunk>>)> = if run.chunks.len() <= budget.bars {
        ranks.iter().map(|(&rank, c)| (rank, lanes(c))).collect()
    } else {
        Vec::new()
    };
    let count: usize = lanes.iter().map(|rank| rank.1.len()).sum();
    if (1..=LANES).contains(&count) {
        draw_bars(&lanes, start, &x, page);
    } else {
        draw_strips(trial, &ranks, start, &x, budget, page);
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

fn open(height: f64, label: &str, x: &Scale, page: &mut String) {
    add(
        page,
        format_args!(
            "<svg class=\"timeline\" viewBox=\"0 0 1100 {}\" role=\"img\" tabindex=\"0\" data-marks aria-label=\"{label}\"><g class=\"axes\">",
            height + 44.0
        ),
    );
    x_axis(x, 4.0, height, page);
    add(
        page,
        format_args!(
            "<text class=\"label\" x=\"594\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
            height + 36.0,
            labelled("time since the collective began", x.unit)
        ),
    );
}

fn draw_bars(lanes: &[(u32, Vec<Vec<&Chunk>>)], start: f64, x: &Scale, page: &mut String) {
    let count: usize = lanes.iter().map(|rank| rank.1.len()).sum();
    let height = (420.0 / count as f64).clamp(5.0, 16.0);
    page.push_str("<p class=\"lead\">One bar per chunk, from its first bit on the wire to its last byte at the receiver, in the rows of the rank that sends. Colours distinguish steps of the algorithm.</p>");
    open(
        count as f64 * height + 6.0,
        "Chunks by sending rank over time",
        x,
        page,
    );
    let mut row = 0;
    let mut labelled_at = f64::NEG_INFINITY;
    for (rank, lanes) in lanes {
        let top = f64::from(row) * height + 4.0;
        if top - labelled_at >= 12.0 {
            labelled_at = top;
            add(
                page,
                format_args!(
                    "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">rank {rank}</text>",
                    LEFT - 8.0,
                    top + height.min(14.0) - 2.0
                ),
            );
        }
        for lane in lanes {
            let top = f64::from(row) * height + 4.0;
            for chunk in lane {
                bar(chunk, start, top, height, x, page);
            }
            row += 1;
        }
    }
    page.push_str("</svg>\n");
}

fn bar(chunk: &Chunk, start: f64, top: f64, height: f64, x: &Scale, page: &mut String) {
    let (left, right) = (
        x.place(chunk.first_sent - start),
        x.place(chunk.received - start),
    );
    let again = if chunk.retransmitted_frames > 0.0 {
        format!(
            "\n{} frames retransmitted",
            number(chunk.retransmitted_frames, 9)
        )
    } else {
        String::new()
    };
    let tip = format!(
        "rank {} → {}, step {}, chunk {}, QP {}\n{}, complete in {}\non the wire {} – {}{again}",
        chunk.src_rank,
        chunk.dst_rank,
        chunk.step,
        chunk.chunk,
        chunk.queue_pair,
        bytes(chunk.payload_bytes),
        time(chunk.received - chunk.posted),
        time(chunk.first_sent - start),
        time(chunk.received - start),
    );
    let mark = if again.is_empty() { "" } else { " lossy" };
    add(
        page,
        format_args!(
            "<rect class=\"m c{}{mark}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" data-t=\"{}\"/>",
            chunk.step % 8,
            (right - left).max(0.8),
            height - 1.0,
            escape(&tip)
        ),
    );
}

/// The sending rate of each rank, as colour: the bytes of chunks are spread over their time.
fn draw_strips(
    trial: &TrialData,
    ranks: &BTreeMap<u32, Vec<&Chunk>>,
    start: f64,
    x: &Scale,
    budget: Budget,
    page: &mut String,
) {
    let per_row = ranks.len().div_ceil(ROWS).max(1);
    let all: Vec<(&u32, &Vec<&Chunk>)> = ranks.iter().collect();
    let rows: Vec<&[(&u32, &Vec<&Chunk>)]> = all.chunks(per_row).collect();
    let bins = (budget.cells / rows.len().max(1)).clamp(30, 150);
    let rates: HashMap<u32, f64> = trial
        .ports
        .iter()
        .map(|port| (port.node, port.rate_gbps))
        .collect();
    let height = (420.0 / rows.len().max(1) as f64).clamp(9.0, 16.0);
    page.push_str("<p class=\"lead\">Too many chunks for single bars: the colour is the rate at which the ranks of a row sent, as a share of their line rate, with each chunk spread evenly over its time on the wire.</p>\
        <p class=\"ramp\"><span>0</span><i aria-hidden=\"true\"></i><span>100% of line rate</span></p>");
    open(
        rows.len() as f64 * height + 6.0,
        "Rate of sending ranks over time",
        x,
        page,
    );
    for (number, row) in (0_u32..).zip(&rows) {
        let Some((&first, &last)) = row.first().zip(row.last()).map(|(a, b)| (a.0, b.0)) else {
            continue;
        };
        let name = if first == last {
            format!("rank {first}")
        } else {
            format!("ranks {first}–{last}")
        };
        let top = f64::from(number) * height + 4.0;
        if height >= 12.0 || number % 2 == 0 {
            add(
                page,
                format_args!(
                    "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
                    LEFT - 8.0,
                    top + height - 2.5
                ),
            );
        }
        let chunks = row.iter().flat_map(|rank| rank.1.iter().copied());
        // Ranks may share a NIC.
        let hosts = row.iter().filter_map(|rank| Some(rank.1.first()?.src_host));
        let hosts: BTreeSet<u32> = hosts.collect();
        let capacity: f64 = hosts.iter().filter_map(|host| rates.get(host)).sum();
        let shares = shares(chunks, start, x.domain.1, bins, capacity);
        strip(&name, &shares, top, height, x, page);
    }
    page.push_str("</svg>\n");
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

/// One row; neighbours of about the same share are one mark.
fn strip(name: &str, shares: &[f64], top: f64, height: f64, x: &Scale, page: &mut String) {
    const LEVELS: f64 = 20.0;
    let level = |share: f64| (share * LEVELS).round() as u32;
    let width = x.domain.1 / shares.len() as f64;
    let mut from = 0;
    while from < shares.len() {
        let same = shares[from..]
            .iter()
            .take_while(|&&share| level(share) == level(shares[from]));
        let to = from + same.count();
        let mean = shares[from..to].iter().sum::<f64>() / (to - from) as f64;
        let (begin, end) = (from as f64 * width, to as f64 * width);
        if level(mean) > 0 {
            let left = x.place(begin);
            add(
                page,
                format_args!(
                    "<rect class=\"m h\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" style=\"--v:{:.2}\" data-t=\"{name}\n{} – {}\n{}% of line rate\"/>",
                    x.place(end) - left + 0.2,
                    height - 1.0,
                    f64::from(level(mean)) / LEVELS,
                    time(begin),
                    time(end),
                    number(mean * 100.0, 3),
                ),
            );
        }
        from = to;
    }
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
