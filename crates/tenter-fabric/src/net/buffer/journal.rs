//! Journal of a visit that serves port after port: frames stored and sent, for a replay in time
//! order.

use tenter_language::units::{Instant, Time};

use super::frame::QueuedFrame;

/// Kinds of entries, in the order of their effects at one instant.
const RELEASE: u64 = 0;
const CHARGE: u64 = 1;
/// Departure that a pause frame has allowed at this very instant: pause frames take effect after
/// frames have arrived.
const LATE_RELEASE: u64 = 2;

/// Longest time from an entry to the end of its visit: about 1 ms.
///
/// The entries of a journal lie in the window of its visit. Each visit carries out everything
/// before its window ends, and a switch is visited in the window with its next event, so nothing is
/// left over from an earlier one. A window lies within one bucket of the calendar, which lasts less
/// than 2^21 ps or its offsets would not fit into an event list's keys; the engine refuses longer
/// ones.
const REACH: Time = Time::from_ps(1 << 30);
/// Bits in an entry's `instant` that hold the kind.
const KIND_BITS: u32 = 2;

/// Bits in a sort key that hold the entry's number.
const INDEX_BITS: u32 = 32;

/// Entries from which slots of time are faster than one sort. Tests make slots for nearly any
/// journal.
const SLOTS_FROM: usize = if cfg!(debug_assertions) { 4 } else { 160 };
/// Binary logarithm of the slot count. Tests make so few that each slot holds several instants.
const SLOT_BITS: u32 = if cfg!(debug_assertions) { 2 } else { 6 };

/// A frame that is stored in an output queue, or leaves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Bytes in the output queue before the event: without a frame that is stored, with one that
    /// leaves.
    pub(crate) queue_bytes: u64,
    /// (time since the journal's origin in ps, kind), most significant first.
    instant: u32,
    /// Frame bytes, positive if the frame is stored and negative if it leaves.
    pub(crate) change: i32,
    /// Input port, which names the priority group of a lossless frame.
    pub(crate) port: u16,
    /// Output port, at which the frame waits.
    pub(crate) output: u16,
    pub(crate) queue: u8,
}

/// Entries from one visit, and the time slots into which they are put for the replay.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    is_open: bool,
    /// Zero of the entries' times: [`REACH`] before the visit ends.
    origin: Instant,
    /// Instant at which the port being served last applied a pause frame in this visit;
    /// [`Instant::NEVER`] if it has not.
    paused_at: Instant,
    charged_bytes: u64,
    /// Queues with frames stored in this visit, one bit each.
    charged_queues: u8,
    /// As they were recorded, port after port.
    entries: Vec<Entry>,
    /// Sort keys (instant, entry number), most significant first, slot after slot.
    order: Vec<u64>,
    slots: Vec<Slot>,
    counts: JournalCounts,
}

/// A span of time with its entries, which all precede the next slot's.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Index in `order` behind the slot's last entry.
    end: u32,
    /// Frame bytes stored within the slot.
    charged_bytes: u64,
}

/// Statistics over all journals of a switch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JournalCounts {
    pub(crate) opened: u64,
    /// Journals replayed slot by slot, because a pool might have passed its high-water mark.
    pub(crate) in_order: u64,
    /// Slots with several entries that were sorted by time before the replay, because a pool might
    /// have passed its high-water mark within them.
    pub(crate) slots_in_order: u64,
    /// Slots with several entries that were replayed unsorted, which is cheaper and gives the same
    /// fills.
    pub(crate) slots_by_port: u64,
    /// Frames that a pause frame resumed at the very instant at which it took effect.
    pub(crate) late_releases: u64,
}

impl Journal {
    /// Opens the journal for a visit that ends at `end`.
    pub(crate) fn open(&mut self, end: Instant) {
        self.is_open = true;
        self.counts.opened += 1;
        self.origin = end.saturating_sub(REACH);
        self.charged_bytes = 0;
        self.charged_queues = 0;
        self.entries.clear();
    }

