//! The `fabric.switching` section: the place where frames wait. Output-queued switches store them
//! at outputs, input-queued ones at inputs; a scheduled fabric keeps them at their first leaf until
//! their output port grants credit; a credit-based one waits for room in the next switch.

mod around;
mod credit;
mod input_queued;

pub(crate) use around::Around;
pub use input_queued::{InputKeys, QueueKind};

use std::collections::BTreeMap;

use tenter_endpoint::NicSpec;
use tenter_fabric::net::input_queued::InputQueuedSpec;
use tenter_fabric::net::scheduled::ScheduledSpec;
use tenter_fabric::net::{ClassSpec, CreditSpec, PfcTrigger};
use tenter_fabric::topology::{NodeId, Topology};

use crate::resolve::findings::Findings;
use around::PATH;
use tenter_language::config::variants;
use tenter_language::notation::diagnostics::{Problems, quote};

/// A scheduled fabric's leaf limit: with more, a leaf's control links would exceed its inputs.
const LEAVES_MAX: usize = 4_096;
variants! {
    /// Where frames wait.
    pub enum Switching as "`fabric.switching`", derive(Clone, Debug, PartialEq) {
        /// The place where frames wait: at the outputs of every switch; at its inputs, in front of
        /// a crossbar; at their first leaf until their destination port grants them credit; or at
        /// every switch until the next one has room for them. The further keys depend on it.
        kind = "output-queued";
        /// At the outputs of every switch.
        "output-queued" => OutputQueued,
        /// At the inputs of every switch.
        "input-queued" => InputQueued(InputKeys),
        /// At the first leaf, by credit of the port they go to.
        "scheduled" => Scheduled(ScheduledSpec),
        /// By credit of the next switch.
        "credit-based" => CreditBased(CreditSpec),
    }
}

impl Switching {
    /// Returns a scheduled fabric's settings.
    pub(crate) fn scheduled(&self) -> Option<&ScheduledSpec> {
        match self {
            Switching::Scheduled(spec) => Some(spec),
            _ => None,
        }
    }

    /// Returns the NIC settings that suit this switching kind.
    pub(crate) fn adapted(&self, mut nic: NicSpec) -> NicSpec {
        if self.credit().is_some() {
            credit::widen_receive_buffer(&mut nic);
        }
        nic
    }

    /// Returns the settings for input-queued switches.
    pub(crate) fn input_queued(&self) -> Option<InputQueuedSpec> {
        match self {
            Switching::InputQueued(keys) => Some(keys.spec()),
            _ => None,
        }
    }

    /// Returns a credit-based fabric's settings.
    pub(crate) fn credit(&self) -> Option<CreditSpec> {
        match self {
            Switching::CreditBased(spec) => Some(*spec),
            _ => None,
        }
    }
}

impl Switching {
    /// Refuses and warns of what excludes this switching kind.
    pub(crate) fn check(&self, around: &Around<'_>, findings: Findings<'_>) {
        match self {
            Switching::OutputQueued => {}
            Switching::InputQueued(_) => input_queued::check(around, findings.problems),
            Switching::Scheduled(_) => check_scheduled(around, findings.problems),
            Switching::CreditBased(spec) => credit::check(spec, around, findings),
        }
    }
}

fn check_scheduled(around: &Around<'_>, problems: &Problems) {
    let refuse = |what: String, help: &str| {
        problems.note(PATH, what, help);
    };
    check_leaves(around.topology, problems);
    if !around.switches.tiers.is_empty() {
        refuse(
                "`fabric.switch.tiers` has no place in a scheduled fabric: spines have one queue without end, and all leaves are alike".to_owned(),
                "leave it out",
            );
    }
    if around.switches.any_class(|class| class.ecn.is_some()) {
        refuse(
                "a scheduled fabric marks nothing: what is too much waits at its source, in queues that belong to one destination each".to_owned(),
                "leave out `ecn`; `fabric.flow_control: pfc` pauses NICs when the memory of their leaf runs out",
            );
    }
    // Only NICs may be paused here, each for what it has sent itself.
    let by_others = |class: &ClassSpec| {
        let lossless = class.lossless.as_ref();
        lossless.is_some_and(|lossless| lossless.trigger != PfcTrigger::Ingress)
    };
    if around.switches.any_class(by_others) {
        refuse(
                "`trigger: pool` would pause the links of a scheduled fabric too, where nobody may be stopped, and `trigger: egress` looks at output queues, where no packet waits for its link".to_owned(),
                "use `trigger: ingress`, which pauses the NICs that fill the memory of their leaf",
            );
    }
    if around.has_watchdog {
        refuse(
                "`fabric.switch.pfc_watchdog` looks at output queues, and in a scheduled fabric packets wait elsewhere".to_owned(),
                "leave it out: a port that is paused for long grants no credit, and stops nobody else",
            );
    }
    let control = around.nic.congestion_control.as_ref();
    if control.is_some_and(|control| control.telemetry_hops().is_some()) {
        refuse(
            "a scheduled fabric writes no in-band telemetry into packets, for they travel in cells"
                .to_owned(),
            "choose another `endpoint.nic.congestion_control`, or none",
        );
    }
}

/// Refuses leaves without a common spine, and too many leaves.
fn check_leaves(topology: &Topology, problems: &Problems) {
    let leaves = topology.leaves();
    if leaves.len() > LEAVES_MAX {
        let message = format!(
            "a scheduled fabric has at most {LEAVES_MAX} leaves, and this one has {}",
            leaves.len()
        );
        problems.note(PATH, message, "give each leaf more hosts");
        return;
    }
    // Leaves with the same spines are alike, and most fabrics have one kind: comparing kinds saves
    // comparing all pairs.
    let mut kinds: BTreeMap<Vec<NodeId>, [NodeId; 2]> = BTreeMap::new();
    for &leaf in &leaves {
        let peers = topology.neighbours(leaf).map(|peer| peer.node);
        let mut spines: Vec<NodeId> = peers.filter(|&peer| !topology.is_host(peer)).collect();
        spines.dedup();
        let ends = kinds.entry(spines).or_insert([leaf, leaf]);
        ends[1] = leaf;
    }
    let kinds: Vec<(Vec<NodeId>, [NodeId; 2])> = kinds.into_iter().collect();
    for (number, (own, [first, last])) in kinds.iter().enumerate() {
        let others = kinds[..number]
            .iter()
            .map(|(spines, [first, _])| (spines, first));
        // Two leaves without any spine are apart although their lists are equal.
        let itself = (own.is_empty() && first != last).then_some((own, last));
        let mut pairs = others.chain(itself);
        let is_apart = |(theirs, _): &(&Vec<NodeId>, &NodeId)| !have_common(own, theirs);
        if let Some((_, other)) = pairs.find(is_apart) {
            let [one, other] = [first.min(other), first.max(other)];
            let message = format!(
                "{} and {} have no spine in common, and a scheduled fabric sends from leaf to leaf over one",
                quote(topology.name(*one)),
                quote(topology.name(*other))
            );
            let help = "connect both of them to one spine, in `fabric.overrides`";
            problems.note(PATH, message, help);
            return;
        }
    }
}

/// Returns true if two ascending lists have a node in common.
fn have_common(one: &[NodeId], other: &[NodeId]) -> bool {
    let mut other = other.iter().peekable();
    one.iter().any(|node| {
        while other.next_if(|next| *next < node).is_some() {}
        other.peek() == Some(&node)
    })
}
