//! Classes that change from region to region: set in the plan, for 60 % of the scenarios that have
//! regions and room for such classes.

use tenter_fabric::net::ClassSpec;
use tenter_sim::plan::Plan;

use super::draw::Draw;

/// Splits a plan's last class by region, or leaves it.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    let can = !plan.topology.regions.is_empty() && plan.credit.is_none() && plan.signals.is_none();
    let last = plan.switches.usual.classes.last().map(|last| last.class);
    let Some(last) = last.filter(|last| can && *last <= 5 && draw.chance(60)) else {
        return;
    };
    // One further class is enough for shortest paths; after a detour the last class stays.
    let further = draw.within(1..=2) as u8;
    for spec in plan.switches.iter_mut() {
        let own = spec.classes.pop();
        let classes = own.into_iter().flat_map(|own| {
            (last..=last + further).map(move |class| ClassSpec {
                class,
                next_region: (class < last + further).then_some(class + 1),
                ..own.clone()
            })
        });
        spec.classes.extend(classes);
    }
}
