//! Operations of graphs over time, rank by rank: what was computed and communicated, and where it
//! was recorded, the recording on the same axis.

use std::collections::{BTreeMap, BTreeSet};

use tenter_record::OperationRow;
use tenter_units::Time;
use tenter_workload::transformer::{Parallelism, Stream};

use super::line_chart::{labelled, x_axis};
use super::scale::Scale;
use super::text::{Unit, add, bytes, count, escape, fixed, time};
use crate::span::Span;
use crate::trial_data::TrialData;
use crate::trial_operations::{OperationsOf, Spans};

const LEFT: f64 = 190.0;
const RIGHT: f64 = 1_084.0;
const HEIGHT: f64 = 11.0;
/// The most bars of one drawing.
const BARS: usize = 8_000;
/// The most rows of a rank that are told apart by their streams.
const STREAMS: usize = 8;

/// Adds the section, if the trial has operations.
pub(super) fn section(id: usize, trial: &TrialData, page: &mut String) {
    if trial.operations.is_empty() {
        return;
    }
    add(
        page,
        format_args!("<section id=\"operations{id}\"><h2>Operations of ranks over time</h2>"),
    );
    let summary = &trial.summary;
    for of in &trial.operations {
        let name = summary.jobs.iter().find(|job| job.job.job == of.job);
        let name = name.map_or("", |job| &job.job.name);
        add(
            page,
            format_args!(
                "<h3>{} <small>iteration {}</small></h3>",
                escape(name),
                of.iteration
            ),
        );
        let of_training = summary.training_steps.iter().map(|row| row.job);
        let of_inference = summary.inference.iter().map(|row| row.job);
        let of_model = of_training.chain(of_inference).any(|job| job == of.job);
        deviations(of, page);
        Drawing::of(of, of_model).draw(of, page);
    }
    page.push_str("</section>\n");
}

/// Whether an operation has a bar: what takes no time cannot be seen, and a receive may wait from
/// the first moment on for a message that the sender's row shows.
fn is_drawn(row: &OperationRow) -> bool {
    let is_shown = match &*row.kind {
        "wait" => false,
        "receive" => row.measured_time.is_some(),
        _ => true,
    };
    row.done > row.started && is_shown
}

/// Whether a recording has a bar.
fn is_recorded(row: &OperationRow) -> bool {
    row.measured_start.is_some() && row.measured_time.is_some_and(|took| !took.is_zero())
}

/// A row of the drawing: what it is called, and its colour.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lane {
    rank: u32,
    /// Recorded ones come first.
    simulated: bool,
    order: u32,
    name: String,
    colour: u8,
}

/// A bar, in ns from the start of the iteration.
#[derive(Clone, Copy, Debug)]
struct Bar<'r> {
    span: Span,
    /// The first operation that it stands for.
    row: &'r OperationRow,
    /// How many operations it stands for.
    count: u64,
    /// Whether a receive waited, which is drawn lighter.
    light: bool,
}

/// The bars of each row.
struct Drawing<'r> {
    lanes: BTreeMap<Lane, Vec<Bar<'r>>>,
    end: f64,
    is_measured: bool,
}

/// The names of kinds of streams, and their colours.
fn named(row: &OperationRow, of_model: bool, by_stream: bool) -> (u32, String, u8) {
    let of_kind = |kind: &str| match kind {
        "compute" => (0, "compute", 0),
        "collective" => (1, "collectives", 1),
        "send" => (2, "sends", 2),
        _ => (3, "receives", 3),
    };
    if of_model && let Some(stream) = Stream::of_label(row.stream) {
        let (order, name, colour) = match stream.parallelism() {
            None => (0, "compute", 0),
            Some(Parallelism::Tensor) => (1, "TP", 1),
            Some(Parallelism::Expert) => (2, "EP", 2),
            Some(Parallelism::Context) => (3, "CP", 3),
            Some(Parallelism::Pipeline) => (4, "PP", 4),
            Some(Parallelism::Data) => (5, "DP", 5),
            Some(Parallelism::Cache) => (6, "KV cache", 6),
            Some(Parallelism::Requests) => (7, "requests", 7),
        };
        return (order, name.to_owned(), colour);
    }
    let (order, name, colour) = of_kind(&row.kind);
    if by_stream {
        return (row.stream, format!("stream {}", row.stream), colour);
    }
    (order, name.to_owned(), colour)
}

