//! Settings without effect in dragonflies and grids.

use tenter_fabric::topology::{Dragonfly, TopologySpec};

const ONE_GROUP: &str = "there is one group";
const ONE_SWITCH: &str = "there is one switch";

/// Returns the reason why a fabric setting has no effect; `None` if it may have one.
pub(super) fn idle(spec: &TopologySpec, path: &str) -> Option<&'static str> {
    let key = path.strip_prefix("fabric.")?;
    match spec {
        TopologySpec::Dragonfly(dragonfly) => of_dragonfly(dragonfly, key),
        TopologySpec::DragonflyPlus(spec) => match key {
            "global_rate" | "global_delay" | "global_links_per_spine" => {
                (spec.groups == 1).then_some(ONE_GROUP)
            }
            _ => None,
        },
        TopologySpec::Hyperx(spec) => of_grid(&spec.sizes, key),
        TopologySpec::Torus(spec) => match key {
            "wrap_around" => {
                let short = spec.sizes.iter().all(|&size| size < 3);
                short.then_some("no dimension has more than two coordinates")
            }
            _ => of_grid(&spec.sizes, key),
        },
        _ => None,
    }
}

fn of_dragonfly(dragonfly: &Dragonfly, key: &str) -> Option<&'static str> {
    match key {
        "local_rate" | "local_delay" => {
            let alone = dragonfly.routers_per_group == 1;
            alone.then_some("each group has one router, and no cables within")
        }
        "global_rate" | "global_delay" | "global_links_per_router" => {
            (dragonfly.groups == 1).then_some(ONE_GROUP)
        }
        _ => None,
    }
}

fn of_grid(sizes: &[u32], key: &str) -> Option<&'static str> {
    let long = sizes.iter().filter(|&&size| size > 1).count();
    match key {
        "links" | "link_rate" | "link_delay" => (long == 0).then_some(ONE_SWITCH),
        "paths" => (long < 2).then_some("switches differ in one coordinate at most"),
        _ => None,
    }
}
