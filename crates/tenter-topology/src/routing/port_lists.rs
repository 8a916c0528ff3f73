//! Lists of egress ports, each kept once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A list of ports: its place among all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortList {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// Lists of ports, each kept once.
#[derive(Clone, Debug, Default)]
pub(super) struct PortLists {
    /// First each port of any switch, in order, so that there is a list of it alone.
    pub(super) ports: Vec<u16>,
    /// How many of them these are.
    single: u16,
    /// Lists of several ports. Only looked up, never iterated; empty once the table is complete.
    known: HashMap<Box<[u16]>, PortList, BuildHasherDefault<PortHasher>>,
}

/// A hash of a list of ports: millions of lists are looked up, none of them from strangers.
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
        // The golden ratio in 64 bits, an odd number.
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

impl PortLists {
    /// The single-port lists of a number of ports.
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

    /// The table is complete: no list is looked up any more.
    pub(super) fn complete(&mut self) {
        self.known = HashMap::default();
    }

    /// Where `list` is kept; `guess` is tried before the hash.
    pub(super) fn intern(&mut self, list: &[u16], guess: PortList) -> PortList {
        match *list {
            [] => return PortList::default(),
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
