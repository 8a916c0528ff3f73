//! Tracks the time that congestion control holds chunks back at their sender.
//!
//! ```text
//!   port        │ own │ other │ idle │ own │ idle, paused │ idle │ own │
//!   held                      ├──────┤                    ├──────┤
//! ```
//!
//! A queue pair is held while it has data but its rate, window or credit forbids the next frame. Of
//! this wait, only the time counts in which the port could have sent that frame: the port is idle
//! and not paused, and host memory has data ready. Time that the queue pair would have spent behind
//! others of its NIC, or behind a pause by the leaf, is thereby excluded.

use std::collections::VecDeque;

use tenter_language::units::{Instant, Time};

use super::port::Wire;

/// Time for which congestion control held one work request back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldByRate {
    /// Part before the first frame, from posting on, waits behind earlier requests included.
    pub before_first: Time,
    /// Part after the first frame.
    pub after_first: Time,
}

impl HeldByRate {
    /// Returns the sum over both parts.
    pub fn sum(self) -> Time {
        self.before_first + self.after_first
    }
}

/// Clock that runs only while a NIC could have sent data.
#[derive(Clone, Debug)]
pub(crate) struct IdleClock {
    /// Idle time up to `counted`.
    idle: Time,
    /// Instant up to which idle time is added up.
    counted: Instant,
    /// Set if a pause by the leaf stops the clock. A NIC that sprays has other ports then, so its
    /// clock runs on.
    stops_at_pauses: bool,
}

impl IdleClock {
    /// Creates the clock for a NIC that sprays each queue pair over `planes` planes.
    pub(crate) fn new(planes: u16) -> IdleClock {
        IdleClock {
            idle: Time::ZERO,
            counted: Instant::START,
            stops_at_pauses: planes == 1,
        }
    }

    /// Notes a frame that starts at `now` on a wire that was free from `free_at` on.
    #[inline]
    pub(crate) fn departs(&mut self, free_at: Instant, now: Instant) {
        // Idle time up to `counted` is in the sum already.
        self.idle += now.saturating_since(free_at.max(self.counted));
        self.counted = now;
    }

    /// Returns the time up to `now` in which the wire was idle, less the time in which `class` was
    /// paused, in ps. Only differences between readings have a meaning: a reading may be negative.
    pub(crate) fn read(&self, wire: Wire<'_>, class: u8, now: Instant) -> i64 {
        let idle = self.idle + now.saturating_since(wire.free_at.max(self.counted));
        let paused = if self.stops_at_pauses {
            wire.pauses.record(class, now).1
        } else {
            Time::ZERO
        };
        idle.ps().cast_signed() - paused.ps().cast_signed()
    }
}

/// A request that is not yet acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Request {
    /// The queue pair's total held time when the request was posted.
    sum_when_posted: Time,
    held: HeldByRate,
}

/// One queue pair's waits. A request is known by its position, where 0 is the oldest unacknowledged
/// one.
///
/// A wait continues while other queue pairs send: the port is then busy, and the clock stands
/// still. Nothing has to be noted per frame, therefore.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    /// Clock reading at which the present wait began or was last accounted for; `None` without a
    /// wait.
    since: Option<i64>,
    /// Total time for which the queue pair was held.
    sum: Time,
    requests: VecDeque<Request>,
    /// Requests that have sent a frame.
    begun: usize,
}

/// Returns the time between two readings. A pause that begins while a frame leaves is subtracted
/// twice, so the difference may be negative; it then counts as zero.
fn between(since: i64, reading: i64) -> Time {
    Time::from_ps((reading - since).max(0).cast_unsigned())
}

