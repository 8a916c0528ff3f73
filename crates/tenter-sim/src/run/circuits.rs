//! Circuits that change, at edges.
//!
//! ```text
//!   announced            all has arrived        light                  routing knows
//!       ├─ drain: held ────────┼─ dark: mirrors move ─┼─ frames flow ───────┤
//!       └─ lose: dark at once ────────────────────────┼─ frames flow ───────┤
//! ```
//!
//! In the graph of [`Fabric::topology`](crate::Fabric::topology) a circuit is a cable from the
//! instant at which there is light until that at which there is none.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_net::{WIRE_OVERHEAD_BYTES, WireLosses};
use tenter_plan::{CircuitChange, CircuitPlan, OnChange, Plan};
use tenter_record::CircuitRow;
use tenter_topology::{CableEnd, NodeId, OpticalPlace, Rewiring, Topology};
use tenter_units::{Instant, Time};

use crate::error::SimulationError;
use crate::network::{Change, Driver};
use crate::results::{Missing, check_link, missing};

use super::actor::EdgeActor;
use super::node_changes::{change, lose};
use super::routes::Routes;
use super::world::{Moving, World};

/// The circuits of a trial: what is to change, what changes now, and what has been.
#[derive(Debug, Default)]
pub(super) struct Circuits {
    plan: Option<CircuitPlan>,
    /// Changes to announce before anything has happened.
    planned: Vec<CircuitChange>,
    /// What is to happen, by time and in the order in which it was decided.
    steps: BTreeMap<(Instant, u64), Step>,
    decided: u64,
    rows: Vec<CircuitRow>,
    /// What each port was joined with by the last row about it.
    noted: BTreeMap<OpticalPlace, Option<u16>>,
}

/// A part of a change of the circuits of one optical switch.
#[derive(Clone, Debug)]
enum Step {
    /// All has arrived: the light goes.
    Darken(Move),
    /// Routing learns that circuits have gone.
    Forget(Move),
    /// The new circuits are there.
    Light(Move),
    /// Routing learns of the new circuits.
    Learn(Move),
}

/// New circuits of an optical switch, and the ports that are concerned.
#[derive(Clone, Debug)]
struct Move {
    rewiring: Rewiring,
    affected: Vec<u16>,
}

impl Circuits {
    pub(super) fn new(plan: &Plan) -> Circuits {
        let changes = plan.circuits.iter().flat_map(|of| of.changes.clone());
        Circuits {
            planned: changes.collect(),
            plan: plan.circuits.clone(),
            ..Circuits::default()
        }
    }

    /// Ports that have no circuit to begin with are dark, before anything has happened.
    fn darken_unused<D: Driver>(&mut self, driver: &mut D) {
        let Some(plan) = &self.plan else {
            return;
        };
        let on_change = plan.on_change;
        let topology = Arc::clone(&driver.fabric(0).topology);
        let switches = (0..).zip(topology.optics.switches());
        let sizes: Vec<(u32, u16)> = switches
            .map(|(switch, of)| (switch, of.ports.len() as u16))
            .collect();
        for (switch, ports) in sizes {
            for port in 0..ports {
                let place = OpticalPlace { switch, port };
                let device = topology.optics.port(place).device;
                if topology.circuit(place).is_none() {
                    let dark = match on_change {
                        OnChange::Drain => Change::Hold(device.port),
                        OnChange::Lose => Change::Down(device.port, WireLosses::default()),
                    };
                    change(driver, device.node, Instant::START, &dark);
                }
                self.noted.insert(place, topology.circuit(place));
                self.rows.push(row(&topology, place, Instant::START));
            }
        }
    }

    /// Does everything that is due, at an instant at which all nodes stand.
    ///
    /// # Errors
    /// A sentence, when frames do not add up on a circuit that ends.
    fn apply<D: Driver>(&mut self, world: &mut World<'_, D>) -> Result<(), String> {
        while self.next(world) <= world.now {
            let step = self.steps.first_entry();
            if let Some(step) = step.filter(|step| step.key().0 <= world.now) {
                let step = step.remove();
                self.step(world, step)?;
            } else if let Some(change) = world.moving.announced.pop_front() {
                self.start(world, &change)?;
            }
        }
        world.routes.publish(world.driver, world.now);
        match world.routes.failure() {
            Some(reason) => Err(format!("no routes over the new circuits: {reason}")),
            None => Ok(()),
        }
    }

    fn decide(&mut self, at: Instant, step: Step) {
        self.steps.insert((at, self.decided), step);
        self.decided += 1;
    }

