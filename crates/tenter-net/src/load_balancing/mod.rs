//! How a switch chooses one of several equal-cost ports: one file per member, listed in
//! [`LoadBalancing`].

mod adaptive;
mod ecmp;
mod flowlet;
mod quality;
mod random_spray;
mod round_robin_spray;
#[cfg(test)]
mod tests;
mod weighted_ecmp;

pub use adaptive::Adaptive;
pub use ecmp::{Ecmp, FiveTuple, HashFields, HashFunction, HashSeeding};
pub use flowlet::Flowlet;
pub use quality::QualitySpec;

use crate::packet::{Draw, Packet};
use crate::port::Port;
use crate::scheduled::Spray;
use flowlet::FlowletTable;
use quality::Quality;
use round_robin_spray::RoundRobinSpray;

/// Every load balancer there is, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadBalancing {
    /// A hash of the packet's addresses and ports picks the link, for the whole life of a flow.
    Ecmp(Ecmp),
    /// As ECMP, but a link gets flows in proportion to its rate.
    WeightedEcmp(Ecmp),
    /// Any link, for every packet anew.
    RandomSpray,
    /// One link after the other, for every packet anew.
    RoundRobinSpray,
    /// The link with the shortest queue, for every packet anew.
    Adaptive(Adaptive),
    /// The link with the shortest queue, for every burst of a flow anew.
    Flowlet(Flowlet),
}

impl LoadBalancing {
    /// The hash a packet with this 5-tuple carries to every switch.
    pub fn hash(&self, tuple: &FiveTuple) -> u32 {
        match self {
            LoadBalancing::Ecmp(ecmp) | LoadBalancing::WeightedEcmp(ecmp) => ecmp.hash(tuple),
            _ => Ecmp::default().hash(tuple),
        }
    }

    /// Whether packets of a flow take different ways at once, so that they may overtake each other.
    pub fn reorders(&self) -> bool {
        match self {
            LoadBalancing::Ecmp(_) | LoadBalancing::WeightedEcmp(_) | LoadBalancing::Flowlet(_) => {
                false
            }
            LoadBalancing::RandomSpray
            | LoadBalancing::RoundRobinSpray
            | LoadBalancing::Adaptive(_) => true,
        }
    }
}

/// What a load balancer may look at when it chooses.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The equal-cost ports, at least two.
    pub(crate) candidates: &'a [u16],
    /// All ports of the switch.
    pub(crate) ports: &'a [Port],
    /// Makes switches choose differently.
    pub(crate) seed: u32,
    /// How busy ports are.
    pub(crate) quality: &'a Quality,
}

impl View<'_> {
    /// One of `count` by chance.
    pub(crate) fn any_of(&self, packet: &Packet, count: usize) -> usize {
        let draw = packet.draw(self.seed, Draw::Link) >> 32;
        ((draw * count as u64) >> 32) as usize
    }

    /// The least busy candidate; of several any, by chance.
    pub(crate) fn best(&self, packet: &Packet) -> usize {
        let level = |port: &u16| self.quality.level(self.ports, *port, packet.at);
        let levels = self.candidates.iter().map(level);
        let (best, equal) = levels.fold((None, 0), |(best, equal), level| match best {
            Some(least) if least < level => (best, equal),
            Some(least) if least == level => (best, equal + 1),
            _ => (Some(level), 1),
        });
        let chosen = self.any_of(packet, equal);
        let mut places = (0..self.candidates.len())
            .filter(|&place| Some(level(&self.candidates[place])) == best);
        places.nth(chosen).unwrap_or(0)
    }
}

/// A load balancer at work in one switch.
pub(crate) trait Balance {
    /// The place among the candidates of the port a packet takes. It is asked for packets in the
    /// order in which they arrive.
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize;
}

/// The load balancer of a switch, with what it remembers.
#[derive(Clone, Debug)]
pub(crate) struct Balancer {
    member: Member,
    quality: Quality,
}

#[derive(Clone, Debug)]
enum Member {
    Ecmp(Ecmp),
    WeightedEcmp(weighted_ecmp::WeightedEcmp),
    RandomSpray(random_spray::RandomSpray),
    RoundRobinSpray(RoundRobinSpray),
    Adaptive(Adaptive),
    Flowlet(FlowletTable),
    /// Of a spine of a scheduled fabric.
    Spine(Box<Spray>),
}

