//! Queue pairs' paths through the fabric, and the links that their flows load.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::fluid::{FlowRate, Fluid, LinkId, RouteId, Weight};
use crate::plan::Link;
use tenter_engine::Draws;
use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::topology::{CableEnd, HostId, NodeId, Topology};
use tenter_language::units::{ById, Rate, Time, id};

use crate::network::Context;

use super::carried::{Carried, Load};
use super::host_rates::HostRates;
use super::limits::of_windows;
use super::search::{Net, STAGES_MAX, Stage, only_path, search};
use super::spray::{Burst, Spray, Sprays};
use super::way_delays::WayDelays;

id! {
    /// Index of a path between two leaves.
    pub(super) struct WayId(u32);
}

/// A path from one host's leaf to another's: the links that packets take, each with the part that
/// takes it.
#[derive(Clone, Debug)]
pub(super) struct Way {
    route: RouteId,
    pub(super) delays: Arc<WayDelays>,
    /// Highest rate for a queue pair on this path, by its windows.
    pub(super) limit: FlowRate,
    /// Data sent since it was last spread over the ports.
    sent: Load,
    /// Number of links between the two leaves.
    pub(super) stages: u64,
    /// Source for draws, if the links are drawn for each message.
    spray: Option<Spray>,
    /// Links between the leaves, if all messages share them.
    pub(super) hops: Vec<Hop>,
    /// Switch ports on the path, each with the part that it carries. The port to the host is not
    /// among them.
    ports: Vec<(CableEnd, Weight)>,
}

/// A link between two leaves that a message passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) link: LinkId,
    /// Part of the message that it carries.
    pub(super) part: Weight,
    /// Number of links between the leaves that are passed before it.
    pub(super) stage: u8,
}

impl Hop {
    /// Returns each link with the part that it carries.
    pub(super) fn parts(hops: &[Hop]) -> Vec<(LinkId, Weight)> {
        hops.iter().map(|hop| (hop.link, hop.part)).collect()
    }
}

impl Way {
    /// Returns true if links are drawn for each message.
    pub(super) fn is_drawn(&self) -> bool {
        self.spray.is_some()
    }

    /// Returns the links that packets may take, if they are drawn.
    pub(super) fn drawn_ports(&self, ways: &Ways) -> impl Iterator<Item = LinkId> {
        let ports = self.spray.as_ref().map_or(&[][..], |_| &self.ports);
        ports.iter().map(|(end, _)| ways.link(*end))
    }
}

/// Error: some flows load a link alone that others load in a bundle.
#[derive(Clone, Copy, Debug)]
pub(super) struct MixedLoads;

/// The fabric's links as those of a [`Fluid`], and the paths over them.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// Each node's first port, as a link. The node's other ports follow.
    first: ById<NodeId, u32>,
    /// Bundle to which each link belongs, if any.
    bundles: ById<LinkId, Option<LinkId>>,
    /// Number of links in each bundle. Only looked up, never iterated.
    sizes: HashMap<LinkId, usize>,
    /// True for each link that is loaded alone.
    is_single: ById<LinkId, bool>,
    /// Set while no bundles may be made.
    has_no_bundles: bool,
    /// Source for draws, if links are drawn for each message.
    sprays: Option<Sprays>,
    all: ById<WayId, Way>,
    /// Paths that all queue pairs between two leaves share, by the leaves and both NICs' cables.
    between: BTreeMap<(NodeId, NodeId, [Link; 2]), WayId>,
    /// Other paths, by both NICs' cables and by ports. The inner maps are only looked up, never
    /// iterated.
    over: BTreeMap<[Link; 2], HashMap<Vec<CableEnd>, WayId>>,
    /// Delays, by the links there and back: most paths have equal links.
    delays: BTreeMap<[Vec<Link>; 2], Arc<WayDelays>>,
    /// Scratch list for a path's ports.
    ports_found: Vec<CableEnd>,
    /// A link without capacity, for flows between hosts without a path.
    nowhere: Option<LinkId>,
}

impl Ways {
    pub(super) fn new(
        topology: &Topology,
        fluid: &mut Fluid,
        rates: &HostRates,
        sprays: Option<Sprays>,
        has_no_bundles: bool,
    ) -> Ways {
        let mut first = ById::default();
        let mut links = 0;
        for node in topology.node_ids() {
            first.push(links);
            for port in 0..topology.ports(node) {
                fluid.add_link(rates.of_line(topology, CableEnd { node, port }));
                links += 1;
            }
        }
        Ways {
            first,
            bundles: vec![None; links as usize].into(),
            is_single: vec![false; links as usize].into(),
            // Drawn messages load links unequally, so no links are all alike.
            has_no_bundles: has_no_bundles || sprays.is_some(),
            sprays,
            ..Ways::default()
        }
    }