    /// Returns true while charges and releases are recorded rather than carried out.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns the frame bytes stored in this visit.
    pub(crate) fn charged_bytes(&self) -> u64 {
        self.charged_bytes
    }

    /// Returns the queues with frames stored in this visit, one bit each.
    pub(crate) fn charged_queues(&self) -> u8 {
        self.charged_queues
    }

    pub(crate) fn counts(&self) -> JournalCounts {
        self.counts
    }

    /// Turns to another port, which has not applied any pause frame in this visit.
    #[inline]
    pub(crate) fn begin_port(&mut self) {
        self.paused_at = Instant::NEVER;
    }

    /// Notes that the port being served has applied a pause frame at `now`.
    pub(crate) fn note_pause(&mut self, now: Instant) {
        self.paused_at = now;
    }

    /// Records a frame that is stored at `now`.
    #[inline]
    pub(crate) fn charge(&mut self, frame: QueuedFrame, now: Instant) {
        self.charged_bytes += frame.bytes;
        self.charged_queues |= 1 << frame.queue;
        self.enter(frame, now, CHARGE);
    }

    /// Records a frame that leaves at `now`.
    #[inline]
    pub(crate) fn release(&mut self, frame: QueuedFrame, now: Instant) {
        // The pause frame came after all arrivals of this instant, and so does the departure.
        let is_late = self.paused_at == now;
        self.counts.late_releases += u64::from(is_late);
        let kind = if is_late { LATE_RELEASE } else { RELEASE };
        self.enter(frame, now, kind);
    }

    #[inline]
    fn enter(&mut self, frame: QueuedFrame, now: Instant, kind: u64) {
        debug_assert!(
            now >= self.origin && now - self.origin < REACH,
            "a visit goes back further than a journal can"
        );
        let bytes = frame.bytes as i32;
        let (queue_bytes, change) = if kind == CHARGE {
            (frame.others, bytes)
        } else {
            (frame.queue_bytes(), -bytes)
        };
        // Times below 2^30 ps and two bits for the kind fill the 32 bits.
        self.entries.push(Entry {
            queue_bytes,
            instant: ((now - self.origin).ps() << KIND_BITS | kind) as u32,
            change,
            port: frame.input,
            output: frame.output,
            queue: frame.queue as u8,
        });
    }

    /// Ends the recording; the entries stay for the replay.
    pub(crate) fn close(&mut self) {
        self.is_open = false;
    }

    /// Returns the entries as they were recorded, port after port.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Puts the entries into slots of time, within which they stay port after port, and returns how
    /// many slots there are.
    ///
    /// Most slots cannot hold a new high-water mark and need no order: their entries lead to the
    /// same fills at the slot's end, because each port stores a frame before it sends it.
    pub(crate) fn arrange(&mut self) -> usize {
        self.counts.in_order += 1;
        self.slots.clear();
        self.order.clear();
        let key = |(number, entry): (u64, &Entry)| u64::from(entry.instant) << INDEX_BITS | number;
        let keys = (0..).zip(&self.entries).map(key);
        if self.entries.len() < SLOTS_FROM {
            self.order.extend(keys);
            self.slots.push(Slot {
                end: self.entries.len() as u32,
                charged_bytes: self.charged_bytes,
            });
            return 1;
        }
        let (first, last) = self
            .entries
            .iter()
            .fold((u32::MAX, 0), |(first, last), entry| {
                (entry.instant.min(first), entry.instant.max(last))
            });
        let shift = (u32::BITS - (last - first).leading_zeros()).saturating_sub(SLOT_BITS);
        // One slot more, as the first instant may lie in the middle of its slot.
        self.slots.resize((1 << SLOT_BITS) + 1, Slot::default());
        let slots = &mut self.slots[..];
        let place = |instant: u32| ((instant >> shift) - (first >> shift)) as usize;
        for entry in &self.entries {
            let slot = &mut slots[place(entry.instant)];
            slot.end += 1;
            slot.charged_bytes += u64::from(entry.change.max(0).unsigned_abs());
        }
        // A counting sort. `end` becomes the start of its slot here, and its end again as entries
        // are placed.
        let mut before = 0;
        for slot in slots.iter_mut() {
            before += std::mem::replace(&mut slot.end, before);
        }
        self.order.resize(self.entries.len(), 0);
        for key in keys {
            let end = &mut slots[place((key >> INDEX_BITS) as u32)].end;
            self.order[*end as usize] = key;
            *end += 1;
        }
        slots.len()
    }

