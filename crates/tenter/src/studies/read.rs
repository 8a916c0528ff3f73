//! Readings: one value from a trial, by a query, or by a word for a value that no table has.

use std::collections::BTreeMap;

use crate::explain::{Bill, bill};
use serde::{Deserialize, Serialize};
use tenter_language::config::choice;
use tenter_results::{FlowRow, Held, PortRow, Row as _, SampleRow, Statistic};
use tenter_sim::plan::Plan;

use crate::studies::chosen::shared_uplinks;
use crate::studies::leaf::{Leaf, leaves};
use crate::studies::number_query::NumberQuery;
use crate::studies::power;
use crate::studies::throughput::Throughput;
use crate::studies::value::{TrialValue, Value};

/// A value that no table has: the key `of` in a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Queue pairs to hosts elsewhere on each uplink of a leaf, in port order, as in `4+5+3+4`.
    QpsPerUplink,
    /// Load on the leaf's uplink that is furthest from the mean, divided by the mean frame bytes
    /// that one flow leaving the leaf brings. With one transfer on each queue pair, a load of 4 is
    /// that of four queue pairs.
    QpEquivalentsPerUplink,
    /// Time in ms for which PFC paused the NIC that sent the measured flow that ended last.
    SlowestSenderXoffMs,
    /// Uplinks that measured jobs share with background jobs, counted if a hash decides the paths.
    SharedUplinks,
    /// Payload that measured jobs received in a time window, over its length, in Gb/s.
    AcceptedGbps,
    /// Payload received in a time window, in percent of the payload that was posted in it.
    AcceptedPercent,
    /// Switch count; in a scheduled fabric it counts leaves and fabric elements.
    Switches,
    /// Switch ports that are in use.
    SwitchPorts,
    /// Cables between switches, without those to hosts.
    FabricCables,
    /// Total one-way rate of switch ports divided by the NIC count, in Gb/s.
    SwitchGbpsPerNic,
    /// Total power of switch chips, in W; no value if one chip's power is not published.
    SwitchChipsWatts,
    /// Static power over throughput, in W per Gb/s.
    StaticWPerGbps,
    /// Dynamic power over throughput, in W per Gb/s.
    DynamicWPerGbps,
    /// Static and dynamic energy for each received payload bit, in pJ.
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

/// A value to read from each trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Read {
    /// The number that a query gives.
    Query(String),
    /// The number that a query gives; no value if the trial was stopped before its end.
    Completed(String),
    /// The values to which a query's statistic would be applied; the answer applies it to all
    /// seeds' values together.
    Pooled(String),
    /// A value that no table has.
    Word {
        /// The word for the value to read.
        of: Word,
        /// Leaf name, for values that are read at one.
        leaf: Option<String>,
        /// Window for accepted throughput, in µs since the start: from the first up to, but not
        /// including, the second. It ends early if the last message is posted before its end.
        window_us: Option<[u64; 2]>,
        /// Constants to replace in the power profile. Power changes no result, so the trial is the
        /// same.
        constants: BTreeMap<String, u64>,
    },
}

/// A trial that has ended, as readings see it.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'t> {
    /// The plan that was simulated.
    pub plan: &'t Plan,
    /// Tables and summary that the trial left.
    pub held: Held<'t>,
}

impl Read {
    /// Makes a reading from a query's text: `pooled` keeps the values for a statistic over all
    /// seeds, and `completed` gives no value for trials that were stopped.
    ///
    /// # Errors
    /// Says why the query is invalid, or that it is not one statistic and so cannot be pooled.
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

    /// Makes a reading from a word without further keys.
    pub(crate) fn word(of: Word) -> Read {
        Read::Word {
            of,
            leaf: None,
            window_us: None,
            constants: BTreeMap::new(),
        }
    }

    /// Parses the query again, which [`query`](Self::query) has checked; `None` for a word.
    fn asked(&self) -> Option<NumberQuery> {
        match self {
            // Readings keep the text, because they are compared, stored and named by it; parsing is
            // cheap beside a trial.
            Read::Query(text) | Read::Completed(text) | Read::Pooled(text) => text.parse().ok(),
            Read::Word { .. } => None,
        }
    }

