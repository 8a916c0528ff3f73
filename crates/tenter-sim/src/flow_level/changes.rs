//! Links that go down, come up and change their rates, and routes that change with them.

use tenter_flow::{Amount, FlowRate};
use tenter_topology::{CableEnd, NodeId};
use tenter_units::{Instant, SerialisationTime, Time};

use crate::network::Change;

use super::driver::FlowDriver;
use super::link_state::LinkState;
use super::messages::PairWay;

impl FlowDriver {
    /// The link that a port sends over may have another rate from now on; whether it has. Rates of
    /// flows are found when all changes of the instant are known.
    pub(super) fn change_link(&mut self, node: NodeId, change: &Change) -> bool {
        let (port, is_down, rate) = match *change {
            Change::Down(port, _) | Change::Darken(port, _) | Change::Hold(port) => {
                (port, Some(true), None)
            }
            Change::Up(port) | Change::Join(port, _, _) => (port, Some(false), None),
            Change::Rate(port, serialisation, _) => (port, None, Some(rate_of(serialisation))),
            // Nothing waits where links change.
            Change::Watch(_) | Change::Reroute(_) | Change::StormBegins | Change::StormEnds => {
                return false;
            }
        };
        let end = CableEnd { node, port };
        let link = self.ways.link(end);
        let state = self.changed_links.entry(link).or_default();
        state.is_down = is_down.unwrap_or(state.is_down);
        state.rate = rate.or(state.rate);
        let topology = &self.fabric.topology;
        let rate = match *state {
            LinkState { is_down: true, .. } => FlowRate::default(),
            LinkState { rate: None, .. } => self.host_rates.of_line(topology, end),
            LinkState {
                rate: Some(rate), ..
            } => self.host_rates.limited(topology, end, rate),
        };
        self.fluid.set_capacity(link, rate);
        true
    }

    /// Gives every queue pair its way over the routes and links that there are now, and goes on
    /// with what is left of the messages that are sent. Rates are found later.
    pub(super) fn find_ways_again(&mut self, now: Instant) {
        self.ways.spread(&mut self.carried);
        self.ways.forget();
        for (pair, PairWay { from, to, hash, .. }) in self.messages.take_ways() {
            self.find_way(pair, [from, to], hash, now);
        }
        let sent = self.messages.take_sending();
        let left = sent.iter().map(|(_, flow)| self.fluid.left(*flow, now));
        let left: Vec<Amount> = left.collect();
        for (_, flow) in sent.iter().rev() {
            self.fluid.withdraw(*flow);
        }
        for ((id, _), left) in sent.into_iter().zip(left) {
            self.begin_with(id, Some(left), now);
        }
    }
}

/// Bytes of which the time tells a rate.
const BYTES: u32 = 8_000;

fn rate_of(serialisation: SerialisationTime) -> FlowRate {
    let (time, _): (Time, u32) = serialisation.of(BYTES, 0);
    FlowRate::of_bytes(u64::from(BYTES), time)
}
