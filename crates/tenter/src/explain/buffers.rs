//! The switches' buffer: resulting pools, thresholds and headroom.

use std::collections::BTreeSet;

use serde::Serialize;
use tenter_fabric::net::{
    ClassSpec, EcnSpec, Forwarding, Limit, PfcTrigger, PoolScope, Scheduling, SwitchSpec,
    UNLIMITED_POOL,
};
use tenter_language::units::{Bytes, Rate};
use tenter_sim::plan::{Device, Plan};

use crate::explain::fabric::tier_name;

/// A switch model with its derived values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SwitchFacts {
    /// Name of the device profile, if there is one.
    pub profile: Option<String>,
    /// Forwarding mode: `cut-through` or `store-and-forward`.
    pub forwarding: String,
    /// Latency from input to output in an idle switch.
    pub pipeline_ns: f64,
    /// Pools that queues and priority groups share.
    pub pools: Vec<PoolFacts>,
    /// Headroom that all ports share; missing if each port has its own.
    pub headroom_pool_bytes: Option<u64>,
    /// Number of equal partitions for pools and shared headroom.
    pub partitions: u16,
    /// Classes that have a queue.
    pub classes: Vec<ClassFacts>,
}

/// Switch model for one tier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierSwitchFacts {
    /// Tier name, such as `spine`.
    pub tier: String,
    /// Switch model in this tier.
    #[serde(flatten)]
    pub switch: SwitchFacts,
}

/// A pool in a shared buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PoolFacts {
    /// Pool size; missing for a pool without limit.
    pub bytes: Option<u64>,
}

/// One class, alike at every port and switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFacts {
    /// Class number (priority), 0 to 7.
    pub class: u8,
    /// The jobs' traffic in the class: `data`, `control`, `data and control` or `nothing`;
    /// `signals` if switches signal long queues to senders in it.
    pub carries: String,
    /// Scheduling: `strict`, or the bytes per round.
    pub scheduling: String,
    /// Index of the pool that its frames take space from.
    pub pool: u8,
    /// Reserved bytes for each queue or priority group.
    pub reserved_bytes: u64,
    /// Threshold for each queue or priority group.
    pub threshold: Threshold,
    /// Pauses for senders; missing in a lossy class.
    pub lossless: Option<LosslessFacts>,
    /// ECN thresholds; missing if the class is not marked.
    pub ecn: Option<EcnFacts>,
}

/// Most shared bytes that a queue (lossy class) or priority group (lossless class) may hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Threshold {
    /// Threshold kind: `alpha 1/8`, `static`, `2 levels of the pool` or `none`.
    pub kind: String,
    /// Threshold while the pool is empty; missing without a limit.
    pub empty_bytes: Option<u64>,
    /// Bytes that a queue or group alone in the pool comes to hold: a dynamic threshold falls while
    /// the pool fills.
    pub alone_bytes: Option<u64>,
}

/// Priority flow control in one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LosslessFacts {
    /// Pause trigger: `ingress`, `egress`, `pool`, or `pool, hosts only`.
    pub trigger: String,
    /// Distance below the threshold at which senders resume.
    pub xon_offset_bytes: u64,
    /// Least headroom at any port.
    pub headroom_min_bytes: u64,
    /// Greatest headroom at any port.
    pub headroom_max_bytes: u64,
    /// Name of a port with the greatest headroom.
    pub headroom_max_port: String,
    /// Headroom over all ports, at the switch that reserves most.
    pub headroom_switch_max_bytes: u64,
}

/// ECN thresholds in one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EcnFacts {
    /// Queue length up to which nothing is marked, at ports with the highest rate.
    pub kmin_bytes: u64,
    /// Queue length above which everything is marked, at these ports.
    pub kmax_bytes: u64,
    /// Marking probability at `kmax`, 0 to 1.
    pub pmax: f64,
    /// Thresholds for each port rate in the fabric, ascending.
    pub at_rates: Vec<EcnAtRate>,
}

/// ECN thresholds at ports with one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EcnAtRate {
    /// Line rate that these ports have.
    pub rate_gbps: f64,
    /// Queue length up to which nothing is marked.
    pub kmin_bytes: u64,
    /// Queue length above which everything is marked.
    pub kmax_bytes: u64,
}

/// Describes the switches in all tiers without their own model.
pub(crate) fn switch_facts(plan: &Plan) -> SwitchFacts {
    let own = |tier| plan.switches.tiers.iter().any(|(own, _)| *own == tier);
    facts(
        plan,
        &plan.switches.usual,
        plan.devices.usual.as_ref(),
        &|tier| !own(tier),
    )
}

/// Describes the switches in each tier with its own model.
pub(crate) fn tier_facts(plan: &Plan) -> Vec<TierSwitchFacts> {
    let tiers = plan.switches.tiers.iter();
    let of_tier = |(tier, spec): &(u8, SwitchSpec)| TierSwitchFacts {
        tier: tier_name(&plan.topology, *tier),
        switch: facts(plan, spec, plan.devices.of_tier(*tier), &|other| {
            other == *tier
        }),
    };
    tiers.map(of_tier).collect()
}

