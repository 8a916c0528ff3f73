//! Studies by readings: each published row is compared with something read from the trials.

use std::collections::BTreeMap;

use tenter_explain::Bill;
use tenter_plan::Plan;
use tenter_record::{FlowRow, JobRow, PortRow, Row as _};
use tenter_topology::NodeId;
use tenter_units::Time;

use crate::answer::{CaseAnswer, Spread, Verdict};
use crate::fct;
use crate::gate::{Gate, Origin};
use crate::leaf::{Leaf, leaves};
use crate::number_query::NumberQuery;
use crate::power;
use crate::reading::{Against, Condition, PortName, Reading, Statistic};
use crate::throughput::{self, Window};
use crate::trial::{Trial, is_meant};
use crate::value::Value;
use crate::variant::Extent;

/// A published row and what is compared with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadingRow {
    /// What the row is called.
    pub case: String,
    /// Which of several things of that case it is, for instance a fabric.
    pub bar: Option<String>,
    /// What is read from a trial.
    pub reading: Reading,
    /// What is asked of the tables of a trial, where it is read by a query.
    pub query: Option<NumberQuery>,
    /// What becomes of the value beside that of other variants, seed by seed.
    pub against: Option<Against>,
    /// Name of the published metric.
    pub metric: String,
    /// The leaf that it is read at, where it is read at one.
    pub leaf: Option<String>,
    /// The job that it is read of, where it is read of one and that is not the first.
    pub job: Option<String>,
    /// The port that it is read at, where it is read at one.
    pub port: Option<PortName>,
    /// Of a reading of power: constants that are changed, and their values.
    pub constants: BTreeMap<String, u64>,
    /// Of a reading of what is accepted: from when until when, in µs.
    pub window_us: Option<[u64; 2]>,
    /// What is made of the values of several seeds.
    pub statistic: Statistic,
    /// The variant that is judged.
    pub variant: String,
    /// The variants that are shown, the judged one among them.
    pub shown: Vec<String>,
    /// Which of the seeds count; all where it is missing.
    pub seeds: Option<Condition>,
    /// The published value.
    pub published: Option<Value>,
    /// Whose the row is.
    pub origin: Origin,
    /// Lower and upper end of the band, both inside.
    pub band: Option<[f64; 2]>,
    /// What the band decides.
    pub gate: Gate,
    /// Why this band and this gate.
    pub reason: String,
    /// Whether the quick form is judged; it is where nothing is said.
    pub quick_judged: Option<bool>,
}

/// No faster than a third of the ideal counts as failed.
const SLOWEST_PERCENT: f64 = 100.0 / 3.0;
/// A flow that takes so many times the median is a long tail.
const LONG_TAIL: f64 = 1.5;

impl ReadingRow {
    /// Compares the trials of a variant with the row; `others` are those of the variants that it
    /// is read against.
    pub(crate) fn judge(
        &self,
        variant: &str,
        extent: Extent,
        trials: &[Trial],
        others: &[&[Trial]],
    ) -> CaseAnswer {
        let counted = trials.iter().filter(|trial| self.counts(trial));
        let values = counted.filter_map(|trial| self.read_against(trial, others));
        let values: Vec<Value> = values.collect();
        let spread = Spread::of(&values);
        let (measured, statistic) = match self.statistic {
            Statistic::Median => middle(values, trials.len()),
            Statistic::Mean => mean(&values, trials.len()),
            Statistic::Pooled => self.pooled(trials, others),
        };
        let range = spread.map(range).unwrap_or_default();
        let statistic = statistic.map(|statistic| statistic + &range);
        let judged = variant == self.variant;
        let (gate, band) = if judged {
            (self.gate, self.band)
        } else {
            (Gate::Info, None)
        };
        let number = measured.as_ref().and_then(Value::number);
        CaseAnswer {
            case: self.case.clone(),
            bar: self.bar.clone(),
            metric: self.metric.clone(),
            variant: variant.to_owned(),
            published: self.published.clone(),
            origin: self.origin,
            verdict: match extent {
                Extent::Quick if judged && self.quick_judged == Some(false) => Verdict::NotJudged,
                _ => Verdict::of(gate, band, number),
            },
            measured,
            statistic,
            spread: spread.filter(|_| trials.len() > 1),
            band,
            gate,
        }
    }

