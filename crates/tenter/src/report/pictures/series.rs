//! Queues, pauses and throughput over time.

use std::collections::{BTreeMap, HashMap};

use super::line_chart::LineChart;
use super::plot::{Num, Picture, Plot, Timeline};
use super::scale::Scale;
use super::text::{Unit, time};
use crate::report::drawings::DrawnLine;
use crate::report::trial_data::TrialData;
use tenter_results::{Direction, Tiers};

/// Maximum number of points in a line.
const POINTS: usize = 400;
/// Number of ports drawn one by one.
const PORTS: usize = 8;
const HEIGHT: f64 = 260.0;

/// Heading above the pictures over time.
pub(super) const TITLE: &str = "Queues and pauses over time";

/// Draws the deepest queues, each tier's load, and ports' pauses; nothing without samples.
pub(super) fn pictures(trial: &TrialData) -> Vec<Picture> {
    if trial.samples.is_empty() {
        return Vec::new();
    }
    let tiers = Tiers::of(&trial.ports, &trial.switches);
    let series = Series::of(trial);
    let x = Scale::span(0.0, series.end);
    let queues = queues(trial, &series, &x);
    let load = throughput(trial, &tiers, &series, &x);
    queues
        .into_iter()
        .chain([load])
        .chain(pauses(trial, &series))
        .collect()
}

/// Bins into which samples are drawn. They end at sampling instants, so each value is drawn where
/// it was taken.
struct Series {
    end: f64,
    interval: f64,
    /// Number of samples in each bin.
    together: usize,
    bins: usize,
}

impl Series {
    /// Says how often samples were taken, and how many samples one point stands for.
    fn lead(&self) -> String {
        let together = if self.together > 1 {
            format!(
                ", and the greatest of every {} samples drawn",
                self.together
            )
        } else {
            String::new()
        };
        format!("sampled every {}{together}", time(self.interval))
    }

    fn of(trial: &TrialData) -> Series {
        let mut instants: Vec<f64> = trial.samples.iter().map(|sample| sample.time).collect();
        instants.dedup();
        Series::at_instants(&instants)
    }

    /// Derives the bins. Samples are taken at regular intervals, and at the trial's end, which may
    /// be any instant. An instant without active ports leaves no samples, so the interval is the
    /// shortest gap.
    fn at_instants(instants: &[f64]) -> Series {
        let end = instants.last().copied().unwrap_or(0.0);
        let regular = &instants[..instants.len().saturating_sub(1)];
        let gaps = regular.windows(2).map(|pair| pair[1] - pair[0]);
        let interval = regular.first().copied().into_iter().chain(gaps);
        // With a single sample, the interval is all the time there is.
        let interval = interval.fold(end, f64::min);
        let all = ((end / interval).ceil() as usize).max(1);
        // Whole samples per bin, so that no sample is divided between two.
        let together = all.div_ceil(POINTS);
        Series {
            end,
            interval,
            together,
            bins: all.div_ceil(together),
        }
    }

    /// Returns a bin's length in ns. The last bin may be shorter, as it ends with the trial.
    fn step(&self) -> f64 {
        self.interval * self.together as f64
    }

    fn bin(&self, time: f64) -> usize {
        // Instants are whole picoseconds in ns; the tolerance keeps a sample at a bin's end within
        // it.
        let bin = (time / self.step() - 1e-9).ceil() as usize;
        bin.clamp(1, self.bins) - 1
    }

    /// Returns one bin's length, in ns.
    fn width(&self, bin: usize) -> f64 {
        self.at(bin) - self.step() * bin as f64
    }

    /// Returns the end of a bin, in ns.
    fn at(&self, bin: usize) -> f64 {
        (self.step() * (bin + 1) as f64).min(self.end)
    }

    /// Makes a line with a value for each bin, 0 for a bin without a sample. A mean holds for the
    /// whole bin, so its line starts at time 0.
    fn line(&self, name: String, values: &BTreeMap<usize, f64>, is_mean: bool) -> DrawnLine {
        let value = |bin: usize| values.get(&bin).copied().unwrap_or(0.0);
        let points = (0..self.bins).map(|bin| (self.at(bin), value(bin)));
        let first = is_mean.then(|| (0.0, value(0)));
        DrawnLine {
            name,
            points: first.into_iter().chain(points).collect(),
        }
    }
}

