//! The load balancer of one switch: its member, its view of ports, spills and detours.

use tenter_language::units::{Instant, Time};

use crate::net::load_balancing::detours::Detours;
use crate::net::load_balancing::hash::Placing;
use crate::net::load_balancing::quality::{Quality, QualitySpec};
use crate::net::load_balancing::telemetry::TelemetryTable;
use crate::net::load_balancing::view::{Here, SwitchSite, Target};
use crate::net::load_balancing::{LoadBalancing, Member};
use crate::net::packet::Packet;
use crate::net::port::Port;
use crate::net::scheduled::spray::Spray;

/// Load balancer of a switch, with its state.
#[derive(Clone, Debug)]
pub(crate) struct Balancer {
    member: Member,
    /// Levels of the ports, if the member or a spill compares queues.
    quality: Quality,
    /// Longest wait at direct circuits: packets that would wait longer at each of them take the
    /// tree.
    spill: Option<Time>,
    detours: Option<Box<Detours>>,
}

impl Balancer {
    /// Makes the load balancer of a switch. Packets that would wait for more than `spill` at every
    /// circuit straight to their leaf take the tree; the member must be one that
    /// [may](LoadBalancing::may_spill).
    pub(crate) fn new(spec: &LoadBalancing, site: &SwitchSite, spill: Option<Time>) -> Balancer {
        let (member, quality) = spec.member(site);
        // A spill compares queues at the very instant, so levels from a table would not do.
        let quality = spill.map(|_| QualitySpec::EXACT).or(quality);
        Balancer {
            member,
            quality: Quality::new(quality, site.ports),
            spill,
            detours: Detours::new(spec, site).map(Box::new),
        }
    }

    /// Makes the load balancer for a spine in a scheduled fabric with `ports` ports.
    pub(crate) fn of_spine(spray: Spray, ports: usize) -> Balancer {
        Balancer {
            member: Member::Spine(Box::new(spray)),
            quality: Quality::new(None, ports),
            spill: None,
            detours: None,
        }
    }

    /// Returns the hash that alone picks the port of every packet; `None` for members that choose.
    #[inline]
    pub(crate) fn ecmp(&self) -> Option<Placing> {
        match &self.member {
            Member::Ecmp(ecmp) => {
                debug_assert!(
                    self.spill.is_none(),
                    "what keeps flows in order does not spill"
                );
                Some(*ecmp)
            }
            _ => None,
        }
    }

    /// Returns true if packets of a queue pair take the same port, whatever else has happened.
    pub(crate) fn is_fixed(&self) -> bool {
        let member = matches!(
            self.member,
            Member::Ecmp(_) | Member::WeightedEcmp(_) | Member::Destination(_)
        );
        member && self.spill.is_none() && self.detours.is_none() && !self.reads_queues()
    }

    /// Returns the port that a packet takes at a switch, which was advanced to the packet's
    /// instant.
    pub(crate) fn port(&mut self, packet: &Packet, here: Here<'_>) -> u16 {
        let candidates = self.candidates(packet, here);
        candidates[self.choose(packet, candidates, here)]
    }

    /// Returns a packet that arrives through `input` as it goes on from here: on a detour, if it
    /// starts one here, and off it in the region that it was to go by.
    pub(crate) fn detour(&mut self, packet: &Packet, input: u16, here: Here<'_>) -> Packet {
        let Here { index, routing, .. } = here;
        let Some(detours) = &self.detours else {
            return *packet;
        };
        let Some(region) = detours.region(packet, routing) else {
            return *packet;
        };
        let detour = routing.into_region(index, region);
        // A region that cannot be reached from here, after a link failure, ends the detour, too.
        let is_over = routing.region(index) == region || detour.is_empty();
        if packet.is_on_detour() {
            return packet.on_detour(!is_over);
        }
        // Only at the source's switch, and not between hosts in one region.
        let starts = detours.has_host(input)
            && !is_over
            && routing.region(index) != routing.region(routing.attachment(packet.destination));
        if !starts {
            return *packet;
        }
        let view = here.view(here.shortest(packet.destination), &self.quality);
        packet.on_detour(self.member.takes_detour(packet, detour, &view))
    }