    /// What is read from a trial, beside the trials of the other variants with its seed.
    fn read_against(&self, trial: &Trial, others: &[&[Trial]]) -> Option<Value> {
        let value = self.read(trial)?;
        let Some(against) = &self.against else {
            return Some(value);
        };
        let others = others.iter().map(|trials| {
            let same = trials.iter().find(|other| other.seed == trial.seed)?;
            self.read(same)?.number()
        });
        let others: Option<Vec<f64>> = others.collect();
        Some(Value::Number(against.of(value.number()?, &others?)))
    }

    /// A percentile of the flows of all trials together, beside that of the other variants.
    fn pooled(&self, trials: &[Trial], others: &[&[Trial]]) -> (Option<Value>, Option<String>) {
        let of = |trials: &[Trial]| {
            let counted = trials.iter().filter(|trial| self.counts(trial));
            fct::percentile_ms(counted, self.job.as_deref(), self.reading.percentile()?)
        };
        let others: Option<Vec<f64>> = others.iter().map(|trials| of(trials)).collect();
        let value = of(trials).zip(others);
        let value = value.map(|(value, others)| match &self.against {
            Some(against) => against.of(value, &others),
            None => value,
        });
        let statistic = (trials.len() > 1).then(|| format!("all of {} seeds", trials.len()));
        (value.map(Value::Number), statistic)
    }

    /// Whether it looks at flows one by one.
    pub(crate) fn is_of_flows(&self) -> bool {
        let query = self.query.as_ref();
        self.reading.is_of_flows() || query.is_some_and(|of| of.table() == FlowRow::TABLE)
    }

    /// Whether the row is about such a trial.
    fn counts(&self, trial: &Trial) -> bool {
        match self.seeds {
            None => true,
            Some(Condition::SharesAnUplink) => trial.shared_uplinks.is_some_and(|count| count > 0),
            Some(Condition::SharesNoUplink) => trial.shared_uplinks == Some(0),
        }
    }

    fn read(&self, trial: &Trial) -> Option<Value> {
        match self.reading {
            // The one text there is.
            Reading::QpsPerUplink => self.at_leaf(trial),
            _ => self.number(trial).map(Value::Number),
        }
    }

