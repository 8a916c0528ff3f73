//! What breaks and is mended, at edges.

use std::collections::VecDeque;
use std::sync::Arc;

use tenter_net::{FarEnd, WatchdogSpec, WireLosses};
use tenter_plan::{Fault, FaultEvent, Plan};
use tenter_topology::CableEnd;
use tenter_units::{Rate, SerialisationTime};

use crate::build::Context;
use crate::driver::Driver;
use crate::routes::Routes;

/// What happens to a node at an edge.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// The link of a port goes down; of what the port had sent this is lost.
    Down(u16, WireLosses),
    /// The link of a port comes up.
    Up(u16),
    /// A port sends at another rate from now on, and its frames may have to arrive whole.
    Rate(u16, SerialisationTime, bool),
    /// The PFC watchdog looks at the queues of a switch.
    Watch(WatchdogSpec),
    /// A NIC begins to pause its leaf whatever it receives.
    StormBegins,
    /// It stops doing so.
    StormEnds,
    /// A port whose circuit is to change starts no frame any more.
    Hold(u16),
    /// What waits at such a port is routed anew.
    Reroute(u16),
    /// The light of such a port goes; of what the port had sent this is lost.
    Darken(u16, WireLosses),
    /// A dark port is joined with another; frames follow so many ps later.
    Join(u16, FarEnd, u64),
}

const NEVER: u64 = u64::MAX;

/// Where the faults of a trial are.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    events: VecDeque<FaultEvent>,
    convergence: u64,
    /// By cable: how often it has gone down and not come up, and when it last did.
    down: Vec<u32>,
    since: Vec<u64>,
    /// What routing will know: (when, cable, whether it is out).
    news: VecDeque<(u64, u32, bool)>,
    /// Hosts that pause their leaves.
    storms: Vec<u32>,
    watchdog: Option<WatchdogSpec>,
    next_look: u64,
}

impl Faults {
    pub(crate) fn new(plan: &Plan) -> Faults {
        let cables = if plan.faults.events.is_empty() {
            0
        } else {
            plan.topology.cables.len()
        };
        Faults {
            events: plan.faults.events.iter().copied().collect(),
            convergence: plan.faults.convergence.ps(),
            down: vec![0; cables],
            since: vec![0; cables],
            news: VecDeque::new(),
            storms: Vec::new(),
            watchdog: plan.watchdog,
            next_look: plan.watchdog.map_or(NEVER, |spec| spec.poll_interval.ps()),
        }
    }

    /// The next edge that a fault needs.
    pub(crate) fn next(&self) -> u64 {
        self.next_event().min(self.next_look)
    }

    /// The next edge at which something may change that lets a network go on that stands still: the
    /// watchdog has nothing to do in it.
    pub(crate) fn next_event(&self) -> u64 {
        let event = self.events.front().map_or(NEVER, |event| event.at.ps());
        let news = self.news.front().map_or(NEVER, |news| news.0);
        event.min(news)
    }

    /// Whether a NIC pauses its leaf, or will: then the network never stands still by itself.
    pub(crate) fn has_storms(&self) -> bool {
        let begins = |event: &FaultEvent| matches!(event.fault, Fault::StormBegins(_));
        !self.storms.is_empty() || self.events.iter().any(begins)
    }

    /// Does everything that is due at `now`, at which all nodes stand.
    pub(crate) fn apply<D: Driver>(&mut self, driver: &mut D, routes: &mut Routes, now: u64) {
        while let Some(event) = self.events.front().copied() {
            if event.at.ps() > now {
                break;
            }
            self.events.pop_front();
            self.apply_fault(driver, event.fault, now);
        }
        self.converge(driver, routes, now);
        if let Some(spec) = self.watchdog.filter(|_| self.next_look <= now) {
            let interval = spec.poll_interval.ps();
            self.next_look = (now / interval + 1) * interval;
            let topology = driver.fabric(0).context().topology();
            let switches = topology.switch_nodes();
            for node in switches {
                change(driver, node, now, &Change::Watch(spec));
            }
        }
    }

