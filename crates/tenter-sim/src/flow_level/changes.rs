//! Links that go down, come up or change their rate, and routes that change with them.

use crate::fluid::{Amount, FlowRate};
use tenter_fabric::topology::{CableEnd, NodeId};
use tenter_language::units::{Instant, SerialisationTime, Time};

use crate::network::Change;

use super::driver::FlowDriver;
use super::link_state::LinkState;
use super::messages::PairWay;

impl FlowDriver {
    /// Applies a change to the link behind a port; returns true if the link's rate may differ now.
    /// The flows' rates are found later, once all changes of the instant are known.
    pub(super) fn change_link(&mut self, node: NodeId, change: &Change) -> bool {
        let (port, is_down, rate) = match *change {
            Change::Down(port, _) | Change::Darken(port, _) | Change::Hold(port) => {
                (port, Some(true), None)
            }
            Change::Up(port) | Change::Join(port, _, _) => (port, Some(false), None),
            Change::Rate(port, serialisation, _) => (port, None, Some(rate_of(serialisation))),
            // No frame waits on a link at flow level, so there is nothing to watch, reroute or
            // pause.
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
        // A link that is down has no capacity: its flows stay and wait until routes change.
        self.fluid.set_capacity(link, rate);
        true
    }

    /// Finds each queue pair's path over the present routes and links, and restarts the messages
    /// that are being sent with what is left of them. The flows' rates are found later.
    pub(super) fn find_ways_again(&mut self, now: Instant) {
        // What has been sent so far went over the old ports, so it is counted before these are
        // forgotten.
        self.ways.spread(&mut self.carried);
        self.ways.forget();
        for (pair, PairWay { from, to, hash, .. }) in self.messages.take_ways() {
            self.find_way(pair, [from, to], hash, now);
        }
        let sent = self.messages.take_sending();
        // All remainders are read first: they must not be queried once a flow has been withdrawn.
        let left = sent.iter().map(|(_, flow)| self.fluid.left(*flow, now));
        let left: Vec<Amount> = left.collect();
        // In reverse, since flows that have just begun are found from the last one.
        for (_, flow) in sent.iter().rev() {
            self.fluid.withdraw(*flow);
        }
        for ((id, _), left) in sent.into_iter().zip(left) {
            self.begin_with(id, Some(left), now);
        }
    }
}

/// Bytes whose serialisation time gives the rate: enough that rounding to a picosecond does not
/// matter.
const BYTES: u32 = 8_000;

fn rate_of(serialisation: SerialisationTime) -> FlowRate {
    let (time, _): (Time, u32) = serialisation.of(BYTES, 0);
    FlowRate::of_bytes(u64::from(BYTES), time)
}
