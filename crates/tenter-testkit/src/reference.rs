//! The reference engine: one event heap, from which one event is taken at a time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tenter_engine::{Control, Home, LocalNode, Output, RunOutcome};
use tenter_fabric::net::{Event, Medium, Packet};
use tenter_language::units::Instant;
use tenter_sim::plan::Plan;
use tenter_sim::{
    Change, Context, Driver, DriverStats, Fabric, JobProgress, NodeModel, SimulationError,
    Unwatched, Watcher, fabric,
};

/// Advances time in the most obvious way: it takes the next event of the whole network, again and
/// again.
///
/// It shares the model functions with the windowed engine and nothing else: no windows, no
/// calendar, no event list, no inbox. Each departure from a port is an event at exactly its
/// instant. Equal results therefore show that it changes nothing to visit a node for a whole
/// window, to evaluate ports lazily, and to spread nodes over threads.
///
/// A planned event may become wrong: a queue pair is released and the NIC sends sooner, or an
/// acknowledgement moves a timeout. Nothing is removed from the heap for that. Instead, a node's
/// next events are planned anew after each change of the node, and an event that comes up is
/// dropped unless the node confirms that it is due.
#[derive(Debug)]
pub struct ReferenceDriver<W> {
    fabric: Fabric<Unwatched>,
    links: Links<W>,
    /// For each node the instants planned last: one for each port, then one for the node's timers.
    planned: Vec<Vec<Option<Instant>>>,
    /// Events handled so far.
    events: u64,
}

/// A planned event, ordered by its fields: time first, then node, then kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Planned {
    at: Instant,
    node: LocalNode,
    what: What,
}

/// Kind of event. The variants are in the order in which a windowed visit handles them at the same
/// instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The node was changed from outside; its next events have to be planned.
    Look,
    /// A frame starts to leave through this port.
    Departure(u16),
    /// A packet arrives at the node.
    Arrival {
        /// The node's input through which it arrives.
        input: u16,
        /// Packets that were sent to this input before it.
        sequence: u64,
    },
    /// The node's earliest due timer fires.
    Timer,
}

/// Packets on links, and planned events.
#[derive(Debug)]
struct Links<W> {
    /// Receiving ends of all links, by node and input.
    inputs: Vec<Vec<Input>>,
    heap: BinaryHeap<Reverse<Planned>>,
    watcher: W,
}

/// The receiving end of a link.
#[derive(Clone, Debug, Default)]
struct Input {
    /// Packets on the link, oldest first.
    under_way: VecDeque<Packet>,
    /// Packets that were ever sent over the link.
    sent: u64,
}

impl Input {
    /// Returns the number of the packet that arrives next. Lost packets keep their numbers, so that
    /// their planned arrivals match no packet.
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
    /// Builds the network and schedule of a plan.
    ///
    /// # Errors
    /// Returns an error if hosts cannot reach each other, a collective cannot be run, or a link has
    /// no delay.
    pub fn new(plan: &Plan) -> Result<Self, SimulationError> {
        ReferenceDriver::watched(plan, Unwatched)
    }
}

impl<W: Watcher> ReferenceDriver<W> {
    /// Builds a plan's network and schedule; `watcher` receives every event.
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

    /// Returns the next event, which stays in the heap; drops events on the way that are no longer
    /// due.
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

    /// Returns true if the node confirms that the event is due.
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

    /// Notes that an event has left the heap, so that it may be planned again.
    fn forget(&mut self, Planned { at, node, what }: Planned) {
        let planned = &mut self.planned[node.index()];
        let place = match what {
            What::Departure(port) => usize::from(port),
            What::Timer => planned.len() - 1,
            What::Look | What::Arrival { .. } => return,
        };
        // An older event in the heap has been replaced by one that is still there.
        if planned[place] == Some(at) {
            planned[place] = None;
        }
    }

    /// Plans the next event for each port and for the timers, unless it is planned already. All
    /// ports are looked at, since a pause caused at one port changes others.
    fn plan_all(&mut self, node: LocalNode, now: Instant) {
        let model = &self.fabric.nodes()[node.index()];
        let (ports, timer) = match model {
            // A NIC has one next departure, over all its ports.
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

/// Plans an event, unless the last one planned for this port or timer is at the same instant.
fn plan(
    heap: &mut BinaryHeap<Reverse<Planned>>,
    planned: &mut Option<Instant>,
    node: LocalNode,
    what: What,
    at: Option<Instant>,
    now: Instant,
) {
    // A NIC whose link is down has its next departure at `Instant::NEVER`.
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

    /// Takes the packet that arrives through `input` at `at`.
    fn take(&mut self, node: LocalNode, input: u16, at: Instant) -> Packet {
        let link = &mut self.inputs[node.index()][usize::from(input)];
        let packet = link.under_way.pop_front();
        let packet = packet.expect("every planned arrival has its packet");
        assert_eq!(packet.at, at, "packets of a link arrive as they were sent");
        packet
    }
}

impl<W: Watcher> Driver for ReferenceDriver<W> {
    /// Events on links go to the watcher in `Links`, so the fabric needs none.
    type Watcher = Unwatched;

    fn run(&mut self, from: Instant, mut edge: Instant, progress: &JobProgress) -> RunOutcome {
        let mut now = from;
        loop {
            let Some(next) = self.next() else {
                return RunOutcome::Empty;
            };
            assert!(next.at >= now, "{next:?} comes after {now}");
            // The end of a collective may ask for an earlier sync point than the next planned one.
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
        // A sync point may change a node several times; its next events are planned when the run
        // goes on.
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
        // Their planned arrivals stay in the heap, where they match no packet any more.
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
