//! A switch's state, value by value, for the search for steady states.

use tenter_language::units::Instant;

use super::{Kind, OutputQueued, QueuedSwitch, Switch};
use crate::net::buffer::Buffer;
use crate::net::steady::Visitor;
use crate::net::switch::parts::Chassis;
use crate::net::switch::queued::Outputs;

impl Switch {
    /// Visits the state at `now`, up to which the switch was advanced. Models other than output
    /// queues refuse.
    pub fn steady(&mut self, now: Instant, visitor: &mut impl Visitor) {
        match &mut self.kind {
            Kind::OutputQueued(switch) => switch.steady(now, visitor),
            Kind::Credit(_) | Kind::InputQueued(_) | Kind::Leaf(_) => visitor.refuse(),
        }
    }

    /// Follows a jump: the state has changed as a whole, so the ordered departures are found anew.
    pub fn leaped(&mut self) {
        if let Kind::OutputQueued(switch) = &mut self.kind {
            // The entries have instants from before the jump.
            switch.queues.departures.clear();
            if switch.buffer.is_armed() {
                switch.enter_all_departures();
            }
        }
    }
}

impl OutputQueued {
    /// Visits the state. Ordered departures follow from the ports and are found anew; active ports
    /// include all with frames, which is enough in any state.
    fn steady(&mut self, now: Instant, visitor: &mut impl Visitor) {
        let QueuedSwitch {
            chassis,
            balancer,
            buffer,
            queues:
                Outputs {
                    active: _,
                    departures: _,
                },
            signals,
            visits: _,
        } = self;
        if signals.is_some() || !balancer.is_fixed() {
            visitor.refuse();
        }
        let Chassis {
            node: _,
            index: _,
            ports,
            received,
            rules: _,
            class_of: _,
            region_classes: _,
            changes_packets: _,
        } = chassis;
        for port in ports {
            port.steady(now, visitor);
        }
        for (frames, bytes) in received {
            visitor.total(frames);
            visitor.total(bytes);
        }
        buffer.steady(visitor);
    }
}