impl<'r> Drawing<'r> {
    fn of(of: &'r OperationsOf, of_model: bool) -> Drawing<'r> {
        let is_measured = !of.spans.is_empty();
        let drawn = || {
            let rows = of.drawn.iter();
            rows.filter(|row| is_drawn(row) || is_recorded(row))
        };
        let streams: BTreeSet<u32> = drawn().map(|row| row.stream).collect();
        let kinds: BTreeSet<(u32, &str)> =
            drawn().map(|row| (row.stream, row.kind.as_str())).collect();
        // A stream with operations of several kinds has no one colour.
        let by_stream = !is_measured && streams.len() <= STREAMS && kinds.len() == streams.len();
        let start = of.drawn.iter().filter_map(|row| row.ready).min();
        let start = start.map_or(0.0, Time::as_ns);
        let offsets = offsets(of);
        let mut lanes: BTreeMap<Lane, Vec<Bar<'r>>> = BTreeMap::new();
        for row in drawn() {
            let (order, name, colour) = named(row, of_model, by_stream);
            let lane = |simulated| Lane {
                rank: row.rank,
                simulated,
                order,
                name: name.clone(),
                colour,
            };
            if is_drawn(row) {
                let span = Span {
                    from: ns(row.started) - start,
                    to: ns(row.done) - start,
                };
                let bars = lanes.entry(lane(true)).or_default();
                bars.push(Bar::new(row, span, row.kind == "receive"));
            }
            if is_recorded(row) {
                let offset = offsets.get(&row.rank).unwrap_or(&0.0);
                let from = ns(row.measured_start) - start + offset;
                let to = from + ns(row.measured_time);
                let span = Span { from, to };
                let bars = lanes.entry(lane(false)).or_default();
                bars.push(Bar::new(row, span, false));
            }
        }
        let ends = lanes.values().flatten().map(|bar| bar.span.to);
        let end = ends.fold(0.0, f64::max);
        let share = BARS / lanes.len().max(1);
        for bars in lanes.values_mut() {
            fewer(bars, end, share);
        }
        Drawing {
            lanes,
            end,
            is_measured,
        }
    }

    fn draw(&self, of: &OperationsOf, page: &mut String) {
        if self.lanes.is_empty() {
            page.push_str("<p class=\"empty\">No operation that takes time was done.</p>");
            return;
        }
        let shown: BTreeSet<u32> = self.lanes.keys().map(|lane| lane.rank).collect();
        let of_all = if shown.len() < of.ranks as usize {
            format!("{} of {} ranks, evenly chosen. ", shown.len(), of.ranks)
        } else {
            String::new()
        };
        let recorded = if self.is_measured {
            " Light bars are receives, from when they ask for their message. Recorded rows begin where the first recorded operation of their rank begins in the simulation."
        } else {
            ""
        };
        let left_out = if of.left_out > 0 {
            let number = count(of.left_out);
            format!(" {number} further operations of these ranks are left out.")
        } else {
            String::new()
        };
        add(
            page,
            format_args!(
                "<p class=\"lead\">{of_all}One bar per operation, from when its stream began with it to its end; collectives include waiting for other ranks, and messages are in the rows of their senders. Neighbours too close to be told apart are one bar.{recorded}{left_out}</p>"
            ),
        );
        let x = Scale {
            unit: Unit::time(self.end),
            ..Scale::span(0.0, self.end, (LEFT, RIGHT))
        };
        let gaps = 6.0 * shown.len() as f64;
        let height = self.lanes.len() as f64 * HEIGHT + gaps;
        add(
            page,
            format_args!(
                "<svg class=\"timeline\" viewBox=\"0 0 1100 {}\" role=\"img\" tabindex=\"0\" data-marks aria-label=\"Operations of ranks over time\"><g class=\"axes\">",
                height + 44.0
            ),
        );
        x_axis(&x, 4.0, height, page);
        add(
            page,
            format_args!(
                "<text class=\"label\" x=\"637\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
                height + 36.0,
                labelled("time since the iteration began", x.unit)
            ),
        );
        self.rows(&x, page);
        page.push_str("</svg>\n");
    }

    fn rows(&self, x: &Scale, page: &mut String) {
        let mut top = 0.0;
        let mut rank = None;
        for (lane, bars) in &self.lanes {
            if rank.replace(lane.rank) != Some(lane.rank) {
                top += 6.0;
                add(
                    page,
                    format_args!(
                        "<text class=\"label\" x=\"4\" y=\"{:.1}\">rank {}</text>",
                        top + HEIGHT - 2.0,
                        lane.rank
                    ),
                );
            }
            let whose = match (self.is_measured, lane.simulated) {
                (true, true) => "simulated ",
                (true, false) => "recorded ",
                (false, _) => "",
            };
            add(
                page,
                format_args!(
                    "<text class=\"small\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{whose}{}</text>",
                    LEFT - 6.0,
                    top + HEIGHT - 2.5,
                    escape(&lane.name)
                ),
            );
            for bar in bars {
                bar.draw(x, top, lane.colour, page);
            }
            top += HEIGHT;
        }
    }
}

impl<'r> Bar<'r> {
    fn new(row: &'r OperationRow, span: Span, light: bool) -> Bar<'r> {
        Bar {
            span,
            row,
            count: 1,
            light,
        }
    }

    fn draw(&self, x: &Scale, top: f64, colour: u8, page: &mut String) {
        let (left, right) = (x.place(self.span.from), x.place(self.span.to));
        let light = if self.light { " light" } else { "" };
        let tip = match self.count {
            1 => tip(self.row, self.span),
            several => format!(
                "{several} operations\n{} – {}",
                time(self.span.from),
                time(self.span.to)
            ),
        };
        add(
            page,
            format_args!(
                "<rect class=\"m c{colour}{light}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" data-t=\"{}\"/>",
                (right - left).max(0.5),
                HEIGHT - 1.5,
                escape(&tip)
            ),
        );
    }
}

/// How far the recording of each rank is moved, so that its first operation begins where it begins
/// in the simulation: clocks of different ranks may not be comparable.
fn offsets(of: &OperationsOf) -> BTreeMap<u32, f64> {
    let mut first: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for row in of.drawn.iter().filter(|row| row.done.is_some()) {
        if let Some(recorded) = row.measured_start {
            let recorded = ns(Some(recorded));
            let entry = first.entry(row.rank).or_insert((f64::INFINITY, 0.0));
            if recorded < entry.0 {
                *entry = (recorded, ns(row.started));
            }
        }
    }
    let offset = |(rank, (recorded, simulated))| (rank, simulated - recorded);
    first.into_iter().map(offset).collect()
}

/// Leaves at most so many bars: neighbours whose distance cannot be seen become one, if neither can
/// be seen alone.
fn fewer(bars: &mut Vec<Bar<'_>>, end: f64, most: usize) {
    bars.sort_by(|a, b| a.span.from.total_cmp(&b.span.from));
    let mut gap = end / (RIGHT - LEFT) * 0.25;
    loop {
        let mut kept = 0;
        for place in 1..bars.len() {
            let bar = bars[place];
            let last = &mut bars[kept];
            let are_short = [bar.span.length(), last.span.length()];
            let are_short = are_short.iter().all(|length| *length < 4.0 * gap);
            if bar.span.from - last.span.to < gap && are_short && last.light == bar.light {
                last.span.to = last.span.to.max(bar.span.to);
                last.count += bar.count;
            } else {
                kept += 1;
                bars[kept] = bar;
            }
        }
        bars.truncate(kept + 1);
        if bars.len() <= most.max(1) || gap > end {
            return;
        }
        gap *= 2.0;
    }
}

fn tip(row: &OperationRow, span: Span) -> String {
    let peer = row.peer.map_or_else(String::new, |peer| match &*row.kind {
        "send" => format!(" to rank {peer}"),
        _ => format!(" from rank {peer}"),
    });
    let size = if row.bytes > 0 {
        format!("\n{}", bytes(row.bytes as f64))
    } else {
        String::new()
    };
    let critical = if row.critical {
        "\non the critical path"
    } else {
        ""
    };
    format!(
        "rank {}, {} {}{peer}{size}\n{} – {}, {}{critical}",
        row.rank,
        row.kind,
        row.operation,
        time(span.from),
        time(span.to),
        time(span.length())
    )
}

fn ns(time: Option<Time>) -> f64 {
    time.map_or(0.0, Time::as_ns)
}

/// What was recorded beside what was simulated, by kind, and the whole.
fn deviations(of: &OperationsOf, page: &mut String) {
    if of.recorded.is_empty() {
        return;
    }
    page.push_str("<div class=\"scroll\"><table><caption>Recorded beside simulated, over all ranks; deviations are those of the simulation from the recording</caption><tr><th>operations</th><th class=\"n\">number</th><th class=\"n\">recorded (ms)</th><th class=\"n\">simulated (ms)</th><th class=\"n\">deviation (%)</th></tr>");
    for (kind, recorded) in &of.recorded {
        let number = count(recorded.count);
        line(kind, &number, recorded.recorded, recorded.simulated, page);
    }
    let whole = |span: fn(&Spans) -> Span| {
        let spans = of.spans.values().map(span);
        spans.map(Span::length).fold(0.0, f64::max)
    };
    if !of.spans.is_empty() {
        line(
            "longest rank, from its first to its last",
            &count(of.spans.len() as u64),
            whole(|of| of.recorded),
            whole(|of| of.simulated),
            page,
        );
    }
    page.push_str("</table></div>\n");
}

fn line(name: &str, number: &str, recorded: f64, simulated: f64, page: &mut String) {
    let deviation = if recorded > 0.0 {
        format!("{:+.1}", (simulated / recorded - 1.0) * 100.0)
    } else {
        "–".to_owned()
    };
    add(
        page,
        format_args!(
            "<tr><td>{}</td><td class=\"n\">{number}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{deviation}</td></tr>",
            escape(name),
            fixed(recorded / 1e6, 5),
            fixed(simulated / 1e6, 5),
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_cannot_be_told_apart_are_one_bar() {
        let row = OperationRow::default();
        let bar = |from: f64, to: f64| Bar::new(&row, Span { from, to }, false);
        let many = (0..1_000).map(|nth| bar(f64::from(nth), f64::from(nth) + 0.9));
        let mut many: Vec<Bar<'_>> = many.collect();
        fewer(&mut many, 1_000.0, 100);
        assert!(many.len() <= 100, "{}", many.len());
        assert_eq!(many.iter().map(|bar| bar.count).sum::<u64>(), 1_000);
        // A long one does not swallow the short one behind it.
        let mut apart = vec![bar(0.0, 500.0), bar(500.0, 500.1), bar(800.0, 900.0)];
        fewer(&mut apart, 1_000.0, 100);
        assert_eq!(apart.len(), 3);
        fewer(&mut Vec::new(), 0.0, 100);
    }

    #[test]
    fn recordings_are_drawn_where_the_simulation_takes_no_time() {
        let us = |us| Some(Time::from_us(us));
        let send = OperationRow {
            kind: "send".to_owned(),
            started: us(7),
            done: us(7),
            measured_start: us(100),
            measured_time: us(4),
            ..OperationRow::default()
        };
        let compute = OperationRow {
            kind: "compute".to_owned(),
            ready: us(2),
            started: us(2),
            done: us(7),
            ..OperationRow::default()
        };
        let mut of = OperationsOf {
            ranks: 1,
            drawn: vec![compute, send],
            ..OperationsOf::default()
        };
        let none = Spans {
            recorded: Span { from: 0.0, to: 0.0 },
            simulated: Span { from: 0.0, to: 0.0 },
        };
        of.spans.insert(0, none);
        let drawing = Drawing::of(&of, false);
        let bars = drawing.lanes.iter().map(|(lane, bars)| {
            let name = (lane.simulated, lane.name.as_str());
            (name, bars[0].span.from, bars[0].span.to)
        });
        // The recording begins where the simulation does: 5 us after the start of the iteration.
        let expected = [
            ((false, "sends"), 5_000.0, 9_000.0),
            ((true, "compute"), 0.0, 5_000.0),
        ];
        assert_eq!(bars.collect::<Vec<_>>(), expected);
        let mut page = String::new();
        drawing.draw(&of, &mut page);
        assert!(
            page.contains("recorded sends") && page.contains("<rect"),
            "{page}"
        );
    }
}
