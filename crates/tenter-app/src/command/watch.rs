//! `--watch`: the events on a flow or a port.

use std::fmt::Write;

use tenter::{Watch, Watched};
use tenter_fabric::net::{
    Event, EventKind, FlowControl, LostCredit, Notice, Packet, PacketKind, Pause, Signal,
};
use tenter_fabric::topology::{HostId, NodeId, Topology};
use tenter_sim::plan::Plan;

use crate::command::failure::Failure;

/// Parses `flow=A-B` or `port=NODE:PORT`.
pub(crate) fn parse(text: &str, plan: &Plan) -> Result<Watch, Failure> {
    if let Some(flow) = text.strip_prefix("flow=") {
        let (a, b) = ends(flow, plan).ok_or_else(|| form(text))?;
        let [a, b] = [host(a, text, plan)?, host(b, text, plan)?];
        return Ok(Watch::Flow(a.number(), b.number()));
    }
    let place = text.strip_prefix("port=").ok_or_else(|| form(text))?;
    let (name, port) = place.rsplit_once(':').ok_or_else(|| form(text))?;
    let node = node(name, text, plan)?;
    let ports = plan.topology.ports(node);
    match port.parse::<u16>() {
        Ok(port) if port < ports => Ok(Watch::Port(node.number(), port)),
        _ => Err(Failure::input(format!(
            "--watch {text}: {name} has ports 0 to {}; name one of them",
            ports - 1
        ))),
    }
}

/// Splits `A-B` into two names, which may contain hyphens themselves.
fn ends<'a>(flow: &'a str, plan: &Plan) -> Option<(&'a str, &'a str)> {
    let known = |name| plan.topology.find(name).is_some();
    let mut splits = flow
        .match_indices('-')
        .map(|(at, _)| (&flow[..at], &flow[at + 1..]));
    let both = splits.clone().find(|&(a, b)| known(a) && known(b));
    // If no split gives two known names, the first one makes the error message.
    both.or_else(|| splits.next())
}

fn form(text: &str) -> Failure {
    Failure::input(format!(
        "--watch {text}: write `flow=HOST-HOST`, for instance `flow=host0-host9`, or `port=NODE:PORT`, for instance \
         `port=leaf0:8`"
    ))
}

fn node(name: &str, text: &str, plan: &Plan) -> Result<NodeId, Failure> {
    plan.topology.find(name).ok_or_else(|| {
        let mut names = plan.topology.nodes.iter().map(|node| &node.name);
        let first = names.next().map_or("", String::as_str);
        let last = names.next_back().map_or(first, String::as_str);
        Failure::input(format!(
            "--watch {text}: there is no node `{name}` in this fabric; its nodes are called `{first}` … `{last}`"
        ))
    })
}

fn host(name: &str, text: &str, plan: &Plan) -> Result<HostId, Failure> {
    let node = node(name, text, plan)?;
    plan.topology.host(node).ok_or_else(|| {
        Failure::input(format!(
            "--watch {text}: `{name}` is a switch; a flow runs between hosts"
        ))
    })
}

/// Formats the watched events, one per line.
pub(crate) fn text(watched: &Watched, topology: &Topology) -> String {
    let mut text = String::new();
    for event in &watched.events {
        let place = topology.port_name(event.node, event.port);
        // A pause frame stays on its link: its destination is no node.
        let destination = topology.nodes.get(event.packet.destination.index());
        let destination = destination.map_or("", |node| node.name.as_str());
        let _ = writeln!(text, "{}", line(event, &place, destination));
    }
    if watched.omitted > 0 {
        let omitted = watched.omitted;
        let _ = writeln!(text, "… and {omitted} more events (--watch-limit)");
    } else if watched.events.is_empty() {
        text.push_str("--watch: no packet passed; a flow has packets if a job sends from one host to the other\n");
    }
    text
}

fn line(event: &Event, place: &str, destination: &str) -> String {
    let what = match event.kind {
        EventKind::Arrived => "arrives",
        EventKind::Queued => "queued",
        EventKind::Sent => "sent",
        EventKind::Dropped => "DROPPED",
        EventKind::Trimmed => "TRIMMED",
        EventKind::Lost => "LOST",
        EventKind::Rerouted => "rerouted",
        EventKind::Accepted => "accepted",
        EventKind::Discarded => "DISCARDED",
        EventKind::Obeyed => "obeyed",
        EventKind::LostOnWire => "LOST on the wire",
    };
    let at = event.at.since_start().to_string();
    let packet = describe(&event.packet, destination);
    format!("{at:>16}  {place:<16} {what:<9} {packet}")
}

/// Describes a packet by what distinguishes it.
fn describe(packet: &Packet, destination: &str) -> String {
    let bytes = packet.frame_bytes;
    let class = packet.class();
    match packet.kind {
        PacketKind::Pause => match Pause::of(packet).quanta {
            0 => format!("XON class {class} ({bytes} B)"),
            quanta => format!("XOFF class {class} for {quanta} quanta ({bytes} B)"),
        },
        PacketKind::Signal => {
            let signal = Signal::of(packet);
            let (class, quanta) = signal.map_or((0, 0), |of| (of.class, of.quanta));
            format!("Signal to {destination}: class {class} for {quanta} quanta ({bytes} B)")
        }
        PacketKind::Notice => {
            let Notice { level } = Notice::of(packet);
            format!("Notice of level {level} on the way to {destination} ({bytes} B)")
        }
        PacketKind::FlowControl => {
            let FlowControl { limit, sent } = FlowControl::of(packet);
            format!("Flow control class {class}, FCTBS {sent}, FCCL {limit} ({bytes} B)")
        }
        PacketKind::LostCredit => {
            let LostCredit { blocks } = LostCredit::of(packet);
            format!("Flow control class {class}, {blocks} blocks were lost")
        }
        kind => {
            let sequence = packet.sequence;
            format!("{kind:?} #{sequence} to {destination} ({bytes} B)")
        }
    }
}
