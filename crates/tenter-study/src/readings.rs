//! Studies by readings: each published row is compared with something read from the trials.

use std::collections::BTreeMap;

use tenter_explain::Bill;
use tenter_record::{FlowRow, PortRow};
use tenter_scenario::Plan;
use tenter_units::Time;

use crate::answer::{CaseAnswer, Spread, Value, Verdict};
use crate::column::{ColumnReading, TableName};
use crate::description::{Against, Condition, PortName, Reading, Statistic};
use crate::fct;
use crate::power;
use crate::published::Gate;
use crate::study::Extent;
use crate::throughput;
use crate::trial::{Leaf, Trial, is_meant, leaves};

/// A published row and what is compared with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadingRow {
    /// What the row is called.
    pub case: String,
    /// Which of several things of that case it is, for instance a fabric.
    pub bar: Option<String>,
    /// What is read from a trial.
    pub reading: Reading,
    /// The column that it is read of, where it is read of one.
    pub column: Option<ColumnReading>,
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
    /// Lower and upper end of the band, both inside.
    pub band: Option<[f64; 2]>,
    /// What the band decides.
    pub gate: Gate,
    /// Why this band and this gate.
    pub reason: String,
    /// Whether the quick form is judged.
    pub quick_judged: bool,
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
            verdict: match extent {
                Extent::Quick if judged && !self.quick_judged => Verdict::NotJudged,
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
        let column = self.column.as_ref();
        self.reading.is_of_flows() || column.is_some_and(|of| of.table == TableName::Flows)
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
            Reading::Column => {
                let column = self.column.as_ref()?;
                column.read(trial, self.job.as_deref()).map(Value::Number)
            }
            Reading::EgressQpCount
            | Reading::QpsPerUplink
            | Reading::QpEquivalentsPerUplink
            | Reading::FramesDelta => self.at_leaf(trial),
            Reading::Completes => Some(Value::Number(f64::from(u8::from(completes(trial))))),
            Reading::PercentOfUndisturbed => undisturbed_percent(trial).map(Value::Number),
            Reading::PercentOfLineRate => self.line_rate_percent(trial).map(Value::Number),
            Reading::WorstJobOverIdeal => {
                let jobs = over_ideal(trial)?.into_iter();
                jobs.max_by(f64::total_cmp).map(Value::Number)
            }
            Reading::MeanJobOverIdeal => average(&over_ideal(trial)?).map(Value::Number),
            Reading::TrialsWithALongTail => long_tails(trial).map(Value::Number),
            Reading::IdealRatio => self.ideal_ratio(trial).map(Value::Number),
            Reading::SlowestFlowSlowDownMs => slow_down_ms(trial).map(Value::Number),
            Reading::NicXoffMs => {
                let most = trial.nics().map(|row| row.paused).max()?;
                Some(Value::Number(milliseconds(most)))
            }
            Reading::NicXoffMeanMs => {
                let times: Vec<f64> = trial.nics().map(|row| milliseconds(row.paused)).collect();
                Some(Value::Number(average(&times)?))
            }
            Reading::SlowestSenderXoffMs => slowest_sender_xoff_ms(trial).map(Value::Number),
            Reading::CompletionTimeMs => self.completion_time_ms(trial).map(Value::Number),
            Reading::UpperLinksUsed => Some(Value::Number(upper_links_used(trial))),
            Reading::UpperLinksPercent => upper_links_percent(trial).map(Value::Number),
            // Switches move flows, and NICs.
            Reading::MovedFlows => Some(Value::Number(trial.summary.totals.flow_moves as f64)),
            Reading::FctP50Ms | Reading::FctP99Ms | Reading::FctP9999Ms => {
                let millionths = self.reading.percentile()?;
                fct::percentile_ms([trial], self.job.as_deref(), millionths).map(Value::Number)
            }
            Reading::Flows => Some(Value::Number(trial.completion_times.len() as f64)),
            Reading::QueueHighWaterBytes
            | Reading::SentGbps
            | Reading::PausedPercent
            | Reading::IdlePercent => self.at_port(trial).map(Value::Number),
            Reading::Switches
            | Reading::SwitchPorts
            | Reading::FabricCables
            | Reading::SwitchGbpsPerNic
            | Reading::SwitchChipsWatts => {
                of_bill(self.reading, trial.bill.as_ref()?).map(Value::Number)
            }
            Reading::ThroughputGbps => throughput::gbps(&trial.summary).map(Value::Number),
            Reading::LatencyMeanUs => {
                throughput::latency_mean_us(&trial.summary).map(Value::Number)
            }
            Reading::StaticWPerGbps | Reading::DynamicWPerGbps | Reading::PjPerBit => {
                power::read(self.reading, &self.constants, trial).map(Value::Number)
            }
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
        let mut jobs = trial.summary.jobs.iter().map(|job| &job.job);
        let job = jobs.find(|job| is_meant(job, self.job.as_deref()));
        job?.jct.map(milliseconds)
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
        Some(mut numbers) if !numbers.is_empty() => {
            numbers.sort_unstable_by(f64::total_cmp);
            let half = numbers.len() / 2;
            let median = if numbers.len() % 2 == 1 {
                numbers[half]
            } else {
                f64::midpoint(numbers[half - 1], numbers[half])
            };
            (Some(Value::Number(median)), several("median"))
        }
        _ => (values.into_iter().next(), several("first")),
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
    let sum: f64 = numbers.iter().sum();
    (!numbers.is_empty()).then(|| sum / numbers.len() as f64)
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
    ports.filter(|row| trial.top_switches.contains(&row.node))
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
    ports.filter(|row| row.node == leaf.node && leaf.uplinks.contains(&row.port))
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
    let leaving = leaving.filter(|flow| leaf.is_left_by(flow.src_host, flow.dst_host));
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
    let leaving = leaving.filter(|flow| leaf.is_left_by(flow.src_host, flow.dst_host));
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
mod tests {
    use tenter_record::{CollectiveRow, InterferenceRow, JobRow, JobSummary};

    use super::*;

    /// A leaf with hosts 0 and 1 and uplinks 2 and 3; one flow leaves it whole, one with half of
    /// its 2,000 bytes, one stays.
    fn trial() -> Trial {
        let port = |port: u16, tx_bytes: u64, pairs: u64| PortRow {
            node: 4,
            port,
            tx_bytes,
            queue_pairs: Some(pairs),
            ..PortRow::default()
        };
        let flow = |src_host: u32, dst_host: u32, rx_frames: u64| FlowRow {
            src_host,
            dst_host,
            tx_frames: 2,
            rx_frames,
            rx_bytes: rx_frames * 1_000,
            ..FlowRow::default()
        };
        let mut trial = Trial {
            leaves: vec![Leaf {
                name: "leaf0".to_owned(),
                node: 4,
                hosts: vec![0, 1],
                uplinks: vec![2, 3],
            }],
            flows: vec![flow(0, 2, 2), flow(1, 3, 1), flow(0, 1, 1), flow(2, 0, 1)],
            ..Trial::default()
        };
        trial.counts.ports = vec![port(0, 9_000, 9), port(2, 4_500, 3), port(3, 1_500, 1)];
        trial.summary.complete = true;
        trial.summary.jobs = vec![JobSummary {
            collectives: vec![CollectiveRow {
                line_rate_percent: Some(40.0),
                ..CollectiveRow::default()
            }],
            ..JobSummary::default()
        }];
        trial
    }

    fn read(reading: Reading, trial: &Trial) -> Option<Value> {
        row(reading).read(trial)
    }

    fn row(reading: Reading) -> ReadingRow {
        ReadingRow {
            case: "a".to_owned(),
            bar: None,
            reading,
            column: None,
            against: None,
            metric: "m".to_owned(),
            leaf: Some("leaf0".to_owned()),
            job: None,
            port: None,
            constants: BTreeMap::new(),
            statistic: Statistic::Median,
            variant: "pure".to_owned(),
            shown: vec!["pure".to_owned()],
            seeds: None,
            published: None,
            band: None,
            gate: Gate::Info,
            reason: String::new(),
            quick_judged: true,
        }
    }

    #[test]
    fn a_leaf_is_read_at_its_uplinks_and_by_what_leaves_it() {
        let trial = trial();
        let number = |reading| read(reading, &trial);
        assert_eq!(number(Reading::EgressQpCount), Some(Value::Number(4.0)));
        let split = Value::Text("3+1".to_owned());
        assert_eq!(number(Reading::QpsPerUplink), Some(split));
        // 3,000 bytes have left by two flows: the uplinks carry 3 and 1 of 1,500 bytes, as far from
        // the mean; the later of two as far is told.
        let equivalents = number(Reading::QpEquivalentsPerUplink);
        assert_eq!(equivalents, Some(Value::Number(1.0)));
        assert_eq!(number(Reading::FramesDelta), Some(Value::Number(1.0)));
    }

    #[test]
    fn what_stopped_early_is_not_read_as_the_whole() {
        let mut trial = trial();
        trial.summary.complete = false;
        assert_eq!(read(Reading::FramesDelta, &trial), None);
        assert_eq!(read(Reading::QpEquivalentsPerUplink, &trial), None);
        let pairs = read(Reading::EgressQpCount, &trial);
        assert_eq!(pairs, Some(Value::Number(4.0)));
    }

    #[test]
    fn a_third_of_the_ideal_completes_and_less_does_not() {
        let completes = |percent: Option<f64>| {
            let mut trial = trial();
            trial.summary.jobs[0].collectives[0].line_rate_percent = percent;
            read(Reading::Completes, &trial)
        };
        assert_eq!(completes(Some(33.4)), Some(Value::Number(1.0)));
        assert_eq!(completes(Some(33.3)), Some(Value::Number(0.0)));
        assert_eq!(completes(None), Some(Value::Number(0.0)));
    }

    #[test]
    fn a_row_is_about_the_seeds_of_its_kind() {
        let beside = |slow_down: f64, shared: Option<u64>| {
            let mut trial = trial();
            trial.summary.interference = vec![InterferenceRow {
                slow_down: Some(slow_down),
                ..InterferenceRow::default()
            }];
            trial.shared_uplinks = shared;
            trial
        };
        let trials = [
            beside(1.0, Some(0)),
            beside(1.6, Some(1)),
            beside(2.0, Some(2)),
            beside(4.0, None),
        ];
        let judged = |seeds| {
            let row = ReadingRow {
                seeds,
                ..row(Reading::PercentOfUndisturbed)
            };
            let answer = row.judge("pure", Extent::Full, &trials, &[]);
            let number = answer.measured.as_ref().and_then(Value::number);
            (number, answer.statistic.unwrap_or_default())
        };
        let statistic = |values: &str| format!("median of 4 seeds: {values}");
        let shared = (Some(56.25), statistic("2 values from 50 to 62.5"));
        assert_eq!(judged(Some(Condition::SharesAnUplink)), shared);
        let apart = (Some(100.0), statistic("1 value from 100 to 100"));
        assert_eq!(judged(Some(Condition::SharesNoUplink)), apart);
        assert_eq!(judged(None).0, Some(56.25));
    }

    #[test]
    fn pauses_are_those_of_nics_and_moves_those_of_all() {
        let mut trial = trial();
        let nic = |node: u32, us: u64| PortRow {
            node,
            paused: Time::from_us(us),
            ..PortRow::default()
        };
        // Two hosts below the leaf; its own ports do not count.
        trial.counts.ports = vec![nic(0, 500), nic(1, 1_500), nic(4, 9_000)];
        trial.summary.totals.flow_moves = 7;
        trial.flows[1].received = Time::from_us(7);
        let row = &mut trial.summary.jobs[0].collectives[0];
        row.completion_time = Some(Time::from_us(2_000));
        let number = |reading| read(reading, &trial).and_then(|value| value.number());
        assert_eq!(number(Reading::NicXoffMs), Some(1.5));
        assert_eq!(number(Reading::NicXoffMeanMs), Some(1.0));
        // The flow that ended last is one of host 1.
        assert_eq!(number(Reading::SlowestSenderXoffMs), Some(1.5));
        // 40 % of the ideal in 2 ms: the ideal is 0.8 ms.
        assert_eq!(number(Reading::SlowestFlowSlowDownMs), Some(1.2));
        assert_eq!(number(Reading::MovedFlows), Some(7.0));
    }

    #[test]
    fn completion_times_of_all_seeds_are_one_set() {
        // 1 to 100 us and 101 to 200 us in one seed each; twice as long in the other variant, and
        // as long again in a background job.
        let of = |times: std::ops::RangeInclusive<u64>, factor: u64| {
            let mut trial = trial();
            trial.completion_times = times
                .flat_map(|us| [(0, Time::from_us(us * factor)), (1, Time::from_us(us * 9))])
                .collect();
            trial.summary.jobs = ["a", "load"]
                .map(|name| JobSummary {
                    job: JobRow {
                        name: name.to_owned(),
                        background: name == "load",
                        ..JobRow::default()
                    },
                    ..JobSummary::default()
                })
                .into();
            trial
        };
        let trials = [of(1..=100, 1), of(101..=200, 1)];
        let others = [of(1..=100, 2), of(101..=200, 2)];
        let judged = |reading, statistic, against| {
            let row = ReadingRow {
                against,
                statistic,
                ..row(reading)
            };
            let answer = row.judge("pure", Extent::Full, &trials, &[&others]);
            answer.measured.as_ref().and_then(Value::number)
        };
        let pooled = |reading| judged(reading, Statistic::Pooled, None);
        assert_eq!(pooled(Reading::FctP50Ms), Some(0.1));
        assert_eq!(pooled(Reading::FctP99Ms), Some(0.198));
        assert_eq!(pooled(Reading::FctP9999Ms), Some(0.2));
        // 0.05 and 0.15 ms by themselves.
        let mean = judged(Reading::FctP50Ms, Statistic::Mean, None);
        assert_eq!(mean, Some(0.1));
        let change = Some(Against::ChangeFrom("b".to_owned()));
        let change = judged(Reading::FctP99Ms, Statistic::Pooled, change);
        assert_eq!(change, Some(-50.0));
    }

    #[test]
    fn means_are_of_ratios_and_not_of_values() {
        let pair = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
        let pairs = vec![pair("a", "b"), pair("c", "d")];
        // Twice and three quarters.
        let values = [6.0, 3.0, 300.0, 400.0];
        let mean = Against::MeanRatio(pairs.clone());
        assert_eq!(mean.variants(), ["a", "b", "c", "d"]);
        let less = Against::MeanPercentLess(pairs.clone());
        let means = [mean, less].map(|of| format!("{:.3}", of.of(6.0, &values)));
        assert_eq!(means, ["1.375", "-37.500"]);
        let below = |percent| {
            let pairs = pairs.clone();
            Against::CountBelow { percent, pairs }.of(6.0, &values) as u32
        };
        assert_eq!((below(75), below(80), below(300)), (0, 1, 2));
    }

    #[test]
    fn a_port_is_found_by_its_ends() {
        let mut trial = trial();
        let port = |node: &str, peer: &str, high: u64| PortRow {
            node_name: node.to_owned(),
            peer_name: peer.to_owned(),
            queue_high_water_bytes: high,
            tx_bytes: 2_500,
            rate_gbps: 400.0,
            tx_data_wire_bytes: 2_000,
            tx_control_wire_bytes: 400,
            tx_pause_wire_bytes: 100,
            paused: Time::from_ns(25),
            ..PortRow::default()
        };
        trial.counts.ports = vec![port("a", "b", 7), port("a", "b", 9), port("b", "a", 99)];
        trial.summary.engine.simulated_ns = 100.0;
        let read = |reading, against| {
            let ends = ["a", "b"].map(str::to_owned);
            let [node, peer] = ends;
            let row = ReadingRow {
                port: Some(PortName { node, peer }),
                against,
                ..row(reading)
            };
            let value = row.read_against(&trial, &[]);
            value.and_then(|value| value.number())
        };
        assert_eq!(read(Reading::QueueHighWaterBytes, None), Some(9.0));
        let over = Some(Against::Over(6));
        assert_eq!(read(Reading::QueueHighWaterBytes, over), Some(1.5));
        // 5,000 bytes in 100 ns.
        assert_eq!(read(Reading::SentGbps, None), Some(400.0));
        assert_eq!(read(Reading::PausedPercent, None), Some(25.0));
        // Two links of 400 Gb/s could carry 10,000 bytes in 100 ns, and carry 5,000.
        assert_eq!(read(Reading::IdlePercent, None), Some(50.0));
    }

    #[test]
    fn upper_links_are_those_of_the_highest_tier() {
        let mut trial = Trial {
            top_switches: vec![9],
            ..Trial::default()
        };
        assert_eq!(upper_links_percent(&trial), None);
        let port = |node: u32, tx_bytes: u64, rx_bytes: u64| PortRow {
            node,
            rate_gbps: 10.0,
            tx_frames: tx_bytes / 1_000,
            tx_bytes,
            rx_frames: rx_bytes / 1_000,
            rx_bytes,
            ..PortRow::default()
        };
        trial.counts.ports = vec![port(8, 9_000, 9_000), port(9, 0, 5_000), port(9, 0, 0)];
        trial.summary.engine.simulated_ns = 8_000.0;
        assert!((upper_links_used(&trial) - 1.0).abs() < 1e-9);
        // 40,000 bits; two links of 80,000 bits each way.
        assert_eq!(upper_links_percent(&trial), Some(12.5));
    }

    #[test]
    fn a_fabric_is_read_by_what_it_consists_of() {
        use tenter_explain::{CableLine, SwitchLine};
        let switches = |count, ports: &[(u64, f64)]| SwitchLine {
            tier: "leaf".to_owned(),
            count,
            ports: ports.to_vec(),
            device_percent: None,
        };
        let cables = |between: &str, count| CableLine {
            between: between.to_owned(),
            count,
            rate_gbps: 400.0,
            delay_ns: 25.0,
            length_m: 5.0,
        };
        // Four leaves with four NICs at 400G and two links at 800G, and two spines.
        let bill = Bill {
            nics: vec![(400.0, 16)],
            switches: vec![
                switches(4, &[(4, 400.0), (2, 800.0)]),
                switches(2, &[(4, 800.0)]),
            ],
            cables: vec![cables("NIC - leaf", 16), cables("leaf - spine", 8)],
            switch_chips_watts: Some(3_000),
            watts_per_nic: None,
            power: None,
            not_known: Vec::new(),
        };
        let of = |reading| of_bill(reading, &bill);
        assert_eq!(of(Reading::Switches), Some(6.0));
        assert_eq!(of(Reading::SwitchPorts), Some(32.0));
        assert_eq!(of(Reading::FabricCables), Some(8.0));
        assert_eq!(of(Reading::SwitchGbpsPerNic), Some(1_200.0));
        assert_eq!(of(Reading::SwitchChipsWatts), Some(3_000.0));
        assert_eq!(of(Reading::NicXoffMs), None);
    }

    #[test]
    fn a_quick_form_that_is_another_experiment_is_not_judged() {
        let judged = |quick_judged, extent| {
            let row = ReadingRow {
                band: Some([7.0, 8.0]),
                gate: Gate::Required,
                quick_judged,
                ..row(Reading::EgressQpCount)
            };
            row.judge("pure", extent, &[trial()], &[]).verdict
        };
        assert_eq!(judged(true, Extent::Quick), Verdict::Miss);
        assert_eq!(judged(false, Extent::Full), Verdict::Miss);
        assert_eq!(judged(false, Extent::Quick), Verdict::NotJudged);
    }

    #[test]
    fn a_tail_is_long_from_one_and_a_half_medians() {
        let tails = |max_us: u64| {
            let mut trial = trial();
            let row = &mut trial.summary.jobs[0].collectives[0];
            row.fct_p50 = Some(Time::from_us(10));
            row.fct_max = Some(Time::from_us(max_us));
            read(Reading::TrialsWithALongTail, &trial)
        };
        assert_eq!(tails(15), Some(Value::Number(0.0)));
        assert_eq!(tails(16), Some(Value::Number(1.0)));
    }

    #[test]
    fn the_ratio_is_that_of_the_job() {
        let mut trial = trial();
        let job = |name: &str, ideal_ratio| JobSummary {
            job: JobRow {
                name: name.to_owned(),
                ideal_ratio,
                ..JobRow::default()
            },
            ..JobSummary::default()
        };
        trial.summary.jobs = vec![job("a", Some(1.25)), job("b", Some(1.5)), job("c", None)];
        let of = |job: Option<&str>| {
            let row = ReadingRow {
                job: job.map(str::to_owned),
                ..row(Reading::IdealRatio)
            };
            row.read(&trial).and_then(|value| value.number())
        };
        assert_eq!((of(None), of(Some("b"))), (Some(1.25), Some(1.5)));
        assert_eq!((of(Some("c")), of(Some("d"))), (None, None));
    }

    #[test]
    fn several_seeds_have_a_median_and_texts_a_first() {
        let numbers = |all: &[f64]| all.iter().copied().map(Value::Number).collect::<Vec<_>>();
        let median = |value| {
            (
                Some(Value::Number(value)),
                Some("median of 4 seeds".to_owned()),
            )
        };
        assert_eq!(middle(numbers(&[4.0, 1.0, 2.0, 9.0]), 4), median(3.0));
        assert_eq!(middle(numbers(&[4.0, 1.0, 2.0]), 4), median(2.0));
        assert_eq!(middle(numbers(&[7.0]), 1), (Some(Value::Number(7.0)), None));
        assert_eq!(middle(Vec::new(), 2).0, None);
        let texts = ["6+4", "5+5"].map(|text| Value::Text(text.to_owned()));
        let first = (Some(texts[0].clone()), Some("first of 2 seeds".to_owned()));
        assert_eq!(middle(texts.to_vec(), 2), first);
    }
}