    /// What is read from a trial, where that is a number.
    fn number(&self, trial: &Trial) -> Option<f64> {
        match self.reading {
            Reading::Query => self.query.as_ref()?.of(trial.held()),
            Reading::PercentOfUndisturbed => undisturbed_percent(trial),
            Reading::PercentOfLineRate => self.line_rate_percent(trial),
            Reading::WorstJobOverIdeal => over_ideal(trial)?.into_iter().max_by(f64::total_cmp),
            Reading::MeanJobOverIdeal => average(&over_ideal(trial)?),
            Reading::IdealRatio => self.ideal_ratio(trial),
            Reading::LeafFragmentation => self.job(trial)?.leaf_fragmentation,
            Reading::PodFragmentation => self.job(trial)?.pod_fragmentation,
            Reading::Completes => Some(f64::from(u8::from(completes(trial)))),
            Reading::TrialsWithALongTail => long_tails(trial),
            Reading::UpperLinksUsed => Some(upper_links_used(trial)),
            Reading::UpperLinksPercent => upper_links_percent(trial),
            // Switches move flows, and NICs.
            Reading::MovedFlows => Some(trial.summary.totals.flow_moves as f64),
            Reading::Flows => Some(trial.completion_times.len() as f64),
            Reading::QueueHighWaterBytes
            | Reading::SentGbps
            | Reading::PausedPercent
            | Reading::IdlePercent => self.at_port(trial),
            Reading::Switches
            | Reading::SwitchPorts
            | Reading::FabricCables
            | Reading::SwitchGbpsPerNic
            | Reading::SwitchChipsWatts => of_bill(self.reading, trial.bill.as_ref()?),
            Reading::ThroughputGbps => throughput::gbps(&trial.summary),
            Reading::AcceptedGbps => Some(self.accepted(trial)?.accepted_gbps()),
            Reading::AcceptedPercent => self.accepted(trial)?.accepted_percent(),
            Reading::StaticWPerGbps | Reading::DynamicWPerGbps | Reading::PjPerBit => {
                let counted = trial.summary.power.as_ref();
                power::read(self.reading, &self.constants, trial.power.as_ref(), counted)
            }
            Reading::SlowestFlowSlowDownMs
            | Reading::NicXoffMs
            | Reading::NicXoffMeanMs
            | Reading::SlowestSenderXoffMs
            | Reading::CompletionTimeMs
            | Reading::FctP50Ms
            | Reading::FctP99Ms
            | Reading::FctP9999Ms
            | Reading::LatencyMeanUs => self.time(trial),
            Reading::EgressQpCount
            | Reading::QpsPerUplink
            | Reading::QpEquivalentsPerUplink
            | Reading::FramesDelta => self.at_leaf(trial)?.number(),
        }
    }

    /// What jobs post and receive in the window. A trial that was stopped has no flow of a message
    /// that never arrived, and so does not say what was posted.
    fn accepted(&self, trial: &Trial) -> Option<Window> {
        let is_whole = trial.summary.complete;
        trial
            .throughput
            .window(self.window_us?)
            .filter(|_| is_whole)
    }

    /// What is read from a trial, where that is a time.
    fn time(&self, trial: &Trial) -> Option<f64> {
        match self.reading {
            Reading::SlowestFlowSlowDownMs => slow_down_ms(trial),
            Reading::NicXoffMs => trial.nics().map(|row| row.paused).max().map(milliseconds),
            Reading::NicXoffMeanMs => {
                let times: Vec<f64> = trial.nics().map(|row| milliseconds(row.paused)).collect();
                average(&times)
            }
            Reading::SlowestSenderXoffMs => slowest_sender_xoff_ms(trial),
            Reading::CompletionTimeMs => self.completion_time_ms(trial),
            Reading::FctP50Ms | Reading::FctP99Ms | Reading::FctP9999Ms => {
                let millionths = self.reading.percentile()?;
                fct::percentile_ms([trial], self.job.as_deref(), millionths)
            }
            Reading::LatencyMeanUs => throughput::latency_mean_us(&trial.summary),
            _ => None,
        }
    }

    /// What is read at the uplinks of a leaf, or of the flows that leave it.
    fn at_leaf(&self, trial: &Trial) -> Option<Value> {
        // What was not completed has lost or carried something else than the whole.
        let whole = matches!(
            self.reading,
            Reading::QpEquivalentsPerUplink | Reading::FramesDelta
        );
        if whole && !trial.summary.complete {
            return None;
        }
        let mut leaves = trial.leaves.iter();
        let leaf = leaves.find(|leaf| Some(&leaf.name) == self.leaf.as_ref())?;
        match self.reading {
            Reading::EgressQpCount => egress_queue_pairs(leaf, trial).map(Value::Number),
            Reading::QpsPerUplink => queue_pairs_per_uplink(leaf, trial).map(Value::Text),
            Reading::QpEquivalentsPerUplink => {
                equivalents_per_uplink(leaf, trial).map(Value::Number)
            }
            Reading::FramesDelta => Some(Value::Number(frames_delta(leaf, trial))),
            _ => None,
        }
    }

