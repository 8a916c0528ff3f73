//! Small random scenarios: every topology, every collective, and switches and NICs at odd settings.
//!
//! A scenario is drawn in two steps: its text, which is resolved as a user's would be, and changes
//! in the plan, for settings that a text cannot have or would constrain. Many changes have their
//! own random stream, derived from the seed by a rotation. A new kind of change then leaves all
//! others as they were, and with them the scenarios of known seeds.

mod circuits;
mod congestion;
mod credit;
mod draw;
mod endpoint;
mod entropy;
mod fabric;
mod faults;
mod flow_control;
mod hosts;
mod input_queued;
mod jobs;
mod limits;
mod notices;
mod pattern;
mod planes;
mod regions;
mod scheduled;
mod signals;
mod steps;
mod tiers;
mod transfers;
mod ultra_ethernet;
mod workload;

use tenter::resolve::{Format, load};
use tenter_sim::plan::Plan;

use draw::Draw;

pub use circuits::random_changes;
pub use planes::random_planes;
pub use transfers::{random_rings, random_transfers};
pub use ultra_ethernet::random_ultra_ethernet;

/// A scenario made from a seed.
#[derive(Clone, Debug)]
pub struct RandomScenario {
    /// Seed from which it was made.
    pub seed: u64,
    /// The scenario as a user would write it, without the changes made in the plan.
    pub text: String,
    /// The plan that the text resolves to, with these changes.
    pub plan: Plan,
}

/// Makes the scenario of a seed; the same seed gives the same scenario.
///
/// It has 2 to 24 hosts, and sends 5,000 packets over links on average, 50,000 at most. Ties in
/// time are frequent in about half of the scenarios (equal rates, delays and frames, no skew) and
/// rare in the others. In three of ten, frames are dropped, so that NAKs and timeouts occur; in one
/// of eight a queue pair gives up, and its job with it. In four of ten, links fail, links lose or
/// reorder frames, NICs pause their leaves, or a watchdog is on. In some, the switches of one tier
/// differ from the others, and in some, optical switches change circuits.
///
/// # Panics
/// Panics if the scenario is refused, which is a defect in this crate.
pub fn random_scenario(seed: u64) -> RandomScenario {
    RandomScenario::made(seed, "random", text(seed), |plan| {
        let mut draw = Draw::new(!seed);
        flow_control::change(plan, &mut draw);
        congestion::change(plan, &mut draw);
        faults::change(plan, &mut draw);
        scheduled::change(plan, &mut draw);
        tiers::change(plan, &mut draw);
        // Own streams from here on, each by another rotation.
        hosts::change(plan, &mut Draw::new(seed.rotate_left(32)));
        entropy::change(plan, &mut Draw::new(seed.rotate_left(20)));
        hosts::share_nics(plan, &mut Draw::new(seed.rotate_left(24)));
        credit::change(plan, &mut Draw::new(seed.rotate_left(16)));
        signals::change(plan, &mut Draw::new(seed.rotate_left(48)));
        notices::change(plan, &mut Draw::new(seed.rotate_left(40)));
        circuits::change(plan, &mut Draw::new(seed.rotate_left(8)));
        input_queued::change(plan, &mut Draw::new(seed.rotate_left(56)));
        regions::change(plan, &mut Draw::new(seed.rotate_left(12)));
    })
}

impl RandomScenario {
    /// Makes a scenario from a text, with changes in the plan that no text can express.
    ///
    /// # Panics
    /// Panics if the text is refused.
    fn made(seed: u64, kind: &str, text: String, change: impl FnOnce(&mut Plan)) -> RandomScenario {
        let name = format!("{kind}-{seed}.yaml");
        let mut plan = match load(&text, &name, Format::Yaml, &[], None) {
            Ok(loaded) => loaded.plan,
            Err(errors) => panic!(
                "seed {seed} makes a scenario that is refused:\n{text}\n{}",
                errors.render()
            ),
        };
        change(&mut plan);
        // Derived values, such as headroom and lookahead, follow from what has been changed.
        let plan = plan.evaluated();
        RandomScenario { seed, text, plan }
    }
}

