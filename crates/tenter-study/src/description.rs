//! `study.toml`: what a study compares with what.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::column::ColumnReading;
use crate::matrix::Matrix;

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    /// One line for the list of studies.
    pub(crate) title: String,
    /// Public title of the source, and where in it.
    pub(crate) source: String,
    pub(crate) published: PublishedRows,
    /// Of a study by sizes: how its scenario gets them.
    pub(crate) scenario: Option<ScenarioUse>,
    /// Of a study by sizes: what is judged.
    pub(crate) judged: Option<Judged>,
    /// Of a study by sizes: columns of the published table, the judged one among them.
    #[serde(default)]
    pub(crate) metrics: Vec<String>,
    /// Of a study by sizes: columns of a trial's collectives that the source does not have, shown
    /// for information.
    #[serde(default)]
    pub(crate) unpublished: Vec<String>,
    /// Of a study by readings: what each published row is compared with.
    #[serde(default)]
    pub(crate) readings: Vec<ReadingOfRow>,
    /// Where the luck of the hash decides: which seeds are run.
    pub(crate) seeds: Option<Seeds>,
    /// What a quick run has otherwise, as `--set` has it.
    #[serde(default)]
    pub(crate) quick_set: Vec<String>,
    /// Of a study by readings: whether there is a quick run.
    #[serde(default = "yes")]
    pub(crate) quick: bool,
    #[serde(default)]
    pub(crate) variants: Vec<Variant>,
    /// Variants and readings of each of several fabrics in each of several cases.
    pub(crate) matrix: Option<Matrix>,
    /// What a report draws of it.
    #[serde(default)]
    pub(crate) charts: Vec<Chart>,
    /// What it draws of single trials.
    #[serde(default)]
    pub(crate) drawings: Vec<Drawing>,
}

/// Which rows of which table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedRows {
    /// Stem of the file under `studies/published/` or `studies/expectations/`.
    pub(crate) table: String,
    /// Column and value that a row must have.
    pub(crate) rows: BTreeMap<String, String>,
    /// The column with the size of a case in bytes, which tells the cases apart.
    pub(crate) cases: Option<String>,
    /// The size of the one case, where the table has no column for it.
    pub(crate) size: Option<String>,
    /// Of a study by readings: the column with the published values, after which the metric is
    /// called; otherwise the columns are `published` and `metric`.
    pub(crate) value: Option<String>,
}

/// How the scenario gets its cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioUse {
    /// Path of the key that lists the sizes, as `--set` has it.
    pub(crate) sizes: String,
    /// The largest size of a quick run; without it, there is none.
    pub(crate) quick_size_max: Option<String>,
    /// Sizes that are run beside the published ones, for information.
    #[serde(default)]
    pub(crate) further: Vec<String>,
}

/// What a published row is compared with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadingOfRow {
    /// The tables in which the row may be, the first that has it counts; that of the study where
    /// none is named.
    #[serde(default)]
    pub(crate) tables: Vec<String>,
    /// Columns and values that the row must have beside those of the study.
    #[serde(default)]
    pub(crate) row: BTreeMap<String, String>,
    /// What is shown for information where no table has such a row; without it, one must have it.
    pub(crate) metric: Option<String>,
    /// What the row is called.
    pub(crate) case: String,
    /// Which of several things of that case it is, for instance a fabric.
    pub(crate) bar: Option<String>,
    pub(crate) reading: Reading,
    /// The column that it is read of, where the reading is `column`.
    pub(crate) column: Option<ColumnReading>,
    /// What becomes of the value beside that of other variants, seed by seed.
    pub(crate) against: Option<Against>,
    /// The leaf that it is read at, where it is read at one.
    pub(crate) leaf: Option<String>,
    /// The job that it is read of, where it is read of one and that is not the first.
    pub(crate) job: Option<String>,
    /// The port that it is read at, where it is read at one.
    pub(crate) port: Option<PortName>,
    /// What is made of the values of several seeds.
    #[serde(default)]
    pub(crate) statistic: Statistic,
    /// Of a reading of power: constants of the profile, and what they are in place of their
    /// values. What a run has counted does not depend on them.
    #[serde(default)]
    pub(crate) constants: BTreeMap<String, u64>,
    /// Of a reading of what is accepted: from when until when it is counted, in µs of the trial,
    /// but no longer than messages are posted.
    pub(crate) window_us: Option<[u64; 2]>,
    /// The variant that is judged.
    pub(crate) variant: String,
    /// Variants that are shown beside it; all where it is missing.
    pub(crate) shown: Option<Vec<String>>,
    /// Which of the seeds count; all where it is missing.
    pub(crate) seeds: Option<Condition>,
    /// The column with the published value, after which the metric is called; that of the study
    /// where it is missing.
    pub(crate) value: Option<String>,
    /// Columns with the lower and the upper end of the band.
    #[serde(default = "band_columns")]
    pub(crate) band: [String; 2],
    /// Whether the quick form is judged: false where what it changes makes another experiment.
    #[serde(default = "yes")]
    pub(crate) quick_judged: bool,
}

