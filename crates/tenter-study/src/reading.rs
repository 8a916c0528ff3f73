//! What is read of trials, and what becomes of it.

use serde::{Deserialize, Serialize};

/// What is read from a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// A number that the tables of a trial have, by a query.
    Query,
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
    /// The variants whose values the row's own value is set against.
    pub fn variants(&self) -> &[String] {
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
