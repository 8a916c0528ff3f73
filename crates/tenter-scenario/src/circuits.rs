//! `fabric.circuits`: optical circuit switches, and when their circuits change.

use std::collections::BTreeSet;

use tenter_steering::can_steer;
use tenter_topology::{
    OpticalCabling, OpticalSpec, OpticalTier, Rewiring, Topology, TopologyError, TopologySpec,
};
use tenter_units::Time;

use crate::switching::Switching;
use tenter_config::Presence::{Default, Required};
use tenter_config::{Key, KeyTable, key};
use tenter_notation::decode::{Field, Read, Section, split_remedy};
use tenter_notation::diagnostics::Problems;
use tenter_plan::{
    CircuitChange, CircuitPlan, OnChange, SIMULATED_MAX, SteeringController, SteeringDemand,
    SteeringPlan,
};

/// The key in `fabric`.
pub(crate) const KEY: Key = key(
    "circuits",
    "mapping or `none`",
    Default("none"),
    "Optical circuit switches: above the leaves of a `fat-tree`, which makes it flexible, or in place of the spines of a `leaf-spine` fabric",
);

const CIRCUITS: KeyTable = KeyTable {
    title: "`fabric.circuits`",
    keys: &[
        key(
            "radix",
            "count",
            Default("16"),
            "The most ports of an optical switch, an even number",
        )
        .from("16 × 16 silicon photonic switches (Bandwidth Steering in HPC Using Silicon Nanophotonics)"),
        key(
            "delay",
            "time",
            Default("10ns"),
            "How long light takes through an optical switch, beside the fibres",
        )
        .from("2 m of fibre at 1.98·10⁸ m/s"),
        key(
            "reconfiguration",
            "time",
            Default("20us"),
            "How long the ports whose circuits change are dark",
        )
        .from("about 20 µs with silicon photonics, a few ms with commercial switches (Bandwidth Steering in HPC Using Silicon Nanophotonics)"),
        key(
            "on_change",
            "`drain` or `lose`",
            Default("drain"),
            "Whether ports are told beforehand, and what is under way arrives first, or the light goes at once, and what is on the fibre and waits for it is lost",
        ),
        key(
            "convergence",
            "time",
            Default("0us"),
            "How long after circuits have come up routing knows; with `on_change: lose` also after they have gone",
        ),
        key(
            "cabling",
            "`rotated` or `straight`",
            Default("rotated"),
            "Which leaves of several pods share an optical switch of a `fat-tree`: those of one number, or of a number that moves on from pod to pod, by one more for each cable of a leaf, so that a leaf can be joined with others over each",
        )
        .from("not published; with `straight` it is always the same leaves that can be joined"),
        key(
            "spill",
            "time or `none`",
            Default("2us"),
            "A packet that would wait for longer at every circuit to its leaf takes the tree of a `fat-tree`, where load balancing chooses for each packet and looks at no table",
        )
        .from("assumed: the direct way first, and the queue of 17 full frames at 100G"),
        key(
            "steering",
            "mapping or `none`",
            Default("none"),
            "Circuits follow what jobs send",
        ),
        key(
            "initial",
            "list",
            Default("[]"),
            "Circuits from the beginning that differ from the cables of the tree, or from those that spread over all pairs of leaves",
        ),
        key(
            "changes",
            "list",
            Default("[]"),
            "Which circuits change when",
        ),
    ],
};

const STEERING: KeyTable = KeyTable {
    title: "`fabric.circuits.steering`",
    keys: &[
        key(
            "demand",
            "`jobs` or `counters`",
            Default("jobs"),
            "Where the traffic matrix comes from: what jobs will send, when they start and end, or what NICs have counted, at fixed intervals",
        )
        .from("traffic estimation or observation (Bandwidth Steering in HPC Using Silicon Nanophotonics)"),
        key(
            "controller",
            "`estimate` or `greedy`",
            Default("estimate"),
            "Whether circuits are set only where the loads of the routes that they lead to are better, or every optical switch gets the heaviest matching, and all of it",
        )
        .from("`greedy` is the rule that is published (Bandwidth Steering in HPC Using Silicon Nanophotonics)"),
        key(
            "interval",
            "time",
            Default("1ms"),
            "How often counters are read; at least 1 us, and of no consequence for `demand: jobs`",
        ),
        key(
            "threshold",
            "percent, 0 to 100",
            Default("5"),
            "Circuits change where that shortens the time of the busiest link by this share, or shortens paths by this share while no link's time grows",
        )
        .from("assumed: no change for what noise may be"),
    ],
};