    /// What is read at a port, or at several links between the same ends.
    fn at_port(&self, trial: &Trial) -> Option<f64> {
        let ns = trial.summary.engine.simulated_ns;
        match self.reading {
            Reading::QueueHighWaterBytes => {
                let bytes = self.ports(trial).map(|row| row.queue_high_water_bytes);
                bytes.max().map(|bytes| bytes as f64)
            }
            Reading::SentGbps => {
                let bytes: u64 = self.ports(trial).map(|row| row.tx_bytes).sum();
                Some(8.0 * bytes as f64 / ns)
            }
            Reading::PausedPercent => {
                let paused = self.ports(trial).map(|row| row.paused).max()?;
                Some(100.0 * paused.as_ns() / ns)
            }
            Reading::IdlePercent => {
                let sent = |row: &PortRow| {
                    row.tx_data_wire_bytes + row.tx_control_wire_bytes + row.tx_pause_wire_bytes
                };
                let bytes: u64 = self.ports(trial).map(sent).sum();
                let rate: f64 = self.ports(trial).map(|row| row.rate_gbps).sum();
                (rate > 0.0).then(|| 100.0 * (1.0 - 8.0 * bytes as f64 / (rate * ns)))
            }
            _ => None,
        }
    }

    /// The ports that it is read at.
    fn ports<'a>(&'a self, trial: &'a Trial) -> impl Iterator<Item = &'a PortRow> {
        let is_meant = |row: &&PortRow| {
            let port = self.port.as_ref();
            port.is_some_and(|port| port.node == row.node_name && port.peer == row.peer_name)
        };
        trial.counts.ports.iter().filter(is_meant)
    }

    fn line_rate_percent(&self, trial: &Trial) -> Option<f64> {
        let mut jobs = trial.summary.jobs.iter();
        let job = jobs.find(|job| Some(&job.job.name) == self.job.as_ref())?;
        job.collectives.first()?.line_rate_percent
    }

    fn ideal_ratio(&self, trial: &Trial) -> Option<f64> {
        let mut jobs = trial.summary.jobs.iter().map(|job| &job.job);
        let job = jobs.find(|job| self.job.as_ref().is_none_or(|name| *name == job.name));
        job?.ideal_ratio
    }

    fn completion_time_ms(&self, trial: &Trial) -> Option<f64> {
        self.job(trial)?.jct.map(milliseconds)
    }

    /// The job that it is read of, or the first under test.
    fn job<'t>(&self, trial: &'t Trial) -> Option<&'t JobRow> {
        let mut jobs = trial.summary.jobs.iter().map(|job| &job.job);
        jobs.find(|job| is_meant(job, self.job.as_deref()))
    }

    /// Whether the leaf is one of the topology, and the job one of the plan.
    pub(crate) fn fits(&self, plan: &Plan) -> bool {
        let mut leaves = leaves(&plan.topology).into_iter();
        let leaf = self.leaf.is_none() || leaves.any(|leaf| Some(leaf.name) == self.leaf);
        let is_named = |name: &String| plan.jobs.iter().any(|job| job.name == *name);
        leaf && self.job.as_ref().is_none_or(is_named)
    }
}

/// What is read of what the fabric consists of.
fn of_bill(reading: Reading, bill: &Bill) -> Option<f64> {
    let over_switches = |of: fn(&(u64, f64)) -> f64| -> f64 {
        let lines = bill.switches.iter();
        let sums = lines.map(|line| line.count as f64 * line.ports.iter().map(of).sum::<f64>());
        sums.sum()
    };
    match reading {
        Reading::Switches => {
            let counts = bill.switches.iter().map(|line| line.count);
            Some(counts.sum::<u64>() as f64)
        }
        Reading::SwitchPorts => Some(over_switches(|&(count, _)| count as f64)),
        Reading::FabricCables => {
            let inside = bill.cables.iter();
            let inside = inside.filter(|line| !line.between.starts_with("NIC"));
            Some(inside.map(|line| line.count).sum::<u64>() as f64)
        }
        Reading::SwitchGbpsPerNic => {
            let nics: u64 = bill.nics.iter().map(|(_, count)| count).sum();
            Some(over_switches(|&(count, gbps)| count as f64 * gbps) / nics as f64)
        }
        Reading::SwitchChipsWatts => bill.switch_chips_watts.map(|watts| watts as f64),
        _ => None,
    }
}

