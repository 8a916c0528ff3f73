//! What acknowledgements say.
//!
//! A packet has 32 bytes, and no room for a map of 64 packets. It lies beside the packets in a
//! record, which the acknowledgement names in [`Packet::sent`]. A record belongs to the receiver
//! that wrote it until its acknowledgement has been read; one whose acknowledgement is lost is
//! never used again. Names depend on when threads have read others, and so nothing may depend on a
//! name.
//!
//! [`Packet::sent`]: tenter_net::Packet::sent

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tenter_engine::prefetch;
use tenter_topology::HostId;

/// Records in the first block of a host; each further block has twice as many.
const FIRST_BLOCK: u32 = 64;
/// With this number of blocks a host has more than 2^30 records.
const BLOCKS: usize = 25;
/// What the first word of a record has while it is in use, beside `ahead`.
const IN_USE: u64 = 1 << 63;

/// What an acknowledgement says beside everything before a number having arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// The packet that it answers.
    pub(super) answered: u32,
    /// The packet that the first bit of the map is about.
    pub(super) first: u32,
    /// Which packets from there on have arrived, the first in the lowest bit.
    pub(super) map: u64,
    /// Wire bytes that have arrived in all.
    pub(super) received_bytes: u64,
    /// Packets that have arrived before one that was sent earlier.
    pub(super) ahead: u32,
}

/// A record, two of which are a cache line.
#[derive(Debug, Default)]
#[repr(align(32))]
struct Record([AtomicU64; 4]);

/// The records of one host, made as they are needed.
#[derive(Debug, Default)]
struct Region {
    blocks: [OnceLock<Box<[Record]>>; BLOCKS],
}

/// The records of all receivers of a network.
#[derive(Debug)]
pub struct Acknowledgements {
    /// Bits of a name that count the records of one host; those above are the host.
    bits: u32,
    regions: Box<[Region]>,
}

/// Which records a host uses next.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    next: u32,
    made: u32,
}

/// Records that are looked at before another one is made.
const LOOKS: u32 = 4;

impl Acknowledgements {
    /// For a number of hosts.
    pub fn new(hosts: usize) -> Acknowledgements {
        let of_hosts = usize::BITS - hosts.saturating_sub(1).leading_zeros();
        Acknowledgements {
            bits: 32_u32.saturating_sub(of_hosts).min(30),
            regions: (0..hosts).map(|_| Region::default()).collect(),
        }
    }

    /// Writes a record of a host; its name.
    pub(super) fn write(&self, host: HostId, cursor: &mut Cursor, report: &Report) -> u32 {
        let number = self.free(host, cursor);
        let name = host.number() << self.bits | number;
        let values = [
            IN_USE | u64::from(report.ahead),
            u64::from(report.answered) << 32 | u64::from(report.first),
            report.map,
            report.received_bytes,
        ];
        for (word, value) in self.record(name).0.iter().zip(values) {
            word.store(value, Ordering::Relaxed);
        }
        name
    }

    /// A record of a host that is not in use.
    fn free(&self, host: HostId, cursor: &mut Cursor) -> u32 {
        for _ in 0..LOOKS.min(cursor.made) {
            let number = cursor.next;
            cursor.next = (cursor.next + 1) % cursor.made;
            let Record(words) = self.record(host.number() << self.bits | number);
            // What was read is read before it is written anew.
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

    /// Reads a record, which is free from then on.
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

    /// Fetches a record that will be read.
    #[inline]
    pub(super) fn prefetch(&self, name: u32) {
        prefetch(self.record(name));
    }

    #[inline]
    fn record(&self, name: u32) -> &Record {
        let record = name & ((1 << self.bits) - 1);
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
    use tenter_topology::HostId;

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
