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
    /// From the end of a pause until frames of the class start again.
    resume_delay: Time,
    /// When the first pause frame came that stopped a class.
    pub(crate) first: Option<Instant>,
    /// How fast it was told of long queues.
    pub(crate) reactions: Reactions,
}

impl Pauses {
    /// Those of a NIC that resumes so long after a pause.
    pub(crate) fn new(resume_delay: Time) -> Pauses {
        Pauses {
            resume_delay,
            ..Pauses::default()
        }
    }

    /// Until when a class is paused; in the past when it is not.
    #[inline]
    pub(crate) fn until(&self, class: u8) -> Instant {
        self.until[usize::from(class)]
    }

    /// Obeys a pause frame of a class from `now` on, which asks for such a pause: none is an XON.
    pub(crate) fn obey(&mut self, class: u8, now: Instant, pause: Time) {
        let class = usize::from(class);
        let before = self.until[class];
        let resumed = now + pause + self.resume_delay;
        let until = if pause > Time::ZERO {
            self.first.get_or_insert(now);
            resumed
        } else {
            // A class that is not paused goes on, and none is held longer than it would be.
            resumed.min(before.max(now))
        };
        self.records[class].count(pause > Time::ZERO);
        self.records[class].turn(now, before, until);
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