type PortKey = (u32, u16);

fn port_name(trial: &TrialData, key: PortKey) -> String {
    let port = trial
        .ports
        .iter()
        .find(|port| (port.node, port.port) == key);
    let (node, number) = key;
    port.map_or_else(
        || format!("{node}:{number}"),
        |port| format!("{}:{} → {}", port.node_name, number, port.peer_name),
    )
}

/// Returns the `count` keys with the greatest values, greatest first.
fn greatest(values: &HashMap<PortKey, f64>, count: usize) -> Vec<PortKey> {
    let mut order: Vec<(&PortKey, &f64)> = values.iter().filter(|entry| *entry.1 > 0.0).collect();
    // Ties go by port, since the map has no order of its own.
    order.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
    order
        .into_iter()
        .take(count)
        .map(|entry| *entry.0)
        .collect()
}

fn queues(trial: &TrialData, series: &Series, x: &Scale) -> Option<Picture> {
    let mut peaks: HashMap<PortKey, f64> = HashMap::new();
    for sample in &trial.samples {
        let peak = peaks.entry((sample.node, sample.port)).or_default();
        *peak = peak.max(sample.queue_high_water_bytes);
    }
    let ports = greatest(&peaks, PORTS);
    if ports.is_empty() {
        return None;
    }
    let lines: Vec<DrawnLine> = ports
        .iter()
        .map(|&key| {
            let mut values: BTreeMap<usize, f64> = BTreeMap::new();
            for sample in &trial.samples {
                if (sample.node, sample.port) == key {
                    let value = values.entry(series.bin(sample.time)).or_default();
                    *value = value.max(sample.queue_high_water_bytes);
                }
            }
            series.line(port_name(trial, key), &values, false)
        })
        .collect();
    let peak = peaks.values().copied().fold(0.0, f64::max);
    let y = Scale::from_zero(peak, Unit::bytes(peak));
    let chart = LineChart {
        title: "Queues over time, the deepest ports",
        x_label: "time",
        y_label: "queue",
        height: HEIGHT,
        steps: false,
        family: 1,
        lines: &lines,
    };
    let lead = format!("the exact maximum between two samples; {}", series.lead());
    Some(chart.picture(lead, x, &y))
}

/// Draws each tier's load, in per cent of its capacity.
fn throughput(trial: &TrialData, tiers: &Tiers, series: &Series, x: &Scale) -> Picture {
    let mut capacity: BTreeMap<Direction, f64> = BTreeMap::new();
    let mut directions: HashMap<PortKey, Direction> = HashMap::new();
    for port in &trial.ports {
        let way = tiers.direction(port);
        directions.insert((port.node, port.port), way);
        *capacity.entry(way).or_default() += port.rate_gbps;
    }
    let mut sent: BTreeMap<Direction, BTreeMap<usize, f64>> = BTreeMap::new();
    for sample in &trial.samples {
        if let Some(&way) = directions.get(&(sample.node, sample.port)) {
            let bin = series.bin(sample.time);
            *sent.entry(way).or_default().entry(bin).or_default() += sample.tx_bytes;
        }
    }
    let lines: Vec<DrawnLine> = sent
        .iter()
        .map(|(&way, bytes)| {
            // Bytes times 8 per ns are Gbit/s.
            let full = |bin| capacity[&way] * series.width(bin);
            let shares = bytes
                .iter()
                .map(|(&bin, &bytes)| (bin, bytes * 8.0 / full(bin) * 100.0))
                .collect();
            series.line(tiers.direction_name(way), &shares, true)
        })
        .collect();
    let points = lines.iter().flat_map(|line| &line.points);
    // A frame counts in the bin in which it starts and may reach into the next, so a load may
    // exceed 100 %.
    let most = points.fold(100.0, |most: f64, point| most.max(point.1));
    let y = Scale::from_zero(most, Unit::of("%"));
    let chart = LineChart {
        title: "Load of each tier over time, in percent of its capacity",
        x_label: "time",
        y_label: "load",
        height: HEIGHT,
        steps: false,
        family: 1,
        lines: &lines,
    };
    chart.picture(series.lead(), x, &y)
}

