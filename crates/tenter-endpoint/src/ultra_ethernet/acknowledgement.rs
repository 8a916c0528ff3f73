//! Acknowledgement contents that packets have no room for.
//!
//! A packet in the model has 32 bytes, too few for a map over 64 packets. The map lies in a record
//! beside the packets, and the acknowledgement names the record in [`Packet::sent`]. A record
//! belongs to the receiver that wrote it, until the sender has read the acknowledgement. If the
//! acknowledgement is lost, its record is never reused. Names depend on the order in which threads
//! read, and so no result may depend on a name.
//!
//! [`Packet::sent`]: tenter_fabric::net::Packet::sent

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tenter_engine::prefetch;
use tenter_fabric::topology::HostId;

/// Records in a host's first block; each further block has twice as many.
const FIRST_BLOCK: u32 = 64;
/// Blocks per host: enough for more than 2³⁰ records.
const BLOCKS: usize = 25;
/// Flag in a record's first word while the record is in use; the other bits are `ahead`.
const IN_USE: u64 = 1 << 63;

/// An acknowledgement's contents, in addition to the number before which everything has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// Number of the answered packet.
    pub(super) answered: u32,
    /// Number of the packet that the map's lowest bit stands for.
    pub(super) first: u32,
    /// Arrivals among the 64 packets from `first` on, one bit each.
    pub(super) map: u64,
    /// Total wire bytes that have arrived on the connection.
    pub(super) received_bytes: u64,
    /// Packets that have arrived beyond a missing one.
    pub(super) ahead: u32,
}

/// A record, two to a cache line.
#[derive(Debug, Default)]
#[repr(align(32))]
struct Record([AtomicU64; 4]);

/// One host's records, allocated block by block as they are needed.
#[derive(Debug, Default)]
struct Region {
    blocks: [OnceLock<Box<[Record]>>; BLOCKS],
}

/// The records that all receivers in a network write.
#[derive(Debug)]
pub struct Acknowledgements {
    /// Bits in a name that number a host's records; the bits above name the host.
    bits: u32,
    regions: Box<[Region]>,
}

/// A host's position among its records.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    /// Record that is tried next.
    next: u32,
    /// Records that have ever been used.
    made: u32,
}

/// Records tried before another one is used: a longer search would cost more than the memory.
const LOOKS: u32 = 4;

impl Acknowledgements {
    /// Creates the table for `hosts` writers.
    pub fn new(hosts: usize) -> Acknowledgements {
        let of_hosts = usize::BITS - hosts.saturating_sub(1).leading_zeros();
        Acknowledgements {
            bits: 32_u32.saturating_sub(of_hosts).min(30),
            regions: (0..hosts).map(|_| Region::default()).collect(),
        }
    }

    /// Writes a record for `host` and returns its name.
    pub(super) fn write(&self, host: HostId, cursor: &mut Cursor, report: &Report) -> u32 {
        let number = self.free(host, cursor);
        let name = host.number() << self.bits | number;
        let values = [
            IN_USE | u64::from(report.ahead),
            u64::from(report.answered) << 32 | u64::from(report.first),
            report.map,
            report.received_bytes,
        ];
        // Relaxed stores suffice: the acknowledgement arrives in a later window, behind a barrier.
        for (word, value) in self.record(name).0.iter().zip(values) {
            word.store(value, Ordering::Relaxed);
        }
        name
    }

    /// Returns the number for a record that is not in use.
    fn free(&self, host: HostId, cursor: &mut Cursor) -> u32 {
        for _ in 0..LOOKS.min(cursor.made) {
            let number = cursor.next;
            cursor.next = (cursor.next + 1) % cursor.made;
            let Record(words) = self.record(host.number() << self.bits | number);
            // Acquire pairs with the release in `take`: the sender has read the old contents before
            // they are overwritten.
            if words[0].load(Ordering::Acquire) == 0 {
                return number;
            }
        }
        let most = (1 << self.bits) - 1;
        assert!(
            cursor.made < most,
            "a host has fewer acknowledgements under way than there are records"
        );
        cursor.made += 1;
        cursor.made - 1
    }

    /// Reads a record and frees it.
    pub(super) fn take(&self, name: u32) -> Report {
        let Record(words) = self.record(name);
        let word = |index: usize| words[index].load(Ordering::Relaxed);
        let report = Report {
            answered: (word(1) >> 32) as u32,
            first: word(1) as u32,
            map: word(2),
            received_bytes: word(3),
            ahead: word(0) as u32,
        };
        words[0].store(0, Ordering::Release);
        report
    }

    /// Prefetches a record that is about to be read.
    #[inline]
    pub(super) fn prefetch(&self, name: u32) {
        prefetch(self.record(name));
    }

    #[inline]
    fn record(&self, name: u32) -> &Record {
        let record = name & ((1 << self.bits) - 1);
        // Block b holds `FIRST_BLOCK` · 2ᵇ records and begins at `FIRST_BLOCK` · (2ᵇ - 1).
        let block = (record / FIRST_BLOCK + 1).ilog2();
        let first = FIRST_BLOCK * ((1 << block) - 1);
        let blocks = &self.regions[(name >> self.bits) as usize].blocks;
        let records = blocks[block as usize].get_or_init(|| {
            let count = (FIRST_BLOCK as usize) << block;
            (0..count).map(|_| Record::default()).collect()
        });
        &records[(record - first) as usize]
    }
}

#[cfg(test)]
mod tests {
    use tenter_fabric::topology::HostId;

    use super::{Acknowledgements, Cursor, Report};

    fn report(number: u32) -> Report {
        Report {
            answered: number,
            first: number + 1,
            map: u64::from(number) << 40,
            received_bytes: u64::from(number) * 4160,
            ahead: 3,
        }
    }

    #[test]
    fn records_are_apart_until_they_are_read_and_then_used_again() {
        let records = Acknowledgements::new(3);
        let mut cursors = [Cursor::default(), Cursor::default(), Cursor::default()];
        let mut names = Vec::new();
        for number in 0..300 {
            let host = number % 3;
            let cursor = &mut cursors[host as usize];
            names.push(records.write(HostId::new(host), cursor, &report(number)));
        }
        for (number, &name) in (0..).zip(&names) {
            assert_eq!(records.take(name), report(number));
        }
        for _ in 0..500 {
            let name = records.write(HostId::new(1), &mut cursors[1], &report(9));
            assert_eq!(records.take(name), report(9));
        }
        assert_eq!(cursors[1].made, 100, "no further record was made");
    }
}
