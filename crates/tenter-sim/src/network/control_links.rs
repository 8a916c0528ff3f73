//! The control links of a scheduled fabric, which join its leaves.

use std::sync::Arc;

use tenter_engine::Output;
use tenter_net::SwitchModel;
use tenter_net::scheduled::{LeafWiring, Peer};

use super::context::Context;
use super::scheduled::ScheduledFabric;

impl Context {
    /// The model of a switch of a scheduled fabric.
    pub(super) fn scheduled_model<'a>(
        &'a self,
        node: u32,
        fabric: &'a ScheduledFabric,
    ) -> SwitchModel<'a> {
        let name = &self.topology().nodes[node as usize].name;
        let Some(number) = fabric.number(node) else {
            return SwitchModel::Spine {
                spec: &fabric.spec,
                seed: self.seeds.hashing,
                name,
            };
        };
        let up = self.fastest_up(node);
        let peers = fabric.leaves.iter().map(|&to| {
            let (part, local) = self.home(to);
            let ports = self.topology().nodes[to as usize].ports.len() as u16;
            let output = Output {
                part,
                node: local,
                input: 2 * ports + number,
            };
            self.control_latency((node, &up), to)
                .map(|latency| Peer { output, latency })
        });
        let wiring = LeafWiring {
            number,
            peers: peers.collect(),
            places: Arc::clone(&fabric.places),
            may_lose: fabric.may_lose,
            name: (self.seeds.hashing, name.clone()),
        };
        SwitchModel::Leaf(&fabric.spec, wiring)
    }

    /// How long the head of a cell takes from a leaf to each spine on the fastest way, in ps, by
    /// node; `u64::MAX` where none leads there.
    fn fastest_up(&self, from: u32) -> Vec<u64> {
        let topology = self.topology();
        let mut times = vec![u64::MAX; topology.nodes.len()];
        for port in 0..topology.nodes[from as usize].ports.len() as u16 {
            let spine = topology.neighbour(from, port).node;
            if !topology.is_host(spine) {
                let time = &mut times[spine as usize];
                *time = (*time).min(self.link(from, port).0.ps());
            }
        }
        times
    }

    /// How long a message takes from one leaf, with its ways up, to another, in ps: as long as the
    /// head of a cell on the fastest way; `None` to itself.
    fn control_latency(&self, (from, up): (u32, &[u64]), to: u32) -> Option<u64> {
        let topology = self.topology();
        let ports = 0..topology.nodes[to as usize].ports.len() as u16;
        let ends = ports.map(|port| topology.neighbour(to, port));
        let ways = ends.filter(|end| from != to && up[end.node as usize] < u64::MAX);
        let times = ways.map(|end| up[end.node as usize] + self.link(end.node, end.port).0.ps());
        times.min()
    }

    /// The shortest and the longest time of a message between two leaves, in ps.
    pub(crate) fn control_latencies(&self) -> Option<(u64, u64)> {
        let leaves = &self.scheduled.as_ref()?.leaves;
        let times = leaves.iter().flat_map(|&from| {
            let up = self.fastest_up(from);
            let latency = move |&to: &u32| self.control_latency((from, &up), to);
            leaves.iter().filter_map(latency)
        });
        times.fold(None, |bounds, time| {
            let (least, most) = bounds.unwrap_or((time, time));
            Some((time.min(least), time.max(most)))
        })
    }
}
