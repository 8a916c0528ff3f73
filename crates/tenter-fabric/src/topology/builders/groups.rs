//! Parts that dragonfly and dragonfly+ share: the check on their groups, and cables between these.

use tenter_language::units::{Rate, Time};

use crate::topology::shape::RouterGroups;
use crate::topology::wiring::{Wiring, product};
use crate::topology::{NodeId, TopologyError};

/// Counts the ports that each group has for cables to others. Refuses more groups than these can
/// reach; `ports` is the key to raise.
pub(super) fn global_ports(
    groups: RouterGroups,
    ports: &'static str,
) -> Result<u128, TopologyError> {
    let each = product(&[groups.routers_per_group, groups.global_links_per_router]);
    if u128::from(groups.count) > each + 1 {
        return Err(TopologyError::TooManyGroups {
            groups: groups.count,
            most: each + 1,
            ports,
        });
    }
    Ok(each)
}

/// Lays all cables between groups. `first` is the first switch that has any.
pub(super) fn lay_global_cables(
    wiring: &mut Wiring,
    groups: RouterGroups,
    first: NodeId,
    rate: Rate,
    delay: Time,
) {
    for (one, other) in groups.all_cables() {
        let [a, b] = [one, other].map(|end| first.after(end.number()));
        wiring.connect(a, b, 1, rate, delay);
    }
}
