//! Links that go down, come up and change their rates, and routes that change with them.

use tenter_flow::FlowRate;
use tenter_topology::{CableEnd, NodeId};
use tenter_units::{Instant, SerialisationTime, Time};

use crate::network::Change;

use super::driver::FlowDriver;
use super::messages::PairWay;

impl FlowDriver {
    /// The link that a port sends over has another rate from now on.
    pub(super) fn change_link(&mut self, node: NodeId, change: &Change, now: Instant) {
        let topology = &self.fabric.topology;
        let line = |port: u16| self.host_rates.of_line(topology, CableEnd { node, port });
        let (port, rate) = match *change {
            Change::Down(port, _) | Change::Darken(port, _) | Change::Hold(port) => {
                (port, FlowRate::default())
            }
            Change::Up(port) | Change::Join(port, _, _) => (port, line(port)),
            Change::Rate(port, serialisation, _) => {
                let end = CableEnd { node, port };
                let rate = rate_of(serialisation);
                (port, self.host_rates.limited(topology, end, rate))
            }
            // There are no queues.
            Change::Watch(_) | Change::Reroute(_) | Change::StormBegins | Change::StormEnds => {
                return;
            }
        };
        let link = self.ways.link(CableEnd { node, port });
        self.fluid.set_capacity(link, rate);
        self.fluid.settle(now);
    }

    /// Gives every queue pair its way over the routes that there are now, and goes on with what is
    /// left of the messages that are sent.
    pub(super) fn find_ways_again(&mut self, now: Instant) {
        self.ways.spread(&mut self.carried);
        self.ways.forget();
        for (pair, PairWay { from, to, hash, .. }) in self.messages.take_ways() {
            self.find_way(pair, [from, to], hash, now);
        }
        for id in self.messages.sending() {
            if let Some(flow) = self.messages.get(id).flow {
                let left = self.fluid.left(flow, now);
                self.fluid.withdraw(flow);
                self.begin_with(id, Some(left), now);
            }
        }
        self.fluid.settle(now);
    }
}

/// Bytes of which the time tells a rate.
const BYTES: u32 = 8_000;

fn rate_of(serialisation: SerialisationTime) -> FlowRate {
    let (time, _): (Time, u32) = serialisation.of(BYTES, 0);
    FlowRate::of_bytes(u64::from(BYTES), time)
}