    pub(super) fn way(&self, way: WayId) -> &Way {
        &self.all[way]
    }

    /// Returns a message's route: the path's, or a new one if its links are drawn.
    pub(super) fn route(&self, fluid: &mut Fluid, way: WayId, burst: Burst) -> RouteId {
        let way = &self.all[way];
        match self.drawn_hops(way, burst) {
            Some(hops) => fluid.own_route(&Hop::parts(&hops)),
            None => way.route,
        }
    }

    /// Draws a message's links, if they are drawn at all.
    pub(super) fn drawn_hops(&self, way: &Way, burst: Burst) -> Option<Box<[Hop]>> {
        let (spray, sprays) = way.spray.as_ref().zip(self.sprays.as_ref())?;
        let parts = spray.parts(sprays, burst).into_iter();
        let hops = parts.map(|(end, part, stage)| Hop {
            link: self.link(end),
            part,
            stage,
        });
        Some(hops.collect())
    }

    /// Returns the number of fabric links that a link in the [`Fluid`] stands for.
    pub(super) fn links_of(&self, link: LinkId) -> u64 {
        self.sizes.get(&link).map_or(1, |&size| size as u64)
    }

    /// Returns true if the path leads to its other end.
    pub(super) fn arrives(&self, way: WayId) -> bool {
        let first = self.all[way].hops.first().map(|hop| hop.link);
        first.is_none() || first != self.nowhere
    }

    /// Returns true if links may be drawn for a message.
    pub(super) fn are_drawn(&self) -> bool {
        self.sprays.is_some()
    }

    /// Returns true if any switch chooses links by chance.
    pub(super) fn are_by_chance(&self) -> bool {
        let sprays = self.sprays.as_ref();
        sprays.is_some_and(|sprays| sprays.are_by_chance)
    }

    /// Returns the walks' variances on a path, tier by tier, and the draws for a message's last
    /// packet. `None` if no switch on the path chooses by chance.
    pub(super) fn walks(&self, way: WayId, burst: Burst) -> Option<(&[f64], Draws)> {
        let walks = &self.all[way].spray.as_ref()?.walks[..];
        let sprays = self.sprays.as_ref().filter(|_| !walks.is_empty())?;
        Some((walks, sprays.of_last_packet(burst)))
    }

    /// Counts data sent over a path. `hops` has the links and parts if these were drawn.
    pub(super) fn send(
        &mut self,
        way: WayId,
        load: Load,
        hops: &[(LinkId, Weight)],
        carried: &mut Carried,
    ) {
        if self.all[way].spray.is_none() {
            self.all[way].sent.add(load);
            return;
        }
        for &(link, part) in hops {
            carried.count(self.end(link), load, part);
        }
    }

    /// Returns the port that sends over a link.
    fn end(&self, link: LinkId) -> CableEnd {
        let first = self.first.as_slice();
        let node = first.partition_point(|&first| first <= link.number()) - 1;
        CableEnd {
            node: NodeId::new(node as u32),
            port: (link.number() - first[node]) as u16,
        }
    }

    /// Spreads the data sent over paths over their ports.
    pub(super) fn spread(&mut self, carried: &mut Carried) {
        for way in &mut self.all {
            let sent = std::mem::take(&mut way.sent);
            if sent != Load::default() {
                for &(end, weight) in &way.ports {
                    carried.count(end, sent, weight);
                }
            }
        }
    }

    /// Returns the links that each bundle stands for.
    pub(super) fn bundles(&self) -> BTreeMap<LinkId, Vec<LinkId>> {
        let mut bundles: BTreeMap<LinkId, Vec<LinkId>> = BTreeMap::new();
        for (link, bundle) in self.bundles.numbered() {
            if let Some(bundle) = bundle {
                bundles.entry(*bundle).or_default().push(link);
            }
        }
        bundles
    }

    /// Loads all links one by one from now on. The caller must find all paths again.
    pub(super) fn dissolve_bundles(&mut self) {
        self.has_no_bundles = true;
        self.bundles.iter_mut().for_each(|bundle| *bundle = None);
        self.sizes.clear();
    }

    /// Forgets all paths, since routes have changed. Links and their rates stay.
    pub(super) fn forget(&mut self) {
        self.all = ById::default();
        self.between.clear();
        self.over.clear();
    }

