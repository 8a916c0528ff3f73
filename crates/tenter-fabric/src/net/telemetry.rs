//! In-band telemetry: records that switches write for data packets on their way.
//!
//! A packet has 32 bytes and no room for it. Telemetry lies beside the packets, in one record for
//! each packet under way. The packet carries the record's name in [`Packet::sent`], and its sending
//! instant is in the record. A record belongs to one packet at a time, and the packet to one node,
//! so a record's reader or writer has it alone: data written in one window is read in the next,
//! because the packet itself is handed over the same way (decision 0021).
//!
//! [`Packet::sent`]: crate::net::Packet::sent

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::topology::HostId;
use tenter_language::units::{Instant, id};

use crate::net::packet::Packet;

/// Records in a host's first block; each further block has twice as many.
const FIRST_BLOCK: u32 = 64;
/// Blocks that a host may have, for more than 2^30 records.
const BLOCKS: usize = 25;
/// Words before the first hop: the packet's sending instant, and the hop count.
const HEAD: usize = 2;
/// Words that a hop takes.
const HOP: usize = 5;

id! {
    /// The name of a record among those of all hosts; a host counts its own by numbers.
    pub struct RecordName(u32);
}

impl RecordName {
    /// Name that stands for no record.
    const NONE: u32 = u32::MAX;

    /// Returns [`Packet::sent`] for a packet with this record, or without any.
    pub fn in_packet(name: Option<RecordName>) -> u32 {
        name.map_or(RecordName::NONE, RecordName::number)
    }
}

impl Packet {
    /// Returns a packet's telemetry record; `None` if none was left for it.
    #[inline]
    pub fn record(&self) -> Option<RecordName> {
        (self.sent != RecordName::NONE).then(|| RecordName::new(self.sent))
    }
}

/// Telemetry that a switch writes as it sends a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// Node number and, in the lower 16 bits, port number.
    pub link: u64,
    /// Instant at which the packet's first bit leaves.
    pub at: Instant,
    /// Wire bytes (frames, preambles and gaps) sent before it.
    pub sent_bytes: u64,
    /// Frame bytes that wait behind it in its queue.
    pub queue_bytes: u64,
    /// Line rate in bits per second.
    pub rate: u64,
}

/// One host's records, in blocks that are allocated as they are needed.
#[derive(Debug, Default)]
struct Region {
    blocks: [OnceLock<Box<[AtomicU64]>>; BLOCKS],
}

/// Telemetry for all packets in a network.
#[derive(Debug)]
pub struct Telemetry {
    /// Hops that a record has room for.
    hops: usize,
    /// Bits in a name that number a host's records; the bits above number the host.
    bits: u32,
    regions: Box<[Region]>,
}

impl Telemetry {
    /// Makes telemetry for `hosts` hosts, with room for `hops` hops in each record.
    pub fn new(hosts: usize, hops: u8) -> Telemetry {
        let of_hosts = usize::BITS - hosts.saturating_sub(1).leading_zeros();
        Telemetry {
            hops: usize::from(hops),
            bits: 32_u32.saturating_sub(of_hosts).min(30),
            regions: (0..hosts).map(|_| Region::default()).collect(),
        }
    }

    /// Returns the most records that a host may have.
    pub fn records(&self) -> u32 {
        (1 << self.bits) - 1
    }

    /// Begins a host's record anew for a packet sent at `sent`; returns the record's name.
    pub fn begin(&self, host: HostId, record: u32, sent: u32) -> RecordName {
        let name = RecordName::new(host.number() << self.bits | record);
        let words = self.words(name);
        // No memory order is needed: the barrier between windows orders the threads.
        words[0].store(u64::from(sent), Ordering::Relaxed);
        words[1].store(0, Ordering::Relaxed);
        name
    }

    /// Returns the number that a record has at its host.
    pub fn record(&self, name: RecordName) -> u32 {
        name.number() & self.records()
    }