fn facts(
    plan: &Plan,
    spec: &SwitchSpec,
    device: Option<&Device>,
    is_one: &dyn Fn(u8) -> bool,
) -> SwitchFacts {
    let latency = spec.ingress_latency + spec.egress_latency;
    let pools = spec.pool_bytes.iter().map(|&bytes| PoolFacts {
        bytes: limited(bytes),
    });
    let queues = used_queues(plan);
    let classes = (0..).zip(&spec.classes);
    SwitchFacts {
        profile: device.map(|device| device.name.clone()),
        forwarding: match spec.forwarding {
            Forwarding::CutThrough => "cut-through",
            Forwarding::StoreAndForward => "store-and-forward",
        }
        .to_owned(),
        pipeline_ns: latency.as_ns(),
        pools: pools.collect(),
        headroom_pool_bytes: spec.sharing.headroom_pool_bytes,
        partitions: spec.sharing.partitions,
        classes: classes
            .map(|(queue, class)| {
                let carries = match &plan.signals {
                    Some(signals) if signals.class == class.class => "signals",
                    _ => queues.carries(queue),
                };
                class_facts(plan, spec, is_one, class, carries)
            })
            .collect(),
    }
}

/// Queues that the jobs' packets use, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsedQueues {
    pub(crate) data: u8,
    pub(crate) control: u8,
}

impl UsedQueues {
    fn carries(self, queue: u8) -> &'static str {
        let bit = 1 << queue;
        match (self.data & bit != 0, self.control & bit != 0) {
            (true, true) => "data and control",
            (true, false) => "data",
            (false, true) => "control",
            (false, false) => "nothing",
        }
    }

    /// Returns true if all packets are in one queue.
    pub(crate) fn is_one(self) -> bool {
        (self.data | self.control).is_power_of_two()
    }

    /// Returns true if a queue has packets.
    pub(crate) fn uses(self, queue: usize) -> bool {
        (self.data | self.control) & (1 << queue) != 0
    }
}

/// Returns the queues that packets from all jobs use.
pub(crate) fn used_queues(plan: &Plan) -> UsedQueues {
    let queue_of = plan.switches.usual.queue_of_class();
    // Packets change their class from region to region; each class's queue counts.
    let queues = |class: u8| {
        let classes = plan.switches.classes_in_regions(class);
        classes.fold(0, |bits, class| {
            bits | 1 << queue_of[usize::from(class.class)]
        })
    };
    let mut used = UsedQueues::default();
    let ranks = plan
        .jobs
        .iter()
        .flat_map(|job| job.hosts.iter().map(move |host| (job, *host)));
    for (job, host) in ranks {
        let of_nic = plan.addresses[host].class();
        let data = job.class.unwrap_or(of_nic);
        let control = plan.nic.control_class().unwrap_or(of_nic);
        used.data |= queues(data);
        used.control |= queues(control);
        if let Some(notification) = plan.nic.notification()
            && !notification.in_acknowledgements
        {
            used.control |= queues(notification.class);
        }
    }
    // Trimmed data goes on in another class, and counts as control packets.
    for spec in plan.switches.iter() {
        let trimmed = spec.classes.iter().enumerate();
        let trimmed = trimmed.filter(|(queue, _)| used.data & (1 << queue) != 0);
        let to: Vec<u8> = trimmed
            .filter_map(|(_, class)| Some(class.trim?.to))
            .collect();
        for class in to {
            used.control |= queues(class);
        }
    }
    used
}

fn class_facts(
    plan: &Plan,
    spec: &SwitchSpec,
    is_one: &dyn Fn(u8) -> bool,
    class: &ClassSpec,
    carries: &str,
) -> ClassFacts {
    let pool = spec.pool_of(class.pool);
    ClassFacts {
        class: class.class,
        carries: carries.to_owned(),
        scheduling: match class.scheduling {
            Scheduling::Strict => "strict".to_owned(),
            Scheduling::Weighted { quantum_bytes } => format!("{quantum_bytes} bytes a round"),
        },
        pool: class.pool,
        reserved_bytes: class.reserved_bytes,
        threshold: threshold(class.limit, pool),
        lossless: lossless_facts(plan, is_one, class),
        ecn: class.ecn.map(|ecn| ecn_facts(plan, is_one, &ecn)),
    }
}

fn ecn_facts(plan: &Plan, is_one: &dyn Fn(u8) -> bool, ecn: &EcnSpec) -> EcnFacts {
    let topology = &plan.topology;
    let switches = topology.switch_nodes();
    let own = switches.filter(|&node| topology.tier(node).is_some_and(is_one));
    let rates: BTreeSet<u64> = own
        .flat_map(|node| {
            let ports = 0..topology.ports(node);
            ports.map(move |port| topology.cable(node, port).rate.bits_per_second())
        })
        .collect();
    let at_rate = |&bits: &u64| {
        let (kmin_bytes, kmax_bytes) = ecn.thresholds_at(Rate::from_bits_per_second(bits));
        EcnAtRate {
            rate_gbps: bits as f64 / 1e9,
            kmin_bytes,
            kmax_bytes,
        }
    };
    let at_rates: Vec<EcnAtRate> = rates.iter().map(at_rate).collect();
    let fastest = at_rates.last();
    EcnFacts {
        kmin_bytes: fastest.map_or(ecn.min_bytes, |at| at.kmin_bytes),
        kmax_bytes: fastest.map_or(ecn.max_bytes, |at| at.kmax_bytes),
        pmax: f64::from(ecn.max_probability_ppm) / 1e6,
        at_rates,
    }
}

