//! Credit scheduler of a destination port: which queue may send to it next, and when.

use std::collections::VecDeque;

use tenter_engine::{prefetch, prefetch_at};
use tenter_language::units::{Instant, Rate, SerialisationTime, Time};

use crate::net::scheduled::spec::ScheduledSpec;

/// Grants the credits of one port, one after the other, to the virtual output queues that have
/// requested any.
///
/// Queues of one class take turns, and so do classes: the port itself orders what it sends.
#[derive(Clone, Debug)]
pub(crate) struct CreditScheduler {
    credit_bytes: u32,
    over_speed_ppm: u32,
    /// Time per byte at which credits are granted: the line's, shortened by the over-speed.
    pace: SerialisationTime,
    /// Earliest instant of the next credit.
    next_at: Instant,
    /// Fraction of a picosecond that is carried into the next interval.
    carried: u32,
    /// Bytes that each queue has requested and not been granted, class after class within a leaf;
    /// below zero by less than a credit.
    debts: Box<[i64]>,
    /// Requesting leaves of each class, in the order of their turns.
    turns: Box<[VecDeque<u16>]>,
    /// Class whose turn it is.
    turn: usize,
    granted: u64,
    slowdown: Slowdown,
}

/// Reduction of the pace while the fabric is congested.
#[derive(Clone, Copy, Debug, Default)]
struct Slowdown {
    /// Steps down, each an eighth of the rate.
    level: u8,
    /// Instant at which the level was last raised.
    raised: Instant,
    /// Instant at which a cell was last marked.
    marked: Instant,
    /// Duration of a step; zero if nothing is ever marked.
    hold: Time,
}

/// The steps of the rate, of which one always remains: Broadcom's headers have eight levels.
const STEPS: u8 = 8;

impl Slowdown {
    /// Returns the level at `now`: one step less for each `hold` since the last mark.
    fn at(self, now: Instant) -> u8 {
        if self.level == 0 {
            return 0;
        }
        let recovered = (now - self.marked) / self.hold;
        let recovered = u8::try_from(recovered).unwrap_or(STEPS);
        self.level.saturating_sub(recovered)
    }

    /// Notes a marked cell: one step more, if the last one has lasted for `hold`.
    fn mark(&mut self, now: Instant) {
        self.level = self.at(now);
        if self.level == 0 || now - self.raised >= self.hold {
            self.level = (self.level + 1).min(STEPS - 1);
            self.raised = now;
        }
        self.marked = now;
    }

    /// Returns the bytes after which the next credit is granted, in place of `bytes`.
    fn stretched(self, bytes: u32, now: Instant) -> u32 {
        let steps = u32::from(STEPS);
        (bytes * steps).div_ceil(steps - u32::from(self.at(now)))
    }
}

impl CreditScheduler {
    pub(crate) fn new(
        spec: &ScheduledSpec,
        bits_per_second: u64,
        leaves: usize,
        classes: usize,
    ) -> CreditScheduler {
        let mut scheduler = CreditScheduler {
            credit_bytes: spec.credit_bytes,
            over_speed_ppm: spec.over_speed_ppm,
            pace: Rate::from_gbps(1).serialisation(0),
            next_at: Instant::START,
            carried: 0,
            debts: vec![0; leaves * classes].into(),
            turns: vec![VecDeque::new(); classes].into(),
            turn: 0,
            granted: 0,
            slowdown: Slowdown {
                hold: spec
                    .indication
                    .map_or(Time::ZERO, |indication| indication.hold),
                ..Slowdown::default()
            },
        };
        scheduler.set_rate(bits_per_second);
        scheduler
    }

    /// Changes the rate of the port from now on.
    pub(crate) fn set_rate(&mut self, bits_per_second: u64) {
        let rate = Rate::from_bits_per_second(bits_per_second.max(1));
        self.pace = rate.serialisation(self.over_speed_ppm.cast_signed());
        self.carried = 0;
    }

    /// Slows credits down, as a cell for the port was marked on its way; it came at `now`.
    pub(crate) fn slow_down(&mut self, now: Instant) {
        self.slowdown.mark(now);
    }

    /// Returns the number of credits granted so far.
    pub(crate) fn granted(&self) -> u64 {
        self.granted
    }

    /// Returns the place of a queue's debt.
    #[inline]
    fn place(&self, leaf: u16, class: usize) -> usize {
        usize::from(leaf) * self.turns.len() + class
    }

    /// Prefetches the data for a request by a queue of a leaf.
    #[inline]
    pub(crate) fn prefetch(&self, leaf: u16, class: usize) {
        prefetch_at(&self.debts, self.place(leaf, class));
        prefetch_at(&self.turns, class);
    }

    /// Prefetches the pointers to the data of the next credit.
    #[inline]
    pub(crate) fn prefetch_turns(&self) {
        prefetch(&self.turns);
        prefetch(&self.next_at);
        prefetch(&self.granted);
    }

    /// Prefetches the data of the next credit.
    #[inline]
    pub(crate) fn prefetch_next(&self) {
        for (class, turns) in self.turns.iter().enumerate() {
            if let Some(&leaf) = turns.front() {
                prefetch_at(&self.debts, self.place(leaf, class));
            }
        }
    }

    /// Adds `bytes` to the request of a leaf's queue.
    pub(crate) fn ask(&mut self, leaf: u16, class: usize, bytes: u32) {
        let place = self.place(leaf, class);
        let debt = &mut self.debts[place];
        let had = *debt > 0;
        *debt += i64::from(bytes);
        // A queue that was granted more than it requested takes a turn once that is used up.
        if !had && *debt > 0 {
            self.turns[class].push_back(leaf);
        }
    }

