//! What is read of a trial: the number of a query, or one of few words for what no table has.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenter_config::choice;
use tenter_explain::{Bill, bill};
use tenter_plan::Plan;
use tenter_record::{FlowRow, Held, PortRow, Row as _, SampleRow, Statistic};

use crate::chosen::shared_uplinks;
use crate::leaf::{Leaf, leaves};
use crate::number_query::NumberQuery;
use crate::power;
use crate::throughput::Throughput;
use crate::value::{TrialValue, Value};

/// What no table of a trial has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// How many queue pairs to hosts elsewhere each uplink of a leaf has, in the order of its
    /// ports.
    QpsPerUplink,
    /// The load of the uplink whose load is furthest from the mean, in frame bytes of one queue
    /// pair.
    QpEquivalentsPerUplink,
    /// How long the NIC was paused that sent the flow that ended last, in ms.
    SlowestSenderXoffMs,
    /// How many uplinks measured jobs share with background jobs, where a hash decides that.
    SharedUplinks,
    /// The payload of the messages of measured jobs that arrived in a window of time, over its
    /// length, in Gb/s.
    AcceptedGbps,
    /// That payload over the one that was posted in the same window, in percent.
    AcceptedPercent,
    /// How many switches the fabric has; in a scheduled one its leaves and fabric elements.
    Switches,
    /// How many ports of switches are used.
    SwitchPorts,
    /// How many cables connect switches.
    FabricCables,
    /// The rate of the ports of switches in one direction, in Gb/s for each NIC.
    SwitchGbpsPerNic,
    /// The power of all switch chips; nothing where that of one is not published.
    SwitchChipsWatts,
    /// Static power over throughput.
    StaticWPerGbps,
    /// Dynamic power over throughput.
    DynamicWPerGbps,
    /// Static and dynamic energy for each bit that was received.
    PjPerBit,
}
choice!(Word {
    "qps-per-uplink" => QpsPerUplink,
    "qp-equivalents-per-uplink" => QpEquivalentsPerUplink,
    "slowest-sender-xoff-ms" => SlowestSenderXoffMs,
    "shared-uplinks" => SharedUplinks,
    "accepted-gbps" => AcceptedGbps,
    "accepted-percent" => AcceptedPercent,
    "switches" => Switches,
    "switch-ports" => SwitchPorts,
    "fabric-cables" => FabricCables,
    "switch-gbps-per-nic" => SwitchGbpsPerNic,
    "switch-chips-watts" => SwitchChipsWatts,
    "static-w-per-gbps" => StaticWPerGbps,
    "dynamic-w-per-gbps" => DynamicWPerGbps,
    "pj-per-bit" => PjPerBit,
});

/// What is read of each trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Read {
    /// The number of a query.
    Query(String),
    /// The number of a query, of a trial that came to its end.
    Completed(String),
    /// The values of which the statistic of a query is made, to be put together with those of
    /// other seeds.
    Pooled(String),
    /// Something else.
    Word {
        /// What it is.
        of: Word,
        /// The leaf, where it is read at one.
        leaf: Option<String>,
        /// From when until when, in µs of the trial, but no longer than messages are posted.
        window_us: Option<[u64; 2]>,
        /// Constants of the power profile, and what they are in place of their values. What a run
        /// has counted does not depend on them.
        constants: BTreeMap<String, u64>,
    },
}

/// A trial that has ended, as readings see it.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'t> {
    /// What was run.
    pub plan: &'t Plan,
    /// What it has left.
    pub held: Held<'t>,
}

impl Read {
    /// A query of completed trials alone or of all, or the values of which its statistic is made.
    ///
    /// # Errors
    /// Why the query does not hold, or has no values to be put together.
    pub(crate) fn query(text: &str, pooled: bool, completed: bool) -> Result<Read, String> {
        let query: NumberQuery = text.parse()?;
        match (pooled, query.pooled()) {
            (false, _) if completed => Ok(Read::Completed(text.to_owned())),
            (false, _) => Ok(Read::Query(text.to_owned())),
            (true, Some(_)) => Ok(Read::Pooled(text.to_owned())),
            (true, None) => Err(format!(
                "the query `{text}` is not one statistic, and only such a one is pooled; compute within its brackets"
            )),
        }
    }