/// The median of numbers, and of texts the first; with what it is called.
pub(crate) fn middle(values: Vec<Value>, trials: usize) -> (Option<Value>, Option<String>) {
    let numbers: Option<Vec<f64>> = values.iter().map(Value::number).collect();
    let several = |word: &str| (trials > 1).then(|| format!("{word} of {trials} seeds"));
    match numbers {
        Some(numbers) if numbers.is_empty() => (None, None),
        Some(numbers) => {
            let median = tenter_record::Statistic::Median.of(numbers);
            (median.map(Value::Number), several("median"))
        }
        None => (values.into_iter().next(), several("first")),
    }
}

/// The arithmetic mean of numbers; with what it is called.
fn mean(values: &[Value], trials: usize) -> (Option<Value>, Option<String>) {
    let numbers: Vec<f64> = values.iter().filter_map(Value::number).collect();
    let Some(mean) = average(&numbers) else {
        return (None, None);
    };
    let statistic = (trials > 1).then(|| format!("mean of {trials} seeds"));
    (Some(Value::Number(mean)), statistic)
}

fn average(numbers: &[f64]) -> Option<f64> {
    tenter_record::Statistic::Mean.of(numbers.to_vec())
}

fn milliseconds(time: Time) -> f64 {
    time.as_ns() / 1e6
}

/// For each job under test its time over the ideal; `None` where one did not end.
fn over_ideal(trial: &Trial) -> Option<Vec<f64>> {
    let jobs = trial.summary.jobs.iter().filter(|job| !job.job.background);
    let ratios = jobs.map(|job| Some(100.0 / job.collectives.first()?.line_rate_percent?));
    ratios.collect()
}

/// The ports of the switches of the highest tier, one for each link to them: none of these links is
/// between two of them.
fn upper_links(trial: &Trial) -> impl Iterator<Item = &PortRow> {
    let ports = trial.counts.ports.iter();
    ports.filter(|row| trial.top_switches.contains(&NodeId::new(row.node)))
}

fn upper_links_used(trial: &Trial) -> f64 {
    let used = |row: &&PortRow| row.tx_frames + row.rx_frames > 0;
    upper_links(trial).filter(used).count() as f64
}

fn upper_links_percent(trial: &Trial) -> Option<f64> {
    let bytes: u64 = upper_links(trial)
        .map(|row| row.tx_bytes + row.rx_bytes)
        .sum();
    let both_ways: f64 = upper_links(trial).map(|row| 2.0 * row.rate_gbps).sum();
    let could = both_ways * trial.summary.engine.simulated_ns;
    (could > 0.0).then(|| 100.0 * 8.0 * bytes as f64 / could)
}

/// Of the slowest job under test, what its first collective takes beyond its ideal time, in ms.
fn slow_down_ms(trial: &Trial) -> Option<f64> {
    let jobs = trial.summary.jobs.iter().filter(|job| !job.job.background);
    let beyond = jobs.map(|job| {
        let row = job.collectives.first()?;
        let time = milliseconds(row.completion_time?);
        Some(time * (1.0 - row.line_rate_percent? / 100.0))
    });
    let beyond: Option<Vec<f64>> = beyond.collect();
    beyond?.into_iter().max_by(f64::total_cmp)
}

/// How long the NIC was paused that sent the flow that ended last, in ms.
fn slowest_sender_xoff_ms(trial: &Trial) -> Option<f64> {
    let under_test = |flow: &&FlowRow| {
        let job = trial.summary.jobs.get(flow.job as usize);
        job.is_none_or(|job| !job.job.background)
    };
    let last = trial.flows.iter().filter(under_test);
    let last = last.max_by_key(|flow| (flow.received, flow.src_host))?;
    let mut nics = trial.nics();
    nics.find(|row| row.node == last.src_host)
        .map(|row| milliseconds(row.paused))
}

