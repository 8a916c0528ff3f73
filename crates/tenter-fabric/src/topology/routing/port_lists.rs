//! Egress port lists, each stored once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A stored list, as a range in `PortLists::ports`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortList {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// Storage for port lists. Equal lists are stored once.
#[derive(Clone, Debug, Default)]
pub(super) struct PortLists {
    /// All lists, one behind the other. It begins with every port number in order, so that each
    /// single port is a list by itself.
    pub(super) ports: Vec<u16>,
    /// Length of that beginning, in ports.
    single: u16,
    /// Lists with several ports. Only looked up, never iterated; dropped once the table is
    /// complete.
    known: HashMap<Box<[u16]>, PortList, BuildHasherDefault<PortHasher>>,
}

/// Fast hash for port lists. Millions are looked up, and none comes from an attacker.
#[derive(Default)]
struct PortHasher(u64);

impl Hasher for PortHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, word: u64) {
        // The golden ratio as a 64-bit fraction. It is odd, so multiplying by it loses no bits.
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

impl PortLists {
    /// Creates storage with the single-port lists for ports 0 to `ports` − 1.
    pub(super) fn of_single_ports(ports: u16) -> PortLists {
        PortLists {
            ports: (0..ports).collect(),
            single: ports,
            known: HashMap::default(),
        }
    }

    #[inline]
    pub(super) fn get(&self, list: PortList) -> &[u16] {
        let first = list.first as usize;
        &self.ports[first..first + list.count as usize]
    }

    /// Drops the index, since the table is complete and no list is looked up any more.
    pub(super) fn complete(&mut self) {
        self.known = HashMap::default();
    }

    /// Returns where an equal list is stored. `guess` is compared first, since neighbouring entries
    /// are mostly equal.
    pub(super) fn intern(&mut self, list: &[u16], guess: PortList) -> PortList {
        match *list {
            [] => return PortList::default(),
            // Single ports need no lookup: their lists are at the beginning.
            [port] if port < self.single => {
                return PortList {
                    first: u32::from(port),
                    count: 1,
                };
            }
            _ => {}
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