    /// Returns the text that identifies the reading: readings with equal keys read the same value.
    pub fn key(&self) -> String {
        match self {
            Read::Query(text) => text.clone(),
            Read::Completed(text) => format!("{text} (completed)"),
            Read::Pooled(text) => format!("{text} (pooled)"),
            Read::Word { .. } => serde_json::to_string(self).unwrap_or_default(),
        }
    }

    /// Returns the value's unit; empty if it has none, and for all words.
    pub fn unit(&self) -> String {
        let query = self.asked();
        query.map_or_else(String::new, |query| query.unit().to_owned())
    }

    fn is_of(&self, table: &str) -> bool {
        self.asked().is_some_and(|query| query.table() == table)
    }

    /// Returns true if the reading needs flow rows, so that the trial must keep them.
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

    /// Returns true if the reading needs port samples, so that the trial must keep them.
    pub fn is_of_samples(&self) -> bool {
        self.is_of(SampleRow::TABLE)
    }

    /// Returns the statistic to apply to all seeds' values, if the reading is pooled.
    pub(crate) fn pooled(&self) -> Option<Statistic> {
        match self {
            Read::Pooled(_) => self.asked()?.pooled(),
            _ => None,
        }
    }

    /// Reduces a trial's value to a number: pooled values by their statistic. `None` for a text.
    pub(crate) fn number(&self, value: &TrialValue) -> Option<f64> {
        match value {
            TrialValue::Several(values) => self.pooled()?.of(values.clone()),
            TrialValue::One(value) => value.number(),
        }
    }

    /// Reads the trial's value; `None` if no row has one.
    pub fn of(&self, trial: Ended<'_>) -> Option<TrialValue> {
        match self {
            // A trial that was stopped has no value here; the next arm reads trials that completed.
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

/// Reads the number that a word stands for.
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
        // `Read::of` reads this one itself, because it is a text.
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

/// Reads a count, a rate or a power from the fabric's bill of materials.
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
            // Cables at a NIC lead to hosts and are no part of the fabric.
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

/// Returns the paused time, in ms, of the NIC that sent the measured flow that ended last.
fn slowest_sender_xoff_ms(trial: Ended<'_>) -> Option<f64> {
    let results = trial.held.results;
    let is_measured = |flow: &&FlowRow| {
        let job = results.summary.jobs.get(flow.job as usize);
        job.is_none_or(|job| !job.job.background)
    };
    let last = results.flows.iter().filter(is_measured);
    // At equal times the highest host decides, so the row order does not.
    let last = last.max_by_key(|flow| (flow.received, flow.src_host))?;
    let mut ports = results.counts.ports.iter();
    let row = ports.find(|row| row.node == last.src_host)?;
    Some(row.paused.as_ns() / 1e6)
}

fn leaf_of(name: Option<&str>, trial: Ended<'_>) -> Option<Leaf> {
    let mut leaves = leaves(&trial.plan.topology).into_iter();
    leaves.find(|leaf| Some(leaf.name.as_str()) == name)
}

/// Returns the leaf's uplinks as rows of `ports.parquet`, in port order.
fn uplinks<'a>(leaf: &'a Leaf, trial: Ended<'a>) -> impl Iterator<Item = &'a PortRow> {
    let ports = trial.held.results.counts.ports.iter();
    ports.filter(|row| row.node == leaf.node.number() && leaf.uplinks.contains(&row.port))
}

fn queue_pairs_per_uplink(leaf: &Leaf, trial: Ended<'_>) -> Option<String> {
    let counts = uplinks(leaf, trial).map(|row| Some(row.queue_pairs?.to_string()));
    Some(counts.collect::<Option<Vec<String>>>()?.join("+"))
}

/// Returns the uplink load that is furthest from the mean, divided by the mean frame bytes that a
/// flow brings. A trial that was stopped has no value: its links carried only a part of each flow.
fn equivalents_per_uplink(leaf: &Leaf, trial: Ended<'_>) -> Option<f64> {
    let results = trial.held.results;
    if !results.summary.complete {
        return None;
    }
    let leaving = results.flows.iter();
    let leaving = leaving.filter(|flow| leaf.is_left_by_recorded(flow));
    // A flow is one queue pair's share of one transfer, so the mean over flows stands for a queue
    // pair if each has one transfer.
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