impl Waits {
    /// Returns true while a wait continues.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.since.is_some()
    }

    /// Records a request that is posted.
    pub(crate) fn post(&mut self, reading: i64) {
        let present = self
            .since
            .map_or(Time::ZERO, |since| between(since, reading));
        self.requests.push_back(Request {
            sum_when_posted: self.sum + present,
            held: HeldByRate::default(),
        });
    }

    /// Starts a wait, or ends it while request `sending` has the next frame. `sending` is past the
    /// last request if all have been sent.
    pub(crate) fn turn(&mut self, is_held: bool, sending: usize, reading: i64) {
        let last = self.requests.len().saturating_sub(1);
        self.count(sending.min(last), reading);
        self.since = is_held.then_some(reading);
    }

    /// Returns true if request `sending` has not sent a frame yet.
    #[inline]
    pub(crate) fn begins(&self, sending: usize) -> bool {
        sending == self.begun
    }

    /// Notes that request `sending` sends a frame. Calls for frames other than the first and last
    /// are allowed and change nothing in the sums.
    pub(crate) fn sends(&mut self, sending: usize, reading: i64) {
        self.count(sending, reading);
        if self.begins(sending)
            && let Some(request) = self.requests.get_mut(sending)
        {
            // All waits since posting count, also those in which an earlier request had the next
            // frame.
            request.held.before_first = self.sum.saturating_sub(request.sum_when_posted);
            self.begun += 1;
        }
    }

    /// Tracks the present wait up to now. It counts for request `sending` if that has sent a
    /// frame; before that, `before_first` covers it.
    fn count(&mut self, sending: usize, reading: i64) {
        let Some(since) = &mut self.since else {
            return;
        };
        let held = between(std::mem::replace(since, reading), reading);
        self.sum += held;
        if sending < self.begun
            && let Some(request) = self.requests.get_mut(sending)
        {
            request.held.after_first += held;
        }
    }

    /// Removes the oldest request, which is acknowledged, and returns the time that it was held.
    pub(crate) fn acknowledged(&mut self) -> HeldByRate {
        self.begun = self.begun.saturating_sub(1);
        let request = self.requests.pop_front().unwrap_or_default();
        request.held
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Instant, Time};

    use super::{HeldByRate, IdleClock, Waits};
    use crate::nic::port::Wire;
    use crate::pauses::Pauses;

    fn at(ns: u64) -> Instant {
        Instant::START + Time::from_ns(ns)
    }

    fn held(before_ns: i64, after_ns: i64) -> HeldByRate {
        let time = |ns: i64| Time::from_ns(ns.cast_unsigned());
        HeldByRate {
            before_first: time(before_ns),
            after_first: time(after_ns),
        }
    }

    const NS: i64 = 1_000;

    /// The wire is free from 100 to 150, busy to 200, and free from then on; class 3 is paused from
    /// 220 to 250.
    #[test]
    fn idle_time_is_that_of_a_free_wire_without_a_pause() {
        let mut pauses = Pauses::default();
        let mut clock = IdleClock::new(1);
        clock.departs(Instant::START, Instant::START);
        clock.departs(at(100), at(150));
        pauses.obey(3, at(220), at(250) - at(220));
        let wire = Wire {
            free_at: at(200),
            pauses: &pauses,
        };
        let readings = [180, 200, 210, 230, 260].map(|ns| clock.read(wire, 3, at(ns)) / NS);
        assert_eq!(readings, [50, 50, 60, 70, 80]);
        // Another class goes on, and a NIC with other ports as well.
        assert_eq!(clock.read(wire, 4, at(260)), 110 * NS);
        let spraying = IdleClock {
            stops_at_pauses: false,
            ..clock.clone()
        };
        assert_eq!(spraying.read(wire, 3, at(260)), 110 * NS);
        // A link that is down sends nothing.
        let dark = Wire {
            free_at: Instant::NEVER,
            ..wire
        };
        assert_eq!(clock.read(dark, 4, at(900)), 50 * NS);
    }

    #[test]
    fn a_wait_counts_for_the_request_that_sends_and_for_those_behind_it() {
        let mut waits = Waits::default();
        waits.post(0);
        waits.sends(0, 0);
        waits.turn(true, 0, 10 * NS);
        // The second is posted in the middle of a wait of 30, after which the first ends.
        waits.post(20 * NS);
        assert!(waits.is_held());
        waits.sends(0, 40 * NS);
        // The second waits 15 for its first frame, and 7 for its last; then all has been sent.
        waits.sends(1, 55 * NS);
        waits.sends(1, 62 * NS);
        waits.turn(false, 2, 62 * NS);
        assert!(!waits.is_held());
        assert_eq!(waits.acknowledged(), held(0, 30));
        assert_eq!(waits.acknowledged(), held(35, 7));
        waits.post(100 * NS);
        waits.sends(0, 110 * NS);
        assert_eq!(waits.acknowledged(), HeldByRate::default());
    }

    /// A frame that is sent again after the last one waits for its rate, too.
    #[test]
    fn a_request_that_is_repaired_is_held_behind_its_last_frame() {
        let mut waits = Waits::default();
        waits.post(0);
        waits.sends(0, 0);
        waits.sends(0, 5 * NS);
        waits.turn(true, 0, 5 * NS);
        waits.turn(false, 1, 9 * NS);
        assert_eq!(waits.acknowledged(), held(0, 4));
    }
}
