//! Control links in a scheduled fabric, which join its leaves.

use std::sync::Arc;

use tenter_engine::Output;
use tenter_fabric::net::SwitchModel;
use tenter_fabric::net::scheduled::{LeafWiring, Peer};
use tenter_fabric::topology::NodeId;
use tenter_language::units::Time;

use super::context::Context;
use super::scheduled::ScheduledFabric;

impl Context {
    /// Returns a switch's model in a scheduled fabric.
    pub(super) fn scheduled_model<'a>(
        &'a self,
        node: NodeId,
        fabric: &'a ScheduledFabric,
    ) -> SwitchModel<'a> {
        let name = self.topology().name(node);
        let Some(number) = fabric.number(node) else {
            return SwitchModel::Spine {
                spec: &fabric.spec,
                seed: self.seeds.hashing,
                name,
            };
        };
        let times = fabric.kinds.times_from(usize::from(number));
        let peers = fabric.leaves.iter().zip(times).map(|(&to, time)| {
            let home = self.home(to);
            let ports = self.topology().ports(to);
            let output = Output {
                part: home.part,
                node: home.node,
                // Control inputs follow the two inputs of each port, in the order of the leaves.
                input: 2 * ports + number,
            };
            time.map(|latency| Peer {
                output,
                latency: Time::from_ps(latency),
            })
        });
        let wiring = LeafWiring {
            number,
            peers: peers.collect(),
            places: Arc::clone(&fabric.places),
            may_lose: fabric.may_lose,
            name: (self.seeds.hashing, name.to_owned()),
        };
        SwitchModel::Leaf(&fabric.spec, wiring)
    }
}
