//! Operation graphs over time, rank by rank: computing and communication, and where an iteration
//! was recorded, the recording on the same axis.

use std::collections::{BTreeMap, BTreeSet};

use tenter_language::units::Time;
use tenter_results::OperationRow;
use tenter_workload::transformer::{Parallelism, Stream};

use super::plot::{Num, OperationLane, Operations, Picture, Plot};
use super::text::{count, fixed};
use crate::report::span::Span;
use crate::report::table::Section;
use crate::report::text_table::{TextColumn, TextTable};
use crate::report::trial_data::TrialData;
use crate::report::trial_operations::{OperationsOf, Spans};

/// Heading above the pictures of operations.
pub(super) const TITLE: &str = "Operations of ranks over time";
/// Approximate drawing width in pixels; a distance below a pixel cannot be seen.
const PIXELS: f64 = 900.0;
/// Maximum number of bars in a drawing.
const BARS: usize = 8_000;
/// Maximum number of streams that get rows to themselves; beyond it, rows are by operation kind.
const STREAMS: usize = 8;

/// Draws each job that has operations which take time.
pub(super) fn pictures(trial: &TrialData) -> Vec<Picture> {
    let of_jobs = trial.operations.iter();
    of_jobs.filter_map(|of| picture(trial, of)).collect()
}

/// Returns the name of the operations' job.
fn name<'t>(trial: &'t TrialData, of: &OperationsOf) -> &'t str {
    let mut jobs = trial.summary.jobs.iter();
    let job = jobs.find(|job| job.job.job == of.job);
    job.map_or("", |job| &job.job.name)
}

fn picture(trial: &TrialData, of: &OperationsOf) -> Option<Picture> {
    let summary = &trial.summary;
    let of_training = summary.training_steps.iter().map(|row| row.job);
    let of_inference = summary.inference.iter().map(|row| row.job);
    let of_model = of_training.chain(of_inference).any(|job| job == of.job);
    let drawing = Drawing::of(of, of_model);
    (!drawing.lanes.is_empty()).then(|| {
        let title = format!("{}, iteration {}", name(trial, of), of.iteration);
        drawing.plot().picture(title, drawing.lead(of))
    })
}

/// True if an operation has a bar. One that takes no time cannot be seen. A receive may be posted
/// long before its message, which is drawn in the sender's row.
fn is_drawn(row: &OperationRow) -> bool {
    let is_shown = match &*row.kind {
        "wait" => false,
        "receive" => row.measured_time.is_some(),
        _ => true,
    };
    row.done > row.started && is_shown
}

/// True if the operation's recording has a bar.
fn is_recorded(row: &OperationRow) -> bool {
    row.measured_start.is_some() && row.measured_time.is_some_and(|took| !took.is_zero())
}

/// A row in the drawing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lane {
    rank: u32,
    /// False for recorded rows, which sort before the simulated ones.
    simulated: bool,
    order: u32,
    name: String,
    colour: usize,
    /// Meaning of the colour, for the legend.
    meaning: &'static str,
}

/// A bar, in ns since the iteration started.
#[derive(Clone, Copy, Debug)]
struct Bar<'r> {
    span: Span,
    /// First operation that the bar stands for.
    row: &'r OperationRow,
    /// Number of operations that the bar stands for.
    count: u64,
    /// True for a receive that waits, which is drawn lighter.
    light: bool,
}

/// A drawing's rows with their bars.
struct Drawing<'r> {
    lanes: BTreeMap<Lane, Vec<Bar<'r>>>,
    end: f64,
    is_measured: bool,
}