    /// Returns the frame bytes stored within a slot.
    pub(crate) fn charged_bytes_in(&self, slot: usize) -> u64 {
        self.slots[slot].charged_bytes
    }

    /// Returns a slot's entries, sorted by time if `in_order`.
    #[inline]
    pub(crate) fn entries_in(
        &mut self,
        slot: usize,
        in_order: bool,
    ) -> impl Iterator<Item = &Entry> {
        let start = slot
            .checked_sub(1)
            .map_or(0, |before| self.slots[before].end);
        let order = &mut self.order[start as usize..self.slots[slot].end as usize];
        let several = u64::from(order.len() > 1);
        if in_order {
            self.counts.slots_in_order += several;
            order.sort_unstable();
        } else {
            self.counts.slots_by_port += several;
        }
        let entries = &self.entries;
        order.iter().map(|&key| &entries[key as u32 as usize])
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Instant;

    use super::Journal;
    use crate::net::buffer::QueuedFrame;

    fn frame(port: u16, bytes: u64) -> QueuedFrame {
        QueuedFrame {
            input: port,
            output: port,
            queue: 0,
            bytes,
            others: 0,
        }
    }

    fn ports(journal: &mut Journal, in_order: bool) -> Vec<u16> {
        let slots = 0..journal.arrange();
        let mut ports = Vec::new();
        for slot in slots {
            let entries = journal.entries_in(slot, in_order);
            ports.extend(entries.map(|entry| entry.port));
        }
        ports
    }

    fn at(ps: u64) -> Instant {
        Instant::from_ps(ps)
    }

    #[test]
    fn what_happens_at_one_instant_has_an_order() {
        let mut journal = Journal::default();
        journal.open(at(5_000));
        journal.begin_port();
        journal.charge(frame(0, 100), at(2_000));
        journal.charge(frame(1, 100), at(1_000));
        journal.note_pause(at(2_000));
        journal.release(frame(2, 100), at(2_000));
        journal.begin_port();
        journal.release(frame(3, 100), at(2_000));
        assert_eq!(journal.charged_bytes(), 200);
        journal.close();
        assert_eq!(journal.entries().len(), 4);
        assert!(!journal.is_open());
        assert_eq!(ports(&mut journal, true), [1, 3, 0, 2]);
    }

    #[test]
    fn slots_are_in_the_order_of_time() {
        let mut journal = Journal::default();
        journal.open(at(1 << 20));
        // Port p does something every 1,009 ps, from p on.
        for port in 0..7 {
            journal.begin_port();
            for step in 0..100 {
                journal.charge(frame(port, 1), at(500_000 + u64::from(port) + step * 1_009));
            }
        }
        journal.close();
        let expected: Vec<u16> = (0..100).flat_map(|_| 0..7).collect();
        assert_eq!(ports(&mut journal, true), expected);
        let slots = journal.arrange();
        let charged: u64 = (0..slots).map(|slot| journal.charged_bytes_in(slot)).sum();
        assert_eq!(charged, 700);
        let mut last = 0;
        for slot in 0..slots {
            let entries = journal.entries_in(slot, false);
            let times: Vec<u32> = entries.map(|entry| entry.instant).collect();
            assert!(times.iter().all(|time| *time > last), "slots overlap");
            last = times.iter().copied().max().unwrap_or(last);
        }
    }
}