    /// Begins a change.
    fn start<D: Driver>(
        &mut self,
        world: &mut World<'_, D>,
        change: &CircuitChange,
    ) -> Result<(), String> {
        let Some((on_change, reconfiguration, convergence)) = self.times() else {
            return Ok(());
        };
        let now = world.now;
        let topology = Arc::clone(&world.driver.fabric(0).topology);
        let moves = change.rewirings.iter().map(|rewiring| Move {
            affected: topology.affected(rewiring),
            rewiring: rewiring.clone(),
        });
        let moves: Vec<Move> = moves.filter(|of| !of.affected.is_empty()).collect();
        let switches = moves.iter().map(|of| of.rewiring.switch);
        world.moving.switches.extend(switches);
        match on_change {
            OnChange::Drain => {
                let drained =
                    now.saturating_add(drain(world.driver, &mut world.routes, &moves, now));
                for of in moves {
                    self.decide(drained, Step::Darken(of));
                }
            }
            OnChange::Lose => {
                for of in moves {
                    self.link_down(world, &of, Change::Down)?;
                    self.decide(now.saturating_add(convergence), Step::Forget(of.clone()));
                    self.decide(now.saturating_add(reconfiguration), Step::Light(of));
                }
            }
        }
        Ok(())
    }

    fn times(&self) -> Option<(OnChange, Time, Time)> {
        let plan = self.plan.as_ref()?;
        Some((plan.on_change, plan.reconfiguration, plan.convergence))
    }

    fn step<D: Driver>(&mut self, world: &mut World<'_, D>, step: Step) -> Result<(), String> {
        let Some((_, reconfiguration, convergence)) = self.times() else {
            return Ok(());
        };
        let now = world.now;
        match step {
            Step::Darken(of) => {
                self.link_down(world, &of, Change::Darken)?;
                self.decide(now.saturating_add(reconfiguration), Step::Light(of));
            }
            Step::Forget(of) => {
                leave_out(&mut world.routes, world.driver.fabric(0).topology(), &of);
            }
            Step::Light(of) => {
                self.come_up(world, &of);
                self.decide(now.saturating_add(convergence), Step::Learn(of));
            }
            Step::Learn(of) => {
                let topology = world.driver.fabric(0).topology();
                for device in devices(topology, &of) {
                    let cable = topology.cable_number(device.node, device.port);
                    world.routes.set_out(cable, false);
                }
                world.moving.switches.remove(&of.rewiring.switch);
            }
        }
        Ok(())
    }

    /// The light of all ports that are concerned goes: what is still under way is lost.
    fn link_down<D: Driver>(
        &mut self,
        world: &mut World<'_, D>,
        of: &Move,
        dark: impl Fn(u16, WireLosses) -> Change,
    ) -> Result<(), String> {
        let now = world.now;
        let driver = &mut *world.driver;
        let topology = Arc::clone(&driver.fabric(0).topology);
        for sender in lit(&topology, of) {
            let receiver = topology.neighbour(sender.node, sender.port);
            let losses = lose(driver, receiver);
            change(driver, sender.node, now, &dark(sender.port, losses));
            let before = world.moving.missing.remove(&sender).unwrap_or_default();
            check_link(driver, sender, receiver, before, Missing::default())?;
        }
        rewire(driver, |topology| {
            topology.rewire(&Rewiring {
                switch: of.rewiring.switch,
                pairs: Vec::new(),
                dark: of.affected.clone(),
            });
        });
        self.note(driver, of, now);
        Ok(())
    }

    /// The new circuits are there.
    fn come_up<D: Driver>(&mut self, world: &mut World<'_, D>, of: &Move) {
        let now = world.now;
        let driver = &mut *world.driver;
        rewire(driver, |topology| topology.rewire(&of.rewiring));
        let topology = Arc::clone(&driver.fabric(0).topology);
        let ends = lit(&topology, of);
        for &sender in &ends {
            let receiver = topology.neighbour(sender.node, sender.port);
            let missing = missing(driver, sender, receiver);
            world.moving.missing.insert(sender, missing);
        }
        for &sender in &ends {
            let receiver = topology.neighbour(sender.node, sender.port);
            let delay = topology.cable(sender.node, sender.port).delay;
            let context = Arc::clone(&driver.fabric(0).context);
            let far = context.far_end(sender, receiver, delay);
            let guard = context.circuit_guard(sender, receiver, delay);
            let join = Change::Join(sender.port, far, guard);
            change(driver, sender.node, now, &join);
        }
        self.note(driver, of, now);
    }

    /// Records what the ports that are concerned are joined with from now on.
    fn note<D: Driver>(&mut self, driver: &D, of: &Move, now: Instant) {
        let topology = driver.fabric(0).topology();
        let switch = of.rewiring.switch;
        let places = of
            .affected
            .iter()
            .map(|&port| OpticalPlace { switch, port });
        for place in places {
            let peer = topology.circuit(place);
            if self.noted.insert(place, peer) != Some(peer) {
                self.rows.push(row(topology, place, now));
            }
        }
    }
}

