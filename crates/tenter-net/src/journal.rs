//! What is stored and what leaves during a visit that goes port after port, for carrying it out in
//! the order of time afterwards.

const NEVER: u64 = u64::MAX;

/// What happens at one instant, in order.
const RELEASE: u64 = 0;
const CHARGE: u64 = 1;
/// A frame that a pause frame has let go at this very instant: pause frames are obeyed after frames
/// have arrived.
const LATE_RELEASE: u64 = 2;

/// No visit goes back further than this before its end, in ps: about 1 ms.
///
/// What a journal gets lies in the window of its visit. Each visit does all that happens before the
/// end of its window, and a switch is visited again in the window of whatever next happens to it
/// of its own, so nothing is left over from an earlier one. And a window is within a bucket of the
/// calendar, which lasts less than 2^21 ps or its offsets would not fit into the keys of an agenda;
/// the engine refuses longer ones.
const REACH: u64 = 1 << 30;
/// Bits of a key that number the entry, and bits that say what it is.
const INDEX_BITS: u32 = 32;
const KIND_BITS: u32 = 2;

/// One frame that is stored, or leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// What its output queue held: before it if it is stored, with it if it leaves.
    pub(crate) queue_bytes: u64,
    pub(crate) frame: u32,
    /// The port it came through.
    pub(crate) port: u16,
    pub(crate) queue: u8,
    /// Whether it is stored.
    pub(crate) is_charge: bool,
}

impl Entry {
    #[inline]
    pub(crate) fn new(
        is_charge: bool,
        (port, queue): (u16, usize),
        (queue_bytes, frame): (u64, u64),
    ) -> Entry {
        Entry {
            queue_bytes,
            frame: frame as u32,
            port,
            queue: queue as u8,
            is_charge,
        }
    }
}

/// The journal of a visit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    is_open: bool,
    /// Keys count time from here.
    origin: u64,
    /// When the port whose turn it is last obeyed a pause frame; `NEVER` if it has not.
    obeyed_at: u64,
    charged_bytes: u64,
    /// (time, kind, number of the entry), most significant first.
    keys: Vec<u64>,
    entries: Vec<Entry>,
    counts: JournalCounts,
}

/// What journals came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JournalCounts {
    pub(crate) opened: u64,
    /// Of them, carried out in the order of time.
    pub(crate) in_order: u64,
    /// Frames that a pause frame let go at the instant at which it arrived.
    pub(crate) late_releases: u64,
}

impl Journal {
    /// Begins a journal of a visit that ends at `end`.
    pub(crate) fn open(&mut self, end: u64) {
        self.is_open = true;
        self.counts.opened += 1;
        self.origin = end.saturating_sub(REACH);
        self.charged_bytes = 0;
        self.keys.clear();
        self.entries.clear();
    }

    /// Whether what happens is entered rather than carried out.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Bytes of the frames that were stored.
    pub(crate) fn charged_bytes(&self) -> u64 {
        self.charged_bytes
    }

    pub(crate) fn counts(&self) -> JournalCounts {
        self.counts
    }

    /// Another port begins its turn.
    #[inline]
    pub(crate) fn begin_port(&mut self) {
        self.obeyed_at = NEVER;
    }

    /// The port whose turn it is has obeyed a pause frame.
    pub(crate) fn note_obeyed(&mut self, now: u64) {
        self.obeyed_at = now;
    }

    #[inline]
    pub(crate) fn enter(&mut self, now: u64, entry: Entry) {
        debug_assert!(
            now >= self.origin,
            "a visit goes back further than a journal can"
        );
        let kind = if entry.is_charge {
            self.charged_bytes += u64::from(entry.frame);
            CHARGE
        } else if self.obeyed_at == now {
            self.counts.late_releases += 1;
            LATE_RELEASE
        } else {
            RELEASE
        };
        let instant = (now - self.origin) << KIND_BITS | kind;
        self.keys
            .push(instant << INDEX_BITS | self.entries.len() as u64);
        self.entries.push(entry);
    }

    /// Ends the journal and goes through its entries, in the order of time if asked to.
    pub(crate) fn close(&mut self, in_order: bool, mut each: impl FnMut(&Entry)) {
        self.is_open = false;
        if in_order {
            self.counts.in_order += 1;
            self.keys.sort_unstable();
        }
        for &key in &self.keys {
            each(&self.entries[key as u32 as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Journal};

    #[test]
    fn what_happens_at_one_instant_has_an_order() {
        let mut journal = Journal::default();
        journal.open(5_000);
        let entry = |is_charge, port| Entry::new(is_charge, (port, 0), (0, 100));
        journal.begin_port();
        journal.enter(2_000, entry(true, 0));
        journal.enter(1_000, entry(true, 1));
        journal.note_obeyed(2_000);
        journal.enter(2_000, entry(false, 2));
        journal.begin_port();
        journal.enter(2_000, entry(false, 3));
        assert_eq!(journal.charged_bytes(), 200);
        let mut ports = Vec::new();
        journal.close(true, |entry| ports.push(entry.port));
        assert_eq!(ports, [1, 3, 0, 2]);
        assert!(!journal.is_open());
    }
}