const CHANGE: KeyTable = KeyTable {
    title: "`fabric.circuits.changes[]`",
    keys: &[
        key(
            "at",
            "time",
            Required,
            "When it is announced; a change that concerns a switch that still moves waits for it",
        ),
        key(
            "circuits",
            "list",
            Required,
            "New circuits, optical switch by optical switch",
        ),
    ],
};

const REWIRING: KeyTable = KeyTable {
    title: "`fabric.circuits.initial[]` and `fabric.circuits.changes[].circuits[]`",
    keys: &[
        key(
            "switch",
            "number",
            Required,
            "The optical switch, counted from 0",
        ),
        key(
            "pairs",
            "list",
            Default("[]"),
            "Ports that are joined, counted from 0: `[[0, 1], [4, 5]]`; a port that was joined with one of them is dark unless it is in a pair too",
        ),
        key(
            "dark",
            "list of ports",
            Default("[]"),
            "Ports that lose their circuit and get no other",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 4] = [&CIRCUITS, &STEERING, &CHANGE, &REWIRING];

/// More changes than anyone writes by hand, or a generator should.
const CHANGES_MAX: usize = 1 << 20;

/// The section, read.
pub(crate) struct CircuitDraft<'p> {
    radix: u16,
    delay: Time,
    initial: Vec<(Rewiring, Field<'p>)>,
    changes: Vec<(Time, Vec<(Rewiring, Field<'p>)>)>,
    reconfiguration: Time,
    on_change: OnChange,
    convergence: Time,
    cabling: OpticalCabling,
    spill: Option<Time>,
    steering: Option<(SteeringPlan, Field<'p>)>,
    field: Field<'p>,
}

/// Reads `circuits` out of `fabric`.
pub(crate) fn read<'p>(fabric: &mut Section<'p>) -> Read<Option<CircuitDraft<'p>>> {
    let field = fabric.take("circuits")?;
    if field.word() == Some("none") {
        // The usual: it need not be said.
        fabric.drop_key("circuits");
        return Some(None);
    }
    let mut own = field.clone().section(&CIRCUITS);
    let radix = own.integer("radix", 2..=4096);
    let delay = own.time("delay", Time::ZERO..=Time::from_us(1_000_000));
    let reconfiguration = own.time("reconfiguration", Time::from_ns(1)..=SIMULATED_MAX);
    let ways = [("drain", OnChange::Drain), ("lose", OnChange::Lose)];
    let on_change = own.choice("on_change", &ways);
    let convergence = own.take("convergence");
    let cablings = [
        ("rotated", OpticalCabling::Rotated),
        ("straight", OpticalCabling::Straight),
    ];
    let cabling = own.choice("cabling", &cablings);
    let spill = own.take("spill");
    let spill = spill.and_then(|field| {
        field.or_none(|field| field.quantity("a time", &(Time::ZERO..=SIMULATED_MAX)))
    });
    let steering = read_steering(&mut own);
    let initial = read_circuits(&mut own, "initial");
    let changes = read_changes(&mut own);
    fabric.put("circuits", own.finish());
    let (convergence, reconfiguration) = (convergence?, reconfiguration?);
    let learnt = convergence.quantity("a time", &(Time::ZERO..=SIMULATED_MAX))?;
    if learnt > reconfiguration {
        let what = "is longer than `reconfiguration`: routes that are no more would lead through new circuits, and in circles";
        convergence.problem(what, format!("give at most {reconfiguration}"));
        return None;
    }
    Some(Some(CircuitDraft {
        radix: radix?,
        delay: delay?,
        initial: initial?,
        changes: changes?,
        reconfiguration,
        on_change: on_change?,
        convergence: learnt,
        cabling: cabling?,
        spill: spill?,
        steering: steering?,
        field,
    }))
}

fn read_steering<'p>(own: &mut Section<'p>) -> Read<Option<(SteeringPlan, Field<'p>)>> {
    let field = own.take("steering")?;
    if field.word() == Some("none") {
        return Some(None);
    }
    let mut section = field.clone().section(&STEERING);
    let demands = [
        ("jobs", SteeringDemand::Jobs),
        ("counters", SteeringDemand::Counters),
    ];
    let demand = section.choice("demand", &demands);
    let controllers = [
        ("estimate", SteeringController::Estimate),
        ("greedy", SteeringController::Greedy),
    ];
    let controller = section.choice("controller", &controllers);
    let interval = section.time("interval", Time::from_us(1)..=SIMULATED_MAX);
    let threshold: Option<u32> = section.integer("threshold", 0..=100);
    own.put("steering", section.finish());
    let plan = SteeringPlan {
        demand: demand?,
        controller: controller?,
        interval: interval?,
        threshold: threshold? * 10,
    };
    Some(Some((plan, field)))
}

type Circuits<'p> = Vec<(Rewiring, Field<'p>)>;

fn read_changes<'p>(own: &mut Section<'p>) -> Read<Vec<(Time, Circuits<'p>)>> {
    let field = own.take("changes")?;
    if field.count().is_some_and(|count| count > CHANGES_MAX) {
        let help = format!("give at most {CHANGES_MAX}");
        field.problem("are more changes than are supported", help);
        return None;
    }
    let (changes, node) = field.each(|_, item| {
        let mut section = item.section(&CHANGE);
        let at = section.time("at", Time::ZERO..=SIMULATED_MAX);
        let circuits = read_circuits(&mut section, "circuits");
        let node = section.finish();
        (at.zip(circuits), node)
    });
    own.put("changes", node);
    changes
}