fn text(seed: u64) -> String {
    let mut draw = Draw::new(seed);
    let fabric = fabric::write(&mut draw, &mut Draw::new(seed.rotate_left(60)));
    text_on(&fabric, &mut draw)
}

/// Returns the text for a scenario on `fabric`.
fn text_on(fabric: &fabric::Fabric, draw: &mut Draw) -> String {
    let endpoint = endpoint::write(draw);
    let limits = limits::Limits {
        hosts: fabric.hosts,
        packets: if fabric.is_tight { 400 } else { 2_000 },
        packet_bytes: endpoint.packet_bytes,
    };
    let jobs = jobs::write(draw, &limits);
    let seed = draw.below(1 << 32);
    let observe = if draw.chance(40) {
        // After the last packet, the run may have to wait long for timers; some dozens of samples
        // are enough.
        let least = (endpoint.timeout_ns / 20).max(1_000);
        format!("{{sample_interval: {}}}", draw.time(least, 10 * least))
    } else {
        "{samples: false}".to_owned()
    };
    let loaded = jobs.contains("background: true");
    let time = if loaded {
        // Background load goes on while the other jobs wait for a timeout, so the time is limited.
        draw.time(50_000, 500_000)
    } else if draw.chance(15) {
        draw.time(20_000, 300_000)
    } else {
        "none".to_owned()
    };
    let seeds = if draw.chance(20) {
        let [placement, hashing, arrivals] = [(); 3].map(|()| draw.below(1 << 32));
        format!("{{placement: {placement}, hashing: {hashing}, arrivals: {arrivals}}}")
    } else {
        "{}".to_owned()
    };
    format!(
        "seed: {seed}\nseeds: {seeds}\nfabric:\n{}endpoint:\n{}jobs:\n{jobs}observe: {observe}\nlimits: {{time: {time}}}\n",
        fabric.text, endpoint.text
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tenter_endpoint::congestion_control::CongestionControl;
    use tenter_endpoint::loss_recovery::LossRecovery;
    use tenter_endpoint::{DmaRates, EntropyKind, Interleave, LimitedBy};
    use tenter_fabric::net::headroom::PauseResponse;
    use tenter_fabric::net::impairment::TesterAction;
    use tenter_fabric::net::input_queued::{InputQueuedSpec, InputQueues};
    use tenter_fabric::net::load_balancing::{ByDestination, LoadBalancing};
    use tenter_fabric::net::{
        ClassSpec, Forwarding, Headroom, Limit, LosslessSpec, MarkAt, PfcTrigger, PlaceOfSignals,
        PoolScope, Scheduling, SignalMode, UNLIMITED_POOL,
    };
    use tenter_fabric::topology::TopologySpec;
    use tenter_language::units::Time;
    use tenter_sim::plan::{
        CircuitPlan, Fault, LinkImpairment, OnChange, Plan, RulePlan, SteeringDemand,
    };
    use tenter_workload::Traffic;
    use tenter_workload::collective::{AllReduceHalvingDoubling, CollectiveKind, Distances};

    use super::random_scenario;

    /// Lists the buffers, limits and pause triggers that a plan has.
    fn buffers_of(plan: &Plan) -> Vec<&'static str> {
        let classes = &plan.switches.usual.classes;
        let pools = &plan.switches.usual.pool_bytes;
        let any = |is: &dyn Fn(&ClassSpec) -> bool| classes.iter().any(is);
        let lossless = |is: &dyn Fn(&LosslessSpec) -> bool| {
            any(&|class: &ClassSpec| class.lossless.as_ref().is_some_and(is))
        };
        let has = [
            (
                "limited pool",
                pools.iter().any(|&bytes| bytes < UNLIMITED_POOL),
            ),
            ("two pools", pools.len() > 1),
            (
                "headroom that ports share",
                plan.switches.usual.sharing.headroom_pool_bytes.is_some(),
            ),
            (
                "a buffer in parts",
                plan.switches.usual.sharing.partitions > 1,
            ),
            ("reserved bytes", any(&|class| class.reserved_bytes > 0)),
            (
                "dynamic limit",
                any(&|class| matches!(class.limit, Limit::Dynamic { .. })),
            ),
            (
                "limits in levels",
                any(&|class| matches!(class.limit, Limit::Levels(_))),
            ),
            (
                "pool trigger",
                lossless(&|class| class.trigger == PfcTrigger::Pool(PoolScope::All)),
            ),
            (
                "pool trigger for hosts",
                lossless(&|class| class.trigger == PfcTrigger::Pool(PoolScope::Hosts)),
            ),
            (
                "egress trigger",
                lossless(&|class| class.trigger == PfcTrigger::Egress),
            ),
        ];
        has.iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| *what)
            .collect()
    }

    /// Lists the classes, pauses and marks that a plan has.
    fn flow_control_of(plan: &Plan) -> Vec<&'static str> {
        let classes = &plan.switches.usual.classes;
        let buffer = plan.nic.receive_buffer.as_ref();
        let scheduled = plan.scheduled.as_ref();
        let any = |is: &dyn Fn(&ClassSpec) -> bool| classes.iter().any(is);
        let lossless = |is: &dyn Fn(&LosslessSpec) -> bool| {
            any(&|class: &ClassSpec| class.lossless.as_ref().is_some_and(is))
        };
        let strict = any(&|class| class.scheduling == Scheduling::Strict);
        let weighted = any(&|class| class.scheduling != Scheduling::Strict);
        let has = [
            ("static routes", !plan.topology.routes.is_empty()),
            ("lossless class", lossless(&|_| true)),
            (
                "lossless and lossy classes",
                lossless(&|_| true) && any(&|class| class.lossless.is_none()),
            ),
            ("strict and weighted classes", strict && weighted),
            ("marking", any(&|class| class.ecn.is_some())),
            (
                "marking of what leaves",
                any(&|class| class.ecn.is_some_and(|ecn| ecn.mark_at == MarkAt::Dequeue)),
            ),
            (
                "a pause response of its own",
                plan.switches.pause_response != PauseResponse::Standard,
            ),
            (
                "headroom of the model",
                lossless(&|class| class.headroom == Headroom::Model),
            ),
            (
                "headroom of SONiC",
                lossless(&|class| class.headroom == Headroom::Sonic),
            ),
            (
                "headroom in bytes",
                lossless(&|class| matches!(class.headroom, Headroom::Bytes(_))),
            ),
            ("short pauses", lossless(&|class| class.quanta < 10_000)),
            (
                "pauses of NICs",
                buffer.is_some_and(|buffer| buffer.xoff.is_some()),
            ),
            (
                "NICs that never pause",
                buffer.is_some_and(|buffer| buffer.xoff.is_none()),
            ),
            ("control class", plan.nic.control_dscp.is_some()),
            (
                "scheduled packets",
                scheduled.is_some_and(|of| of.cell.is_none()),
            ),
            (
                "scheduled cells",
                scheduled.is_some_and(|of| of.cell.is_some()),
            ),
        ];
        has.iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| *what)
            .collect()
    }

    /// Lists what a plan has for link credit, and for input queues.
    fn credit_of(plan: &Plan) -> Vec<&'static str> {
        let by_credit = plan.credit.is_some();
        let in_order = |of: InputQueuedSpec| matches!(of.queues, InputQueues::Fifo(_));
        let destination = LoadBalancing::Destination(ByDestination {});
        let has = [
            ("credit", by_credit),
            ("input queues", plan.input_queued.is_some_and(in_order)),
            (
                "virtual output queues",
                plan.input_queued.is_some_and(|of| !in_order(of)),
            ),
            (
                "routing by destination",
                plan.switches.usual.load_balancing == destination,
            ),
            (
                "credit in a ring",
                by_credit && !plan.topology.routes.is_empty(),
            ),
            (
                "credit and links that fail",
                by_credit && !plan.faults.events.is_empty(),
            ),
            (
                "credit and slow NICs",
                by_credit && plan.nic.receive_buffer.is_some(),
            ),
        ];
        has.iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| *what)
            .collect()
    }

    const SIGNALS: [&str; 7] = [
        "Remote PFC",
        "source flow control",
        "signals at any switch",
        "signals without a cache",
        "signals beside PFC",
        "signals and links that fail",
        "signals beside spray",
    ];

    /// Lists the congestion signals that a plan has.
    fn signals_of(plan: &Plan) -> Vec<&'static str> {
        let Some(spec) = &plan.signals else {
            return Vec::new();
        };
        let balancing = &plan.switches.usual.load_balancing;
        let lossless = plan.switches.any_class(|class| class.lossless.is_some());
        let has = [
            ("Remote PFC", spec.mode == SignalMode::RemotePfc),
            ("source flow control", spec.mode == SignalMode::Nic),
            ("signals at any switch", spec.place == PlaceOfSignals::Any),
            ("signals without a cache", spec.cache_entries == 0),
            ("signals beside PFC", lossless),
            (
                "signals and links that fail",
                !plan.faults.events.is_empty(),
            ),
            ("signals beside spray", balancing.reorders()),
        ];
        has.iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| *what)
            .collect()
    }

    const HOSTS: [&str; 15] = [
        "notices to hosts",
        "slow DMA writes",
        "slow DMA reads",
        "scale-up domains",
        "several NPUs on a NIC",
        "process groups",
        "turns of messages",
        "turns of bytes",
        "a NIC's response to pauses",
        "NICs that resume later",
        "notifications by address",
        "notifications by port",
        "source ports that change",
        "source ports in turn",
        "source ports by news",
    ];

    /// Lists what a plan has behind NICs and in process groups.
    fn hosts_of(plan: &Plan) -> Vec<&'static str> {
        let mut runs = plan.jobs.iter().flat_map(|job| &job.sequence);
        let grouped = runs.any(|run| {
            matches!(
                run.traffic,
                Traffic::Collective {
                    groups: Some(_),
                    ..
                }
            )
        });
        let dma = |is: &dyn Fn(&DmaRates) -> bool| plan.dma.iter().any(is);
        let ports = |is: fn(EntropyKind) -> bool| {
            let entropy = plan.port_changes.entropy.as_ref();
            entropy.is_some_and(|entropy| is(entropy.kind()))
        };
        let by_message = plan.nic.interleave == Interleave::Message;
        let by_bytes = matches!(plan.nic.interleave, Interleave::Burst(_));
        let told = plan.nic.notification();
        let limited = |by: LimitedBy| told.is_some_and(|told| told.limited_by == by);
        let has = [
            ("scale-up domains", plan.scale_up.is_some()),
            ("several NPUs on a NIC", plan.npus_per_nic > 1),
            ("notices to hosts", plan.port_changes.reroute.is_some()),
            ("process groups", grouped),
            ("turns of messages", by_message),
            ("turns of bytes", by_bytes),
            (
                "a NIC's response to pauses",
                plan.nic.pause_response.is_some(),
            ),
            ("NICs that resume later", plan.nic.resume_delay > Time::ZERO),
            ("notifications by address", limited(LimitedBy::Address)),
            ("notifications by port", limited(LimitedBy::Port)),
            (
                "source ports that change",
                plan.port_changes.entropy.is_some(),
            ),
            (
                "source ports in turn",
                ports(|kind| kind == EntropyKind::Oblivious),
            ),
            ("source ports by news", ports(EntropyKind::learns)),
            ("slow DMA writes", dma(&|rates| rates.write < rates.read)),
            ("slow DMA reads", dma(&|rates| rates.read < rates.write)),
        ];
        has.iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| *what)
            .collect()
    }

    /// Lists the faults and impairments that a plan has.
    fn link_faults_of(plan: &Plan) -> Vec<&'static str> {
        let fault = |is: fn(&Fault) -> bool| plan.faults.events.iter().any(|of| is(&of.fault));
        let impaired = |is: fn(&LinkImpairment) -> bool| plan.impairments.iter().any(is);
        let rules =
            |is: fn(&RulePlan) -> bool| plan.impairments.iter().flat_map(|of| &of.rules).any(is);
        let has = [
            ("links down", fault(|of| matches!(of, Fault::LinkDown(_)))),
            ("links up", fault(|of| matches!(of, Fault::LinkUp(_)))),
            ("rates", fault(|of| matches!(of, Fault::LinkRate(..)))),
            ("storms", fault(|of| matches!(of, Fault::StormBegins(_)))),
            ("watchdog", plan.watchdog.is_some()),
            ("frame loss", impaired(|of| of.frame_loss > 0)),
            ("bit errors", impaired(|of| of.bit_errors > 0)),
            ("drops", rules(|of| of.action == TesterAction::Drop)),
            ("reordering", rules(|of| of.action != TesterAction::Drop)),
        ];
        has.iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| *what)
            .collect()
    }

    /// Lists the congestion control and loss recovery that a plan has.
    fn recovery_of(plan: &Plan) -> Vec<&'static str> {
        let control = plan.nic.reacting();
        let has = [
            (
                "selective repeat",
                matches!(plan.nic.loss_recovery, LossRecovery::SelectiveRepeat(_)),
            ),
            ("no recovery", plan.nic.loss_recovery == LossRecovery::None),
            ("notifications", plan.nic.notification().is_some()),
            (
                "DCQCN",
                matches!(control, Some(CongestionControl::Dcqcn(_))),
            ),
            (
                "TIMELY",
                matches!(control, Some(CongestionControl::Timely(_))),
            ),
            (
                "Swift",
                matches!(control, Some(CongestionControl::Swift(_))),
            ),
            ("HPCC", matches!(control, Some(CongestionControl::Hpcc(_)))),
            (
                "DCTCP",
                matches!(control, Some(CongestionControl::Dctcp(_))),
            ),
        ];
        has.iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| *what)
            .collect()
    }

    /// Returns true if two jobs that share a host put their data into two queues.
    fn has_mixed_nic(plan: &Plan) -> bool {
        let queue_of = plan.switches.usual.queue_of_class();
        plan.topology.host_ids().any(|host| {
            let here = plan.jobs.iter().filter(|job| job.hosts.contains(&host));
            let own = plan.addresses[host].class();
            let mut queues = here.map(|job| queue_of[usize::from(job.class.unwrap_or(own))]);
            queues
                .next()
                .is_some_and(|first| queues.any(|other| other != first))
        })
    }

    /// Lists what a plan's jobs do.
    fn jobs_of(plan: &Plan) -> Vec<&'static str> {
        let mut runs = plan.jobs.iter().flat_map(|job| &job.sequence);
        let has = [
            ("background", plan.jobs.iter().any(|job| job.background)),
            (
                "drawn sizes",
                runs.clone().any(|run| run.drawn_from_bytes.is_some()),
            ),
            (
                "endless flows",
                runs.clone().any(|run| run.traffic.is_endless()),
            ),
            (
                "flows by a distribution",
                runs.clone()
                    .any(|run| run.traffic.flow_workload().is_some()),
            ),
            (
                "flows in an open loop",
                runs.clone()
                    .any(|run| run.traffic.algorithm() == "open-loop"),
            ),
            (
                "flows by a pattern",
                runs.clone().any(|run| {
                    let flows = run.traffic.flow_workload();
                    flows.is_some_and(|flows| flows.weights().is_some())
                }),
            ),
            ("NICs with data of two classes", has_mixed_nic(plan)),
            (
                "one job after another",
                plan.jobs.iter().any(|job| job.after.is_some()),
            ),
            (
                "distances that double",
                runs.clone().any(|run| {
                    let doubles = AllReduceHalvingDoubling {
                        distances: Distances::Doubling,
                    };
                    run.traffic.collective() == Some(&doubles.into())
                }),
            ),
            ("computing", runs.any(|run| !run.compute.spread.is_zero())),
        ];
        has.iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| *what)
            .collect()
    }

    const CIRCUITS: [&str; 10] = [
        "circuits of input-queued switches",
        "circuits beside routing by destination",
        "steering by jobs",
        "steering by counters",
        "flexible trees",
        "optical spines",
        "circuits that are drained",
        "circuits that are lost",
        "circuits beside PFC",
        "circuits and links that fail",
    ];

    /// Lists what a plan has for circuits that change.
    fn circuits_of(plan: &Plan) -> Vec<&'static str> {
        let change = |of: &&CircuitPlan| !of.changes.is_empty() || of.steering.is_some();
        let Some(circuits) = plan.circuits.as_ref().filter(change) else {
            return Vec::new();
        };
        let steered = circuits.steering.map(|of| of.demand);
        let lossless = plan.switches.any_class(|class| class.lossless.is_some());
        let is_tree = !matches!(plan.topology_spec, TopologySpec::LeafSpine(_));
        let destination = LoadBalancing::Destination(ByDestination {});
        let is_static = plan.switches.usual.load_balancing == destination;
        let has = [
            ("circuits beside routing by destination", is_static),
            (
                "circuits of input-queued switches",
                plan.input_queued.is_some(),
            ),
            ("steering by jobs", steered == Some(SteeringDemand::Jobs)),
            (
                "steering by counters",
                steered == Some(SteeringDemand::Counters),
            ),
            ("circuits that spill", plan.spill().is_some()),
            ("flexible trees", is_tree),
            ("optical spines", !is_tree),
            (
                "circuits that are drained",
                circuits.on_change == OnChange::Drain,
            ),
            (
                "circuits that are lost",
                circuits.on_change == OnChange::Lose,
            ),
            ("circuits beside PFC", lossless),
            (
                "circuits and links that fail",
                !plan.faults.events.is_empty(),
            ),
        ];
        has.iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| *what)
            .collect()
    }

    /// Lists everything that a plan has.
    fn settings_of(plan: &Plan) -> impl Iterator<Item = &'static str> + '_ {
        let kinds: [fn(&Plan) -> Vec<&'static str>; 9] = [
            buffers_of,
            flow_control_of,
            recovery_of,
            link_faults_of,
            hosts_of,
            credit_of,
            signals_of,
            circuits_of,
            regions_of,
        ];
        kinds.into_iter().flat_map(|of| of(plan))
    }

    const REGIONS: [&str; 7] = [
        "dragonfly",
        "dragonfly-plus",
        "slim-fly",
        "hyperx",
        "torus",
        "detours",
        "classes that change",
    ];

    /// Lists what a plan has for regions.
    fn regions_of(plan: &Plan) -> Vec<&'static str> {
        let detours = plan.switches.usual.load_balancing.detours();
        let changes = plan.switches.any_class(|class| class.next_region.is_some());
        let has = [
            ("detours", detours.is_some()),
            ("classes that change", changes),
        ];
        has.iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| *what)
            .collect()
    }

    #[test]
    fn a_seed_makes_the_same_scenario_every_time() {
        assert_eq!(random_scenario(7).text, random_scenario(7).text);
        assert_ne!(random_scenario(7).text, random_scenario(8).text);
    }

    /// Things beside topologies and collectives that must occur.
    const OTHERS: [&str; 50] = [
        "credit",
        "routing by destination",
        "tiers that differ",
        "links down",
        "links up",
        "watchdog",
        "frame loss",
        "bit errors",
        "1 jobs",
        "3 jobs",
        "background",
        "drawn sizes",
        "computing",
        "endless flows",
        "flows by a distribution",
        "flows in an open loop",
        "NICs with data of two classes",
        "one job after another",
        "3 queue pairs",
        "Chunk",
        "cut-through",
        "mtu 256",
        "small queues",
        "static routes",
        "limited pool",
        "two pools",
        "headroom that ports share",
        "a buffer in parts",
        "reserved bytes",
        "dynamic limit",
        "lossless class",
        "lossless and lossy classes",
        "strict and weighted classes",
        "marking",
        "marking of what leaves",
        "a pause response of its own",
        "pool trigger",
        "egress trigger",
        "limits in levels",
        "headroom of the model",
        "headroom of SONiC",
        "headroom in bytes",
        "short pauses",
        "pauses of NICs",
        "NICs that never pause",
        "control class",
        "selective repeat",
        "no recovery",
        "notifications",
        "DCQCN",
    ];

    const SELDOM: [&str; 14] = [
        "pool trigger for hosts",
        "input queues",
        "virtual output queues",
        "flows by a pattern",
        "TIMELY",
        "Swift",
        "HPCC",
        "DCTCP",
        "rates",
        "storms",
        "drops",
        "reordering",
        "scheduled cells",
        "scheduled packets",
    ];

    const PATTERNS: [&str; 8] = [
        "pattern (mini-dft)",
        "pattern (milc)",
        "pattern (nekbone)",
        "pattern (amg)",
        "pattern (amr)",
        "pattern (gtc)",
        "pattern (database-pod)",
        "pattern (matrix)",
    ];

    const WITH_CREDIT: [&str; 2] = ["credit and links that fail", "credit and slow NICs"];

    #[test]
    fn every_kind_of_thing_occurs() {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for seed in 0..600 {
            let plan = random_scenario(seed).plan;
            assert!((2..=24).contains(&plan.topology.hosts), "seed {seed}");
            let mut count = |what: String| *counts.entry(what).or_default() += 1;
            count(plan.topology_spec.word().to_owned());
            count(format!("{} jobs", plan.jobs.len()));
            count(format!("{} queue pairs", plan.jobs[0].queue_pairs));
            count(format!("{:?}", plan.jobs[0].queue_pair_scope));
            count(format!("mtu {}", plan.nic.mtu_bytes));
            for run in plan.jobs.iter().flat_map(|job| &job.sequence) {
                count(run.traffic.member().to_string());
            }
            for what in jobs_of(&plan) {
                count(what.to_owned());
            }
            if !plan.switches.tiers.is_empty() {
                count("tiers that differ".to_owned());
            }
            if plan.switches.usual.forwarding == Forwarding::CutThrough {
                count("cut-through".to_owned());
            }
            for what in settings_of(&plan) {
                count(what.to_owned());
            }
            let limit = plan.switches.usual.classes[0].limit;
            if matches!(limit, Limit::Static(bytes) if bytes < 14_000) {
                count("small queues".to_owned());
            }
        }
        let kinds = [
            "single-switch",
            "leaf-spine",
            "fat-tree",
            "rail",
            "explicit",
        ];
        let at_least = |what: &str, least: u32| {
            let count = counts.get(what).copied().unwrap_or(0);
            assert!(
                count >= least,
                "{what} occurs {count} times in 600: {counts:?}"
            );
        };
        for what in kinds.iter().chain(&OTHERS) {
            at_least(what, 15);
        }
        for what in SELDOM {
            at_least(what, 5);
        }
        // Trees with circuits whose load balancer may choose for each packet are rare.
        for what in PATTERNS.iter().chain(&["circuits that spill"]) {
            at_least(what, 1);
        }
        at_least("distances that double", 2);
        let seldom = HOSTS.iter().chain(&WITH_CREDIT).chain(&SIGNALS);
        for what in seldom.chain(&CIRCUITS).chain(&REGIONS) {
            at_least(what, 5);
        }
        for member in CollectiveKind::MEMBERS {
            at_least(&member.to_string(), 5);
        }
    }
}
