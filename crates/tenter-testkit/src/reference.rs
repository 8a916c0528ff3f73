//! The reference engine: every event in one heap, taken one at a time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tenter_engine::{Control, Home, LocalNode, Output, RunOutcome};
use tenter_net::{Event, Medium, Packet};
use tenter_plan::Plan;
use tenter_sim::{
    Change, Context, Driver, DriverStats, Fabric, JobProgress, NodeModel, SimulationError,
    Unwatched, Watcher, fabric,
};
use tenter_units::Instant;

/// Moves time the most obvious way there is: the next event of the whole network, again and again.
///
/// It drives the same model functions as the windowed engine and shares nothing else with it: no
/// windows, no calendar, no event list, no inbox of the engine. A departure from a port is an event
/// of its own, at exactly its instant. So equal results show that visiting a node for a whole
/// window at a time, evaluating ports lazily and spreading nodes over threads change nothing.
///
/// What is planned may become wrong: a queue pair is released and the NIC sends sooner, an
/// acknowledgement moves a timeout. Nothing is taken out of the heap for that. Whenever a node
/// changes, its next events are put in again, and an event that comes up is dropped unless the node
/// itself says that it is due.
#[derive(Debug)]
pub struct ReferenceDriver<W> {
    fabric: Fabric<Unwatched>,
    links: Links<W>,
    /// For each node what was last planned for each of its ports, and for the node itself.
    planned: Vec<Vec<Option<Instant>>>,
    events: u64,
}

/// Something that happens, in the order in which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Planned {
    at: Instant,
    node: LocalNode,
    what: What,
}

/// What happens to a node; the order is that of events at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The node was changed from outside and may have something to do: put it into the heap.
    Look,
    /// A frame starts to leave through a port.
    Departure(u16),
    /// A packet comes out of a link.
    Arrival {
        /// Through which input of the node.
        input: u16,
        /// How many had come through it before.
        sequence: u64,
    },
    /// The first of the node's timers that are due fires.
    Timer,
}

/// What is on its way, and what is planned.
#[derive(Debug)]
struct Links<W> {
    /// The receiving ends of all links, node by node.
    inputs: Vec<Vec<Input>>,
    heap: BinaryHeap<Reverse<Planned>>,
    watcher: W,
}

/// The receiving end of a link.
#[derive(Clone, Debug, Default)]
struct Input {
    under_way: VecDeque<Packet>,
    sent: u64,
}

impl Input {
    /// The number of the packet that comes out next; those that were lost have none.
    fn first(&self) -> Option<u64> {
        let under_way = self.under_way.len() as u64;
        (under_way > 0).then(|| self.sent - under_way)
    }
}

impl<W: Watcher> Medium for Links<W> {
    const WATCHED: bool = W::WATCHED;

    fn send(&mut self, output: Output, at: Instant, packet: &Packet) {
        let Output { node, input, .. } = output;
        let link = &mut self.inputs[node.index()][usize::from(input)];
        let sequence = link.sent;
        link.sent += 1;
        link.under_way.push_back(Packet { at, ..*packet });
        let what = What::Arrival { input, sequence };
        self.heap.push(Reverse(Planned { at, node, what }));
    }

    fn note(&mut self, event: Event) {
        self.watcher.note(event);
    }
}

impl ReferenceDriver<Unwatched> {
    /// Builds a plan's network and schedule.
    ///
    /// # Errors
    /// When hosts cannot reach each other, a collective cannot be run, or a link has no delay.
    pub fn new(plan: &Plan) -> Result<Self, SimulationError> {
        ReferenceDriver::watched(plan, Unwatched)
    }
}

impl<W: Watcher> ReferenceDriver<W> {
    /// Builds a plan's network and schedule, and tells `watcher` of every event.
    ///
    /// # Errors
    /// As [`ReferenceDriver::new`].
    pub fn watched(plan: &Plan, watcher: W) -> Result<Self, SimulationError> {
        let fabric = fabric(plan)?;
        let links = Links::new(fabric.context(), watcher);
        Ok(ReferenceDriver {
            planned: vec![Vec::new(); fabric.nodes().len()],
            fabric,
            links,
            events: 0,
        })
    }

    /// The next thing that happens, still in the heap; what is out of date is dropped on the way.
    fn next(&mut self) -> Option<Planned> {
        while let Some(&Reverse(planned)) = self.links.heap.peek() {
            if self.is_due(planned) {
                return Some(planned);
            }
            self.links.heap.pop();
            self.forget(planned);
        }
        None
    }

    /// Whether the node still sees it coming.
    fn is_due(&self, Planned { at, node, what }: Planned) -> bool {
        let due = match (&self.fabric.nodes()[node.index()], what) {
            (NodeModel::Host(host), What::Departure(_)) => host.next_departure(at),
            (NodeModel::Switch(switch), What::Departure(port)) => {
                switch.ports()[usize::from(port)].next_departure()
            }
            (NodeModel::Host(host), What::Timer) => host.next_timer(),
            (NodeModel::Switch(switch), What::Timer) => switch.next_timer(),
            (_, What::Arrival { input, sequence }) => {
                let first = self.links.inputs[node.index()][usize::from(input)].first();
                (first == Some(sequence)).then_some(at)
            }
            (_, What::Look) => Some(at),
        };
        due == Some(at)
    }