    /// Returns the packet's sending instant, as in [`Packet::sent`](crate::net::Packet::sent).
    pub fn sent(&self, name: RecordName) -> u32 {
        self.words(name)[0].load(Ordering::Relaxed) as u32
    }

    /// Adds a hop, if there is room for one.
    pub(crate) fn stamp(&self, name: RecordName, hop: &Hop) {
        let words = self.words(name);
        let count = words[1].load(Ordering::Relaxed) as usize;
        // The path is longer than records are made for: its last hops are left out.
        if count == self.hops {
            return;
        }
        words[1].store(count as u64 + 1, Ordering::Relaxed);
        let values = [
            hop.link,
            hop.at.ps(),
            hop.sent_bytes,
            hop.queue_bytes,
            hop.rate,
        ];
        for (word, value) in words[HEAD + count * HOP..].iter().zip(values) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Replaces `hops` by a record's hops, in order.
    pub fn read(&self, name: RecordName, hops: &mut Vec<Hop>) {
        let words = self.words(name);
        let count = words[1].load(Ordering::Relaxed) as usize;
        hops.clear();
        hops.extend(words[HEAD..].chunks_exact(HOP).take(count).map(|words| {
            let word = |index: usize| words[index].load(Ordering::Relaxed);
            Hop {
                link: word(0),
                at: Instant::from_ps(word(1)),
                sent_bytes: word(2),
                queue_bytes: word(3),
                rate: word(4),
            }
        }));
    }

    fn words(&self, name: RecordName) -> &[AtomicU64] {
        let record = self.record(name);
        // Block b has 64 · 2^b records, so it begins at record 64 · (2^b − 1).
        let block = (record / FIRST_BLOCK + 1).ilog2();
        let first = FIRST_BLOCK * ((1 << block) - 1);
        let stride = HEAD + HOP * self.hops;
        let words = self.regions[(name.number() >> self.bits) as usize].blocks[block as usize]
            // Whichever thread comes first makes a block, with the same content.
            .get_or_init(|| {
                let count = (stride * FIRST_BLOCK as usize) << block;
                (0..count).map(|_| AtomicU64::new(0)).collect()
            });
        let at = stride * (record - first) as usize;
        &words[at..at + stride]
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::HostId;
    use tenter_language::units::Instant;

    use super::{Hop, RecordName, Telemetry};

    fn hop(link: u64) -> Hop {
        Hop {
            link,
            at: Instant::from_ps(link + 1),
            sent_bytes: link + 2,
            queue_bytes: link + 3,
            rate: link + 4,
        }
    }

    #[test]
    fn records_are_apart_and_begin_empty() {
        let telemetry = Telemetry::new(5, 3);
        // Three bits for five hosts.
        assert_eq!(telemetry.records(), (1 << 29) - 1);
        let names: Vec<RecordName> = (0..5)
            .flat_map(|host| (0..300).map(move |record| (host, record)))
            .map(|(host, record)| telemetry.begin(HostId::new(host), record, host * 1000 + record))
            .collect();
        for &name in &names {
            telemetry.stamp(name, &hop(u64::from(name.number())));
        }
        let mut hops = Vec::new();
        for (nth, &name) in (0..).zip(&names) {
            assert_eq!(telemetry.sent(name), nth / 300 * 1000 + nth % 300);
            assert_eq!(telemetry.record(name), nth % 300);
            telemetry.read(name, &mut hops);
            assert_eq!(hops, [hop(u64::from(name.number()))]);
        }
        telemetry.begin(HostId::new(0), 0, 7);
        telemetry.read(names[0], &mut hops);
        assert_eq!(hops, []);
    }

    #[test]
    fn hops_beyond_the_room_are_left_out() {
        let telemetry = Telemetry::new(1, 2);
        let name = telemetry.begin(HostId::new(0), 0, 0);
        for link in 0..4 {
            telemetry.stamp(name, &hop(link));
        }
        let mut hops = Vec::new();
        telemetry.read(name, &mut hops);
        assert_eq!(hops, [hop(0), hop(1)]);
    }
}