/// Draws when ports were paused by the other end, with a row for each port among those paused
/// longest.
fn pauses(trial: &TrialData, series: &Series) -> Option<Picture> {
    /// Palette index that bars for pauses have.
    const PAUSED: f64 = 3.0;
    let mut totals: HashMap<PortKey, f64> = HashMap::new();
    for port in &trial.ports {
        totals.insert((port.node, port.port), port.paused.as_ns());
    }
    let ports = greatest(&totals, 24);
    if ports.is_empty() {
        return None;
    }
    let paused = totals.values().filter(|&&total| total > 0.0).count();
    let shown = if paused > ports.len() {
        format!(
            "the {} of {paused} ports that were paused longest; ",
            ports.len()
        )
    } else {
        String::new()
    };
    let mut bars = Vec::new();
    for (lane, &key) in ports.iter().enumerate() {
        let total = totals.get(&key).copied().unwrap_or(0.0);
        for (from, to) in stretches(trial, series, key) {
            let (begin, end) = (series.at(from) - series.width(from), series.at(to));
            let numbers = [lane as f64, begin, end, PAUSED, total];
            bars.push(numbers.into_iter().map(Num).collect());
        }
    }
    let lanes = ports.iter().map(|&key| port_name(trial, key));
    let plot = Plot::Timeline(Timeline {
        title: "When ports were paused",
        label: "Time",
        from_ns: Num(0.0),
        to_ns: Num(series.end),
        lanes: lanes.collect(),
        names: 190,
        columns: &[("paused in all:", "ns")],
        marked: None,
        bars,
    });
    let lead = format!(
        "{shown}coloured where a sample found the port paused by the other end; totals are exact"
    );
    Some(plot.picture("When ports were paused", lead))
}

/// Returns runs of bins, first and last, in which a sample found the port paused.
fn stretches(trial: &TrialData, series: &Series, key: PortKey) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for sample in &trial.samples {
        if (sample.node, sample.port) != key || !sample.paused {
            continue;
        }
        let bin = series.bin(sample.time);
        match stretches.last_mut() {
            Some(last) if bin <= last.1 + 1 => last.1 = bin,
            _ => stretches.push((bin, bin)),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_sample_off_the_grid_moves_no_other() {
        // Every 100 us, and at the end, 477 us.
        let instants = [100e3, 200e3, 300e3, 400e3, 477e3];
        let series = Series::at_instants(&instants);
        assert_eq!((series.interval, series.bins), (100e3, 5));
        for (bin, &instant) in instants.iter().enumerate() {
            assert_eq!(series.bin(instant), bin);
            assert_eq!(series.at(bin) as u64, instant as u64);
        }
        assert_eq!((series.width(0), series.width(4)), (100e3, 77e3));
        let values = BTreeMap::from([(0, 2.29), (1, 3.34), (4, 5.8)]);
        let line = series.line("a".to_owned(), &values, false);
        let at = [
            (100e3, 2.29),
            (200e3, 3.34),
            (300e3, 0.0),
            (400e3, 0.0),
            (477e3, 5.8),
        ];
        assert_eq!(line.points, at);
        // A mean holds from the beginning of its bin.
        assert_eq!(
            series.line("a".to_owned(), &values, true).points[0],
            (0.0, 2.29)
        );
    }

    #[test]
    fn samples_that_are_drawn_together_end_with_the_last_of_them() {
        // 1,000 samples of 10 us and one at the end: three of them to a point.
        let mut instants: Vec<f64> = (1..=1_000).map(|number| f64::from(number) * 10e3).collect();
        instants.push(10_004e3);
        let series = Series::at_instants(&instants);
        assert_eq!((series.together, series.bins), (3, 334));
        assert_eq!((series.bin(30e3), series.bin(40e3)), (0, 1));
        assert_eq!((series.at(0), series.at(333)), (30e3, 10_004e3));
    }

    #[test]
    fn a_lone_sample_is_that_of_the_end() {
        let series = Series::at_instants(&[42e3]);
        assert_eq!(
            (series.interval, series.bins, series.at(0)),
            (42e3, 1, 42e3)
        );
    }
}