    /// Returns the link behind a port.
    pub(super) fn link(&self, end: CableEnd) -> LinkId {
        LinkId::new(self.first[end.node] + u32::from(end.port))
    }

    /// Finds the path of packets with a hash from one host to another.
    ///
    /// # Errors
    /// If links must be loaded one by one from now on.
    pub(super) fn find(
        &mut self,
        net: Net<'_>,
        fluid: &mut Fluid,
        ends: [HostId; 2],
        hash: u32,
    ) -> Result<WayId, MixedLoads> {
        let [from, to] = ends;
        let leaves = ends.map(|host| net.topology.neighbour(host, 0).node);
        // NICs on one leaf may have different cables, and so different delays.
        let delays_of = net.context.delays();
        let cables = [nic(from), net.topology.neighbour(to, 0)].map(|end| delays_of.link(end));
        let pair = (leaves[0], leaves[1], cables);
        if let Some(&known) = self.between.get(&pair) {
            return Ok(known);
        }
        let leaves = (leaves[0], leaves[1]);
        // Following one path is much cheaper than the search, and most paths are known.
        let is_only = only_path(net, leaves, to, hash, &mut self.ports_found);
        let over = self.over.get(&cables).filter(|_| is_only);
        if let Some(&known) = over.and_then(|over| over.get(&self.ports_found[..])) {
            return Ok(known);
        }
        let found = search(net, leaves, to, hash);
        if !found.arrives {
            return Ok(self.add_nowhere(fluid));
        }
        let spray = self.sprays.as_ref();
        let spray = spray.and_then(|sprays| Spray::new(net, &found.stages, sprays, leaves));
        let hops = match &spray {
            Some(_) => Vec::new(),
            None => self.hops(net, fluid, &found.stages)?,
        };
        let way = WayId::new(self.all.len() as u32);
        let links = links(net, [from, to], &found.stages);
        let delays = self.delays_over(net, links);
        self.all.push(Way {
            route: fluid.route(&Hop::parts(&hops)),
            hops,
            limit: of_windows(&net.context.nic, &delays),
            delays,
            sent: Load::default(),
            stages: found.stages.len() as u64,
            spray,
            ports: found.stages.concat(),
        });
        if found.is_of_pair {
            self.between.insert(pair, way);
        } else if is_only {
            let over = self.over.entry(cables).or_default();
            over.insert(self.ports_found.clone(), way);
        }
        Ok(way)
    }

    /// Adds a path that leads nowhere, over a link without capacity: its flows wait until routes
    /// change.
    fn add_nowhere(&mut self, fluid: &mut Fluid) -> WayId {
        let nowhere = *self
            .nowhere
            .get_or_insert_with(|| fluid.add_link(FlowRate::default()));
        let way = WayId::new(self.all.len() as u32);
        self.all.push(Way {
            route: fluid.route(&[(nowhere, Weight::WHOLE)]),
            limit: FlowRate::UNLIMITED,
            delays: Arc::new(WayDelays::new(Vec::new(), &[], 0)),
            sent: Load::default(),
            stages: 0,
            spray: None,
            hops: vec![Hop {
                link: nowhere,
                part: Weight::WHOLE,
                stage: 0,
            }],
            ports: Vec::new(),
        });
        way
    }

    /// Returns the delays over links there and back, shared by equal paths.
    fn delays_over(&mut self, net: Net<'_>, links: [Vec<Link>; 2]) -> Arc<WayDelays> {
        if let Some(known) = self.delays.get(&links) {
            return Arc::clone(known);
        }
        let [mut forth, back] = links.clone();
        let credit = wait_for_credit(net.context, &mut forth);
        let full = net.context.nic.longest_frame_bytes();
        let delays = Arc::new(WayDelays::new(forth, &back, full).after(credit));
        self.delays.insert(links, Arc::clone(&delays));
        delays
    }

