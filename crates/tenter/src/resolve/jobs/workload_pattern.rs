//! A workload's `pattern`: pairs and frequencies of flows, as in an application.

use std::collections::BTreeMap;

use tenter_fabric::topology::HostId;
use tenter_language::units::{ById, Time};
use tenter_workload::flow_workload::{Arrivals, FlowWay, FlowWorkload, GapLaw, Receivers, Weights};
use tenter_workload::pattern::PatternSchedule;
use tenter_workload::spec::{PatternSpec, SLOTS_MAX, Senders};
use tenter_workload::{Job, RankId};

use super::draft::Workload;
use super::pattern;
use crate::resolve::hosts::HostNames;
use tenter_language::notation::decode::split_remedy;

/// With `senders: alike`, each sender's weights add up to about 2⁴⁰: the weights of 2²⁰ senders
/// then fit into 64 bits.
const SUM_BITS: u32 = 40;

/// Half the 32-bit range for flow numbers: random arrivals may exceed their expected count.
const NUMBERS_MAX: f64 = (1_u64 << 31) as f64;

/// A pattern that decides a workload's pairs.
pub(super) struct Demand<'a> {
    pub(super) pattern: &'a PatternSpec,
    pub(super) workload: Workload<'a>,
}

impl Demand<'_> {
    /// Returns the rank pairs that send, and how often flows choose each.
    pub(super) fn ways(&self, names: &HostNames<'_>, job: &Job) -> Option<(Vec<FlowWay>, Weights)> {
        let draws = pattern::draws_of(self.workload.seed, &job.name);
        let kind = self.pattern.kind.clone();
        let matrix = match PatternSchedule::new(kind, draws, job.ranks(), 0) {
            Ok(schedule) => schedule.matrix(),
            Err(error) => {
                let text = error.to_string();
                let (message, help) = split_remedy(&text);
                names.problem(names.place(&self.path()), message.to_owned(), help);
                return None;
            }
        };
        // A send without bytes only synchronises ranks.
        let sends = matrix.iter().filter(|(_, _, bytes)| *bytes > 0);
        let sends: Vec<_> = sends.collect();
        if sends.is_empty() {
            let help = "give at least one pair of different ranks its bytes";
            names.note(&self.path(), "the pattern sends nothing", help);
            return None;
        }
        let parallel = self.workload.spec.parallel;
        if sends.len() as u64 * u64::from(parallel) > u64::from(SLOTS_MAX) {
            let message = format!(
                "the job has more than {SLOTS_MAX} queue pairs: {} pairs of ranks with {parallel} each",
                sends.len(),
            );
            names.note(
                &self.path(),
                message,
                "give fewer `parallel`, or fewer ranks",
            );
            return None;
        }
        let weights = match self.workload.spec.senders {
            Senders::ByBytes => sends.iter().map(|(_, _, bytes)| *bytes).collect(),
            Senders::Alike => levelled(&sends),
        };
        let way = |(src, dst, _)| FlowWay { src, dst, parallel };
        Some((sends.into_iter().map(way).collect(), Weights::new(&weights)))
    }

    /// Refuses workloads whose flow numbers would exceed 32 bits. Slots get numbers in turn, so the
    /// busiest pair uses them up as if all pairs were that busy.
    pub(super) fn check_numbers(
        &self,
        names: &HostNames<'_>,
        workload: &FlowWorkload,
    ) -> Option<()> {
        let weights = workload.weights()?;
        let in_time = workload.duration.zip(workload.arrivals_per_second());
        let in_time = in_time.map(|(duration, rate)| duration.as_s() * rate);
        let given = workload.flows.map(f64::from);
        let flows = given.unwrap_or(f64::MAX).min(in_time.unwrap_or(f64::MAX));
        let most = (0..workload.ways.len()).map(|way| weights.of(way)).max()?;
        let of_pair = flows * most as f64 / weights.total() as f64;
        let last = of_pair / f64::from(self.workload.spec.parallel) * workload.slots() as f64;
        if last < NUMBERS_MAX {
            return Some(());
        }
        let message = format!(
            "{of_pair:.0} flows of one pair, beside {} other pairs with as many queue pairs, are more than there are numbers for",
            workload.ways.len() - 1
        );
        let help = "give a shorter `duration`, or fewer `flows`";
        names.note(&self.path(), message, help);
        None
    }

    fn path(&self) -> String {
        format!("{}.pattern", self.workload.path)
    }
}

/// Scales each sender's bytes to the same sum; `sends` ascend by sender.
fn levelled(sends: &[(u32, u32, u64)]) -> Vec<u64> {
    let rows = sends.chunk_by(|one, other| one.0 == other.0);
    let scaled = rows.flat_map(|row| {
        let sum: u128 = row.iter().map(|(_, _, bytes)| u128::from(*bytes)).sum();
        let of_sum = move |bytes: u64| (u128::from(bytes) << SUM_BITS) / sum;
        row.iter()
            .map(move |(_, _, bytes)| (of_sum(*bytes) as u64).max(1))
    });
    scaled.collect()
}

/// Load that flows offer, and how they offer it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offered {
    /// Distribution that gives the times between flows.
    pub(super) gaps: GapLaw,
    pub(super) senders: Senders,
    /// Share of the busiest NIC's rate, above 0.
    pub(super) load: f64,
    /// A flow's mean length on the wire, in bits.
    pub(super) mean_bits: f64,
}

impl Offered {
    /// Returns arrivals that load the busiest NIC to its share: the larger of its sent and received
    /// bits, or with `senders: alike` the sent ones. `hosts` and `rates` have each rank's NIC and
    /// its rate in bit/s; ranks may share a NIC.
    pub(super) fn arrivals(
        self,
        ways: &[FlowWay],
        weights: Weights,
        hosts: &ById<RankId, HostId>,
        rates: &ById<RankId, f64>,
    ) -> Arrivals {
        let Offered {
            gaps,
            senders,
            load,
            mean_bits,
        } = self;
        let mut of_rank: ById<RankId, f64> = vec![0.0; hosts.len()].into();
        let mut ports: BTreeMap<HostId, [f64; 2]> = BTreeMap::new();
        for (index, way) in ways.iter().enumerate() {
            let weight = weights.of(index) as f64;
            let [src, dst] = [way.src, way.dst].map(RankId::new);
            of_rank[src] += weight;
            ports.entry(hosts[src]).or_default()[0] += weight;
            ports.entry(hosts[dst]).or_default()[1] += weight;
        }
        // Seconds that a NIC's port takes for one bit of each unit of weight.
        let busy = hosts.iter().zip(rates).filter_map(|(host, rate)| {
            let [sent, received] = ports.get(host)?;
            Some(match senders {
                Senders::ByBytes => sent.max(*received) / rate,
                Senders::Alike => sent / rate,
            })
        });
        let busiest = busy.fold(0.0, f64::max);
        let mean = |sent: &f64| {
            let seconds = mean_bits * busiest / (load * sent);
            // The gap of a rank that sends nothing is infinite, which the cast turns into the
            // largest time.
            Time::from_ps((seconds * 1e12).max(1.0) as u64)
        };
        Arrivals::EachSender {
            gaps,
            means: of_rank.iter().map(mean).collect(),
            receivers: Receivers::Weighted(weights),
        }
    }
}