/// A row's place among those with its rank, its name, its colour, and the colour's meaning.
type Named = (u32, String, usize, &'static str);

fn named(row: &OperationRow, of_model: bool, by_stream: bool) -> Named {
    if of_model && let Some(stream) = Stream::of_label(row.stream) {
        let (order, name, meaning) = match stream.parallelism() {
            None => (0, "compute", "compute"),
            Some(Parallelism::Tensor) => (1, "TP", "tensor parallelism (TP)"),
            Some(Parallelism::Expert) => (2, "EP", "expert parallelism (EP)"),
            Some(Parallelism::Context) => (3, "CP", "context parallelism (CP)"),
            Some(Parallelism::Pipeline) => (4, "PP", "pipeline parallelism (PP)"),
            Some(Parallelism::Data) => (5, "DP", "data parallelism (DP)"),
            Some(Parallelism::Cache) => (6, "KV cache", "KV cache"),
            Some(Parallelism::Requests) => (7, "requests", "requests"),
        };
        return (order, name.to_owned(), order as usize, meaning);
    }
    let (order, kind) = match &*row.kind {
        "compute" => (0, "compute"),
        "collective" => (1, "collectives"),
        "send" => (2, "sends"),
        _ => (3, "receives"),
    };
    if by_stream {
        let name = format!("stream {}", row.stream);
        return (row.stream, name, order as usize, kind);
    }
    (order, kind.to_owned(), order as usize, kind)
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
        // A stream with operations of several kinds has no single colour.
        let by_stream = !is_measured && streams.len() <= STREAMS && kinds.len() == streams.len();
        // The earliest instant at which any drawn operation could have started is taken as the
        // iteration's start.
        let start = of.drawn.iter().filter_map(|row| row.ready).min();
        let start = start.map_or(0.0, Time::as_ns);
        let offsets = offsets(of);
        let mut lanes: BTreeMap<Lane, Vec<Bar<'r>>> = BTreeMap::new();
        for row in drawn() {
            let (order, name, colour, meaning) = named(row, of_model, by_stream);
            let lane = |simulated| Lane {
                rank: row.rank,
                simulated,
                order,
                name: name.clone(),
                colour,
                meaning,
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
        // Each row has an equal share, so that a busy one does not leave the others without bars.
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

    /// Returns the text above the drawing, which explains how to read it.
    fn lead(&self, of: &OperationsOf) -> String {
        let shown: BTreeSet<u32> = self.lanes.keys().map(|lane| lane.rank).collect();
        let of_all = if shown.len() < of.ranks as usize {
            format!("{} of {} ranks, evenly chosen. ", shown.len(), of.ranks)
        } else {
            String::new()
        };
        let has_light = self.lanes.values().flatten().any(|bar| bar.light);
        let light = if has_light {
            " Light bars are receives, from when they ask for their message."
        } else {
            ""
        };
        let recorded = if self.is_measured {
            " Recorded rows begin where the first recorded operation of their rank begins in the simulation."
        } else {
            ""
        };
        let left_out = if of.left_out > 0 {
            let number = count(of.left_out);
            format!(" {number} further operations of these ranks are left out.")
        } else {
            String::new()
        };
        format!(
            "{of_all}One bar per operation, from when its stream began with it to its end; collectives include waiting for other ranks, and messages are in the rows of their senders. Neighbours too close to be told apart are one bar.{light}{recorded}{left_out}"
        )
    }

    fn plot(&self) -> Plot<'r> {
        let lane = |lane: &Lane| {
            let whose = match (self.is_measured, lane.simulated) {
                (true, true) => "simulated ",
                (true, false) => "recorded ",
                (false, _) => "",
            };
            OperationLane {
                rank: lane.rank,
                name: format!("{whose}{}", lane.name),
                colour: lane.colour,
            }
        };
        let colours = self.lanes.keys().map(|lane| (lane.colour, lane.meaning));
        let legend: BTreeSet<(usize, &str)> = colours.collect();
        let mut kinds: Vec<&str> = Vec::new();
        let mut bars = Vec::new();
        for (number, of_lane) in self.lanes.values().enumerate() {
            let numbers = |bar: &Bar<'r>| bar.numbers(number, &mut kinds);
            bars.extend(of_lane.iter().map(numbers));
        }
        Plot::Operations(Operations {
            title: TITLE,
            label: "Time since the iteration began",
            to_ns: Num(self.end),
            lanes: self.lanes.keys().map(lane).collect(),
            legend: legend.into_iter().collect(),
            kinds,
            bars,
        })
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

    /// Returns the bar's numbers as the drawing has them. A new operation kind is added to `kinds`.
    fn numbers(&self, lane: usize, kinds: &mut Vec<&'r str>) -> Vec<Num> {
        let Span { from, to } = self.span;
        let light = f64::from(u8::from(self.light));
        // The third number is the duration, not the end: with seven digits, two instants late in a
        // long run could not be told apart.
        let mut numbers = vec![lane as f64, from, to - from, self.count as f64, light];
        // A merged bar has no single operation to describe.
        if self.count == 1 {
            let kind = self.row.kind.as_str();
            let place = kinds.iter().position(|known| *known == kind);
            let place = place.unwrap_or(kinds.len());
            if place == kinds.len() {
                kinds.push(kind);
            }
            numbers.extend([
                place as f64,
                f64::from(self.row.operation),
                self.row.peer.map_or(f64::NAN, f64::from),
                self.row.bytes as f64,
                f64::from(u8::from(self.row.critical)),
            ]);
        }
        numbers.into_iter().map(Num).collect()
    }
}

/// Returns the shift for each rank's recording, in ns. It lets the rank's first recorded operation
/// start where it starts in the simulation, because different ranks' clocks may not be comparable.
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

/// Merges bars until at most `most` are left: neighbours merge if the gap between them cannot be
/// seen, and neither is long enough to be seen on its own.
fn fewer(bars: &mut Vec<Bar<'_>>, end: f64, most: usize) {
    bars.sort_by(|a, b| a.span.from.total_cmp(&b.span.from));
    // A quarter of a pixel.
    let mut gap = end / PIXELS * 0.25;
    loop {
        let mut kept = 0;
        for place in 1..bars.len() {
            let bar = bars[place];
            let last = &mut bars[kept];
            // A long bar keeps its exact ends, even next to another one.
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
        // Each round doubles the gap that counts as invisible. A gap of the whole axis ends the
        // search even where long bars remain.
        if bars.len() <= most.max(1) || gap > end {
            return;
        }
        gap *= 2.0;
    }
}

fn ns(time: Option<Time>) -> f64 {
    time.map_or(0.0, Time::as_ns)
}

/// Tabulates recorded beside simulated times for each job, by operation kind and as a whole.
pub(super) fn sections(trial: &TrialData) -> Vec<Section> {
    let of_jobs = trial.operations.iter().filter(|of| !of.recorded.is_empty());
    let section = |of: &OperationsOf| {
        let title = format!("{}: recorded beside simulated", name(trial, of));
        let lead =
            "Sums over all ranks; deviations are those of the simulation from the recording.";
        Section {
            lines: vec![lead.to_owned()],
            ..Section::of_table(title, deviations(of))
        }
    };
    of_jobs.map(section).collect()
}

fn deviations(of: &OperationsOf) -> TextTable {
    let mut table = TextTable::new(vec![
        TextColumn::name("operations"),
        TextColumn::number("number", ""),
        TextColumn::number("recorded", "ms"),
        TextColumn::number("simulated", "ms"),
        TextColumn::number("deviation", "%"),
    ]);
    let mut line = |name: &str, number: u64, recorded: f64, simulated: f64| {
        let deviation = if recorded > 0.0 {
            format!("{:+.1}", (simulated / recorded - 1.0) * 100.0)
        } else {
            "–".to_owned()
        };
        let ms = |ns: f64| fixed(ns / 1e6, 5);
        let cells = [count(number), ms(recorded), ms(simulated), deviation];
        table.push(std::iter::once(name.to_owned()).chain(cells).collect());
    };
    for (kind, recorded) in &of.recorded {
        line(kind, recorded.count, recorded.recorded, recorded.simulated);
    }
    if !of.spans.is_empty() {
        let whole = |span: fn(&Spans) -> Span| {
            let spans = of.spans.values().map(span);
            spans.map(Span::length).fold(0.0, f64::max)
        };
        line(
            "longest rank, from its first to its last",
            of.spans.len() as u64,
            whole(|of| of.recorded),
            whole(|of| of.simulated),
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
            peer: Some(3),
            bytes: 64,
            ..OperationRow::default()
        };
        let compute = OperationRow {
            kind: "compute".to_owned(),
            operation: 17,
            critical: true,
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
        let plot: Value = serde_json::from_str(&drawing.plot().picture("", "").plot).unwrap();
        let lanes = json!([
            {"rank": 0, "name": "recorded sends", "colour": 2},
            {"rank": 0, "name": "simulated compute", "colour": 0},
        ]);
        assert_eq!(plot["lanes"], lanes);
        assert_eq!(plot["legend"], json!([[0, "compute"], [2, "sends"]]));
        let bars = json!([
            [0, 5_000, 4_000, 1, 0, 0, 0, 3, 64, 0],
            [1, 0, 5_000, 1, 0, 1, 17, null, 0, 1],
        ]);
        assert_eq!(plot["bars"], bars);
        assert_eq!(plot["kinds"], json!(["send", "compute"]));
    }
}