    /// Returns the ports that a packet may take at a switch, which was advanced to its instant.
    fn candidates<'r>(&self, packet: &Packet, here: Here<'r>) -> &'r [u16] {
        let Here {
            index,
            ports,
            routing,
            ..
        } = here;
        if let Some(detours) = &self.detours
            && packet.is_on_detour()
            && let Some(region) = detours.region(packet, routing)
        {
            return routing.into_region(index, region);
        }
        let candidates = here.shortest(packet.destination);
        match self.spill {
            None => candidates,
            Some(limit) => {
                let others = routing.others(index, packet.destination);
                let backlog = |port: &u16| ports[usize::from(*port)].backlog(packet.at);
                // A single circuit with a short wait is enough to stay off the tree.
                let is_full = |port| backlog(port) > limit;
                if others.is_empty() || !candidates.iter().all(is_full) {
                    candidates
                } else {
                    others
                }
            }
        }
    }

    /// Returns true if choices depend on queues: then packets are handled, and departures carried
    /// out, in the order of time.
    #[inline]
    pub(crate) fn reads_queues(&self) -> bool {
        self.quality.is_kept()
    }

    /// Returns true if choices depend on queues at the very instant.
    pub(crate) fn is_exact(&self) -> bool {
        self.quality.is_exact()
    }

    /// Returns the instant of the next refresh of ports' levels, if one is due.
    pub(crate) fn next_refresh(&self) -> Option<Instant> {
        self.quality.next_refresh()
    }

    /// Takes the levels of all ports as they are at `now`.
    pub(crate) fn refresh(&mut self, ports: &[Port], now: Instant) {
        self.quality.refresh(ports, now);
    }

    /// Returns the state of a switch that sends congestion notices, if it does.
    #[inline]
    pub(crate) fn telemetry(&mut self) -> Option<&mut TelemetryTable> {
        match &mut self.member {
            Member::Telemetry(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the number of congestion notices sent to hosts.
    pub(crate) fn host_notices(&self) -> u64 {
        match &self.member {
            Member::Telemetry(table) => table.host_notices(),
            _ => 0,
        }
    }

    /// Returns the notices sent through a port and received through it, and how often flows have
    /// moved.
    pub(crate) fn told(&self, port: u16) -> ((u64, u64), u64) {
        match &self.member {
            Member::Telemetry(table) => (table.notices(port), table.moves()),
            Member::Flowlet(table) => ((0, 0), table.moves()),
            _ => ((0, 0), 0),
        }
    }

    /// Returns the level of a port at which a frame would wait for `backlog`.
    pub(crate) fn level_of(&self, backlog: Time) -> u8 {
        self.quality.level_of(backlog)
    }

    /// Returns the place among the candidates of the port that all packets with this hash to this
    /// host take; `None` if the choice depends on anything else.
    pub(crate) fn fixed(&self, to: Target, candidates: &[u16], here: Here<'_>) -> Option<usize> {
        // Packets that spill or take detours may leave by other ports than a single candidate.
        if candidates.len() == 1 && self.spill.is_none() && self.detours.is_none() {
            return Some(0);
        }
        self.member.fixed(to, &here.view(candidates, &self.quality))
    }

    /// Chooses the place of a packet's port among the candidates (at least one).
    pub(crate) fn choose(&mut self, packet: &Packet, candidates: &[u16], here: Here<'_>) -> usize {
        // Also for a packet with a single candidate: it makes that port busy.
        self.quality.watch(packet.at);
        if candidates.len() == 1 {
            return 0;
        }
        self.member
            .choose(packet, &here.view(candidates, &self.quality))
    }
}
