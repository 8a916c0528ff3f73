//! How long congestion control holds chunks back at their sender.
//!
//! ```text
//!   port        │ own │ other │ idle │ own │ idle, paused │ idle │ own │
//!   held                      ├──────┤                    ├──────┤
//! ```
//!
//! A queue pair is held while it has data and its rate, window or credit does not allow the next
//! frame. Of that only the time counts in which the port could have sent it: the port is idle and
//! not paused, and host memory has data ready. So time is never counted that the queue pair would
//! have waited for others of its NIC, or for the leaf, whatever its rate.

use std::collections::VecDeque;

use tenter_units::{Instant, Time};

use super::port::Wire;

/// The time for which congestion control held a work request back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldByRate {
    /// Between its posting and its first frame, the waits for the requests before it included.
    pub before_first: Time,
    /// From its first frame on.
    pub after_first: Time,
}

impl HeldByRate {
    /// Both together.
    pub fn sum(self) -> Time {
        self.before_first + self.after_first
    }
}

/// The time in which a NIC could have sent data.
#[derive(Clone, Debug)]
pub(crate) struct IdleClock {
    /// Idle time up to `counted`.
    idle: Time,
    counted: Instant,
    /// A pause stops all data of a class, unless the NIC sprays: it has other ports then.
    stops_at_pauses: bool,
}

impl IdleClock {
    /// Of a NIC that sprays each queue pair over this number of planes.
    pub(crate) fn new(planes: u16) -> IdleClock {
        IdleClock {
            idle: Time::ZERO,
            counted: Instant::START,
            stops_at_pauses: planes == 1,
        }
    }

    /// A frame is put at `now` onto a wire that was free from `free_at` on.
    #[inline]
    pub(crate) fn departs(&mut self, free_at: Instant, now: Instant) {
        self.idle += now.saturating_since(free_at.max(self.counted));
        self.counted = now;
    }

    /// Time up to `now` in which the wire was idle, without that in which a class was paused, in
    /// ps; differences of readings count.
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

/// A request that is not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Request {
    /// How long its queue pair had been held when it was posted.
    sum_when_posted: Time,
    held: HeldByRate,
}

/// The waits of one queue pair. Its requests are known by their places, the oldest that is not
/// acknowledged being 0.
///
/// A wait goes on while frames are sent: as long as one can be sent, the port is not idle, and the
/// clock stands still. So nothing has to be noted frame by frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    /// The reading of the clock when the present wait began, or was last counted.
    since: Option<i64>,
    /// All that is counted.
    sum: Time,
    requests: VecDeque<Request>,
    /// Requests of which a frame has been sent.
    begun: usize,
}

/// The time between two readings; a pause may begin while a frame leaves, and counts twice then.
fn between(since: i64, reading: i64) -> Time {
    Time::from_ps((reading - since).max(0).cast_unsigned())
}

impl Waits {
    /// Whether a wait goes on.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.since.is_some()
    }

    /// A request is posted.
    pub(crate) fn post(&mut self, reading: i64) {
        let present = self
            .since
            .map_or(Time::ZERO, |since| between(since, reading));
        self.requests.push_back(Request {
            sum_when_posted: self.sum + present,
            held: HeldByRate::default(),
        });
    }

    /// A wait begins, or ends while request `sending` has the next frame; past the last one if all
    /// have been sent.
    pub(crate) fn turn(&mut self, is_held: bool, sending: usize, reading: i64) {
        let last = self.requests.len().saturating_sub(1);
        self.count(sending.min(last), reading);
        self.since = is_held.then_some(reading);
    }

    /// Whether no frame of request `sending` has been sent.
    #[inline]
    pub(crate) fn begins(&self, sending: usize) -> bool {
        sending == self.begun
    }

    /// The first or the last frame of request `sending` is sent, or one between them.
    pub(crate) fn sends(&mut self, sending: usize, reading: i64) {
        self.count(sending, reading);
        if self.begins(sending)
            && let Some(request) = self.requests.get_mut(sending)
        {
            request.held.before_first = self.sum.saturating_sub(request.sum_when_posted);
            self.begun += 1;
        }
    }

    /// Counts the present wait up to now, for request `sending` if a frame of it has been sent.
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

    /// The oldest request is acknowledged; how long it was held.
    pub(crate) fn acknowledged(&mut self) -> HeldByRate {
        self.begun = self.begun.saturating_sub(1);
        let request = self.requests.pop_front().unwrap_or_default();
        request.held
    }
}

#[cfg(test)]
mod tests {
    use tenter_units::{Instant, Time};

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
