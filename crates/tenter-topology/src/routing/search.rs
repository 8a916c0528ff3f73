//! Shortest paths to one switch, or to those of a host on all planes, from all others.

use std::collections::BTreeMap;

use tenter_units::ById;

use super::regions::FAR;
use crate::{SwitchId, Topology};

/// A cable to another switch.
#[derive(Clone, Copy)]
struct Edge {
    peer: SwitchId,
    port: u16,
    /// Its port there.
    back: u16,
}

/// The switches and the cables between them, hosts left out.
pub(super) struct SwitchGraph {
    /// Where the edges of each switch begin; they end where the next one's begin.
    starts: ById<SwitchId, u32>,
    /// By port.
    edges: Vec<Edge>,
    /// By switch: whether it forwards traffic of another switch only without another way; empty
    /// where none is like that.
    is_last_resort: ById<SwitchId, bool>,
    /// By switch: its region; empty where there are none, and where each switch is one: then each
    /// cable leads from one to another, and all count alike.
    pub(super) regions: ById<SwitchId, u32>,
}

impl SwitchGraph {
    pub(super) fn of(topology: &Topology) -> SwitchGraph {
        SwitchGraph::without(topology, &[])
    }

    /// The graph of the cables that are in use.
    pub(super) fn without(topology: &Topology, is_out: &[bool]) -> SwitchGraph {
        let regions = if topology.is_region_each() {
            ById::default()
        } else {
            topology.regions.clone()
        };
        let mut graph = SwitchGraph {
            starts: vec![0].into(),
            edges: Vec::new(),
            is_last_resort: topology.last_resorts(),
            regions,
        };
        for switch in topology.switch_nodes() {
            let peers = topology.neighbours(switch).enumerate();
            let switches = peers.filter(|&(port, peer)| {
                let cable = topology.cable_number(switch, port as u16) as usize;
                let out = is_out.get(cable).is_some_and(|out| *out);
                !topology.is_host(peer.node) && !out
            });
            let edges = switches.map(|(port, peer)| Edge {
                peer: topology.switch(peer.node),
                port: port as u16,
                back: peer.port,
            });
            graph.edges.extend(edges);
            graph.starts.push(graph.edges.len() as u32);
        }
        graph
    }

    pub(super) fn switches(&self) -> usize {
        self.starts.len() - 1
    }

    /// Ends of cables between switches.
    pub(super) fn edges_count(&self) -> usize {
        self.edges.len()
    }

    /// The numbers of all switches.
    pub(super) fn ids(&self) -> impl Iterator<Item = SwitchId> + use<> {
        SwitchId::new(0).run(self.switches() as u32)
    }

    pub(super) fn is_last_resort(&self, switch: SwitchId) -> bool {
        let known = self.is_last_resort.get(switch.index());
        known.is_some_and(|is| *is)
    }

    /// What a cable between two switches adds to a distance.
    fn length(&self, from: SwitchId, to: SwitchId) -> u32 {
        let region = |switch: SwitchId| self.regions.get(switch.index());
        if region(from) == region(to) {
            1
        } else {
            FAR + 1
        }
    }

    /// The ports of a switch that lead to another one, ascending.
    pub(super) fn ports_to(&self, from: SwitchId, to: SwitchId) -> impl Iterator<Item = u16> + '_ {
        // Ports are in the order of the switches behind them.
        let edges = self.edges(from);
        let first = edges.partition_point(|edge| edge.peer < to);
        let edges = edges[first..].iter();
        edges
            .take_while(move |edge| edge.peer == to)
            .map(|edge| edge.port)
    }

    /// The switches that a switch is cabled to, ascending, each once.
    pub(super) fn neighbours(&self, switch: SwitchId) -> Vec<SwitchId> {
        let mut neighbours: Vec<SwitchId> =
            self.edges(switch).iter().map(|edge| edge.peer).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        neighbours
    }

    /// The ports of a switch to its own region, or all if there are none.
    pub(super) fn nearest(&self, switch: SwitchId) -> Vec<u16> {
        let edges = self.edges(switch).iter();
        let lengths = edges.map(|edge| (self.length(switch, edge.peer), edge.port));
        let least = lengths.clone().map(|(length, _)| length).min();
        let nearest = lengths.filter(|(length, _)| Some(*length) == least);
        nearest.map(|(_, port)| port).collect()
    }

    fn edges(&self, switch: SwitchId) -> &[Edge] {
        &self.edges[self.starts[switch] as usize..self.starts[switch.after(1)] as usize]
    }
}