/// How many values there are, the least and the greatest, to follow the name of a statistic.
fn range(of: Spread) -> String {
    let text = |value: f64| {
        if value.fract() == 0.0 {
            format!("{value:.0}")
        } else if value < 10.0 {
            format!("{value:.2}")
        } else {
            format!("{value:.1}")
        }
    };
    let (least, greatest) = (text(of.least), text(of.greatest));
    let values = if of.values == 1 { "value" } else { "values" };
    format!(": {} {values} from {least} to {greatest}", of.values)
}

/// Of the first job under test.
fn undisturbed_percent(trial: &Trial) -> Option<f64> {
    let mut rows = trial.summary.interference.iter();
    let row = rows.find(|row| row.beside.is_none())?;
    Some(100.0 / row.slow_down?)
}

fn long_tails(trial: &Trial) -> Option<f64> {
    if !trial.summary.complete {
        return None;
    }
    let jobs = trial.summary.jobs.iter().filter(|job| !job.job.background);
    let long = jobs.flat_map(|job| &job.collectives).filter(|row| {
        let times = row.fct_max.zip(row.fct_p50);
        times.is_some_and(|(max, median)| max.as_ns() > LONG_TAIL * median.as_ns())
    });
    Some(long.count() as f64)
}

/// The uplinks of a leaf.
fn uplinks<'a>(leaf: &'a Leaf, trial: &'a Trial) -> impl Iterator<Item = &'a PortRow> {
    let ports = trial.counts.ports.iter();
    ports.filter(|row| row.node == leaf.node.number() && leaf.uplinks.contains(&row.port))
}

fn egress_queue_pairs(leaf: &Leaf, trial: &Trial) -> Option<f64> {
    let counts = uplinks(leaf, trial).map(|row| row.queue_pairs);
    counts.sum::<Option<u64>>().map(|sum| sum as f64)
}

fn queue_pairs_per_uplink(leaf: &Leaf, trial: &Trial) -> Option<String> {
    let counts = uplinks(leaf, trial).map(|row| Some(row.queue_pairs?.to_string()));
    Some(counts.collect::<Option<Vec<String>>>()?.join("+"))
}

fn equivalents_per_uplink(leaf: &Leaf, trial: &Trial) -> Option<f64> {
    let leaving = trial.flows.iter();
    let leaving = leaving.filter(|flow| leaf.is_left_by_recorded(flow));
    let (bytes, flows) = leaving.fold((0, 0_u64), |(bytes, flows), flow| {
        (bytes + flow.rx_bytes, flows + 1)
    });
    let of_one = (flows > 0).then(|| bytes as f64 / flows as f64)?;
    let uplinks = uplinks(leaf, trial);
    let loads: Vec<f64> = uplinks.map(|row| row.tx_bytes as f64 / of_one).collect();
    let mean = loads.iter().sum::<f64>() / loads.len() as f64;
    let off = |load: &f64| (load - mean).abs();
    loads.into_iter().max_by(|a, b| off(a).total_cmp(&off(b)))
}

fn frames_delta(leaf: &Leaf, trial: &Trial) -> f64 {
    let leaving = trial.flows.iter();
    let leaving = leaving.filter(|flow| leaf.is_left_by_recorded(flow));
    leaving.map(|flow| flow.frames_delta() as f64).sum()
}

fn completes(trial: &Trial) -> bool {
    let collectives = trial.summary.jobs.iter().flat_map(|job| &job.collectives);
    let fast = |percent: Option<f64>| percent.is_some_and(|percent| percent >= SLOWEST_PERCENT);
    trial.summary.complete
        && collectives
            .into_iter()
            .all(|row| fast(row.line_rate_percent))
}

#[cfg(test)]
mod tests;
