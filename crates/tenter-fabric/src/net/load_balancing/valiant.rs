//! Valiant routing: every packet goes by a region drawn by chance, so that any pattern of traffic
//! becomes two uniform ones.
//!
//! Source: Valiant and Brebner, "Universal schemes for parallel communication" (STOC 1981); for
//! dragonflies Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology" (ISCA 2008),
//! section 4.1.

use tenter_language::config::{choice, component};

use crate::net::load_balancing::hash::Ecmp;
use crate::net::load_balancing::view::{Balance, Described, DrawnFor, SwitchSite, View};
use crate::net::packet::Packet;

component! {
    /// By which region packets go.
    pub struct Valiant {
        /// Unit that draws a region: each packet, or all packets with the same hash together.
        draw: DrawnFor = "packet", from "Valiant and Brebner (1981): each packet by itself";
    }
}

choice!(DrawnFor { "packet" => Packet, "flow" => Flow });

impl Described for Valiant {
    type AtWork = Valiant;
    const MAY_REORDER: bool = true;

    fn begin(&self, _: &SwitchSite) -> Valiant {
        *self
    }

    fn reorders(&self) -> bool {
        self.draw == DrawnFor::Packet
    }

    fn follows_hash(&self) -> bool {
        self.draw == DrawnFor::Flow
    }

    fn detours(&self) -> Option<DrawnFor> {
        Some(self.draw)
    }

    fn order_remedy(&self) -> &'static str {
        ", or `draw: flow` here, so that packets of a flow go by one region"
    }
}

impl Balance for Valiant {
    /// Chooses among the equal paths to the region or, behind it, to the destination.
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        match self.draw {
            DrawnFor::Packet => view.any_of(packet, view.candidates.len()),
            DrawnFor::Flow => Ecmp::usual().placing().choose(packet, view),
        }
    }
}
