//! Rates for hosts whose memory is slower than the wire.

use crate::fluid::FlowRate;
use crate::plan::Plan;
use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::topology::{CableEnd, HostId, NodeId, Topology};
use tenter_language::units::{ById, Rate};

/// Highest rates at which a host sends and receives.
#[derive(Clone, Copy, Debug)]
struct HostRate {
    send: FlowRate,
    receive: FlowRate,
}

/// Rates for all hosts, as bits on the wire. Empty if every host keeps up with the wire.
#[derive(Clone, Debug, Default)]
pub(super) struct HostRates(ById<HostId, HostRate>);

impl HostRates {
    pub(super) fn new(plan: &Plan) -> HostRates {
        let drain = plan.nic.receive_buffer.and_then(|buffer| buffer.drain_rate);
        // The usual case: the wire is the limit, and no list is needed.
        if plan.dma.is_empty() && drain.is_none() {
            return HostRates::default();
        }
        let hosts = plan.topology.host_ids().map(|host| {
            let dma = plan.dma.get(host.index());
            let by_dma = |rate: Option<Rate>| rate.and_then(|rate| of_dma(plan, rate));
            let [read, write] = [
                by_dma(dma.map(|of| of.read)),
                by_dma(dma.map(|of| of.write)),
            ];
            let drain =
                drain.map(|rate| scaled(rate, frame(plan), frame(plan) + WIRE_OVERHEAD_BYTES));
            let least = |rates: [Option<Rate>; 2]| {
                let least = rates.into_iter().flatten().min();
                least.map_or(FlowRate::UNLIMITED, FlowRate::of_line)
            };
            HostRate {
                send: least([read, None]),
                receive: least([write, drain]),
            }
        });
        HostRates(hosts.collect())
    }

    /// Returns the highest rate at which a port sends.
    pub(super) fn of_line(&self, topology: &Topology, end: CableEnd) -> FlowRate {
        let line = FlowRate::of_line(topology.cable(end.node, end.port).rate);
        self.limited(topology, end, line)
    }

    /// Returns the highest rate at which a port sends whose link allows `line`.
    pub(super) fn limited(&self, topology: &Topology, end: CableEnd, line: FlowRate) -> FlowRate {
        if self.0.is_empty() {
            return line;
        }
        let host = |node: NodeId| {
            let is_host = topology.is_host(node);
            is_host.then(|| self.0[HostId::new(node.number())])
        };
        let sends = host(end.node).map(|of| of.send);
        let peer = topology.neighbour(end.node, end.port).node;
        let receives = host(peer).map(|of| of.receive);
        sends.into_iter().chain(receives).fold(line, FlowRate::min)
    }
}

/// Returns the frame bytes of a full packet.
fn frame(plan: &Plan) -> u32 {
    plan.nic.mtu_bytes + plan.nic.header_bytes()
}

/// Returns the wire rate of full packets when DMA runs at its highest payload rate.
fn of_dma(plan: &Plan, rate: Rate) -> Option<Rate> {
    let payload = plan.nic.pcie?.payload_rate(rate, plan.nic.mtu_bytes);
    Some(scaled(
        payload,
        plan.nic.mtu_bytes,
        frame(plan) + WIRE_OVERHEAD_BYTES,
    ))
}

fn scaled(rate: Rate, from: u32, to: u32) -> Rate {
    let bits = u128::from(rate.bits_per_second()) * u128::from(to) / u128::from(from.max(1));
    Rate::from_bits_per_second(u64::try_from(bits).unwrap_or(u64::MAX))
}