    /// A word.
    pub(crate) fn word(of: Word) -> Read {
        Read::Word {
            of,
            leaf: None,
            window_us: None,
            constants: BTreeMap::new(),
        }
    }

    fn asked(&self) -> Option<NumberQuery> {
        match self {
            Read::Query(text) | Read::Completed(text) | Read::Pooled(text) => text.parse().ok(),
            Read::Word { .. } => None,
        }
    }

    /// What it is known by: equal texts read the same.
    pub fn key(&self) -> String {
        match self {
            Read::Query(text) => text.clone(),
            Read::Completed(text) => format!("{text} (completed)"),
            Read::Pooled(text) => format!("{text} (pooled)"),
            Read::Word { .. } => serde_json::to_string(self).unwrap_or_default(),
        }
    }

    /// The unit of its value; empty where it has none.
    pub fn unit(&self) -> String {
        let query = self.asked();
        query.map_or_else(String::new, |query| query.unit().to_owned())
    }

    fn is_of(&self, table: &str) -> bool {
        self.asked().is_some_and(|query| query.table() == table)
    }

    /// Whether it looks at flows one by one.
    pub fn is_of_flows(&self) -> bool {
        let words = [
            Word::QpEquivalentsPerUplink,
            Word::SlowestSenderXoffMs,
            Word::AcceptedGbps,
            Word::AcceptedPercent,
        ];
        match self {
            Read::Word { of, .. } => words.contains(of),
            query => query.is_of(FlowRow::TABLE),
        }
    }

    /// Whether it looks at samples.
    pub fn is_of_samples(&self) -> bool {
        self.is_of(SampleRow::TABLE)
    }

    /// The statistic of pooled values.
    pub(crate) fn pooled(&self) -> Option<Statistic> {
        match self {
            Read::Pooled(_) => self.asked()?.pooled(),
            _ => None,
        }
    }

    /// The number that a value stands for.
    pub(crate) fn number(&self, value: &TrialValue) -> Option<f64> {
        match value {
            TrialValue::Several(values) => self.pooled()?.of(values.clone()),
            TrialValue::One(value) => value.number(),
        }
    }

    /// The value of a trial; nothing where no row has one.
    pub fn of(&self, trial: Ended<'_>) -> Option<TrialValue> {
        match self {
            Read::Completed(_) if !trial.held.results.summary.complete => None,
            Read::Query(_) | Read::Completed(_) => {
                self.asked()?.of(trial.held).map(TrialValue::from)
            }
            Read::Pooled(_) => Some(TrialValue::Several(self.asked()?.each(trial.held))),
            Read::Word {
                of: Word::QpsPerUplink,
                leaf,
                ..
            } => {
                let text = queue_pairs_per_uplink(&leaf_of(leaf.as_deref(), trial)?, trial)?;
                Some(TrialValue::One(Value::Text(text)))
            }
            Read::Word {
                of,
                leaf,
                window_us,
                constants,
            } => word(*of, leaf.as_deref(), *window_us, constants, trial).map(TrialValue::from),
        }
    }
}

