//! The ways of queue pairs through the fabric, and the links that their flows load.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tenter_engine::Draws;
use tenter_flow::{FlowRate, Fluid, LinkId, RouteId, Weight};
use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_plan::Link;
use tenter_topology::{CableEnd, HostId, NodeId, Topology};
use tenter_units::{ById, Rate, Time, id};

use crate::network::Context;

use super::carried::{Carried, Load};
use super::host_rates::HostRates;
use super::limits::of_windows;
use super::search::{Net, STAGES_MAX, Stage, only_path, search};
use super::spray::{Burst, Spray, Sprays};
use super::way_delays::WayDelays;

id! {
    /// A way between two leaves.
    pub(super) struct WayId(u32);
}

/// A way from the leaf of one host to that of another.
#[derive(Clone, Debug)]
pub(super) struct Way {
    route: RouteId,
    pub(super) delays: Arc<WayDelays>,
    /// The most that a queue pair sends at.
    pub(super) limit: FlowRate,
    /// What has been sent since that was last spread over the ports.
    sent: Load,
    /// Links between the two leaves.
    pub(super) stages: u64,
    /// What its packets are drawn from, where they are.
    spray: Option<Spray>,
    /// The links that all its messages pass between the leaves, where they are not drawn.
    pub(super) hops: Vec<Hop>,
    /// The ports of switches on it, each with the part that it carries: that to the host is none of
    /// them.
    ports: Vec<(CableEnd, Weight)>,
}

/// A link that a message passes between two leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) link: LinkId,
    /// How much of the message it carries.
    pub(super) part: Weight,
    /// How many links it passes between the leaves before that.
    pub(super) stage: u8,
}

impl Hop {
    /// What each link carries.
    pub(super) fn parts(hops: &[Hop]) -> Vec<(LinkId, Weight)> {
        hops.iter().map(|hop| (hop.link, hop.part)).collect()
    }
}

impl Way {
    /// Whether the packets of its messages are drawn.
    pub(super) fn is_drawn(&self) -> bool {
        self.spray.is_some()
    }

    /// The links that its packets may take, where they are drawn.
    pub(super) fn drawn_ports(&self, ways: &Ways) -> impl Iterator<Item = LinkId> {
        let ports = self.spray.as_ref().map_or(&[][..], |_| &self.ports);
        ports.iter().map(|(end, _)| ways.link(*end))
    }
}

/// Some flows load a link by itself that others load as one of several alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct MixedLoads;

