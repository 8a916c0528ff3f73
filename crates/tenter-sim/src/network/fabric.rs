//! A partition's nodes, and how a visit serves them.

use std::sync::Arc;

use tenter_endpoint::{Arrivals, RunEnd};
use tenter_engine::{EventList, LocalNode, Nodes, Output, Visit};
use tenter_fabric::net::{ArrivalsByPort, Event, Medium, Packet, Switch, Transmitter};
use tenter_fabric::topology::{Routing, Topology};
use tenter_language::units::Instant;

use super::change::Change;
use super::context::Context;
use super::host::{Host, HostScope};
use super::partition_records::PartitionRecords;
use super::schedules::Schedules;
use super::steady::SteadyLog;
use super::watch::Watcher;

/// A node in the simulated network.
#[derive(Debug)]
pub enum NodeModel {
    /// A host with its NIC.
    Host(Box<Host>),
    /// A switch with any model.
    Switch(Switch),
}

impl NodeModel {
    /// Sums `count` over the transmitters at all ports.
    pub(crate) fn sum_of_ports(&self, count: impl Fn(&Transmitter) -> u64) -> u64 {
        match self {
            NodeModel::Host(host) => {
                let ports = 0..host.nic().ports();
                ports.map(|port| count(host.nic().transmitter(port))).sum()
            }
            NodeModel::Switch(switch) => {
                let ports = switch.ports().iter();
                ports.map(|port| count(port.transmitter())).sum()
            }
        }
    }
}

/// The nodes of one partition, with their shared state.
#[derive(Debug)]
pub struct Fabric<W> {
    pub(crate) nodes: Vec<NodeModel>,
    /// Data that all partitions share.
    pub(crate) context: Arc<Context>,
    /// The schedules that jobs run now; a copy for each partition.
    pub(crate) schedules: Schedules,
    /// Records since the last collection.
    pub(crate) partition_records: PartitionRecords,
    /// Packet observer; `Unwatched` costs nothing.
    pub(crate) watcher: W,
    /// Memory for a switch visit that goes port after port.
    pub(crate) turns: ArrivalsByPort,
    /// Log of hosts' events while a steady state is being searched.
    pub(crate) steady_log: Option<Box<SteadyLog>>,
    /// The current routes, which follow link changes after the convergence time.
    pub(crate) routing: Arc<Routing>,
    /// The graph with the circuits that are set now.
    pub(crate) topology: Arc<Topology>,
}

impl<W: Watcher> Nodes for Fabric<W> {
    type Item = Packet;

    fn visit(
        &mut self,
        node: LocalNode,
        arrivals: &EventList<Packet>,
        visit: &mut Visit<'_, Packet>,
    ) {
        let Fabric {
            nodes,
            context,
            schedules,
            partition_records,
            watcher,
            turns,
            steady_log,
            routing,
            ..
        } = self;
        match &mut nodes[node.index()] {
            NodeModel::Switch(switch) => {
                visit_switch(switch, routing, arrivals, visit, turns, watcher);
            }
            NodeModel::Host(host) => {
                let mut scope = HostScope {
                    context,
                    schedules,
                    partition_records,
                };
                // The log takes the watcher's place: states are searched only if nothing is
                // watched.
                match steady_log.as_deref_mut() {
                    Some(log) if log.wants(node) => {
                        visit_host(host, &mut scope, arrivals, visit, log);
                    }
                    _ => visit_host(host, &mut scope, arrivals, visit, watcher),
                }
            }
        }
    }

    #[inline]
    fn prefetch(&self, node: LocalNode) {
        // A switch's ports are many, and are prefetched during its visit.
        if let NodeModel::Host(host) = &self.nodes[node.index()] {
            host.nic.prefetch();
        }
    }

    #[inline]
    fn prefetch_for<'i>(&self, node: LocalNode, arrivals: impl Iterator<Item = &'i Packet>) {
        if let NodeModel::Host(host) = &self.nodes[node.index()] {
            host.nic.prefetch_for(arrivals);
        }
    }
}

/// A visited node's access to its links.
struct Links<'a, 'v, W> {
    visit: &'a mut Visit<'v, Packet>,
    watcher: &'a mut W,
}

impl<W: Watcher> Medium for Links<'_, '_, W> {
    const WATCHED: bool = W::WATCHED;

    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a quarter of it"
    )]
    #[inline(always)]
    fn send(&mut self, output: Output, at: Instant, packet: &Packet) {
        self.visit.send(output, at, packet);
    }

    #[inline]
    fn is_large(&self) -> bool {
        self.visit.is_large()
    }

    #[inline]
    fn prefetch_way(&self, output: Output, at: Instant) {
        self.visit.prefetch_way(output, at);
    }

    #[inline]
    fn prefetch_room(&self, output: Output, at: Instant) {
        self.visit.prefetch_room(output, at);
    }

    fn note(&mut self, event: Event) {
        self.watcher.note(event);
    }
}

fn visit_switch<W: Watcher>(
    switch: &mut Switch,
    routing: &Routing,
    arrivals: &EventList<Packet>,
    visit: &mut Visit<'_, Packet>,
    turns: &mut ArrivalsByPort,
    watcher: &mut W,
) {
    let end = visit.end();
    let mut links = Links { visit, watcher };
    let next = switch.visit(arrivals, end, routing, turns, &mut links);
    if let Some(next) = next {
        visit.wake(next);
    }
}

