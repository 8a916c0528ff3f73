//! Samples of every port in use, at a fixed interval and at the end.

use tenter_endpoint::Nic;
use tenter_fabric::net::{CLASSES, Switch, WIRE_OVERHEAD_BYTES};
use tenter_fabric::topology::NodeId;
use tenter_language::units::{Instant, Time};
use tenter_results::SampleRow;

use crate::error::SimulationError;
use crate::network::{Driver, NodeModel};

use super::actor::{EdgeActor, End};
use super::world::World;

/// The sampled state of a port.
#[derive(Clone, Copy)]
struct State {
    /// Frame bytes sent since the beginning. A frame on the wire counts with the part that has been
    /// sent, so that no interval exceeds the line rate.
    sent_bytes: u64,
    /// Frame bytes that wait now.
    queue_bytes: u64,
    /// Most frame bytes that waited since the last sample.
    queue_high_water_bytes: u64,
    /// Classes that the other end has paused, one bit each.
    paused_classes: u16,
}

impl State {
    fn of_nic(nic: &Nic, port: u16, now: Instant, under_way: u64) -> State {
        let classes = (0..CLASSES as u8).map(|class| (class, nic.paused_until(port, class)));
        let transmitter = nic.transmitter(port);
        let unsent = transmitter.unsent_bytes(nic.port_end(port), now, under_way);
        State {
            sent_bytes: transmitter.sent().1.saturating_sub(unsent),
            queue_bytes: 0,
            queue_high_water_bytes: 0,
            paused_classes: paused(classes, now),
        }
    }

    fn of_port(switch: &mut Switch, number: u16, now: Instant, under_way: u64) -> State {
        let queue_high_water_bytes = switch.read_off_high_water(number, now);
        let port = &switch.ports()[usize::from(number)];
        let queues = switch.classes().iter().enumerate();
        State {
            sent_bytes: switch.sent_bytes(number, now, under_way),
            queue_bytes: switch.waiting_bytes(number, now),
            queue_high_water_bytes,
            paused_classes: paused(
                queues.map(|(queue, &class)| (class, port.paused_until(queue))),
                now,
            ),
        }
    }
}

/// Returns the classes that are paused beyond `now`, one bit each.
fn paused(until: impl Iterator<Item = (u8, Instant)>, now: Instant) -> u16 {
    let paused = until.filter(|&(_, until)| until > now);
    paused.fold(0, |bits, (class, _)| bits | 1 << class)
}

/// Takes samples at sync points.
#[derive(Debug)]
pub(super) struct Sampler {
    interval: Option<Time>,
    next: Instant,
    last: Instant,
    /// Frame bytes that each port had sent at the last sample, port after port.
    sent_bytes: Vec<u64>,
}

impl Sampler {
    pub(super) fn new(interval: Option<Time>) -> Sampler {
        Sampler {
            interval,
            next: interval.map_or(Instant::NEVER, Instant::at),
            last: Instant::START,
            sent_bytes: Vec::new(),
        }
    }

    /// Hands the sink a row for every port that has sent since the last sample, has waiting frames,
    /// or is paused. `under_way` is the most bytes that a port may have on the wire.
    fn take<D: Driver>(
        &mut self,
        world: &mut World<'_, D>,
        now: Instant,
        under_way: u64,
    ) -> Result<(), SimulationError> {
        if let Some(interval) = self.interval {
            // Strictly later than `now`, which may itself be a multiple.
            self.next = (now + Time::LEAST).next_multiple_of(interval);
        }
        self.last = now;
        let mut rows = Vec::new();
        let mut place = 0;
        let context = &world.context;
        for node in context.topology().node_ids() {
            match world.driver.node_mut(node) {
                NodeModel::Host(host) => {
                    for number in 0..host.nic().ports() {
                        let state = State::of_nic(host.nic(), number, now, under_way);
                        self.sample(&mut place, now, node, number, state, &mut rows);
                    }
                }
                NodeModel::Switch(switch) => {
                    for number in 0..switch.ports().len() as u16 {
                        let state = State::of_port(switch, number, now, under_way);
                        self.sample(&mut place, now, node, number, state, &mut rows);
                    }
                }
            }
        }
        Ok(world.sink.samples(&rows)?)
    }

    /// Samples one port; ports without activity get no row.
    fn sample(
        &mut self,
        place: &mut usize,
        now: Instant,
        node: NodeId,
        port: u16,
        state: State,
        rows: &mut Vec<SampleRow>,
    ) {
        if self.sent_bytes.len() == *place {
            self.sent_bytes.push(0);
        }
        let before = &mut self.sent_bytes[*place];
        // The unsent rest of a frame includes its preamble, and may exceed the frame itself.
        let tx_bytes = state.sent_bytes.saturating_sub(*before);
        *before += tx_bytes;
        *place += 1;
        if tx_bytes > 0 || state.queue_high_water_bytes > 0 || state.paused_classes > 0 {
            rows.push(SampleRow {
                time: now.since_start(),
                node: node.number(),
                port,
                queue_bytes: state.queue_bytes,
                queue_high_water_bytes: state.queue_high_water_bytes,
                tx_bytes,
                paused_classes: state.paused_classes,
            });
        }
    }
}

/// Returns the wire bytes of the longest frame: at a sync point no port has begun more than one.
fn one_frame<D: Driver>(world: &World<'_, D>) -> u64 {
    u64::from(world.context.nic.longest_frame_bytes() + WIRE_OVERHEAD_BYTES)
}

impl<D: Driver> EdgeActor<D> for Sampler {
    fn next(&self, _: &World<'_, D>) -> Instant {
        self.next
    }

    /// Takes only the first sample before `to`: in an empty network the others would show nothing.
    fn skip(&mut self, world: &mut World<'_, D>, to: Instant) -> Result<(), SimulationError> {
        if self.next < to {
            self.take(world, self.next, one_frame(world))?;
            if let Some(interval) = self.interval {
                self.next = self.next.max(to.next_multiple_of(interval));
            }
        }
        Ok(())
    }

    fn look(&mut self, world: &mut World<'_, D>) -> Result<Option<End>, SimulationError> {
        if world.now >= self.next {
            self.take(world, world.now, one_frame(world))?;
        }
        Ok(None)
    }

    /// Takes a last sample, because ports may have changed since the previous one. Nodes may have
    /// advanced to the end of their window, and have sent several frames in it.
    fn end(&mut self, world: &mut World<'_, D>) -> Result<(), SimulationError> {
        if self.interval.is_some() && world.now > self.last {
            self.take(world, world.now, u64::MAX)?;
        }
        Ok(())
    }
}