    fn handle(&mut self, Planned { at, node, what }: Planned) {
        self.events += 1;
        let ReferenceDriver { fabric, links, .. } = self;
        match what {
            What::Look => self.plan_all(node, at),
            What::Departure(port) => {
                match &fabric.nodes()[node.index()] {
                    NodeModel::Host(_) => fabric.host_departs(node, at, links),
                    NodeModel::Switch(_) => fabric.port_departs(node, port, at, links),
                }
                self.plan_all(node, at);
            }
            What::Arrival { input, .. } => {
                let packet = links.take(node, input, at);
                fabric.arrives(node, input, packet, links);
                self.plan_all(node, at);
            }
            What::Timer => {
                fabric.fires(node, at, links);
                self.plan_all(node, at);
            }
        }
    }

    /// What has left the heap may be planned again.
    fn forget(&mut self, Planned { at, node, what }: Planned) {
        let planned = &mut self.planned[node.index()];
        let place = match what {
            What::Departure(port) => usize::from(port),
            What::Timer => planned.len() - 1,
            What::Look | What::Arrival { .. } => return,
        };
        if planned[place] == Some(at) {
            planned[place] = None;
        }
    }

    /// Plans the next event of every port of a node and of the node itself, unless it is planned
    /// already: a pause that one port causes changes another.
    fn plan_all(&mut self, node: LocalNode, now: Instant) {
        let model = &self.fabric.nodes()[node.index()];
        let (ports, timer) = match model {
            NodeModel::Host(host) => (1, host.next_timer()),
            NodeModel::Switch(switch) => (switch.ports().len() as u16, switch.next_timer()),
        };
        self.planned[node.index()].resize(usize::from(ports) + 1, None);
        for port in 0..ports {
            let departure = match model {
                NodeModel::Host(host) => host.next_departure(now),
                NodeModel::Switch(switch) => switch.ports()[usize::from(port)].next_departure(),
            };
            let planned = &mut self.planned[node.index()][usize::from(port)];
            let what = What::Departure(port);
            plan(&mut self.links.heap, planned, node, what, departure, now);
        }
        let planned = &mut self.planned[node.index()][usize::from(ports)];
        plan(&mut self.links.heap, planned, node, What::Timer, timer, now);
    }
}

/// Plans an event, unless it is the one of its kind that was planned last.
fn plan(
    heap: &mut BinaryHeap<Reverse<Planned>>,
    planned: &mut Option<Instant>,
    node: LocalNode,
    what: What,
    at: Option<Instant>,
    now: Instant,
) {
    // A NIC whose link is down would send at the end of all time.
    let Some(at) = at.filter(|&when| *planned != at && !when.is_never()) else {
        return;
    };
    assert!(
        at >= now,
        "node {node} plans {what:?} at {at}, before {now}, which is now"
    );
    *planned = Some(at);
    heap.push(Reverse(Planned { at, node, what }));
}

impl<W> Links<W> {
    fn new(context: &Context, watcher: W) -> Links<W> {
        let topology = context.topology();
        let mut inputs = vec![Vec::new(); topology.nodes.len()];
        for node in topology.node_ids() {
            let home = context.home(node).node;
            inputs[home.index()] = vec![Input::default(); usize::from(context.inputs(node))];
        }
        Links {
            inputs,
            heap: BinaryHeap::new(),
            watcher,
        }
    }

    /// Takes the packet that comes out of a link at `at`.
    fn take(&mut self, node: LocalNode, input: u16, at: Instant) -> Packet {
        let link = &mut self.inputs[node.index()][usize::from(input)];
        let packet = link.under_way.pop_front();
        let packet = packet.expect("every planned arrival has its packet");
        assert_eq!(packet.at, at, "packets of a link arrive as they were sent");
        packet
    }
}

impl<W: Watcher> Driver for ReferenceDriver<W> {
    /// The watcher stands at the links, not in the fabric.
    type Watcher = Unwatched;

    fn run(&mut self, from: Instant, mut edge: Instant, progress: &JobProgress) -> RunOutcome {
        let mut now = from;
        loop {
            let Some(next) = self.next() else {
                return RunOutcome::Empty;
            };
            assert!(next.at >= now, "{next:?} comes after {now}");
            edge = edge.min(progress.edge_after(now));
            if next.at >= edge {
                return RunOutcome::Edge(edge);
            }
            now = next.at;
            self.links.heap.pop();
            self.forget(next);
            self.handle(next);
        }
    }

    fn parts(&self) -> usize {
        1
    }

    fn fabric(&self, _: usize) -> &Fabric<Unwatched> {
        &self.fabric
    }

    fn fabric_mut(&mut self, _: usize) -> &mut Fabric<Unwatched> {
        &mut self.fabric
    }

    fn wake(&mut self, home: Home, at: Instant) {
        self.links.heap.push(Reverse(Planned {
            at,
            node: home.node,
            what: What::Look,
        }));
    }

    fn in_flight(&self, home: Home) -> Vec<(u16, Packet)> {
        let inputs = (0..).zip(&self.links.inputs[home.node.index()]);
        let packets = inputs.flat_map(|(number, input)| {
            let under_way = input.under_way.iter();
            under_way.map(move |&packet| (number, packet))
        });
        packets.collect()
    }

    fn lose(&mut self, home: Home, input: u16) -> Vec<Packet> {
        let input = &mut self.links.inputs[home.node.index()][usize::from(input)];
        input.under_way.drain(..).collect()
    }

    fn change(&mut self, home: Home, now: Instant, change: &Change) -> bool {
        self.fabric.change(home.node, now, change, &mut self.links)
    }

    fn stats(&self) -> DriverStats {
        DriverStats {
            node_visits: self.events,
            ..DriverStats::default()
        }
    }
}
