//! Scheduled fabrics: memory, credits, speed-up, and times for packets that wait for credit only.

use std::collections::VecDeque;

use serde::Serialize;
use tenter_fabric::net::scheduled::ScheduledSpec;
use tenter_fabric::net::{Limit, UNLIMITED_POOL, WIRE_OVERHEAD_BYTES};
use tenter_fabric::topology::{CableEnd, HostId, Routing};
use tenter_language::units::{Rate, SerialisationTime, Time};
use tenter_sim::plan::Plan;
use tenter_sim::plan::unloaded::{Wire, link};

/// A scheduled fabric in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScheduledFacts {
    /// Capacity that all virtual output queues in a leaf share; missing without a limit.
    pub leaf_bytes: Option<u64>,
    /// Capacity for one virtual output queue with separate memory; missing if they share memory or
    /// have no limit.
    pub voq_bytes: Option<u64>,
    /// Bytes that one credit allows.
    pub credit_bytes: u64,
    /// Interval between credits from the fastest port to a NIC.
    pub credit_ns: f64,
    /// Rate at which that port grants credit, over-speed included.
    pub credit_gbps: f64,
    /// Waiting bytes at which a port grants no credit.
    pub egress_buffer_bytes: u64,
    /// Time that the longest packet takes on a fabric link, in percent of a NIC's link with that
    /// rate.
    pub fabric_percent: f64,
    /// Least ratio, over all leaves, between the rates into the fabric and to NICs, cell overhead
    /// included.
    pub speed_up: f64,
    /// Delay for a request or credit between the first two leaves; missing with one leaf.
    pub control_ns: Option<f64>,
    /// Time from the longest packet's first bit to its last bit at the other NIC, between these
    /// leaves, if its virtual output queue has no credit.
    pub cold_ns: Option<f64>,
    /// Cold time less the wait for credit, as for a queue that has some.
    pub warm_ns: Option<f64>,
}

/// Returns the values for a scheduled fabric; `None` for any other.
pub(crate) fn scheduled_facts(plan: &Plan, routing: &Routing) -> Option<ScheduledFacts> {
    let spec = plan.scheduled.as_ref()?;
    let topology = &plan.topology;
    let hosts = topology.host_ids();
    let rates = hosts.clone().map(|host| topology.cable(host, 0).rate);
    let rate = rates.max().unwrap_or_default();
    let pace = pace(spec, rate);
    let interval = pace.of(spec.credit_bytes, 0).0;
    let frame = plan.nic.longest_frame_bytes();
    let on_link = f64::from(frame + WIRE_OVERHEAD_BYTES);
    let in_fabric = f64::from(spec.fabric_wire_bytes(frame as u16)) / on_link;
    let first = topology.neighbour(HostId::new(0), 0).node;
    let other = hosts
        .clone()
        .find(|&host| topology.neighbour(host, 0).node != first);
    let way = other.map(|to| Way::between(plan, spec, routing, HostId::new(0), to));
    let control = way.as_ref().map(|way| way.control);
    let cold = way.map(|way| way.pass(&[(frame, Time::ZERO)]));
    let limit = plan.switches.usual.classes.first().map(|class| class.limit);
    let shared = plan
        .switches
        .usual
        .pool_bytes
        .iter()
        .all(|&bytes| bytes != UNLIMITED_POOL);
    let own = match limit {
        Some(Limit::Static(bytes)) if !shared && bytes < UNLIMITED_POOL => Some(bytes),
        _ => None,
    };
    Some(ScheduledFacts {
        leaf_bytes: shared.then(|| plan.switches.usual.pool_bytes.iter().sum()),
        voq_bytes: own,
        credit_bytes: u64::from(spec.credit_bytes),
        credit_ns: interval.as_ns(),
        credit_gbps: pace.bits_per_second() as f64 / 1e9,
        egress_buffer_bytes: spec.egress_buffer_bytes,
        fabric_percent: 100.0 * in_fabric,
        speed_up: speed_up(plan) / in_fabric,
        control_ns: control.map(Time::as_ns),
        cold_ns: cold.map(Time::as_ns),
        warm_ns: cold
            .zip(control)
            // A request and a credit cross between the leaves first if the queue is cold.
            .map(|(cold, control)| (cold - control * 2).as_ns()),
    })
}

