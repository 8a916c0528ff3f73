//! Routing by destination alone, like the linear forwarding tables of an InfiniBand subnet: all
//! packets to a host take the same port, whatever their sender.
//!
//! The port follows D-Mod-K (Zahavi, "D-Mod-K routing providing non-blocking traffic for shift
//! permutations on real life fat trees"): hosts are numbered in the order of their leaves, and tier
//! by tier a host's number, divided by the number of paths up to that tier, selects the switch
//! above.

use crate::topology::TreePlace;
use tenter_language::config::component;

use crate::net::load_balancing::view::{Balance, Described, SwitchSite, Target, View};
use crate::net::packet::Packet;

component! {
    /// One port for each destination. It has no parameters.
    pub struct ByDestination {}
}

/// Place of a switch in the tree, by which it chooses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forwarding(TreePlace);

impl Described for ByDestination {
    type AtWork = Forwarding;
    const MAY_REORDER: bool = false;

    fn begin(&self, site: &SwitchSite) -> Forwarding {
        Forwarding(site.place)
    }

    fn reads_hash(&self) -> bool {
        false
    }

    fn reads_seed(&self) -> bool {
        false
    }
}

impl Balance for Forwarding {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        self.place(
            view.routing.tree_number(packet.destination),
            view.candidates.len(),
        )
    }

    fn fixed(&self, Target { host, .. }: Target, view: &View<'_>) -> Option<usize> {
        Some(self.place(view.routing.tree_number(host), view.candidates.len()))
    }
}

impl Forwarding {
    /// Returns the place, among `ways` ports, of the one for packets to a host with this number.
    fn place(self, number: u32, ways: usize) -> usize {
        let TreePlace { stride, parents } = self.0;
        let (number, parents) = ((number / stride) as usize, parents as usize);
        // Without parallel cables, or with a link out of use, one digit selects the port.
        if parents == 0 || ways <= parents || !ways.is_multiple_of(parents) {
            return number % ways;
        }
        // The lower digit selects the switch above, the next one the cable to it; on the way down
        // the same digits select the cable.
        let cables = ways / parents;
        (number % parents) * cables + number / parents % cables
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::TreePlace;

    use super::Forwarding;

    fn places(stride: u32, parents: u32, ways: usize, hosts: u32) -> Vec<usize> {
        let forwarding = Forwarding(TreePlace { stride, parents });
        (0..hosts)
            .map(|number| forwarding.place(number, ways))
            .collect()
    }

    #[test]
    fn the_digits_of_a_host_say_its_way_up() {
        // A leaf below three switches: the last digit to the base of three.
        assert_eq!(places(1, 3, 3, 6), [0, 1, 2, 0, 1, 2]);
        // A switch above it with two above: the digit before, to the base of two.
        assert_eq!(places(3, 2, 2, 8), [0, 0, 0, 1, 1, 1, 0, 0]);
        // A link is out of use.
        assert_eq!(places(1, 3, 2, 4), [0, 1, 0, 1]);
    }

    #[test]
    fn parallel_cables_take_hosts_in_turn_both_ways() {
        // Two cables to each of two switches: ports 0 and 1 lead to the first, 2 and 3 to the
        // second. Hosts 0, 2, 4, 6 use the first, and take its cables in turn.
        let up = places(1, 2, 4, 8);
        assert_eq!(up, [0, 2, 1, 3, 0, 2, 1, 3]);
        // On the way down these four are even on the two cables to their leaf, too.
        let down = places(2, 0, 2, 8);
        let own: Vec<usize> = (0..8)
            .filter(|&host| up[host] < 2)
            .map(|host| down[host])
            .collect();
        assert_eq!(own, [0, 1, 0, 1]);
    }
}