impl Balancer {
    /// The load balancer of a switch with so many ports.
    pub(crate) fn new(spec: &LoadBalancing, ports: usize) -> Balancer {
        let (member, quality) = match spec {
            LoadBalancing::Ecmp(ecmp) => (Member::Ecmp(ecmp.clone()), None),
            LoadBalancing::WeightedEcmp(ecmp) => {
                let member = weighted_ecmp::WeightedEcmp { ecmp: ecmp.clone() };
                (Member::WeightedEcmp(member), None)
            }
            LoadBalancing::RandomSpray => (Member::RandomSpray(random_spray::RandomSpray), None),
            LoadBalancing::RoundRobinSpray => {
                (Member::RoundRobinSpray(RoundRobinSpray::default()), None)
            }
            LoadBalancing::Adaptive(spec) => (Member::Adaptive(*spec), Some(spec.quality)),
            LoadBalancing::Flowlet(spec) => (
                Member::Flowlet(FlowletTable::new(*spec)),
                Some(spec.quality),
            ),
        };
        Balancer {
            member,
            quality: Quality::new(quality, ports),
        }
    }

    /// That of a spine of a scheduled fabric with so many ports, whose destinations go by the first
    /// port that leads there.
    pub(crate) fn of_spine(spray: Spray, ports: usize) -> Balancer {
        Balancer {
            member: Member::Spine(Box::new(spray)),
            quality: Quality::new(None, ports),
        }
    }

    /// Whether a choice depends on queues, so that packets must be taken, and departures carried
    /// out, in the order of time.
    #[inline]
    pub(crate) fn reads_queues(&self) -> bool {
        self.quality.is_kept()
    }

    /// Whether it looks at queues as they are at the very instant.
    pub(crate) fn is_exact(&self) -> bool {
        self.quality.is_exact()
    }

    /// When the table of qualities must next be refreshed, if it must.
    pub(crate) fn next_refresh(&self) -> Option<u64> {
        self.quality.next_refresh()
    }

    /// Refreshes the table of qualities by the ports as they are at `now`.
    pub(crate) fn refresh(&mut self, ports: &[Port], now: u64) {
        self.quality.refresh(ports, now);
    }

    /// The place among the candidates (at least one) of the port a packet takes.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        packet: &Packet,
        candidates: &[u16],
        seed: u32,
        ports: &[Port],
    ) -> usize {
        if let Member::Ecmp(ecmp) = &self.member {
            if candidates.len() == 1 {
                return 0;
            }
            return ecmp.place(packet.hash, seed, candidates.len() as u32) as usize;
        }
        self.choose_other(packet, candidates, seed, ports)
    }

    /// The place among the candidates of the port that all packets with this hash take; `None`
    /// where the choice depends on anything else.
    pub(crate) fn fixed(
        &self,
        hash: u32,
        candidates: &[u16],
        seed: u32,
        ports: &[Port],
    ) -> Option<usize> {
        if candidates.len() == 1 {
            return Some(0);
        }
        let view = View {
            candidates,
            ports,
            seed,
            quality: &self.quality,
        };
        match &self.member {
            Member::Ecmp(member) => {
                Some(member.place(hash, seed, candidates.len() as u32) as usize)
            }
            Member::WeightedEcmp(member) => Some(member.place(hash, &view)),
            Member::RandomSpray(_)
            | Member::RoundRobinSpray(_)
            | Member::Adaptive(_)
            | Member::Flowlet(_)
            | Member::Spine(_) => None,
        }
    }

    #[inline(never)]
    fn choose_other(
        &mut self,
        packet: &Packet,
        candidates: &[u16],
        seed: u32,
        ports: &[Port],
    ) -> usize {
        self.quality.watch(packet.at);
        if candidates.len() == 1 {
            return 0;
        }
        let view = View {
            candidates,
            ports,
            seed,
            quality: &self.quality,
        };
        match &mut self.member {
            Member::Ecmp(member) => member.choose(packet, &view),
            Member::WeightedEcmp(member) => member.choose(packet, &view),
            Member::RandomSpray(member) => member.choose(packet, &view),
            Member::RoundRobinSpray(member) => member.choose(packet, &view),
            Member::Adaptive(member) => member.choose(packet, &view),
            Member::Flowlet(member) => member.choose(packet, &view),
            Member::Spine(spray) => spray.next(usize::from(candidates[0]), candidates.len()),
        }
    }
}