impl<D: Driver> EdgeActor<D> for Circuits {
    fn begin(&mut self, world: &mut World<'_, D>) {
        world.moving.announced.extend(self.planned.drain(..));
        self.darken_unused(world.driver);
    }

    fn next(&self, world: &World<'_, D>) -> Instant {
        let step = self
            .steps
            .first_key_value()
            .map_or(Instant::NEVER, |(key, _)| key.0);
        let change = world.moving.announced.front();
        let change = change.filter(|change| !must_wait(change, &world.moving));
        step.min(change.map_or(Instant::NEVER, |change| Instant::at(change.at)))
    }

    fn next_if_empty(&self, world: &World<'_, D>) -> Instant {
        self.next(world)
    }

    fn act(&mut self, world: &mut World<'_, D>) -> Result<(), SimulationError> {
        if self.next(world) > world.now {
            return Ok(());
        }
        self.apply(world).map_err(SimulationError::Conservation)
    }

    fn end(&mut self, world: &mut World<'_, D>) -> Result<(), SimulationError> {
        world.counts.circuits = std::mem::take(&mut self.rows);
        Ok(())
    }
}

/// Whether a switch that a change concerns still moves.
fn must_wait(change: &CircuitChange, moving: &Moving) -> bool {
    let mut switches = change.rewirings.iter().map(|of| of.switch);
    switches.any(|switch| moving.switches.contains(&switch))
}

/// The ports of electrical switches that a move concerns.
fn devices(topology: &Topology, of: &Move) -> Vec<CableEnd> {
    let switch = of.rewiring.switch;
    let places = of
        .affected
        .iter()
        .map(|&port| OpticalPlace { switch, port });
    let ports = places.map(|place| topology.optics.port(place).device);
    ports.collect()
}

/// Those of them that have a circuit.
fn lit(topology: &Topology, of: &Move) -> Vec<CableEnd> {
    let mut ports = devices(topology, of);
    ports.retain(|end| !topology.is_dark(end.node, end.port));
    ports
}

/// Ports start no frame any more, routing knows, and what waits is routed anew; how long it takes
/// until all frames have arrived.
fn drain<D: Driver>(driver: &mut D, routes: &mut Routes, moves: &[Move], now: Instant) -> Time {
    let topology = Arc::clone(&driver.fabric(0).topology);
    let held: Vec<CableEnd> = moves.iter().flat_map(|of| lit(&topology, of)).collect();
    for end in &held {
        change(driver, end.node, now, &Change::Hold(end.port));
    }
    for of in moves {
        leave_out(routes, &topology, of);
    }
    routes.publish(driver, now);
    for end in &held {
        change(driver, end.node, now, &Change::Reroute(end.port));
    }
    let context = &driver.fabric(0).context;
    let longest = context.nic.longest_frame_bytes() + WIRE_OVERHEAD_BYTES;
    let flight = |end: &CableEnd| {
        let peer = topology.neighbour(end.node, end.port).node;
        let delay = topology.cable(end.node, end.port).delay;
        let (latency, _) = context.link_to(*end, peer, delay);
        let wire = context.serialisation(end.node, end.port).of(longest, 0).0;
        // A fraction of a picosecond may be carried from frame to frame.
        latency + wire + Time::LEAST
    };
    held.iter().map(flight).max().unwrap_or_default()
}

/// Routing knows of a move: the new circuits are to be, and not there yet.
fn leave_out(routes: &mut Routes, topology: &Topology, of: &Move) {
    routes.rewire(&of.rewiring);
    for device in devices(topology, of) {
        routes.set_out(topology.cable_number(device.node, device.port), true);
    }
}

/// Changes the graph that all parts see.
fn rewire<D: Driver>(driver: &mut D, change: impl FnOnce(&mut Topology)) {
    let mut topology = Topology::clone(driver.fabric(0).topology());
    change(&mut topology);
    let topology = Arc::new(topology);
    for part in 0..driver.parts() {
        driver.fabric_mut(part).topology = Arc::clone(&topology);
    }
}

fn row(topology: &Topology, place: OpticalPlace, now: Instant) -> CircuitRow {
    let switch = &topology.optics.switches()[place.switch as usize];
    let CableEnd { node, port } = topology.optics.port(place).device;
    let peer = topology.circuit(place);
    let peer_node = peer.map(|_| topology.neighbour(node, port).node);
    let name = |node: NodeId| topology.name(node).to_owned();
    CircuitRow {
        time: now.since_start(),
        optical_switch: place.switch,
        optical_switch_name: switch.name.clone(),
        optical_port: place.port,
        peer_optical_port: peer.map(u32::from),
        node: node.number(),
        node_name: name(node),
        port,
        peer_node: peer_node.map(NodeId::number),
        peer_name: peer_node.map(name).unwrap_or_default(),
    }
}