fn yes() -> bool {
    true
}

fn band_columns() -> [String; 2] {
    ["band_low", "band_high"].map(str::to_owned)
}

/// A port by the nodes at both ends; of several links between them, all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortName {
    /// The node that sends.
    pub node: String,
    /// The node that it sends to.
    pub peer: String,
}

/// What is made of the values of several seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// The one in the middle.
    #[default]
    Median,
    /// The arithmetic mean.
    Mean,
    /// That of the flows of all seeds together, for percentiles of completion times.
    Pooled,
}

/// What becomes of a value beside those of other variants with the same seed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Against {
    /// How many times that of the variant it is.
    RatioTo(String),
    /// 1 when it is at most that of the variant; else 0.
    AtMost(String),
    /// 1 when it is at least that of the first variant and at most that of the second; else 0.
    Between([String; 2]),
    /// By how many percent it is greater than that of the variant; below zero where it is less.
    ChangeFrom(String),
    /// How many times a number it is, which a formula gives.
    Over(u64),
    /// Where a straight line through the value of another variant and this one ends: what grows
    /// by the same amount with each micro-batch, say, needs no trial of all of them.
    StraightLine {
        /// The other variant.
        through: String,
        /// Where the other variant is on the line, where this one is, and where the line ends.
        at: [u32; 3],
        /// What the value is divided by, 1 without: nanoseconds in a published unit, for example.
        over: Option<u64>,
    },
    /// How many times that of the second of each pair of variants that of the first is, on average
    /// over the pairs.
    MeanRatio(Vec<[String; 2]>),
    /// By how many percent that of the first of each pair is less than that of the second, on
    /// average over the pairs.
    MeanPercentLess(Vec<[String; 2]>),
    /// In how many of the pairs that of the first is less than so many percent of the second's.
    CountBelow {
        /// So many percent.
        percent: u32,
        /// The pairs.
        pairs: Vec<[String; 2]>,
    },
}

impl Against {
    /// The other variants.
    pub(crate) fn variants(&self) -> &[String] {
        match self {
            Against::RatioTo(other)
            | Against::AtMost(other)
            | Against::ChangeFrom(other)
            | Against::StraightLine { through: other, .. } => std::slice::from_ref(other),
            Against::Between(others) => others,
            Against::MeanRatio(pairs)
            | Against::MeanPercentLess(pairs)
            | Against::CountBelow { pairs, .. } => pairs.as_flattened(),
            Against::Over(_) => &[],
        }
    }

    /// The value that counts, of its own and those of the other variants in their order.
    pub(crate) fn of(&self, value: f64, others: &[f64]) -> f64 {
        let holds = |holds: bool| f64::from(u8::from(holds));
        match (self, others) {
            (Against::RatioTo(_), [other, ..]) => value / other,
            (Against::AtMost(_), [other, ..]) => holds(value <= *other),
            (Against::Between(_), [low, high, ..]) => holds(*low <= value && value <= *high),
            (Against::ChangeFrom(_), [other, ..]) => 100.0 * (value / other - 1.0),
            (Against::StraightLine { at, over, .. }, [other, ..]) => {
                let [first, second, end] = at.map(f64::from);
                let end = other + (value - other) * (end - first) / (second - first);
                end / over.unwrap_or(1) as f64
            }
            (Against::Over(number), _) => value / *number as f64,
            (Against::MeanRatio(_), others) => mean_ratio(others),
            (Against::MeanPercentLess(_), others) => 100.0 * (1.0 - mean_ratio(others)),
            (Against::CountBelow { percent, .. }, others) => {
                let below = |&ratio: &f64| 100.0 * ratio < f64::from(*percent);
                ratios(others).filter(below).count() as f64
            }
            _ => f64::NAN,
        }
    }
}

/// The ratios of pairs that follow each other.
fn ratios(values: &[f64]) -> impl Iterator<Item = f64> + '_ {
    let (pairs, _) = values.as_chunks::<2>();
    pairs.iter().map(|[one, other]| one / other)
}

fn mean_ratio(values: &[f64]) -> f64 {
    ratios(values).sum::<f64>() / ratios(values).count() as f64
}

