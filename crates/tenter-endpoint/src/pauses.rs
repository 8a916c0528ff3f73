//! Pauses that the leaf imposes on a NIC's classes.

mod steady;

use tenter_fabric::net::{CLASSES, PauseRecord};
use tenter_language::units::{Instant, Time};

use crate::reactions::Reactions;

/// Pauses in all classes at one port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pauses {
    until: [Instant; CLASSES],
    records: [PauseRecord; CLASSES],
    /// Time from a pause's end to the first frame in the class.
    resume_delay: Time,
    /// Arrival of the first XOFF frame, if there was one.
    pub(crate) first: Option<Instant>,
    /// Times from a long queue to a pause by a congestion signal.
    pub(crate) reactions: Reactions,
}

impl Pauses {
    /// Creates the state for a NIC that resumes `resume_delay` after each pause.
    pub(crate) fn new(resume_delay: Time) -> Pauses {
        Pauses {
            resume_delay,
            ..Pauses::default()
        }
    }

    /// Returns the instant until which a class is paused; in the past if it is not.
    #[inline]
    pub(crate) fn until(&self, class: u8) -> Instant {
        self.until[usize::from(class)]
    }

    /// Applies a pause frame that takes effect at `now`. `pause` is the requested duration; zero is
    /// an XON.
    pub(crate) fn obey(&mut self, class: u8, now: Instant, pause: Time) {
        let class = usize::from(class);
        let before = self.until[class];
        let resumed = now + pause + self.resume_delay;
        let until = if pause > Time::ZERO {
            self.first.get_or_insert(now);
            resumed
        } else {
            // An XON must not start a pause: without one, the resume delay does not apply. Nor may
            // the delay hold the class longer than the pause would have.
            resumed.min(before.max(now))
        };
        self.records[class].count(pause > Time::ZERO);
        self.records[class].turn(now, before, until);
        self.until[class] = until;
    }

    /// Pauses a class from `now` until `until`, or ends its pause, without a pause frame. Lanes
    /// that run out of link credit use it.
    pub(crate) fn turn(&mut self, class: u8, now: Instant, until: Instant) {
        let class = usize::from(class);
        self.records[class].turn(now, self.until[class], until);
        self.until[class] = until;
    }

    /// Forgets all pauses at `now`, because their link has gone down.
    pub(crate) fn forget(&mut self, now: Instant) {
        for (record, until) in self.records.iter_mut().zip(&mut self.until) {
            record.forget(now, *until);
            *until = now;
        }
    }

    /// Returns the pause frames for a class, and the total time up to `now` for which it was
    /// paused.
    pub(crate) fn record(&self, class: u8, now: Instant) -> (PauseRecord, Time) {
        let class = usize::from(class);
        let record = self.records[class];
        (record, record.paused(now, self.until[class]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    fn at(of: u64) -> Instant {
        Instant::START + us(of)
    }

    /// Frames of class 3 start 5 us after each pause.
    fn late() -> Pauses {
        Pauses::new(us(5))
    }

    #[test]
    fn the_delay_begins_when_a_pause_ends() {
        let mut pauses = late();
        pauses.obey(3, at(10), us(20));
        assert_eq!(pauses.until(3), at(35), "its quanta have passed at 30");
        pauses.obey(3, at(12), Time::ZERO);
        assert_eq!(pauses.until(3), at(17), "an XON at 12");
        assert_eq!(pauses.until(4), Instant::START, "another class");
        let (record, paused) = pauses.record(3, at(100));
        assert_eq!((record.xoff_frames, record.xon_frames), (1, 1));
        assert_eq!(paused, us(7));
    }

    #[test]
    fn an_xon_holds_nobody_longer() {
        let mut pauses = late();
        pauses.obey(3, at(1), Time::ZERO);
        assert!(pauses.until(3) <= at(1), "nothing was paused");
        pauses.obey(3, at(10), us(20));
        pauses.obey(3, at(12), Time::ZERO);
        pauses.obey(3, at(14), Time::ZERO);
        assert_eq!(pauses.until(3), at(17), "the second changes nothing");
        pauses.obey(3, at(20), Time::ZERO);
        assert!(pauses.until(3) <= at(20), "nor does one behind the delay");
        assert_eq!(pauses.record(3, at(30)).1, us(7));
    }

    #[test]
    fn a_pause_in_the_delay_goes_on() {
        let mut pauses = late();
        pauses.obey(3, at(10), us(20));
        pauses.obey(3, at(12), Time::ZERO);
        pauses.obey(3, at(15), us(20));
        assert_eq!(pauses.until(3), at(40));
        pauses.forget(at(38));
        assert_eq!(pauses.until(3), at(38), "the link went down");
        assert_eq!(pauses.record(3, at(50)).1, us(28));
    }
}
