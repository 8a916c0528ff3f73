//! Circuit changes, which happen at sync points.
//!
//! ```text
//!   announced            all has arrived        light                  routing knows
//!       ├─ drain: held ────────┼─ dark: mirrors move ─┼─ frames flow ───────┤
//!       └─ lose: dark at once ────────────────────────┼─ frames flow ───────┤
//! ```
//!
//! In [`Fabric::topology`](crate::Fabric::topology) a circuit is a cable from the instant at which
//! its light comes to the instant at which it goes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::{CircuitChange, CircuitPlan, OnChange, Plan};
use tenter_fabric::net::{WIRE_OVERHEAD_BYTES, WireLosses};
use tenter_fabric::topology::{CableEnd, NodeId, OpticalPlace, Rewiring, Topology};
use tenter_language::units::{Instant, Time};
use tenter_results::CircuitRow;

use crate::error::SimulationError;
use crate::network::{Change, Driver};
use crate::results::{Missing, check_link, missing};

use super::actor::EdgeActor;
use super::node_changes::{change, lose};
use super::routes::Routes;
use super::world::{Moving, World};

/// The circuits of a trial: planned changes, changes under way, and recorded rows.
#[derive(Debug, Default)]
pub(super) struct Circuits {
    plan: Option<CircuitPlan>,
    /// Changes in the plan, until they are announced at the beginning.
    planned: Vec<CircuitChange>,
    /// Steps to come, by time and by the order in which they were scheduled.
    steps: BTreeMap<(Instant, u64), Step>,
    /// Number of steps scheduled so far.
    decided: u64,
    rows: Vec<CircuitRow>,
    /// For each optical port its peer according to the last row.
    noted: BTreeMap<OpticalPlace, Option<u16>>,
}

/// A step in changing the circuits of one optical switch.
#[derive(Clone, Debug)]
enum Step {
    /// All frames have arrived: the light goes.
    Darken(Move),
    /// Routing learns that circuits have gone.
    Forget(Move),
    /// The light of the new circuits comes.
    Light(Move),
    /// Routing learns of the new circuits.
    Learn(Move),
}

/// New circuits for one optical switch, with all ports that the change affects.
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

    /// Makes ports without an initial circuit dark, before anything has happened.
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

    /// Makes all changes that are due at the present sync point.
    ///
    /// # Errors
    /// A sentence, if frames do not add up on a circuit that ends, or if there are no routes.
    fn apply<D: Driver>(&mut self, world: &mut World<'_, D>) -> Result<(), String> {
        while self.next(world) <= world.now {
            // Steps come first: they may free a switch for which a change waits.
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

    /// Schedules a step for `at`, behind others at that time.
    fn decide(&mut self, at: Instant, step: Step) {
        self.steps.insert((at, self.decided), step);
        self.decided += 1;
    }

    /// Begins a change of circuits, by the plan's `on_change`.
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
            // Routing avoids the circuits from now on; their light goes only when all frames under
            // way have arrived.
            OnChange::Drain => {
                let drained =
                    now.saturating_add(drain(world.driver, &mut world.routes, &moves, now));
                for of in moves {
                    self.decide(drained, Step::Darken(of));
                }
            }
            // The light goes at once. Until routing knows, frames still go to the dark ports and
            // are lost.
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
                // Only now may this optical switch change again.
                world.moving.switches.remove(&of.rewiring.switch);
            }
        }
        Ok(())
    }

    /// Makes all affected ports dark; frames that are still under way are lost.
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
            // The circuit ends here, so its conservation is checked now; its ports will get other
            // peers.
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

    /// Sets the new circuits and joins their ports.
    fn come_up<D: Driver>(&mut self, world: &mut World<'_, D>, of: &Move) {
        let now = world.now;
        let driver = &mut *world.driver;
        rewire(driver, |topology| topology.rewire(&of.rewiring));
        let topology = Arc::clone(&driver.fabric(0).topology);
        let ends = lit(&topology, of);
        for &sender in &ends {
            let receiver = topology.neighbour(sender.node, sender.port);
            // All amounts are read before any of the ports sends.
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

    /// Records the new peers of the affected ports.
    fn note<D: Driver>(&mut self, driver: &D, of: &Move, now: Instant) {
        let topology = driver.fabric(0).topology();
        let switch = of.rewiring.switch;
        let places = of
            .affected
            .iter()
            .map(|&port| OpticalPlace { switch, port });
        for place in places {
            let peer = topology.circuit(place);
            // A port that gets its old peer again has no row.
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

/// Returns true if an optical switch that the change needs is still busy with another.
fn must_wait(change: &CircuitChange, moving: &Moving) -> bool {
    let mut switches = change.rewirings.iter().map(|of| of.switch);
    switches.any(|switch| moving.switches.contains(&switch))
}

/// Returns the ports of electrical switches that a move affects.
fn devices(topology: &Topology, of: &Move) -> Vec<CableEnd> {
    let switch = of.rewiring.switch;
    let places = of
        .affected
        .iter()
        .map(|&port| OpticalPlace { switch, port });
    let ports = places.map(|place| topology.optics.port(place).device);
    ports.collect()
}

/// Returns those of them that have a circuit.
fn lit(topology: &Topology, of: &Move) -> Vec<CableEnd> {
    let mut ports = devices(topology, of);
    ports.retain(|end| !topology.is_dark(end.node, end.port));
    ports
}

/// Stops the affected ports, withdraws their routes, and routes their waiting frames again. Returns
/// the time until all frames under way have arrived.
fn drain<D: Driver>(driver: &mut D, routes: &mut Routes, moves: &[Move], now: Instant) -> Time {
    let topology = Arc::clone(&driver.fabric(0).topology);
    let held: Vec<CableEnd> = moves.iter().flat_map(|of| lit(&topology, of)).collect();
    for end in &held {
        change(driver, end.node, now, &Change::Hold(end.port));
    }
    for of in moves {
        leave_out(routes, &topology, of);
    }
    // Routes first, so that the frames that are routed again find other ports.
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
        // Back-to-back frames carry a fraction of a picosecond over, which may delay one by a whole
        // one.
        latency + wire + Time::LEAST
    };
    held.iter().map(flight).max().unwrap_or_default()
}

/// Gives routing the new circuits, but keeps their cables out of use until the light has come.
fn leave_out(routes: &mut Routes, topology: &Topology, of: &Move) {
    routes.rewire(&of.rewiring);
    for device in devices(topology, of) {
        routes.set_out(topology.cable_number(device.node, device.port), true);
    }
}

/// Changes the graph that all partitions see.
fn rewire<D: Driver>(driver: &mut D, change: impl FnOnce(&mut Topology)) {
    // All partitions share one graph, so it is replaced, not changed.
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