    /// Returns the links that flows over `stages` load. Equal links in a stage that carry equal
    /// parts are one bundle, so that a flow's cost does not grow with their number.
    fn hops(
        &mut self,
        net: Net<'_>,
        fluid: &mut Fluid,
        stages: &[Stage],
    ) -> Result<Vec<Hop>, MixedLoads> {
        let tax = tax(net.context);
        let mut hops = Vec::new();
        for (place, stage) in stages.iter().enumerate() {
            let hop = |link, part| Hop {
                link,
                part,
                stage: place as u8,
            };
            // Sorted, so that every run numbers the bundles alike.
            let mut alike: BTreeMap<(u64, Weight), Vec<LinkId>> = BTreeMap::new();
            for &(end, weight) in stage {
                let rate = net.topology.cable(end.node, end.port).rate;
                let key = (rate.bits_per_second(), weight);
                alike.entry(key).or_default().push(self.link(end));
            }
            for ((rate, weight), links) in alike {
                let weight = weight.times(tax);
                // A link is loaded alone or in one bundle, never both: `MixedLoads` tells the
                // caller to do without bundles.
                if links.len() == 1 || self.has_no_bundles {
                    for link in links {
                        self.load_alone(link)?;
                        hops.push(hop(link, weight));
                    }
                } else {
                    let whole = FlowRate::of_line(Rate::from_bits_per_second(
                        rate.saturating_mul(links.len() as u64),
                    ));
                    let bundle = self.load_together(fluid, &links, whole)?;
                    hops.push(hop(bundle, weight.many(links.len() as u32)));
                }
            }
        }
        Ok(hops)
    }

    fn load_alone(&mut self, link: LinkId) -> Result<(), MixedLoads> {
        if self.bundles[link].is_some() {
            return Err(MixedLoads);
        }
        self.is_single[link] = true;
        Ok(())
    }

    fn load_together(
        &mut self,
        fluid: &mut Fluid,
        links: &[LinkId],
        whole: FlowRate,
    ) -> Result<LinkId, MixedLoads> {
        let bundle = self.bundles[links[0]];
        let is_same = links.iter().all(|link| self.bundles[*link] == bundle);
        let size = bundle.and_then(|bundle| self.sizes.get(&bundle));
        match (bundle, size) {
            (Some(bundle), Some(&size)) if is_same && size == links.len() => Ok(bundle),
            // A new bundle must not contain a link that other flows load alone.
            (None, None) if is_same && !links.iter().any(|link| self.is_single[*link]) => {
                let bundle = fluid.add_link(whole);
                self.sizes.insert(bundle, links.len());
                for &link in links {
                    self.bundles[link] = Some(bundle);
                }
                Ok(bundle)
            }
            _ => Err(MixedLoads),
        }
    }
}

/// Returns the load between leaves for each byte that a NIC sends, with the overhead from cells and
/// credits.
fn tax(context: &Context) -> Weight {
    let Some(scheduled) = &context.scheduled else {
        return Weight::WHOLE;
    };
    let frame = context.nic.longest_frame_bytes() as u16;
    let wire = u64::from(frame) + u64::from(WIRE_OVERHEAD_BYTES);
    let inside = u64::from(scheduled.spec.fabric_wire_bytes(frame));
    Weight::of(inside, wire)
}

/// Returns the port by which a NIC sends.
pub(super) fn nic(host: HostId) -> CableEnd {
    CableEnd {
        node: host.node(),
        port: 0,
    }
}

/// Returns the links on a path's first branch, and those on the first path back.
fn links(net: Net<'_>, [from, to]: [HostId; 2], stages: &[Stage]) -> [Vec<Link>; 2] {
    let delays = net.context.delays();
    // Circuits may lead elsewhere now than at the start of the scenario, so the peer is looked up.
    let link = |end: CableEnd| {
        let peer = net.topology.neighbour(end.node, end.port).node;
        let delay = net.topology.cable(end.node, end.port).delay;
        delays.link_to(end, peer, delay)
    };
    let mut ends = vec![nic(from)];
    let mut node = net.topology.neighbour(from, 0).node;
    for stage in stages {
        let Some((end, _)) = stage.iter().find(|(end, _)| end.node == node) else {
            break;
        };
        ends.push(*end);
        node = net.topology.neighbour(end.node, end.port).node;
    }
    ends.push(net.topology.neighbour(to, 0));
    let back = net.routing.path(net.topology, to, from);
    let back = std::iter::once(nic(to)).chain(back.take(STAGES_MAX));
    let back = back.map(link).collect();
    [ends.into_iter().map(link).collect(), back]
}

/// Returns the time that a frame waits for its credit in a scheduled fabric: the request and the
/// grant each cross the fabric. With cells, links also no longer store whole frames, since a
/// frame's cells use them at the same time.
fn wait_for_credit(context: &Context, links: &mut [Link]) -> Time {
    let Some(scheduled) = &context.scheduled else {
        return Time::ZERO;
    };
    let last = links.len() - 1;
    let inside = &mut links[1..last];
    if scheduled.spec.cell.is_some() {
        for link in &mut *inside {
            link.stores = false;
        }
    }
    let once: u64 = inside.iter().map(|link| link.latency.ps()).sum();
    Time::from_ps(2 * once)
}