fn pace(spec: &ScheduledSpec, rate: Rate) -> SerialisationTime {
    rate.serialisation(spec.over_speed_ppm.cast_signed())
}

/// Returns the least up-to-down ratio over all leaves.
fn speed_up(plan: &Plan) -> f64 {
    let topology = &plan.topology;
    let switches = topology.switch_nodes();
    let ratios = switches.filter_map(|switch| {
        let (mut up, mut down) = (0.0, 0.0);
        for (port, peer) in (0..).zip(topology.neighbours(switch)) {
            let rate = topology.cable(switch, port).rate.bits_per_second() as f64;
            if topology.is_host(peer.node) {
                down += rate;
            } else {
                up += rate;
            }
        }
        (down > 0.0).then_some(up / down)
    });
    ratios.fold(f64::INFINITY, f64::min)
}

/// Returns a request's time between NICs at different leaves; `None` at one leaf, or if the fabric
/// is not scheduled. `frames` has each frame's length and the gap that the sender leaves after it.
pub(crate) fn scheduled_time(
    plan: &Plan,
    routing: &Routing,
    from: HostId,
    to: HostId,
    frames: &[(u32, Time)],
) -> Option<Time> {
    let spec = plan.scheduled.as_ref()?;
    let leaf = |host: HostId| plan.topology.neighbour(host, 0).node;
    if leaf(from) == leaf(to) {
        return None;
    }
    Some(Way::between(plan, spec, routing, from, to).pass(frames))
}

/// The path between two NICs at different leaves.
struct Way<'a> {
    spec: &'a ScheduledSpec,
    first: Wire,
    /// For each link from the leaf, this link and one from its spine to the other leaf.
    lanes: Vec<[Wire; 2]>,
    last: Wire,
    /// Delay for a request or credit between the leaves.
    control: Time,
    pace: SerialisationTime,
}

impl<'a> Way<'a> {
    fn between(
        plan: &'a Plan,
        spec: &'a ScheduledSpec,
        routing: &Routing,
        from: HostId,
        to: HostId,
    ) -> Way<'a> {
        let topology = &plan.topology;
        let [leaf, other] = [from, to].map(|host| topology.neighbour(host, 0));
        let mut lanes = Vec::new();
        let mut control = Time::MAX;
        let up = routing.candidates(topology.switch(leaf.node), to);
        for (place, &port) in up.iter().enumerate() {
            let node = topology.neighbour(leaf.node, port).node;
            let down = routing.candidates(topology.switch(node), to);
            // Parallel links to one spine take its links down in turn.
            let before = up[..place].iter();
            let same = |&&port: &&u16| topology.neighbour(leaf.node, port).node == node;
            let port_down = down[before.filter(same).count() % down.len()];
            let ends = [(leaf.node, port), (node, port_down)];
            let links = ends.map(|(node, port)| link(plan, CableEnd { node, port }));
            control = control.min(links[0].latency + links[1].latency);
            lanes.push(links.map(Wire::of));
        }
        let host = CableEnd {
            node: from.node(),
            port: 0,
        };
        let rate = topology.cable(to, 0).rate;
        Way {
            spec,
            first: Wire::of(link(plan, host)),
            lanes,
            last: Wire::of(link(plan, other)),
            control,
            pace: pace(spec, rate),
        }
    }

    /// Simulates frames, the first ready at 0, and returns when the last arrives.
    fn pass(mut self, frames: &[(u32, Time)]) -> Time {
        let mut arrivals = VecDeque::new();
        for &(frame, gap) in frames {
            arrivals.push_back((self.first.pass(frame, Time::ZERO), frame));
            self.first.pause_for(gap);
        }
        let mut flow = Flow::default();
        let mut end = Time::ZERO;
        while let Some((now, what)) = flow.next(&arrivals) {
            match what {
                What::Arrival => {
                    let (_, frame) = arrivals.pop_front().unwrap_or_default();
                    flow.waiting.push_back(frame);
                    flow.arrived += u64::from(frame + WIRE_OVERHEAD_BYTES);
                    flow.ask(now + self.control);
                }
                What::Credit => {
                    flow.credits.pop_front();
                    flow.granted += u64::from(self.spec.credit_bytes);
                }
                What::Request => flow.hear(),
                What::Grant => flow.grant(now, self.spec.credit_bytes, self.pace, self.control),
            }
            // Any credit left lets a packet go, so a queue overdraws its credit by a packet at
            // most.
            while flow.granted > flow.sent
                && let Some(frame) = flow.waiting.pop_front()
            {
                flow.sent += u64::from(frame + WIRE_OVERHEAD_BYTES);
                // Packets leave reassembly in order: none is whole before its predecessor.
                flow.whole = flow
                    .whole
                    .max(self.cross(frame as u16, now, &mut flow.turn));
                end = self.last.pass(u32::from(frame as u16), flow.whole);
            }
        }
        end
    }

    /// Returns when all cells of a packet that leaves at `now` are at the other leaf.
    fn cross(&mut self, frame: u16, now: Time, turn: &mut usize) -> Time {
        let mut whole = now;
        for number in 0..self.spec.cells(frame) {
            let bytes = u32::from(self.spec.cell_frame_bytes(frame, number));
            let count = self.lanes.len();
            let [up, down] = &mut self.lanes[*turn % count];
            *turn += 1;
            let at_spine = up.pass(bytes, now);
            whole = whole.max(down.pass(bytes, at_spine));
        }
        whole
    }
}

