//! `fabric.circuits`: optical circuit switches in the fabric, and what excludes them.

use std::collections::BTreeSet;

use tenter_fabric::steering::can_steer;
use tenter_fabric::topology::{NodeId, Rewiring, Topology, TopologyError, TopologySpec};
use tenter_language::config::Reader;
use tenter_language::notation::decode::split_remedy;
use tenter_language::notation::diagnostics::Path;
use tenter_sim::plan::CircuitPlan;

use crate::resolve::findings::Findings;
use crate::resolve::planes;
use crate::resolve::switching::Switching;

/// Builds the fabric with its optical switches, and sorts their changes by time.
pub(crate) fn bind(
    circuits: &mut CircuitPlan,
    fabric: &TopologySpec,
    findings: Findings<'_>,
) -> Option<Topology> {
    let problems = findings.problems;
    let path = Path::new(problems, "fabric.circuits");
    if planes::has_several(fabric) {
        let what = "cannot be in a multi-plane fabric";
        path.problem(what, "leave them out, or `fabric.planes`");
        return None;
    }
    let built = circuits.optical(fabric).build(fabric, findings.budget);
    let mut topology = built.map_err(|error| report(&path, &error)).ok()?;
    let initial = path.key("initial");
    rewire(&mut topology, &circuits.initial, &initial)?;
    check_reach(&topology, &circuits.initial, &initial, &path)?;
    let mut order: Vec<usize> = (0..circuits.changes.len()).collect();
    // A change must be valid on the circuits that the earlier ones leave, so checks follow time.
    order.sort_by_key(|change| circuits.changes[*change].at);
    // The plan's fabric keeps its initial circuits; changes are tried on a copy.
    let mut later = topology.clone();
    for change in order {
        let rewirings = &circuits.changes[change].rewirings;
        let own = path.key("changes").item(change).key("circuits");
        refuse_twice(rewirings, &own)?;
        rewire(&mut later, rewirings, &own)?;
        check_reach(&later, rewirings, &own, &path)?;
    }
    circuits.changes.sort_by_key(|change| change.at);
    check_steering(circuits, &topology, &path.key("steering"))?;
    Some(topology)
}

/// Refuses steering beside listed changes, which it would undo, and on optical switches that are
/// too large for its matching.
fn check_steering(circuits: &CircuitPlan, topology: &Topology, path: &Path<'_>) -> Option<()> {
    if circuits.steering.is_none() {
        return Some(());
    }
    if !circuits.changes.is_empty() {
        let what = "cannot be together with `changes`: what they set, steering would change";
        path.problem(what, "leave out one of the two");
        return None;
    }
    if !can_steer(topology) {
        let what = "is for optical switches of up to 128 ports";
        path.problem(what, "choose a smaller `radix`, or fewer leaves");
        return None;
    }
    Some(())
}

/// Refuses circuits that leave a host or switch unreachable.
fn check_reach(
    topology: &Topology,
    rewirings: &[Rewiring],
    list: &Path<'_>,
    whole: &Path<'_>,
) -> Option<()> {
    let Some(lost) = topology.unreached() else {
        return Some(());
    };
    let name = |node: NodeId| topology.name(node);
    // The last rewiring completes the set of circuits, so the problem is reported there.
    let path = match rewirings.len() {
        // Without listed circuits the section as a whole is at fault.
        0 => whole.clone(),
        count => list.item(count - 1),
    };
    let what = format!(
        "with these circuits `{}` cannot reach `{}`",
        name(NodeId::new(0)),
        name(lost)
    );
    let help = "leave a path to every switch, for frames that are on their way there";
    path.say(&what, Some(help.to_owned()));
    None
}

/// Refuses switching kinds that need fixed links.
pub(crate) fn check(switching: &Switching, reader: &mut dyn Reader) {
    let what = match switching {
        Switching::Scheduled(_) => {
            "cannot be in a scheduled fabric, whose credits and cells go from leaf to leaf over one spine"
        }
        Switching::CreditBased(_) => {
            "cannot be in a fabric that sends by credit: what a sender may send belongs to the buffer at the other end of its link, and that changes"
        }
        Switching::OutputQueued | Switching::InputQueued(_) => return,
    };
    reader.refuse("circuits", what, "leave out `fabric.switching`");
}

fn rewire(topology: &mut Topology, rewirings: &[Rewiring], list: &Path<'_>) -> Option<()> {
    let mut complete = true;
    for (index, rewiring) in rewirings.iter().enumerate() {
        match topology.check_rewiring(rewiring) {
            Ok(()) => topology.rewire(rewiring),
            Err(error) => {
                report(&list.item(index), &error);
                complete = false;
            }
        }
    }
    complete.then_some(())
}

/// Refuses a change that names an optical switch twice: one change moves it once.
fn refuse_twice(rewirings: &[Rewiring], list: &Path<'_>) -> Option<()> {
    let mut seen = BTreeSet::new();
    let again = rewirings.iter().position(|of| !seen.insert(of.switch));
    let Some(again) = again else {
        return Some(());
    };
    let switch = rewirings[again].switch;
    let what = format!("names switch {switch} a second time in one change");
    list.item(again)
        .problem(&what, "put all its pairs into one entry");
    None
}

fn report(path: &Path<'_>, error: &TopologyError) {
    let text = error.to_string();
    let (message, help) = split_remedy(&text);
    path.say(message, help);
}
