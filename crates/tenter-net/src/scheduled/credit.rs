//! The scheduler of a destination port: who may send to it next, and when.

use std::collections::VecDeque;

use tenter_units::{Rate, SerialisationTime};

use crate::scheduled::ScheduledSpec;
use crate::scheduled::earliest::NEVER;

/// Grants the credits of one port, one after the other, to the virtual output queues that have
/// asked.
///
/// Queues of one class take turns, and so do classes: what a port sends first is its own affair.
#[derive(Clone, Debug)]
pub(crate) struct CreditScheduler {
    credit_bytes: u32,
    over_speed_ppm: u32,
    pace: SerialisationTime,
    /// No credit is granted before.
    next_at: u64,
    /// The fraction of a picosecond that is carried into the next interval.
    carried: u32,
    /// What each queue has asked for and not been granted, class after class within a leaf; below
    /// zero by less than a credit.
    debts: Box<[i64]>,
    /// For each class the leaves that have asked, in the order of their turns.
    turns: Box<[VecDeque<u16>]>,
    /// The class whose turn it is.
    turn: usize,
    granted: u64,
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
            next_at: 0,
            carried: 0,
            debts: vec![0; leaves * classes].into(),
            turns: vec![VecDeque::new(); classes].into(),
            turn: 0,
            granted: 0,
        };
        scheduler.set_rate(bits_per_second);
        scheduler
    }

    /// The port sends at another rate from now on.
    pub(crate) fn set_rate(&mut self, bits_per_second: u64) {
        let rate = Rate::from_bits_per_second(bits_per_second.max(1));
        self.pace = rate.serialisation(self.over_speed_ppm.cast_signed());
        self.carried = 0;
    }

    /// Credits granted so far.
    pub(crate) fn granted(&self) -> u64 {
        self.granted
    }

    /// A queue of a leaf asks for so many bytes more.
    pub(crate) fn ask(&mut self, leaf: u16, class: usize, bytes: u32) {
        let debt = &mut self.debts[usize::from(leaf) * self.turns.len() + class];
        let had = *debt > 0;
        *debt += i64::from(bytes);
        if !had && *debt > 0 {
            self.turns[class].push_back(leaf);
        }
    }

    /// When the next credit is due, at `now` or later: [`NEVER`] when nobody has asked.
    pub(crate) fn due(&self, now: u64, paused_until: impl Fn(usize) -> u64) -> u64 {
        let asking = (0..self.turns.len()).filter(|&class| !self.turns[class].is_empty());
        let allowed = asking.map(paused_until).min();
        allowed.map_or(NEVER, |at| at.max(self.next_at).max(now))
    }

    /// Grants a credit at `now`, at which one is due: to which queue of which leaf.
    pub(crate) fn grant(
        &mut self,
        now: u64,
        paused_until: impl Fn(usize) -> u64,
    ) -> Option<(u16, usize)> {
        let classes = self.turns.len();
        let order = (0..classes).map(|step| (self.turn + step) % classes);
        let mut ready =
            order.filter(|&class| !self.turns[class].is_empty() && paused_until(class) <= now);
        let class = ready.next()?;
        let leaf = self.turns[class].pop_front()?;
        let debt = &mut self.debts[usize::from(leaf) * classes + class];
        *debt -= i64::from(self.credit_bytes);
        if *debt > 0 {
            self.turns[class].push_back(leaf);
        }
        self.turn = (class + 1) % classes;
        let carried = if now == self.next_at { self.carried } else { 0 };
        let (interval, carried) = self.pace.of(self.credit_bytes, carried);
        self.carried = carried;
        self.next_at = now + interval.ps();
        self.granted += 1;
        Some((leaf, class))
    }
}

#[cfg(test)]
mod tests {
    use tenter_units::Time;

    use super::{CreditScheduler, NEVER};
    use crate::scheduled::{ScheduledSpec, SprayKind};

    fn scheduler(classes: usize) -> CreditScheduler {
        let spec = ScheduledSpec {
            credit_bytes: 1_000,
            over_speed_ppm: 0,
            egress_buffer_bytes: 1 << 20,
            cell: None,
            spray: SprayKind::RoundRobin,
            reassembly_timeout: Time::from_us(100),
        };
        CreditScheduler::new(&spec, 8_000_000_000, 3, classes)
    }

    #[test]
    fn credits_go_round_at_the_pace_of_the_port() {
        let mut credits = scheduler(1);
        let never = |_| 0;
        assert_eq!(credits.due(5, never), NEVER);
        credits.ask(2, 0, 2_500);
        credits.ask(0, 0, 1_000);
        let mut now = 5;
        let mut grants = Vec::new();
        while credits.due(now, never) != NEVER {
            now = credits.due(now, never);
            let (leaf, _) = credits.grant(now, never).expect("a credit is due");
            grants.push((now, leaf));
        }
        // 1,000 bytes at 8 Gb/s are a microsecond.
        let at = |nth: u64| 5 + nth * 1_000_000;
        assert_eq!(grants, [(at(0), 2), (at(1), 0), (at(2), 2), (at(3), 2)]);
        // Leaf 2 has 500 bytes too many: the next 500 cost nothing.
        credits.ask(2, 0, 500);
        assert_eq!(credits.due(now, never), NEVER);
        credits.ask(2, 0, 1);
        assert_eq!(credits.due(now, never), at(4));
        assert_eq!(credits.granted(), 4);
    }

    #[test]
    fn a_paused_class_is_passed_over_until_its_pause_ends() {
        let mut credits = scheduler(2);
        let until = |class| if class == 0 { 7_000_000 } else { 0 };
        credits.ask(0, 0, 1_000);
        assert_eq!(credits.due(0, until), 7_000_000);
        credits.ask(1, 1, 2_000);
        assert_eq!(credits.due(0, until), 0);
        assert_eq!(credits.grant(0, until), Some((1, 1)));
        assert_eq!(credits.grant(1_000_000, until), Some((1, 1)));
        assert_eq!(credits.due(1_000_000, until), 7_000_000);
        assert_eq!(credits.grant(7_000_000, until), Some((0, 0)));
    }
}
