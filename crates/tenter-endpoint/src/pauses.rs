//! Which classes the leaf has paused, and for how long.

mod steady;

use tenter_net::{CLASSES, PauseRecord};
use tenter_units::{Instant, Time};

use crate::reactions::Reactions;

/// The pauses of all classes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pauses {
    until: [Instant; CLASSES],
    records: [PauseRecord; CLASSES],
    /// When the first pause frame came that stopped a class.
    pub(crate) first: Option<Instant>,
    /// How fast it was told of long queues.
    pub(crate) reactions: Reactions,
}

impl Pauses {
    /// Until when a class is paused; in the past when it is not.
    #[inline]
    pub(crate) fn until(&self, class: u8) -> Instant {
        self.until[usize::from(class)]
    }

    /// Obeys a pause of a class from `now` to `until`.
    pub(crate) fn obey(&mut self, class: u8, now: Instant, until: Instant) {
        let class = usize::from(class);
        if until > now {
            self.first.get_or_insert(now);
        }
        self.records[class].take(now, self.until[class], until);
        self.until[class] = until;
    }

    /// A class stops at `now`, or goes on, without a pause: until then.
    pub(crate) fn turn(&mut self, class: u8, now: Instant, until: Instant) {
        let class = usize::from(class);
        self.records[class].turn(now, self.until[class], until);
        self.until[class] = until;
    }

    /// Forgets all pauses at `now`: the link they came over is down.
    pub(crate) fn forget(&mut self, now: Instant) {
        for (record, until) in self.records.iter_mut().zip(&mut self.until) {
            record.forget(now, *until);
            *until = now;
        }
    }

    /// The pauses of a class, and how long they have lasted up to `now`.
    pub(crate) fn record(&self, class: u8, now: Instant) -> (PauseRecord, Time) {
        let class = usize::from(class);
        let record = self.records[class];
        (record, record.paused(now, self.until[class]))
    }
}
