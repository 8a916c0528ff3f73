//! Lists of egress ports, each kept once.

use std::collections::HashMap;

/// A list of ports: its place among all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortList {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// Lists of ports, each kept once.
#[derive(Clone, Debug, Default)]
pub(super) struct PortLists {
    /// First each port that a host may be on, in order, so that there is a list of it alone.
    pub(super) ports: Vec<u16>,
    /// Only looked up, never iterated; empty once the table is complete.
    known: HashMap<Box<[u16]>, PortList>,
}

impl PortLists {
    /// The single-port lists of a number of ports.
    pub(super) fn of_single_ports(ports: u16) -> PortLists {
        let single = |port: u16| {
            let place = PortList {
                first: u32::from(port),
                count: 1,
            };
            ([port].into(), place)
        };
        PortLists {
            ports: (0..ports).collect(),
            known: (0..ports).map(single).collect(),
        }
    }

    #[inline]
    pub(super) fn get(&self, list: PortList) -> &[u16] {
        let first = list.first as usize;
        &self.ports[first..first + list.count as usize]
    }

    /// The table is complete: no list is looked up any more.
    pub(super) fn complete(&mut self) {
        self.known = HashMap::new();
    }

    /// Where `list` is kept; `guess` is tried before the hash.
    pub(super) fn intern(&mut self, list: &[u16], guess: PortList) -> PortList {
        if list.is_empty() {
            return PortList::default();
        }
        if self.get(guess) == list {
            return guess;
        }
        if let Some(known) = self.known.get(list) {
            return *known;
        }
        let place = PortList {
            first: self.ports.len() as u32,
            count: list.len() as u32,
        };
        self.ports.extend_from_slice(list);
        self.known.insert(list.into(), place);
        place
    }
}