fn read_circuits<'p>(own: &mut Section<'p>, name: &str) -> Read<Circuits<'p>> {
    let field = own.take(name)?;
    let (circuits, node) = field.each(|_, item| {
        let mut section = item.clone().section(&REWIRING);
        let switch = section.integer("switch", 0..=u64::from(u32::MAX));
        let pairs = section.take("pairs").and_then(|field| read_pairs(&field));
        let dark = section.take("dark").and_then(|field| read_ports(&field));
        let node = section.finish();
        let read = || {
            Some(Rewiring {
                switch: switch?,
                pairs: pairs?,
                dark: dark?,
            })
        };
        (read().map(|rewiring| (rewiring, item)), node)
    });
    own.put(name, node);
    circuits
}

fn read_ports(field: &Field<'_>) -> Option<Vec<u16>> {
    let ports = field.items()?;
    let ports = ports.iter().map(|port| port.integer(0..=65_535));
    ports.collect()
}

fn read_pairs(field: &Field<'_>) -> Option<Vec<(u16, u16)>> {
    let pairs = field.items()?;
    let pair = |pair: &Field<'_>| {
        let ports = read_ports(pair)?;
        let &[a, b] = ports.as_slice() else {
            let what = "is no pair of ports";
            pair.problem(what, "write two numbers: `[0, 1]`".to_owned());
            return None;
        };
        Some((a, b))
    };
    pairs.iter().map(pair).collect()
}