/// A breadth-first search backwards from one destination.
pub(super) struct Search {
    /// Per switch: links to the destination, and `FAR` for each of them that is between regions.
    pub(super) distance: ById<SwitchId, u32>,
    /// Switches that have been reached, nearest first; those behind switches of last resort come
    /// after the others.
    queue: Vec<SwitchId>,
    /// Per switch: whether it is behind a switch of last resort.
    is_behind: ById<SwitchId, bool>,
    candidates: Vec<u16>,
    /// Per switch: the ports one link nearer, in any order, where the search notes them.
    nearer: ById<SwitchId, Vec<u16>>,
    /// Whether it does.
    has_nearer: bool,
}

impl Search {
    pub(super) const UNSEEN: u32 = u32::MAX;

    pub(super) fn new(switches: usize) -> Search {
        Search {
            distance: vec![Search::UNSEEN; switches].into(),
            queue: Vec::with_capacity(switches),
            is_behind: vec![false; switches].into(),
            candidates: Vec::new(),
            nearer: vec![Vec::new(); switches].into(),
            has_nearer: false,
        }
    }

    /// Searches from destinations that no way joins, if there are several.
    pub(super) fn run(&mut self, graph: &SwitchGraph, destinations: &[SwitchId]) {
        if !graph.regions.is_empty() {
            self.run_far(graph, destinations);
            return;
        }
        if graph.is_last_resort.is_empty() {
            self.run_plain(graph, destinations);
            return;
        }
        self.has_nearer = false;
        self.distance.fill(Search::UNSEEN);
        self.is_behind.fill(false);
        self.begin(destinations);
        let mut next = 0;
        while let Some(&switch) = self.queue.get(next) {
            next += 1;
            if destinations.contains(&switch) || !graph.is_last_resort(switch) {
                self.reach_from(graph, switch, false);
            }
        }
        if self.queue.len() < self.distance.len() {
            self.run_behind(graph);
        }
    }

    /// The same where all cables count alike and all switches forward: each cable is seen once, and
    /// none of the farthest switches, so that fabrics of a short diameter take little.
    fn run_plain(&mut self, graph: &SwitchGraph, destinations: &[SwitchId]) {
        self.distance.fill(Search::UNSEEN);
        self.nearer.iter_mut().for_each(Vec::clear);
        self.has_nearer = true;
        self.begin(destinations);
        let mut next = 0;
        while let Some(&switch) = self.queue.get(next) {
            let beyond = self.distance[switch] + 1;
            let is_last = self.queue.len() == self.distance.len();
            let farthest = self.queue.last().map(|&last| self.distance[last]);
            if is_last && farthest < Some(beyond) {
                break;
            }
            next += 1;
            for &Edge { peer, back, .. } in graph.edges(switch) {
                if self.distance[peer] == Search::UNSEEN {
                    self.distance[peer] = beyond;
                    self.queue.push(peer);
                }
                if self.distance[peer] == beyond {
                    self.nearer[peer].push(back);
                }
            }
        }
    }

    fn begin(&mut self, destinations: &[SwitchId]) {
        self.queue.clear();
        self.queue.extend_from_slice(destinations);
        for &destination in destinations {
            self.distance[destination] = 0;
        }
    }