fn word(
    of: Word,
    leaf: Option<&str>,
    window_us: Option<[u64; 2]>,
    constants: &BTreeMap<String, u64>,
    trial: Ended<'_>,
) -> Option<f64> {
    let results = trial.held.results;
    // A trial that was stopped has no flow of a message that never arrived, and so does not say
    // what was posted.
    let window = || {
        let complete = results.summary.complete;
        let throughput = Throughput::of(results.flows, results.summary);
        throughput.window(window_us?).filter(|_| complete)
    };
    match of {
        Word::QpsPerUplink => None,
        Word::QpEquivalentsPerUplink => equivalents_per_uplink(&leaf_of(leaf, trial)?, trial),
        Word::SlowestSenderXoffMs => slowest_sender_xoff_ms(trial),
        Word::SharedUplinks => shared_uplinks(trial.plan).map(|count| count as f64),
        Word::AcceptedGbps => Some(window()?.accepted_gbps()),
        Word::AcceptedPercent => window()?.accepted_percent(),
        Word::StaticWPerGbps | Word::DynamicWPerGbps | Word::PjPerBit => {
            let row = power::with(constants, trial.plan, results.summary.power.as_ref()?)?;
            match of {
                Word::StaticWPerGbps => row.static_per_gbps,
                Word::DynamicWPerGbps => row.dynamic_per_gbps,
                _ => row.picojoules_per_bit,
            }
        }
        of => of_bill(of, &bill(trial.plan)),
    }
}

/// What is read of what the fabric consists of.
fn of_bill(of: Word, bill: &Bill) -> Option<f64> {
    let over_switches = |of: fn(&(u64, f64)) -> f64| -> f64 {
        let lines = bill.switches.iter();
        let sums = lines.map(|line| line.count as f64 * line.ports.iter().map(of).sum::<f64>());
        sums.sum()
    };
    match of {
        Word::Switches => {
            let counts = bill.switches.iter().map(|line| line.count);
            Some(counts.sum::<u64>() as f64)
        }
        Word::SwitchPorts => Some(over_switches(|&(count, _)| count as f64)),
        Word::FabricCables => {
            let inside = bill.cables.iter();
            let inside = inside.filter(|line| !line.between.starts_with("NIC"));
            Some(inside.map(|line| line.count).sum::<u64>() as f64)
        }
        Word::SwitchGbpsPerNic => {
            let nics: u64 = bill.nics.iter().map(|(_, count)| count).sum();
            Some(over_switches(|&(count, gbps)| count as f64 * gbps) / nics as f64)
        }
        Word::SwitchChipsWatts => bill.switch_chips_watts.map(|watts| watts as f64),
        _ => None,
    }
}

/// How long the NIC was paused that sent the flow that ended last, in ms.
fn slowest_sender_xoff_ms(trial: Ended<'_>) -> Option<f64> {
    let results = trial.held.results;
    let is_measured = |flow: &&FlowRow| {
        let job = results.summary.jobs.get(flow.job as usize);
        job.is_none_or(|job| !job.job.background)
    };
    let last = results.flows.iter().filter(is_measured);
    let last = last.max_by_key(|flow| (flow.received, flow.src_host))?;
    let mut ports = results.counts.ports.iter();
    let row = ports.find(|row| row.node == last.src_host)?;
    Some(row.paused.as_ns() / 1e6)
}

fn leaf_of(name: Option<&str>, trial: Ended<'_>) -> Option<Leaf> {
    let mut leaves = leaves(&trial.plan.topology).into_iter();
    leaves.find(|leaf| Some(leaf.name.as_str()) == name)
}

/// The uplinks of a leaf.
fn uplinks<'a>(leaf: &'a Leaf, trial: Ended<'a>) -> impl Iterator<Item = &'a PortRow> {
    let ports = trial.held.results.counts.ports.iter();
    ports.filter(|row| row.node == leaf.node.number() && leaf.uplinks.contains(&row.port))
}

fn queue_pairs_per_uplink(leaf: &Leaf, trial: Ended<'_>) -> Option<String> {
    let counts = uplinks(leaf, trial).map(|row| Some(row.queue_pairs?.to_string()));
    Some(counts.collect::<Option<Vec<String>>>()?.join("+"))
}

/// A trial that did not come to its end has lost or carried something else than the whole.
fn equivalents_per_uplink(leaf: &Leaf, trial: Ended<'_>) -> Option<f64> {
    let results = trial.held.results;
    if !results.summary.complete {
        return None;
    }
    let leaving = results.flows.iter();
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