impl CircuitDraft<'_> {
    /// The fabric with the optical switches in it, and when their circuits change.
    pub(crate) fn bind(
        &self,
        fabric: &TopologySpec,
        problems: &Problems,
    ) -> Option<(Topology, CircuitPlan)> {
        let tier = match fabric {
            TopologySpec::LeafSpine(_) => OpticalTier::InPlaceOfSpines,
            _ => OpticalTier::AboveLeaves,
        };
        let spec = OpticalSpec {
            tier,
            radix: self.radix,
            delay: self.delay,
            cabling: self.cabling,
        };
        let built = spec.build(fabric);
        let mut topology = built
            .map_err(|error| report(&self.field, &error, problems))
            .ok()?;
        rewire(&mut topology, &self.initial, problems)?;
        self.check_reach(&topology, &self.initial, problems)?;
        let mut changes: Vec<_> = self.changes.iter().collect();
        changes.sort_by_key(|(at, _)| *at);
        let mut later = topology.clone();
        for (_, circuits) in &changes {
            refuse_twice(circuits)?;
            rewire(&mut later, circuits, problems)?;
            self.check_reach(&later, circuits, problems)?;
        }
        let changes = changes.into_iter().map(|(at, circuits)| CircuitChange {
            at: *at,
            rewirings: circuits.iter().map(|(of, _)| of.clone()).collect(),
        });
        let plan = CircuitPlan {
            optical: spec,
            changes: changes.collect(),
            reconfiguration: self.reconfiguration,
            on_change: self.on_change,
            convergence: self.convergence,
            spill: self.spill,
            steering: self.steering.as_ref().map(|(plan, _)| *plan),
        };
        self.check_steering(&topology)?;
        Some((topology, plan))
    }

    /// Two masters are one too many, and a matching has its limits.
    fn check_steering(&self, topology: &Topology) -> Option<()> {
        let Some((_, field)) = &self.steering else {
            return Some(());
        };
        if !self.changes.is_empty() {
            let what = "cannot be together with `changes`: what they set, steering would change";
            field.problem(what, "leave out one of the two".to_owned());
            return None;
        }
        if !can_steer(topology) {
            let what = "is for optical switches of up to 128 ports";
            field.problem(what, "choose a smaller `radix`, or fewer leaves".to_owned());
            return None;
        }
        Some(())
    }

    /// Hosts and switches must reach each other when circuits have changed.
    fn check_reach(
        &self,
        topology: &Topology,
        circuits: &Circuits<'_>,
        problems: &Problems,
    ) -> Option<()> {
        let field = circuits.last().map_or(&self.field, |(_, field)| field);
        let Some(lost) = topology.unreached() else {
            return Some(());
        };
        let name = |node: u32| &topology.nodes[node as usize].name;
        let message = format!(
            "{}: with these circuits `{}` cannot reach `{}`",
            field.path,
            name(0),
            name(lost)
        );
        let help =
            "leave a path to every switch, for frames that are on their way there".to_owned();
        problems.push(field.at, message, Some(help));
        None
    }

    /// Refuses what cannot work with circuits that change.
    pub(crate) fn check(&self, switching: &Switching) {
        let what = match switching {
            Switching::Scheduled(_) => {
                "cannot be in a scheduled fabric, whose credits and cells go from leaf to leaf over one spine"
            }
            Switching::CreditBased(_) => {
                "cannot be in a fabric that sends by credit: what a sender may send belongs to the buffer at the other end of its link, and that changes"
            }
            Switching::OutputQueued | Switching::InputQueued(_) => return,
        };
        self.field
            .problem(what, "leave out `fabric.switching`".to_owned());
    }
}

fn rewire(topology: &mut Topology, circuits: &Circuits<'_>, problems: &Problems) -> Option<()> {
    let mut complete = true;
    for (rewiring, field) in circuits {
        match topology.check_rewiring(rewiring) {
            Ok(()) => topology.rewire(rewiring),
            Err(error) => {
                report(field, &error, problems);
                complete = false;
            }
        }
    }
    complete.then_some(())
}

/// A change names each optical switch once: it moves once.
fn refuse_twice(circuits: &Circuits<'_>) -> Option<()> {
    let mut seen = BTreeSet::new();
    let again = circuits.iter().find(|(of, _)| !seen.insert(of.switch));
    let Some((of, field)) = again else {
        return Some(());
    };
    let what = format!("names switch {} a second time in one change", of.switch);
    field.problem(&what, "put all its pairs into one entry".to_owned());
    None
}

fn report(field: &Field<'_>, error: &TopologyError, problems: &Problems) {
    let text = error.to_string();
    let (message, help) = split_remedy(&text);
    problems.push(field.at, format!("{}: {message}", field.path), help);
}