fn threshold(limit: Limit, pool: u64) -> Threshold {
    match limit {
        Limit::Static(bytes) | Limit::AtRate { bytes, .. } => {
            let most = limited(bytes.min(pool));
            let kind = match limit {
                _ if most.is_none() => "none".to_owned(),
                Limit::AtRate { least: 0, .. } => "static, in proportion to the rate".to_owned(),
                Limit::AtRate { least, .. } => format!(
                    "static, in proportion to the rate, {} at least",
                    Bytes::new(least)
                ),
                _ => "static".to_owned(),
            };
            Threshold {
                kind,
                empty_bytes: most,
                alone_bytes: most,
            }
        }
        Limit::Dynamic {
            numerator,
            denominator,
        } => {
            let (n, d) = (u128::from(numerator), u128::from(denominator));
            // With alpha above 1 the threshold exceeds the pool, which bounds it.
            let share = |parts: u128| (u128::from(pool) * n / parts).min(u128::from(pool)) as u64;
            let kind = if d == 1 {
                format!("alpha {n}")
            } else {
                format!("alpha {n}/{d}")
            };
            // A queue alone fills the pool until its fill is alpha · (pool − fill).
            Threshold {
                kind,
                empty_bytes: limited(pool).map(|_| share(d)),
                alone_bytes: limited(pool).map(|_| share(n + d)),
            }
        }
        Limit::Levels(levels) => Threshold {
            kind: format!("{} levels of the pool", levels.list().len()),
            empty_bytes: limited(levels.limit(0).min(pool)),
            alone_bytes: limited(levels.of_all(pool)),
        },
    }
}

fn limited(bytes: u64) -> Option<u64> {
    (bytes < UNLIMITED_POOL).then_some(bytes)
}

fn lossless_facts(
    plan: &Plan,
    is_one: &dyn Fn(u8) -> bool,
    class: &ClassSpec,
) -> Option<LosslessFacts> {
    let lossless = class.lossless.as_ref()?;
    let topology = &plan.topology;
    let mut facts = LosslessFacts {
        trigger: match lossless.trigger {
            PfcTrigger::Ingress => "ingress",
            PfcTrigger::Egress => "egress",
            PfcTrigger::Pool(PoolScope::All) => "pool",
            PfcTrigger::Pool(PoolScope::Hosts) => "pool, hosts only",
        }
        .to_owned(),
        xon_offset_bytes: lossless.xon_offset_bytes,
        headroom_min_bytes: u64::MAX,
        headroom_max_bytes: 0,
        headroom_max_port: String::new(),
        headroom_switch_max_bytes: 0,
    };
    let switches = topology.switch_nodes();
    for node in switches.filter(|&node| topology.tier(node).is_some_and(is_one)) {
        let mut whole = 0_u64;
        for (port, link) in (0_u16..).zip(plan.links.incoming(node)) {
            let bytes = link.headroom[usize::from(class.class)];
            whole = whole.saturating_add(bytes);
            facts.headroom_min_bytes = facts.headroom_min_bytes.min(bytes);
            // Among equal ports the first is named.
            if bytes > facts.headroom_max_bytes {
                facts.headroom_max_bytes = bytes;
                facts.headroom_max_port = topology.port_name(node, port);
            }
        }
        facts.headroom_switch_max_bytes = facts.headroom_switch_max_bytes.max(whole);
    }
    // Without any port the initial `u64::MAX` is left.
    facts.headroom_min_bytes = facts.headroom_min_bytes.min(facts.headroom_max_bytes);
    Some(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_threshold_falls_while_its_pool_fills() {
        let dynamic = |numerator, denominator| Limit::Dynamic {
            numerator,
            denominator,
        };
        // An eighth of 9,000 at first; 1,000 is an eighth of the 8,000 that are free then.
        let eighth = threshold(dynamic(1, 8), 9_000);
        assert_eq!(eighth.kind, "alpha 1/8");
        assert_eq!(
            (eighth.empty_bytes, eighth.alone_bytes),
            (Some(1_125), Some(1_000))
        );
        // Twice the free bytes are never more than the pool has.
        let twice = threshold(dynamic(2, 1), 9_000);
        assert_eq!(
            (twice.empty_bytes, twice.alone_bytes),
            (Some(9_000), Some(6_000))
        );
        let endless = threshold(Limit::Static(UNLIMITED_POOL), UNLIMITED_POOL);
        assert_eq!((endless.kind.as_str(), endless.alone_bytes), ("none", None));
    }
}
