//! Studies by readings: each published row is compared with something read from the trials.

use tenter_record::PortRow;
use tenter_topology::Topology;

use crate::answer::{CaseAnswer, Value, Verdict};
use crate::description::Reading;
use crate::published::Gate;
use crate::trial::{Leaf, Trial, leaves};

/// A published row and what is compared with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadingRow {
    /// What the row is called.
    pub case: String,
    /// What is read from a trial.
    pub reading: Reading,
    /// Name of the published metric.
    pub metric: String,
    /// The leaf that it is read at, where it is read at one.
    pub leaf: Option<String>,
    /// The variant that is judged.
    pub variant: String,
    /// The variants that are shown, the judged one among them.
    pub shown: Vec<String>,
    /// The published value.
    pub published: Option<Value>,
    /// Lower and upper end of the band, both inside.
    pub band: Option<[f64; 2]>,
    /// What the band decides.
    pub gate: Gate,
    /// Why this band and this gate.
    pub reason: String,
}

/// No faster than a third of the ideal counts as failed.
const SLOWEST_PERCENT: f64 = 100.0 / 3.0;

impl ReadingRow {
    /// Compares the trials of a variant with the row.
    pub(crate) fn judge(&self, variant: &str, trials: &[Trial]) -> CaseAnswer {
        let values = trials.iter().filter_map(|trial| self.read(trial));
        let (measured, statistic) = middle(values.collect(), trials.len());
        let judged = variant == self.variant;
        let (gate, band) = if judged {
            (self.gate, self.band)
        } else {
            (Gate::Info, None)
        };
        let number = measured.as_ref().and_then(Value::number);
        CaseAnswer {
            case: self.case.clone(),
            metric: self.metric.clone(),
            variant: variant.to_owned(),
            published: self.published.clone(),
            verdict: Verdict::of(gate, band, number),
            measured,
            statistic,
            band,
            gate,
        }
    }

    fn read(&self, trial: &Trial) -> Option<Value> {
        // What was not completed has lost or carried something else than the whole.
        let whole = matches!(
            self.reading,
            Reading::QpEquivalentsPerUplink | Reading::FramesDelta
        );
        if whole && !trial.summary.complete {
            return None;
        }
        let leaf = || {
            let mut leaves = trial.leaves.iter();
            leaves.find(|leaf| Some(&leaf.name) == self.leaf.as_ref())
        };
        match self.reading {
            Reading::EgressQpCount => egress_queue_pairs(leaf()?, trial).map(Value::Number),
            Reading::QpsPerUplink => queue_pairs_per_uplink(leaf()?, trial).map(Value::Text),
            Reading::QpEquivalentsPerUplink => {
                equivalents_per_uplink(leaf()?, trial).map(Value::Number)
            }
            Reading::FramesDelta => Some(Value::Number(frames_delta(leaf()?, trial))),
            Reading::Completes => Some(Value::Number(f64::from(u8::from(completes(trial))))),
        }
    }

    /// Whether the leaf is one of the topology.
    pub(crate) fn fits(&self, topology: &Topology) -> bool {
        let mut leaves = leaves(topology).into_iter();
        self.leaf.is_none() || leaves.any(|leaf| Some(leaf.name) == self.leaf)
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
    trial.summary.complete && collectives.into_iter().all(|row| fast(row.ideal_percent))
}

#[cfg(test)]
mod tests {
    use tenter_record::{CollectiveRow, FlowRow, JobSummary};

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
                ideal_percent: Some(40.0),
                ..CollectiveRow::default()
            }],
            ..JobSummary::default()
        }];
        trial
    }

    fn read(reading: Reading, trial: &Trial) -> Option<Value> {
        let row = ReadingRow {
            case: "a".to_owned(),
            reading,
            metric: "m".to_owned(),
            leaf: Some("leaf0".to_owned()),
            variant: "pure".to_owned(),
            shown: vec!["pure".to_owned()],
            published: None,
            band: None,
            gate: Gate::Info,
            reason: String::new(),
        };
        row.read(trial)
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
            trial.summary.jobs[0].collectives[0].ideal_percent = percent;
            read(Reading::Completes, &trial)
        };
        assert_eq!(completes(Some(33.4)), Some(Value::Number(1.0)));
        assert_eq!(completes(Some(33.3)), Some(Value::Number(0.0)));
        assert_eq!(completes(None), Some(Value::Number(0.0)));
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