/// The links of the fabric as those of a [`Fluid`], and the ways over them.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// The link of the first port of each node; those of its others follow.
    first: ById<NodeId, u32>,
    /// For each link the bundle that it is loaded as part of.
    bundles: ById<LinkId, Option<LinkId>>,
    /// How many links each bundle has. Only looked up.
    sizes: HashMap<LinkId, usize>,
    /// Whether links are loaded by themselves.
    is_single: ById<LinkId, bool>,
    /// Whether there are no bundles at all.
    has_no_bundles: bool,
    /// What decides the ports of packets, where they are drawn for each message.
    sprays: Option<Sprays>,
    all: ById<WayId, Way>,
    /// Ways that do not depend on the queue pair.
    between: BTreeMap<(NodeId, NodeId, [Link; 2]), WayId>,
    /// All others, by their ports and the cables of both NICs. Ports are only looked up.
    over: BTreeMap<[Link; 2], HashMap<Vec<CableEnd>, WayId>>,
    /// What messages take on ways, by the links forth and back: most ways have links alike.
    delays: BTreeMap<[Vec<Link>; 2], Arc<WayDelays>>,
    /// Room for the ports of a way that is looked for.
    ports_found: Vec<CableEnd>,
    /// Carries nothing: the link of flows between hosts that have no way to each other.
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
            // Flows load links unequally.
            has_no_bundles: has_no_bundles || sprays.is_some(),
            sprays,
            ..Ways::default()
        }
    }

    pub(super) fn way(&self, way: WayId) -> &Way {
        &self.all[way]
    }

    /// The route of a message over a way: one that its messages share, or one
    /// whose parts are drawn for it.
    pub(super) fn route(&self, fluid: &mut Fluid, way: WayId, burst: Burst) -> RouteId {
        let way = &self.all[way];
        match self.drawn_hops(way, burst) {
            Some(hops) => fluid.own_route(&Hop::parts(&hops)),
            None => way.route,
        }
    }

    /// The links of a message over a way, where they are drawn for it.
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

    /// How many links of the fabric one that flows load stands for.
    pub(super) fn links_of(&self, link: LinkId) -> u64 {
        self.sizes.get(&link).map_or(1, |&size| size as u64)
    }

    /// Whether a way leads to its other end.
    pub(super) fn arrives(&self, way: WayId) -> bool {
        let first = self.all[way].hops.first().map(|hop| hop.link);
        first.is_none() || first != self.nowhere
    }

    /// Whether the packets of any message may be drawn.
    pub(super) fn are_drawn(&self) -> bool {
        self.sprays.is_some()
    }

    /// Whether links are chosen by chance anywhere.
    pub(super) fn are_by_chance(&self) -> bool {
        let sprays = self.sprays.as_ref();
        sprays.is_some_and(|sprays| sprays.are_by_chance)
    }

    /// The variances of the walks on a way, tier by tier, with the draws of a message's last
    /// packet; nothing where its links are not chosen by chance.
    pub(super) fn walks(&self, way: WayId, burst: Burst) -> Option<(&[f64], Draws)> {
        let walks = &self.all[way].spray.as_ref()?.walks[..];
        let sprays = self.sprays.as_ref().filter(|_| !walks.is_empty())?;
        Some((walks, sprays.of_last_packet(burst)))
    }

    /// Counts what has been sent over a way, by a flow with some parts where those were drawn.
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

    /// The port that sends over a link.
    fn end(&self, link: LinkId) -> CableEnd {
        let first = self.first.as_slice();
        let node = first.partition_point(|&first| first <= link.number()) - 1;
        CableEnd {
            node: NodeId::new(node as u32),
            port: (link.number() - first[node]) as u16,
        }
    }

    /// Spreads what has been sent over ways over their ports.
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

    /// The links of each bundle.
    pub(super) fn bundles(&self) -> BTreeMap<LinkId, Vec<LinkId>> {
        let mut bundles: BTreeMap<LinkId, Vec<LinkId>> = BTreeMap::new();
        for (link, bundle) in self.bundles.numbered() {
            if let Some(bundle) = bundle {
                bundles.entry(*bundle).or_default().push(link);
            }
        }
        bundles
    }

    /// Loads all links one by one from now on; ways must be found again.
    pub(super) fn dissolve_bundles(&mut self) {
        self.has_no_bundles = true;
        self.bundles.iter_mut().for_each(|bundle| *bundle = None);
        self.sizes.clear();
    }

    /// Forgets all ways: there are others now. Links and their rates stay.
    pub(super) fn forget(&mut self) {
        self.all = ById::default();
        self.between.clear();
        self.over.clear();
    }

    /// The link that a port sends over.
    pub(super) fn link(&self, end: CableEnd) -> LinkId {
        LinkId::new(self.first[end.node] + u32::from(end.port))
    }

    /// The way of packets with a hash from one host to another.
    ///
    /// # Errors
    /// When links must be loaded one by one from now on.
    pub(super) fn find(
        &mut self,
        net: Net<'_>,
        fluid: &mut Fluid,
        ends: [HostId; 2],
        hash: u32,
    ) -> Result<WayId, MixedLoads> {
        let [from, to] = ends;
        let leaves = ends.map(|host| net.topology.neighbour(host, 0).node);
        // NICs on one leaf may have different cables.
        let delays_of = net.context.delays();
        let cables = [nic(from), net.topology.neighbour(to, 0)].map(|end| delays_of.link(end));
        let pair = (leaves[0], leaves[1], cables);
        if let Some(&known) = self.between.get(&pair) {
            return Ok(known);
        }
        let leaves = (leaves[0], leaves[1]);
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

    /// A way that leads nowhere.
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

    /// What messages take over links forth and back.
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

    /// The links that flows over some stages load: where all links of a stage are alike, one that
    /// stands for all of them.
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
            let mut alike: BTreeMap<(u64, Weight), Vec<LinkId>> = BTreeMap::new();
            for &(end, weight) in stage {
                let rate = net.topology.cable(end.node, end.port).rate;
                let key = (rate.bits_per_second(), weight);
                alike.entry(key).or_default().push(self.link(end));
            }
            for ((rate, weight), links) in alike {
                let weight = weight.times(tax);
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

/// What cells and credits add to the bytes of a frame between leaves.
fn tax(context: &Context) -> Weight {
    let Some(scheduled) = &context.scheduled else {
        return Weight::WHOLE;
    };
    let frame = context.nic.longest_frame_bytes() as u16;
    let wire = u64::from(frame) + u64::from(WIRE_OVERHEAD_BYTES);
    let inside = u64::from(scheduled.spec.fabric_wire_bytes(frame));
    Weight::of(inside, wire)
}

/// The port of a NIC.
pub(super) fn nic(host: HostId) -> CableEnd {
    CableEnd {
        node: host.node(),
        port: 0,
    }
}

/// The links of a way on its first path, and of the first way back.
fn links(net: Net<'_>, [from, to]: [HostId; 2], stages: &[Stage]) -> [Vec<Link>; 2] {
    let delays = net.context.delays();
    // Circuits are not where the scenario begins with them.
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

/// What a frame waits for its credit in a scheduled fabric: its request and the grant cross the
/// fabric first. Cells then take links at once that whole frames would take one after the other.
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