/// Kind of event that comes next.
enum What {
    Arrival,
    Credit,
    Request,
    Grant,
}

/// One virtual output queue with its scheduler.
#[derive(Default)]
struct Flow {
    waiting: VecDeque<u32>,
    arrived: u64,
    asked: u64,
    granted: u64,
    sent: u64,
    requests: VecDeque<(Time, u64)>,
    credits: VecDeque<Time>,
    debt: i64,
    due: Option<Time>,
    next_at: Time,
    carried: u32,
    turn: usize,
    /// Instant at which the last packet was whole at the other leaf.
    whole: Time,
}

impl Flow {
    fn next(&self, arrivals: &VecDeque<(Time, u32)>) -> Option<(Time, What)> {
        let all = [
            (arrivals.front().map(|arrival| arrival.0), What::Arrival),
            (self.credits.front().copied(), What::Credit),
            (
                self.requests.front().map(|request| request.0),
                What::Request,
            ),
            (self.due, What::Grant),
        ];
        let all = all.into_iter().filter_map(|(at, what)| Some((at?, what)));
        // At one instant the first kind in this list comes first.
        all.min_by_key(|(at, _)| *at)
    }

    fn ask(&mut self, heard: Time) {
        // Bytes that a credit or an earlier request covers are not requested again.
        if self.arrived > self.granted.max(self.asked) {
            self.requests.push_back((heard, self.arrived - self.asked));
            self.asked = self.arrived;
        }
    }

    fn hear(&mut self) {
        if let Some((now, bytes)) = self.requests.pop_front() {
            self.debt += bytes.cast_signed();
            // A port that has just granted keeps its pace, whoever asks.
            self.due = (self.debt > 0).then(|| self.next_at.max(now));
        }
    }

    fn grant(&mut self, now: Time, bytes: u32, pace: SerialisationTime, control: Time) {
        // Fractions of a picosecond carry over only between credits without a gap.
        let carried = if now == self.next_at { self.carried } else { 0 };
        let (interval, carried) = pace.of(bytes, carried);
        self.carried = carried;
        self.next_at = now + interval;
        self.debt -= i64::from(bytes);
        self.due = (self.debt > 0).then_some(self.next_at);
        self.credits.push_back(now + control);
    }
}
