//! Binds a flow workload to hosts.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_endpoint::{MessageCut, NicSpec};
use tenter_engine::Draws;
use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::topology::HostId;
use tenter_language::units::{ById, Time};
use tenter_workload::flow_workload::{
    Arrivals, FlowWay, FlowWorkload, Receivers, SizeDistribution, Weights,
};
use tenter_workload::spec::{PairSpec, SLOTS_MAX};
use tenter_workload::{CollectiveRun, Compute, Job, RankId, Traffic};

use super::draft::Workload;
use super::flows::{expand, rank_of};
use super::workload_pattern::{Demand, Offered};
use crate::resolve::hosts::HostNames;

impl Workload<'_> {
    /// Binds the workload to hosts. The hosts in its pairs become the job's ranks, in the order of
    /// their names; with a pattern the job has its ranks already.
    pub(super) fn bind(self, names: &HostNames<'_>, nic: &NicSpec, job: &mut Job) -> Option<()> {
        let sizes = self.spec.distribution()?.ok()?;
        let demand = self.spec.pattern.as_ref().map(|pattern| Demand {
            pattern,
            workload: self,
        });
        let (ways, weights) = match &demand {
            None => (self.ways(self.spec.pairs.as_deref()?, names, job)?, None),
            Some(demand) => {
                let (ways, weights) = demand.ways(names, job)?;
                (ways, Some(weights))
            }
        };
        let arrivals = if self.spec.is_open() {
            let wire_bits = mean_wire_bits(&sizes, nic);
            self.arrivals(&ways, weights, &job.hosts, names, wire_bits)?
        } else {
            Arrivals::ClosedLoop
        };
        let workload = FlowWorkload {
            draws: Draws::new(self.seed, &job.name, "flow sizes"),
            arrival_draws: Draws::new(self.seed, &job.name, "flow arrivals"),
            sizes,
            ways,
            flows: self.spec.flows,
            duration: self.spec.duration,
            arrivals,
        };
        if let Some(demand) = &demand {
            demand.check_numbers(names, &workload)?;
        }
        job.sequence.push(CollectiveRun {
            size_bytes: workload.sizes.largest(),
            traffic: Traffic::FlowWorkload(Arc::new(workload)),
            drawn_from_bytes: None,
            compute: Compute::default(),
        });
        Some(())
    }

    /// Returns the rank pairs that send, and adds their hosts to the job in the order of their
    /// names.
    fn ways(
        self,
        pairs: &[PairSpec],
        names: &HostNames<'_>,
        job: &mut Job,
    ) -> Option<Vec<FlowWay>> {
        let mut ranks: BTreeMap<HostId, u32> = BTreeMap::new();
        let mut ways: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut slots = 0;
        for (index, pair) in pairs.iter().enumerate() {
            let path = format!("{}.pairs[{index}]", self.path);
            let parallel = pair.parallel.unwrap_or(self.spec.usual_parallel());
            let from = expand(&pair.from, &format!("{path}.from"), names)?;
            let to = expand(&pair.to, &format!("{path}.to"), names)?;
            let mut sends = false;
            for (&src, &dst) in from
                .iter()
                .flat_map(|src| to.iter().map(move |dst| (src, dst)))
                .filter(|(src, dst)| src != dst)
            {
                sends = true;
                slots += u64::from(parallel);
                if slots > u64::from(SLOTS_MAX) {
                    let message = format!("the job has more than {SLOTS_MAX} flows at a time");
                    names.note(
                        &path,
                        message,
                        "name fewer hosts, or fewer `parallel` flows",
                    );
                    return None;
                }
                let [src, dst] = [src, dst].map(|host| rank_of(host, &mut ranks, job));
                // Pairs that are listed twice add up their parallel flows.
                *ways.entry((src, dst)).or_default() += parallel;
            }
            if !sends {
                let message = "the pair is a host and itself, and no frame would be sent";
                names.note(&path, message, "name another host");
                return None;
            }
        }
        let way = |((src, dst), parallel)| FlowWay { src, dst, parallel };
        Some(ways.into_iter().map(way).collect())
    }

    /// Returns when flows start, so that they offer the workload's load: a share of the senders'
    /// rate, with frames that carry no telemetry and flows of `wire_bits` on average.
    fn arrivals(
        self,
        ways: &[FlowWay],
        weights: Option<Weights>,
        hosts: &ById<RankId, HostId>,
        names: &HostNames<'_>,
        wire_bits: f64,
    ) -> Option<Arrivals> {
        // `probability()` counts in units of 2⁻⁶⁴.
        let load = self.spec.load?.probability() as f64 / 18_446_744_073_709_551_616.0;
        let gap = |flows: f64, bits_per_second: f64| {
            let seconds = flows * wire_bits / (load * bits_per_second);
            // At least 1 ps, or a high load would put all flows at one instant.
            Time::from_ps((seconds * 1e12).max(1.0) as u64)
        };
        let rates = hosts
            .iter()
            .map(|&host| names.rate(host).bits_per_second() as f64);
        let rates: ById<RankId, f64> = rates.collect();
        let gaps = self.spec.gaps();
        if let Some(weights) = weights {
            let offered = Offered {
                gaps,
                senders: self.spec.senders,
                load,
                mean_bits: wire_bits,
            };
            return Some(offered.arrivals(ways, weights, hosts, &rates));
        }
        let Some(degree) = self.spec.fan_in else {
            let means = rates.iter().map(|&rate| gap(1.0, rate));
            return Some(Arrivals::EachSender {
                gaps,
                means: means.collect(),
                receivers: Receivers::Alike,
            });
        };
        let mut senders: BTreeMap<u32, u32> = BTreeMap::new();
        let mut rate = BTreeMap::new();
        for way in ways {
            *senders.entry(way.dst).or_default() += 1;
            // A sender's rate counts once, however many receivers it has.
            rate.insert(way.src, rates[RankId::new(way.src)]);
        }
        if let Some((&rank, fewest)) = senders.iter().find(|(_, senders)| **senders < degree) {
            let name = names.name(hosts[RankId::new(rank)]);
            let message =
                format!("a fan-in of {degree} needs as many senders, and {name} has {fewest}");
            let path = format!("{}.pairs[0]", self.path);
            names.note(&path, message, "give a smaller `fan_in`, or more senders");
            return None;
        }
        let mean = gap(f64::from(degree), rate.values().sum());
        Some(Arrivals::Incasts { gaps, mean, degree })
    }
}

/// Returns a flow's mean length on the wire, in bits. A congestion control's telemetry is left out,
/// so that all congestion controls get the same flows.
fn mean_wire_bits(sizes: &SizeDistribution, nic: &NicSpec) -> f64 {
    let cut = MessageCut::new(nic.message_bytes, nic.mtu_bytes);
    let wire_bytes = |bytes| {
        let packets = cut.packets(bytes);
        cut.request_frame_bytes(bytes, packets) + packets * u64::from(WIRE_OVERHEAD_BYTES)
    };
    8.0 * sizes.mean_of(wire_bytes)
}