    fn apply_fault<D: Driver>(&mut self, driver: &mut D, fault: Fault, now: u64) {
        match fault {
            Fault::LinkDown(cable) => {
                let down = &mut self.down[cable as usize];
                *down += 1;
                if *down == 1 {
                    self.since[cable as usize] = now;
                    take_down(driver, cable, now);
                    self.news.push_back((now + self.convergence, cable, true));
                }
            }
            Fault::LinkUp(cable) => {
                let down = &mut self.down[cable as usize];
                *down -= 1;
                if *down == 0 {
                    for end in ends(driver, cable) {
                        change(driver, end.node, now, &Change::Up(end.port));
                    }
                    self.news.push_back((now + self.convergence, cable, false));
                }
            }
            Fault::LinkRate(cable, rate) => set_rate(driver, cable, rate, now),
            Fault::StormBegins(host) => {
                self.storms.push(host);
                change(driver, host, now, &Change::StormBegins);
            }
            Fault::StormEnds(host) => self.end_storm(driver, host, now),
        }
    }

    fn end_storm<D: Driver>(&mut self, driver: &mut D, host: u32, now: u64) {
        if self.storms.contains(&host) {
            self.storms.retain(|other| *other != host);
            change(driver, host, now, &Change::StormEnds);
        }
    }

    /// Ends all storms and lets none begin: there is nobody left whom they would hurt.
    pub(crate) fn end_storms<D: Driver>(&mut self, driver: &mut D, now: u64) {
        self.events.clear();
        for host in self.storms.clone() {
            self.end_storm(driver, host, now);
        }
    }

    /// Lets routing know what is due.
    fn converge<D: Driver>(&mut self, driver: &mut D, routes: &mut Routes, now: u64) {
        while let Some((_, cable, is_out)) = self.news.front().copied().filter(|n| n.0 <= now) {
            self.news.pop_front();
            routes.set_out(cable, is_out);
        }
        routes.publish(driver);
    }

    /// The links that are down, and since when.
    pub(crate) fn down(&self) -> Vec<(u32, u64)> {
        let cables = (0..).zip(self.down.iter().zip(&self.since));
        let down = cables.filter(|(_, (down, _))| **down > 0);
        down.map(|(cable, (_, since))| (cable, *since)).collect()
    }

    /// The hosts whose NICs pause their leaves.
    pub(crate) fn storming_hosts(&self) -> &[u32] {
        &self.storms
    }
}

fn ends<D: Driver>(driver: &D, cable: u32) -> [CableEnd; 2] {
    driver.fabric(0).context().topology().cables[cable as usize].ends
}

/// Changes a node, and lets it look what it has to do now.
pub(crate) fn change<D: Driver>(driver: &mut D, node: u32, now: u64, change: &Change) {
    let (part, local) = driver.fabric(0).context().home(node);
    if driver.change(usize::from(part), local, now, change) {
        driver.wake(usize::from(part), local, now);
    }
}

/// Both directions of a link go down: what is under way on them is lost.
fn take_down<D: Driver>(driver: &mut D, cable: u32, now: u64) {
    let ends = ends(driver, cable);
    for (sender, receiver) in [(ends[0], ends[1]), (ends[1], ends[0])] {
        let losses = lose(driver, receiver);
        let down = Change::Down(sender.port, losses);
        change(driver, sender.node, now, &down);
    }
}

/// Takes out what is under way to a port: it is lost.
pub(crate) fn lose<D: Driver>(driver: &mut D, receiver: CableEnd) -> WireLosses {
    let context = Arc::clone(&driver.fabric(0).context);
    let (part, local) = context.home(receiver.node);
    let ports = context.topology.nodes[receiver.node as usize].ports.len() as u16;
    let mut losses = WireLosses::default();
    for input in [receiver.port, ports + receiver.port] {
        for packet in driver.lose(usize::from(part), local, input) {
            if packet.kind.is_mac_control() {
                losses.pauses += 1;
            } else {
                losses.frames += 1;
                losses.bytes += u64::from(packet.frame_bytes);
            }
        }
    }
    losses
}

fn set_rate<D: Driver>(driver: &mut D, cable: u32, rate: Rate, now: u64) {
    for end in ends(driver, cable) {
        let context: &Context = driver.fabric(0).context();
        let peer = context.topology.neighbour(end.node, end.port).node;
        let whole = context.arrives_whole_at(peer, rate);
        let serialisation = context.serialisation_at(end.node, rate);
        let slower = Change::Rate(end.port, serialisation, whole);
        change(driver, end.node, now, &slower);
    }
}
