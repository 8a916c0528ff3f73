//! Detours: a packet goes by a region that is neither its source's nor its destination's.
//!
//! The region is drawn from facts that every switch knows about the packet, so the packet does not
//! carry it; it carries only whether it is still on its way there. A detour starts at the switch of
//! the packet's source and ends at the first switch in the region; from there the packet takes the
//! shortest path, as it does to the region. Each part comes nearer with every link, so there are no
//! loops, and no path is longer than two shortest ones (decision 0048).

use crate::topology::Routing;
use tenter_engine::mix64;

use crate::net::load_balancing::LoadBalancing;
use crate::net::load_balancing::view::{DrawnFor, SwitchSite};
use crate::net::packet::Packet;

/// Knowledge of detours in one switch.
#[derive(Clone, Debug)]
pub(super) struct Detours {
    drawn_for: DrawnFor,
    /// Shared by all switches, so that all draw the same region for a packet.
    seed: u32,
    /// True for ports that lead to hosts.
    to_host: Vec<bool>,
}

impl Detours {
    /// Makes the knowledge for a load balancer with detours; `None` for any other.
    pub(super) fn new(spec: &LoadBalancing, site: &SwitchSite) -> Option<Detours> {
        let drawn_for = spec.detours()?;
        Some(Detours {
            drawn_for,
            seed: site.shared_seed,
            to_host: site.to_host.clone(),
        })
    }

    /// Returns true if a host is at a port.
    pub(super) fn has_host(&self, port: u16) -> bool {
        let has = self.to_host.get(usize::from(port));
        has.is_some_and(|has| *has)
    }

    /// Returns the region drawn for a packet, the same at every switch: any but its destination's.
    /// With two regions or fewer there is none.
    pub(super) fn region(&self, packet: &Packet, routing: &Routing) -> Option<u32> {
        let others = routing
            .regions()
            .checked_sub(1)
            .filter(|&others| others > 1)?;
        // Draws differ by the packet's sequence number, or all of a flow's are one.
        let of_packet = match self.drawn_for {
            DrawnFor::Packet => packet.sequence,
            DrawnFor::Flow => 0,
        };
        let identity = u64::from(packet.hash) << 32 | u64::from(of_packet);
        let draw = mix64(mix64(identity) ^ u64::from(self.seed)) >> 32;
        let drawn = ((draw * u64::from(others)) >> 32) as u32;
        let own = routing.region(routing.attachment(packet.destination));
        // The numbers from the destination's region on move up by one, which leaves it out.
        Some(drawn + u32::from(drawn >= own))
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::{Dragonfly, HostId, Routing, SwitchId, Topology, TopologySpec};
    use tenter_language::units::{Budget, Instant, Rate, Time};

    use super::*;
    use crate::net::load_balancing::Valiant;
    use crate::net::load_balancing::balancer::Balancer;
    use crate::net::load_balancing::view::Here;
    use crate::net::packet::PacketKind;

    /// Five groups of two routers with a host each; two ports of a router lead to other groups.
    fn topology() -> Topology {
        let rate = Rate::from_gbps(400);
        let spec = Dragonfly {
            groups: 5,
            routers_per_group: 2,
            hosts_per_router: 1,
            global_links_per_router: 2,
            host_rate: rate,
            local_rate: rate,
            global_rate: rate,
            host_delay: Time::ZERO,
            local_delay: Time::ZERO,
            global_delay: Time::ZERO,
        };
        TopologySpec::Dragonfly(spec)
            .build(&Budget::unlimited())
            .expect("it has hosts")
    }

    fn packet(number: u32, destination: HostId) -> Packet {
        Packet {
            at: Instant::START,
            queue_pair: 3,
            sequence: number,
            destination,
            hash: 17,
            sent: 0,
            frame_bytes: 100,
            kind: PacketKind::Middle,
            flags: 0,
        }
    }

    fn balancer(topology: &Topology, switch: SwitchId) -> Balancer {
        let spec = LoadBalancing::Valiant(Valiant {
            draw: DrawnFor::Packet,
        });
        let peers = topology.neighbours(topology.switch_node(switch));
        let to_host: Vec<bool> = peers.map(|peer| topology.is_host(peer.node)).collect();
        let site = SwitchSite {
            ports: to_host.len(),
            place: crate::topology::TreePlace::ROOT,
            headers: None,
            to_host,
            shared_seed: 5,
        };
        Balancer::new(&spec, &site, None)
    }

    #[test]
    fn every_packet_arrives_by_the_region_that_was_drawn_for_it() {
        let topology = topology();
        let routing =
            Routing::build(&topology, &Budget::unlimited()).expect("all hosts are reached");
        let mut by_region = [0_u32; 5];
        for number in 0..4_000 {
            // From host 0, in region 0, to host 9, in region 4.
            let mut packet = packet(number, HostId::new(9));
            let (mut node, mut input) = (topology.switch_node(SwitchId::new(0)), 0);
            let mut passed = Vec::new();
            while !topology.is_host(node) {
                let switch = topology.switch(node);
                let before = packet.is_on_detour();
                let mut balancer = balancer(&topology, switch);
                let here = Here {
                    index: switch,
                    seed: 1,
                    ports: &[],
                    routing: &routing,
                };
                packet = balancer.detour(&packet, input, here);
                // It starts at the source alone, and never again.
                assert!(!packet.is_on_detour() || before || passed.is_empty());
                passed.push(routing.region(switch));
                let port = balancer.port(&packet, here);
                let next = topology.neighbour(node, port);
                (node, input) = (next.node, next.port);
            }
            assert_eq!((node, packet.queue_pair), (packet.destination.node(), 3));
            assert!(passed.len() <= 6);
            passed.dedup();
            by_region[passed[passed.len() - 2] as usize] += 1;
            assert!(passed.len() <= 3);
        }
        // Of four regions each is drawn by 1,000 packets, give or take five deviations of 27.
        assert_eq!(by_region[4], 0);
        assert!(
            by_region[..4]
                .iter()
                .all(|count| count.abs_diff(1_000) < 140),
            "{by_region:?}"
        );
    }
}