    /// The same from several switches, where there are regions: first by the cables between these.
    pub(super) fn run_far(&mut self, graph: &SwitchGraph, destinations: &[SwitchId]) {
        self.has_nearer = false;
        self.distance.fill(Search::UNSEEN);
        self.is_behind.fill(false);
        // There are few distances, and many switches at each.
        let mut open: BTreeMap<u32, Vec<SwitchId>> = BTreeMap::new();
        for &destination in destinations {
            self.distance[destination] = 0;
        }
        open.insert(0, destinations.to_vec());
        while let Some((distance, switches)) = open.pop_first() {
            for switch in switches {
                if distance > self.distance[switch] {
                    continue;
                }
                for &Edge { peer, .. } in graph.edges(switch) {
                    let beyond = distance + graph.length(switch, peer);
                    if beyond < self.distance[peer] {
                        self.distance[peer] = beyond;
                        open.entry(beyond).or_default().push(peer);
                    }
                }
            }
        }
    }

    /// Links from a switch to the destination.
    pub(super) fn links(&self, switch: SwitchId) -> u32 {
        match self.distance[switch] {
            Search::UNSEEN => Search::UNSEEN,
            distance => distance % FAR,
        }
    }

    /// Goes on through switches of last resort to those that cannot be reached otherwise.
    fn run_behind(&mut self, graph: &SwitchGraph) {
        let reached = self.queue.len();
        let (mut early, mut late) = (0, reached);
        loop {
            // Whichever is nearer; both are in the order of distance.
            let far = |place: Option<&SwitchId>| place.map(|&s| self.distance[s]);
            let next = match (
                far(self.queue[..reached].get(early)),
                far(self.queue.get(late)),
            ) {
                (Some(one), Some(other)) if other < one => &mut late,
                (Some(_), _) => &mut early,
                (None, Some(_)) => &mut late,
                (None, None) => break,
            };
            let switch = self.queue[*next];
            *next += 1;
            self.reach_from(graph, switch, true);
        }
    }

    fn reach_from(&mut self, graph: &SwitchGraph, switch: SwitchId, is_behind: bool) {
        let beyond = self.distance[switch] + 1;
        for Edge { peer, .. } in graph.edges(switch) {
            let distance = &mut self.distance[*peer];
            if *distance == Search::UNSEEN {
                *distance = beyond;
                self.is_behind[*peer] = is_behind;
                self.queue.push(*peer);
            }
        }
    }

    /// The ports of `switch` that lead to the destination on the shortest way through the tree.
    pub(super) fn others(&mut self, graph: &SwitchGraph, switch: SwitchId) -> &[u16] {
        self.candidates.clear();
        let distance = |peer: SwitchId| {
            let is_of_tree = !graph.is_last_resort(peer) && !self.is_behind[peer];
            is_of_tree.then(|| self.distance[peer])
        };
        let edges = graph.edges(switch).iter();
        let known = edges.filter_map(|edge| Some((distance(edge.peer)?, edge.port)));
        let known = known.filter(|(distance, _)| *distance != Search::UNSEEN);
        if let Some(least) = known.clone().map(|(distance, _)| distance).min() {
            let ports = known.filter(|(distance, _)| *distance == least);
            self.candidates.extend(ports.map(|(_, port)| port));
        }
        &self.candidates
    }

    /// The ports of `switch` one link nearer to the destination.
    pub(super) fn candidates(&mut self, graph: &SwitchGraph, switch: SwitchId) -> &[u16] {
        if self.has_nearer {
            self.nearer[switch].sort_unstable();
            return &self.nearer[switch];
        }
        self.candidates.clear();
        let here = self.distance[switch];
        if here != Search::UNSEEN && here > 0 {
            let is_behind = self.is_behind[switch];
            let edges = graph.edges(switch).iter();
            let nearer = edges.filter(|Edge { peer, .. }| {
                let there = self.distance[*peer];
                let passes = !graph.is_last_resort(*peer) && !self.is_behind[*peer];
                let nearer = there != Search::UNSEEN && there + graph.length(switch, *peer) == here;
                nearer && (there == 0 || is_behind || passes)
            });
            self.candidates.extend(nearer.map(|edge| edge.port));
        }
        &self.candidates
    }
}