/// Serves a host's departures, arrivals and timers in time order, at equal times in this order.
#[inline(never)]
fn visit_host<W: Watcher>(
    host: &mut Host,
    scope: &mut HostScope<'_>,
    arrivals: &EventList<Packet>,
    visit: &mut Visit<'_, Packet>,
    watcher: &mut W,
) {
    let end = visit.end();
    host.nic.note_visit();
    let mut arrivals = Arrivals::new(arrivals.iter());
    // Frames left from an earlier visit were ready then, so they leave as soon as the wire is free.
    let mut now = Instant::START;
    loop {
        let run_end = RunEnd {
            alarm: host.alarm(),
            visit: end,
        };
        let mut links = Links { visit, watcher };
        now = host
            .nic
            .run(&scope.context.nic, now, run_end, &mut arrivals, &mut links);
        // The NIC has nothing before the end; `now` is its next departure or timer.
        if now >= end {
            visit.wake(now);
            return;
        }
        if let Some((packet, input)) = arrivals.take(now) {
            host.arrive(packet, input, scope, &mut links);
        } else {
            host.fire(now, scope, &mut links);
        }
    }
}

impl<W: Watcher> Fabric<W> {
    /// Returns the nodes in the partition's order.
    pub fn nodes(&self) -> &[NodeModel] {
        &self.nodes
    }

    /// Returns the data that all partitions share.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the graph with the circuits that are set now.
    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the watcher of this partition.
    pub fn watcher(&self) -> &W {
        &self.watcher
    }

    /// Returns a node with the environment in which it handles an event.
    pub(crate) fn node(&mut self, node: LocalNode) -> (&mut NodeModel, HostScope<'_>) {
        let scope = HostScope {
            context: &self.context,
            schedules: &self.schedules,
            partition_records: &mut self.partition_records,
        };
        (&mut self.nodes[node.index()], scope)
    }

    /// Carries out one departure at a host's NIC, for an engine with explicit departures.
    pub fn host_departs(&mut self, node: LocalNode, now: Instant, medium: &mut impl Medium) {
        if let NodeModel::Host(host) = &mut self.nodes[node.index()] {
            host.nic.depart(&self.context.nic, now, medium);
        }
    }

    /// Fires one timer at a node, for an engine with explicit events.
    pub fn fires(&mut self, node: LocalNode, now: Instant, medium: &mut impl Medium) {
        let (model, mut scope) = self.node(node);
        match model {
            NodeModel::Switch(switch) => switch.fire(now, medium),
            NodeModel::Host(host) => host.fire(now, &mut scope, medium),
        }
    }

    /// Carries out the departures at a switch's port up to and including `now`, for an engine with
    /// explicit departures.
    pub fn port_departs(
        &mut self,
        node: LocalNode,
        port: u16,
        now: Instant,
        medium: &mut impl Medium,
    ) {
        if let NodeModel::Switch(switch) = &mut self.nodes[node.index()] {
            switch.advance_port(port, now, medium);
        }
    }

    /// Handles one arrival at any node, for an engine with explicit events.
    pub fn arrives(
        &mut self,
        node: LocalNode,
        input: u16,
        packet: Packet,
        medium: &mut impl Medium,
    ) {
        let routing = Arc::clone(&self.routing);
        let (model, mut scope) = self.node(node);
        match model {
            NodeModel::Switch(switch) => switch.arrive(&packet, input, &routing, medium),
            NodeModel::Host(host) => host.arrive(&packet, input, &mut scope, medium),
        }
    }

    /// Applies a change to a node at a sync point at `now`, for an engine with explicit events;
    /// returns true if the node may have something else to do then.
    pub fn change(
        &mut self,
        node: LocalNode,
        now: Instant,
        change: &Change,
        medium: &mut impl Medium,
    ) -> bool {
        let node = &mut self.nodes[node.index()];
        change_node(node, &self.context, &self.routing, now, change, medium)
    }

    /// Applies a change to a node at a sync point, with links through a visit.
    pub(crate) fn change_in_visit(
        &mut self,
        node: LocalNode,
        change: &Change,
        visit: &mut Visit<'_, Packet>,
    ) -> bool {
        let now = visit.end();
        let watcher = &mut self.watcher;
        let mut links = Links { visit, watcher };
        let node = &mut self.nodes[node.index()];
        change_node(node, &self.context, &self.routing, now, change, &mut links)
    }
}

/// Applies a change; returns false only for a watchdog that changed nothing.
fn change_node<M: Medium>(
    node: &mut NodeModel,
    context: &Context,
    routing: &Routing,
    now: Instant,
    change: &Change,
    medium: &mut M,
) -> bool {
    match node {
        NodeModel::Switch(switch) => match *change {
            Change::Down(port, losses) => switch.link_down(port, losses, now, medium),
            Change::Up(port) => switch.link_up(port, now, medium),
            Change::Rate(port, serialisation, whole) => {
                switch.set_serialisation(port, serialisation, whole, now, medium);
            }
            Change::Watch(spec) => return switch.watch(&spec, now, medium),
            Change::StormBegins | Change::StormEnds => {}
            Change::Hold(port) => switch.hold(port),
            Change::Reroute(port) => switch.reroute(port, routing, now, medium),
            Change::Darken(port, losses) => switch.darken(port, losses, now),
            Change::Join(port, far, guard) => switch.join(port, &far, guard, now, medium),
        },
        NodeModel::Host(host) => match *change {
            Change::Down(port, losses) => host.nic.link_down(port, losses, now),
            Change::Up(port) => host.nic.link_up(port, &context.nic, now, medium),
            Change::Rate(port, serialisation, whole) => {
                let transmitter = host.nic.transmitter_mut(port);
                transmitter.set_serialisation(serialisation, whole, now);
            }
            Change::StormBegins => host.nic.begin_storm(now, medium),
            Change::StormEnds => host.nic.end_storm(now, medium),
            // Only switches have watchdogs and optical circuits.
            Change::Watch(_)
            | Change::Hold(_)
            | Change::Reroute(_)
            | Change::Darken(..)
            | Change::Join(..) => {}
        },
    }
    true
}
