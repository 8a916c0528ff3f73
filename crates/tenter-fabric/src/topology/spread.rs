//! Delay differences among equal-cost paths.

use tenter_language::units::{ById, Time};

use crate::topology::{HostId, Routing, SwitchId, Topology};

/// Least and greatest delay from a switch to a destination.
type Ways = (Time, Time);

impl Routing {
    /// Returns the largest delay difference among the paths that packets may take from one switch
    /// to the same host in an empty network. The delay counts cables, and a frame with `wire_bytes`
    /// that every switch stores and forwards.
    pub fn delay_spread(&self, topology: &Topology, wire_bytes: u32) -> Time {
        let mut leaders: Vec<(SwitchId, HostId)> = topology
            .host_ids()
            .map(|host| (self.attachment(host), host))
            .collect();
        leaders.sort_unstable();
        leaders.dedup_by_key(|(switch, _)| *switch);
        let mut spread = Time::ZERO;
        for &(destination, host) in &leaders {
            let mut search = Search {
                routing: self,
                topology,
                wire_bytes,
                host,
                known: vec![None; topology.switches()].into(),
            };
            search.known[destination] = Some((Time::ZERO, Time::ZERO));
            for &(switch, _) in &leaders {
                search.ways(switch);
            }
            let known = search.known.iter().flatten();
            let most = known.map(|(least, most)| most.saturating_sub(*least)).max();
            spread = spread.max(most.unwrap_or_default());
        }
        spread
    }
}

struct Search<'a> {
    routing: &'a Routing,
    topology: &'a Topology,
    wire_bytes: u32,
    host: HostId,
    known: ById<SwitchId, Option<Ways>>,
}

impl Search<'_> {
    /// Returns the delays from `switch` to the host's switch. Paths have at most 255 switches,
    /// which bounds the recursion.
    fn ways(&mut self, switch: SwitchId) -> Ways {
        if let Some(known) = self.known[switch] {
            return known;
        }
        let (routing, node) = (self.routing, self.topology.switch_node(switch));
        let mut all: Option<Ways> = None;
        for &port in routing.candidates(switch, self.host) {
            let cable = self.topology.cable(node, port);
            let own = cable.delay + cable.rate.serialisation(0).of(self.wire_bytes, 0).0;
            let next = self.topology.neighbour(node, port).node;
            let (least, most) = self.ways(self.topology.switch(next));
            let way = (own.saturating_add(least), own.saturating_add(most));
            all = Some(all.map_or(way, |all| (all.0.min(way.0), all.1.max(way.1))));
        }
        let ways = all.unwrap_or_default();
        self.known[switch] = Some(ways);
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Cabling, LeafSpine, LinkOverride, Planes, TopologySpec};
    use tenter_language::units::{Budget, Rate};

    #[test]
    fn a_slow_link_is_as_much_later_as_its_frames_are_longer() {
        // 4,000 bytes take 80 ns at 400G and 320 ns at 100G; either way there are two links, of
        // which one is slow.
        let mut spec = LeafSpine {
            leaves: 3,
            hosts_per_leaf: 1,
            spines: 2,
            links_per_pair: 1,
            host_rate: Rate::from_gbps(400),
            uplink_rate: Rate::from_gbps(400),
            host_delay: Time::from_ns(10),
            fabric_delay: Time::from_ns(300),
            overrides: vec![],
            cabling: Cabling::Regular,
            planes: Planes::ONE,
        };
        let spread = |spec: &LeafSpine| {
            let topology = TopologySpec::LeafSpine(spec.clone())
                .build(&Budget::unlimited())
                .expect("it is one");
            let routing = Routing::build(&topology, &Budget::unlimited()).expect("all are reached");
            routing.delay_spread(&topology, 4_000)
        };
        assert_eq!(spread(&spec), Time::ZERO);
        spec.overrides = vec![LinkOverride {
            leaf: 1,
            spine: 0,
            links: None,
            rate: Some(Rate::from_gbps(100)),
        }];
        assert_eq!(spread(&spec), Time::from_ns(240));
    }
}