/// A drawing of a report: bars in groups, a group for each case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The metrics whose values are its bars.
    pub metrics: Vec<String>,
    /// Which bars it has, by their names; all of these metrics where none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<String>,
    /// What its axis measures, with the unit.
    pub axis: String,
}

/// A drawing of a report: what was recorded in the trials of some variants, on one pair of axes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// What it is called.
    pub title: String,
    /// What is to be seen, in a sentence or two.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// What is drawn.
    pub shows: Shows,
    /// The variants that are drawn; one that a quick run leaves out has no line.
    pub lines: Vec<DrawnVariant>,
    /// The ports whose queues are drawn, a line for each variant; none for completion times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortName>,
}

/// What a drawing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shows {
    /// The most that waited at ports between two samples, in the first trial.
    QueueDepth,
    /// What waited at ports after each change, in the first trial, where that was recorded.
    QueueChanges,
    /// The share of flows that are complete within a time, over all trials.
    CompletionTimes,
    /// The share of flows that take longer, so that a tail can be read.
    CompletionTail,
}

impl Shows {
    /// Whether it is drawn of ports.
    pub fn is_of_ports(self) -> bool {
        matches!(self, Shows::QueueDepth | Shows::QueueChanges)
    }
}

/// A variant in a drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnVariant {
    /// Its name.
    pub variant: String,
    /// What its line is called.
    pub name: String,
}

/// What is read from a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// What a table of the trial has in a column.
    Column,
    /// Queue pairs from hosts of a leaf to hosts elsewhere.
    EgressQpCount,
    /// How many of them each uplink of the leaf has, in the order of its ports.
    QpsPerUplink,
    /// The load of the uplink whose load is furthest from the mean, in frame bytes of one queue
    /// pair.
    QpEquivalentsPerUplink,
    /// Frames sent less frames accepted, over the flows from hosts of a leaf to hosts elsewhere.
    FramesDelta,
    /// 1 when every job was completed, within three times the ideal time; else 0.
    Completes,
    /// The time of the job under test alone over its time beside the others, in percent.
    PercentOfUndisturbed,
    /// What the job has had of the bandwidth that one flow alone would have, in percent.
    PercentOfLineRate,
    /// The time of the slowest job under test over the ideal: its packets, headers and gaps
    /// included, at the rate of the ports.
    WorstJobOverIdeal,
    /// The mean over the jobs under test of the same.
    MeanJobOverIdeal,
    /// Collectives of the jobs under test, size by size, that have a flow that takes more than one
    /// and a half times the median.
    TrialsWithALongTail,
    /// The time of a job over that of the same transfers on a full mesh at port speed.
    IdealRatio,
    /// How much longer than the ideal the flow that ended last took, in ms: all flows of the
    /// slowest job under test start together, so it is the job's time less the ideal.
    SlowestFlowSlowDownMs,
    /// How long the NIC that was paused longest was paused, in ms.
    NicXoffMs,
    /// How long a NIC was paused, in ms, as mean of all NICs.
    NicXoffMeanMs,
    /// How long the NIC was paused that sent the flow that ended last, in ms.
    SlowestSenderXoffMs,
    /// The job completion time, computing included, in ms.
    CompletionTimeMs,
    /// How many links to the switches of the highest tier have carried frames, either way.
    UpperLinksUsed,
    /// What those links have carried of what they could, over the trial and both ways, in percent.
    UpperLinksPercent,
    /// Times at which load balancing moved a flow to another link, over all switches.
    MovedFlows,
    /// The median of the flow completion times, in ms.
    FctP50Ms,
    /// What 99 % of them do not exceed, in ms.
    FctP99Ms,
    /// What 99.99 % of them do not exceed, in ms.
    FctP9999Ms,
    /// How many flows there are.
    Flows,
    /// The most bytes that ever waited at a port.
    QueueHighWaterBytes,
    /// What a port has sent, as a mean over the trial, in Gb/s.
    SentGbps,
    /// How long a port was paused, in percent of the trial.
    PausedPercent,
    /// How long a port had nothing on its wire, in percent of the trial: where something for it is
    /// under way all the time, how long it was blocked further up.
    IdlePercent,
    /// How many switches the fabric has; in a scheduled one its leaves and fabric elements.
    Switches,
    /// How many ports of switches are used.
    SwitchPorts,
    /// How many cables connect switches.
    FabricCables,
    /// What their ports carry in one direction, in Gb/s for each NIC.
    SwitchGbpsPerNic,
    /// The power of all switch chips; nothing where that of one is not published.
    SwitchChipsWatts,
    /// The payload that jobs under test have received, from the start of the first of them to the
    /// end of the last, in Gb/s.
    ThroughputGbps,
    /// The payload of the messages of jobs under test that arrived in a window of time, over its
    /// length, in Gb/s.
    AcceptedGbps,
    /// That payload over the one that was posted in the same window, in percent.
    AcceptedPercent,
    /// Over how many leaves the ranks of a job are spread, over the fewest that they would fit in.
    LeafFragmentation,
    /// Over how many pods, likewise.
    PodFragmentation,
    /// The mean latency of the data frames that jobs under test have accepted, in µs.
    LatencyMeanUs,
    /// Static power over throughput, as the trial's summary has it where the scenario has a power
    /// profile.
    StaticWPerGbps,
    /// Dynamic power over throughput.
    DynamicWPerGbps,
    /// Static and dynamic energy for each bit that was received.
    PjPerBit,
}