    /// Returns the instant of the next credit, at `now` or later; [`Instant::NEVER`] without
    /// requests.
    pub(crate) fn due(&self, now: Instant, paused_until: impl Fn(usize) -> Instant) -> Instant {
        let asking = (0..self.turns.len()).filter(|&class| !self.turns[class].is_empty());
        let allowed = asking.map(paused_until).min();
        allowed.map_or(Instant::NEVER, |at| at.max(self.next_at).max(now))
    }

    /// Grants a credit at `now`, at which one is due; returns the leaf and the class of its queue.
    pub(crate) fn grant(
        &mut self,
        now: Instant,
        paused_until: impl Fn(usize) -> Instant,
    ) -> Option<(u16, usize)> {
        let classes = self.turns.len();
        // The first class from the turn on that has requests and is not paused.
        let order = (0..classes).map(|step| (self.turn + step) % classes);
        let mut ready =
            order.filter(|&class| !self.turns[class].is_empty() && paused_until(class) <= now);
        let class = ready.next()?;
        let leaf = self.turns[class].pop_front()?;
        let place = self.place(leaf, class);
        let debt = &mut self.debts[place];
        // A credit is never cut: what exceeds the request counts for later ones.
        *debt -= i64::from(self.credit_bytes);
        if *debt > 0 {
            self.turns[class].push_back(leaf);
        }
        self.turn = (class + 1) % classes;
        // Only credits back to back share a picosecond.
        let carried = if now == self.next_at { self.carried } else { 0 };
        let bytes = self.slowdown.stretched(self.credit_bytes, now);
        let (interval, carried) = self.pace.of(bytes, carried);
        self.carried = carried;
        self.next_at = now + interval;
        self.granted += 1;
        Some((leaf, class))
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Instant, Time};

    use super::CreditScheduler;
    use crate::net::scheduled::{IndicationSpec, ScheduledSpec, SprayKind};

    fn scheduler(classes: usize) -> CreditScheduler {
        let spec = ScheduledSpec {
            credit_bytes: 1_000,
            over_speed_ppm: 0,
            egress_buffer_bytes: 1 << 20,
            cell: None,
            spray: SprayKind::RoundRobin,
            reassembly_timeout: Time::from_us(100),
            control_bytes: 0,
            indication: Some(IndicationSpec {
                threshold_bytes: 10_000,
                hold: Time::from_us(10),
            }),
        };
        CreditScheduler::new(&spec, 8_000_000_000, 3, classes)
    }

    #[test]
    fn credits_go_round_at_the_pace_of_the_port() {
        let mut credits = scheduler(1);
        let never = |_| Instant::START;
        assert_eq!(credits.due(Instant::from_ps(5), never), Instant::NEVER);
        credits.ask(2, 0, 2_500);
        credits.ask(0, 0, 1_000);
        let mut now = Instant::from_ps(5);
        let mut grants = Vec::new();
        while !credits.due(now, never).is_never() {
            now = credits.due(now, never);
            let (leaf, _) = credits.grant(now, never).expect("a credit is due");
            grants.push((now, leaf));
        }
        // 1,000 bytes at 8 Gb/s are a microsecond.
        let at = |nth: u64| Instant::from_ps(5 + nth * 1_000_000);
        assert_eq!(grants, [(at(0), 2), (at(1), 0), (at(2), 2), (at(3), 2)]);
        // Leaf 2 has 500 bytes too many: the next 500 cost nothing.
        credits.ask(2, 0, 500);
        assert_eq!(credits.due(now, never), Instant::NEVER);
        credits.ask(2, 0, 1);
        assert_eq!(credits.due(now, never), at(4));
        assert_eq!(credits.granted(), 4);
    }

    #[test]
    fn a_paused_class_is_passed_over_until_its_pause_ends() {
        const PAUSED: Instant = Instant::from_ps(7_000_000);
        let mut credits = scheduler(2);
        let until = |class| if class == 0 { PAUSED } else { Instant::START };
        credits.ask(0, 0, 1_000);
        assert_eq!(credits.due(Instant::START, until), PAUSED);
        credits.ask(1, 1, 2_000);
        assert_eq!(credits.due(Instant::START, until), Instant::START);
        assert_eq!(credits.grant(Instant::START, until), Some((1, 1)));
        assert_eq!(
            credits.grant(Instant::from_ps(1_000_000), until),
            Some((1, 1))
        );
        assert_eq!(credits.due(Instant::from_ps(1_000_000), until), PAUSED);
        assert_eq!(credits.grant(PAUSED, until), Some((0, 0)));
    }

    #[test]
    fn marks_slow_credits_down_by_an_eighth_for_each_step() {
        let mut credits = scheduler(1);
        let never = |_| Instant::START;
        credits.ask(0, 0, 1_000_000);
        let us = |count: u64| Instant::from_ps(count * 1_000_000);
        let mut interval = |marks: &[u64], at: u64| {
            for &mark in marks {
                credits.slow_down(us(mark));
            }
            credits.grant(us(at), never).expect("a queue has asked");
            (credits.due(us(at), never) - us(at)).ps()
        };
        // 1,000 bytes at 8 Gb/s are a microsecond; at seven eighths 1,143 bytes long.
        assert_eq!(interval(&[], 0), 1_000_000);
        assert_eq!(interval(&[10, 11, 19], 19), 1_143_000);
        // A second step when the first has lasted ten microseconds, 8/6; each is there until ten
        // have passed without a mark.
        assert_eq!(interval(&[20], 29), 1_334_000);
        assert_eq!(interval(&[], 30), 1_143_000);
        assert_eq!(interval(&[], 40), 1_000_000);
        // However many there are, an eighth of the rate remains.
        let long: Vec<u64> = (10..100).map(|five| five * 5).collect();
        assert_eq!(interval(&long, 495), 8_000_000);
    }
}