impl Reading {
    /// Whether it looks at flows one by one.
    pub(crate) fn is_of_flows(self) -> bool {
        matches!(
            self,
            Reading::QpEquivalentsPerUplink | Reading::FramesDelta | Reading::SlowestSenderXoffMs
        )
    }

    /// Whether it looks at nothing of flows but how long they took.
    pub(crate) fn is_of_completion_times(self) -> bool {
        self == Reading::Flows || self.percentile().is_some()
    }

    /// Whether it is counted in a window of time.
    pub(crate) fn is_of_window(self) -> bool {
        matches!(self, Reading::AcceptedGbps | Reading::AcceptedPercent)
    }

    /// Whether it follows from the constants of a power profile.
    pub(crate) fn is_of_power(self) -> bool {
        matches!(
            self,
            Reading::StaticWPerGbps | Reading::DynamicWPerGbps | Reading::PjPerBit
        )
    }

    /// The millionths of all flows whose completion time it is, if it is one.
    pub(crate) fn percentile(self) -> Option<u64> {
        match self {
            Reading::FctP50Ms => Some(500_000),
            Reading::FctP99Ms => Some(990_000),
            Reading::FctP9999Ms => Some(999_900),
            _ => None,
        }
    }
}

/// What the luck of the hash must have been in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Some uplink of a leaf is used by a job under test and by a background job.
    SharesAnUplink,
    /// None is.
    SharesNoUplink,
}

/// Which seeds a study runs: those that meet its conditions, which are known before a run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// Seeds 1 to this are looked at.
    pub looked_at: u64,
    /// Of those that meet the conditions, the first so many are run.
    pub runs: usize,
    /// As many in a quick run; with zero there is none.
    pub quick_runs: usize,
    /// The condition in words, and where the source shows it.
    pub because: String,
    /// On each leaf, the uplink with the most queue pairs has at most so many, and on at least one
    /// exactly so many.
    pub hottest_uplink: Option<u64>,
    /// On each leaf, flows of the same step meet on an uplink so many times.
    pub collisions_per_leaf: Option<u64>,
    /// Names of jobs in groups: those of a group share a link between switches, directly or by
    /// way of others of the group, and those of different groups share none.
    pub sharing: Option<Vec<Vec<String>>>,
    /// The variant whose paths must meet the conditions, for all variants alike; each variant's own
    /// where this is missing.
    pub by: Option<String>,
}

/// What the gate of a published row judges.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// The metric; all others are shown for information.
    pub metric: String,
    /// The variant; all others are shown for information.
    pub variant: String,
    /// The columns with the lower and the upper end of the band.
    pub band: [String; 2],
}

/// One way to run the scenario of a study.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What it stands for, in a line.
    pub about: String,
    /// Changes of the scenario that make the variant, `PATH=VALUE`, and that nothing was fitted to.
    #[serde(default)]
    pub set: Vec<String>,
    /// Whether a quick run has it.
    #[serde(default = "yes")]
    pub quick: bool,
    /// Whether it is not among the variants that [`Study::keep_variants`] was given.
    ///
    /// [`Study::keep_variants`]: crate::Study::keep_variants
    #[serde(skip)]
    pub left_out: bool,
    /// The constants that were fitted to published values; none in a pure model.
    #[serde(default)]
    pub calibrations: Vec<Calibration>,
}

/// A constant that was not known but fitted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The change of the scenario, `PATH=VALUE`.
    pub set: String,
    /// The published rows it is fitted to.
    pub fitted_to: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_goes_on_by_equal_amounts() {
        // 10 at 35 and 17 at 70 are 0.2 for each, so 59 at 280.
        let line = |over| Against::StraightLine {
            through: "a".to_owned(),
            at: [35, 70, 280],
            over,
        };
        assert!((line(None).of(17.0, &[10.0]) - 59.0).abs() < 1e-9);
        assert!((line(Some(10)).of(17.0, &[10.0]) - 5.9).abs() < 1e-9);
    }
}
