//! The search for steady states: when to look, and what follows.

use tenter_engine::{Control, Pace, RunOutcome, Windows, run_windowed};

use tenter_language::units::{Instant, Time};

use super::Jumped;
use super::period;
use super::settling::Settling;
use super::state::{Jump, Network, Noted, Repetition};
use super::steps::{JumpedSteps, Steps};
use crate::network::jobs::JobProgress;
use crate::network::watch::Watcher;

/// Interval between two checks whether a transfer has ended.
const LOOK: Time = Time::from_us(1);
/// Longest time for which one host is logged to guess a period.
const LISTEN: Time = Time::from_us(100);
/// Fewest packets that a queue pair must have left; below, its request is about to end. Tests jump
/// in short trials, too.
const LEFT_MIN: u32 = if cfg!(debug_assertions) { 8 } else { 64 };
/// States that are compared at a guessed distance before the guess is given up.
const TRIES: u32 = 128;
const TRIES_OF_KNOWN: u32 = 12;
/// If the recorded state grew in `GROWN_MAX` consecutive samples, each taken after twice the
/// previous interval, queues are filling up: there is no steady state to find, so the search gives
/// up.
const GROWN_MAX: u32 = 3;
/// A failed search costs time and gains nothing. The next one therefore waits `REST` times as long
/// as this one took, unless earlier jumps have already saved `SAVED` times that cost. Tests search
/// at every chance, so that jumps are exercised.
const REST: u64 = if cfg!(debug_assertions) { 1 } else { 50 };
const SAVED: u64 = 4;
/// Values that can be recorded or compared in the time that it takes to simulate a packet-hop.
const VALUES_PER_HOP: u64 = 16;
/// Longest wait after a failed search.
const REST_MAX: Time = if cfg!(debug_assertions) {
    Time::from_us(10)
} else {
    Time::from_us(100_000)
};
/// Simulated packet-hops after which a run returns to its caller, which then reports progress.
pub(crate) const HOPS_PER_RUN: u64 = 4_000_000;
/// Larger limit while repeating steps are being logged, which a return would interrupt.
const HOPS_OF_STEPS: u64 = 16 * HOPS_PER_RUN;
/// Slices between two counts of packet-hops: a count asks all ports.
const SLICES_PER_COUNT: u32 = 32;
/// Further periods for which a jump waits until the log has all packets under way.
const MORE_PERIODS: u32 = 16;

/// The engine with its arguments, as the search drives it.
#[derive(Debug)]
pub(crate) struct Slices<'a, W: Watcher> {
    pub(crate) parts: &'a mut [tenter_engine::Part<crate::network::Fabric<W>>],
    pub(crate) windows: Windows,
    pub(crate) pace: &'a mut Pace,
    pub(crate) progress: &'a JobProgress,
    /// The caller's next sync point.
    pub(crate) edge: Instant,
    /// Instant at which steps are compared next: no search or jump passes it.
    pub(crate) stop: Instant,
}

/// Decides when a run's packet-hops are counted.
struct Counting {
    /// Simulated packet-hops when counting began.
    before: u64,
    slices: u32,
}

impl Counting {
    fn begin(before: u64) -> Counting {
        Counting { before, slices: 0 }
    }

    /// Returns true if they should be counted after this slice.
    fn is_due(&mut self) -> bool {
        self.slices = (self.slices + 1) % SLICES_PER_COUNT;
        self.slices == 0
    }
}

/// Reason why a search is interrupted.
enum Leaves {
    /// The run returns to its caller.
    Over(RunOutcome),
    /// Steps have to be compared now.
    Stop(Instant),
}

/// Outcome of one search. After `Nothing` and `Ended` the next search may have to wait.
enum Found {
    /// No steady state was found.
    Nothing,
    /// The state is steady until this instant.
    Steady(Instant),
    /// The state changes: a transfer has ended or soon will, or the known period no longer fits.
    Ended,
}

/// The search for steady states in a trial.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) jumped: Jumped,
    /// The period that was proven last.
    known: Option<Time>,
    /// Earliest time of the next search.
    not_before: Instant,
    /// Length of the current wait after a failed search; zero after a jump.
    rest: Time,
    /// Values recorded and compared in the current search.
    values: u64,
    /// Packet-hops that must have been carried before the next search.
    hops_before: u64,
    /// Time that failed searches may take without a wait, because jumps have saved more.
    credit: Time,
    /// Ended transfers and requests at the last check.
    ended: u64,
    lost: u64,
    /// Time at which the last transfer ended.
    last_end: Instant,
    /// Estimate of how long after an end the state is steady.
    settling: Settling,
    /// Instant at which the state may be steady, by that estimate.
    settled_at: Instant,
    /// True until a state has been compared after the last end.
    is_fresh: bool,
    /// Sync point at which the run stopped in a steady state that has not ended, if it did. The log
    /// then has all packets under way.
    goes_on_at: Option<Instant>,
    noted: Noted,
    steps: Steps,
}

impl<W: Watcher> Slices<'_, W> {
    fn network(&mut self) -> Network<'_, W> {
        Network { parts: self.parts }
    }

    /// Returns the next sync point after an instant: the caller's, or an earlier one that a
    /// finished collective asks for.
    fn edge_after(&self, at: Instant) -> Instant {
        self.edge.min(self.progress.edge_after(at))
    }

    /// Runs to `to`, or reports that the run is over or that steps must be compared before or
    /// there.
    fn go(&mut self, from: Instant, to: Instant) -> Result<Instant, Leaves> {
        let edge = self.edge_after(from);
        let to = to.min(edge).min(self.stop);
        let (windows, progress) = (self.windows, self.progress);
        match run_windowed(self.parts, from, to, windows, progress, self.pace) {
            // The search goes on only if no sync point is due at `to`, not even one that came up
            // meanwhile.
            RunOutcome::Edge(at) if at == to && at < edge.min(self.edge_after(at)) => {
                if at == self.stop {
                    Err(Leaves::Stop(at))
                } else {
                    Ok(at)
                }
            }
            outcome => Err(Leaves::Over(outcome)),
        }
    }
}

impl Search {
    /// Runs like the engine, and jumps over whole periods where it can.
    pub(crate) fn run<W: Watcher>(
        &mut self,
        slices: &mut Slices<'_, W>,
        from: Instant,
    ) -> RunOutcome {
        let outcome = self.run_on(slices, from);
        // Logs are kept only for a steady state that goes on behind this very sync point.
        if self
            .goes_on_at
            .is_none_or(|at| outcome != RunOutcome::Edge(at))
        {
            self.goes_on_at = None;
            slices.network().stop_listening();
        }
        outcome
    }

    /// Returns the packet-hops that were simulated and not jumped over.
    fn simulated<W: Watcher>(&self, slices: &mut Slices<'_, W>) -> u64 {
        slices.network().packet_hops() - self.jumped.packet_hops
    }

    fn run_on<W: Watcher>(&mut self, slices: &mut Slices<'_, W>, from: Instant) -> RunOutcome {
        let mut now = from;
        self.ended = slices.network().ended();
        self.steps.begin(&mut slices.network());
        slices.stop = Instant::NEVER;
        let mut counting = Counting::begin(self.simulated(slices));
        // Without a wait in progress the search may start at once behind a sync point.
        if self.rest.is_zero() {
            self.not_before = self.not_before.min(from);
        }
        let mut left = if self.goes_on_at.take() == Some(from) {
            self.go_on(slices, &mut now)
        } else {
            Ok(())
        };
        loop {
            match left {
                Ok(()) => {}
                Err(Leaves::Over(outcome)) => return outcome,
                Err(Leaves::Stop(at)) => {
                    now = at;
                    if self.compare_steps(slices, &mut now) {
                        self.goes_on_at = None;
                        // The jump's records must be collected before the next jump adds more.
                        return RunOutcome::Edge(now);
                    }
                }
            }
            slices.network().stop_listening();
            if counting.is_due() {
                let done = self.simulated(slices) - counting.before;
                // A return to the caller would end the log of steps, so it has a limit of its own.
                if self.steps.is_listening() && done > HOPS_OF_STEPS {
                    self.steps.give_up(&mut slices.network());
                }
                if done > HOPS_PER_RUN && !self.steps.is_listening() {
                    self.goes_on_at = None;
                    return RunOutcome::Edge(now);
                }
            }
            self.steps.hear(&mut slices.network());
            slices.stop = self.steps.stop();
            left = self.go_or_look(slices, &mut now);
        }
    }

    /// Runs to the next instant at which something is due, and searches if no transfer has ended.
    fn go_or_look<W: Watcher>(
        &mut self,
        slices: &mut Slices<'_, W>,
        now: &mut Instant,
    ) -> Result<(), Leaves> {
        let rests = !self.rest.is_zero() && self.not_before > *now;
        let soon = now.saturating_add(LOOK);
        let to = if rests {
            self.not_before
        } else {
            self.settled_at.max(soon)
        };
        // The end of a step must be seen before its state is due, which is `AFTER_STEP` later.
        let to = if self.steps.is_active() { soon } else { to };
        *now = slices.go(*now, to)?;
        if slices.network().ended() != self.ended {
            self.see_ends(&slices.network(), *now);
            return Ok(());
        }
        if *now < self.not_before {
            return Ok(());
        }
        // Too little has been simulated since the last search: another would cost more than
        // simulating does.
        if !self.rest.is_zero() && slices.network().packet_hops() < self.hops_before {
            self.not_before = now.saturating_add(self.rest);
            return Ok(());
        }
        // While all packets are logged for the comparison of steps, only a known period is tried:
        // logging one host to guess a new one would end that log.
        if self.known.is_none() && self.steps.is_listening() {
            return Ok(());
        }
        let begin = *now;
        self.values = 0;
        let found = self.look(slices, now)?;
        self.is_fresh = false;
        self.rest_after(&found, begin, *now);
        if !self.rest.is_zero() {
            let worth = self.values / VALUES_PER_HOP * REST;
            self.hops_before = slices.network().packet_hops() + worth;
        }
        Ok(())
    }

    /// Compares the state after a step with earlier ones, and jumps if they repeat; returns true if
    /// the caller should collect records.
    fn compare_steps<W: Watcher>(&mut self, slices: &mut Slices<'_, W>, now: &mut Instant) -> bool {
        if slices.network().ended() != self.ended {
            self.see_ends(&slices.network(), *now);
        }
        let edge = slices.edge_after(*now);
        let mut network = slices.network();
        let before = network.packet_hops();
        let Some(jumped) = self.steps.look(&mut network, *now, edge) else {
            return false;
        };
        let JumpedSteps {
            period,
            periods,
            is_full,
        } = jumped;
        // Ports count jumped packets as sent, so the difference is what the jump carried.
        let hops = network.packet_hops() - before;
        self.jumped.add(period, periods, hops);
        *now += period * periods;
        self.ended = network.ended();
        self.is_fresh = false;
        self.rest = Time::ZERO;
        self.not_before = *now;
        self.settled_at = *now;
        is_full
    }

    /// Handles transfers that have ended since the last check.
    fn see_ends<W: Watcher>(&mut self, network: &Network<'_, W>, now: Instant) {
        let ended = network.ended();
        let last = network.last_end(ended.saturating_sub(self.ended));
        self.ended = ended;
        self.steps.see_ends(network, now);
        self.last_end = last.unwrap_or(now);
        self.is_fresh = true;
        if self.rest.is_zero() {
            let wait = self.settling.wait().unwrap_or(Time::ZERO);
            self.settled_at = self.last_end.saturating_add(wait);
            self.not_before = self.settled_at.max(now);
        }
    }

    /// Sets the time of the next search after one that took from `begin` to `now`.
    fn rest_after(&mut self, found: &Found, begin: Instant, now: Instant) {
        let took = (now - begin).max(LOOK);
        match *found {
            Found::Steady(until) => {
                self.rest = Time::ZERO;
                self.not_before = until;
            }
            Found::Ended | Found::Nothing if self.credit >= took => {
                self.credit -= took;
                self.rest = Time::ZERO;
                self.not_before = now;
            }
            Found::Ended | Found::Nothing => {
                // Repeated failures double the wait.
                let twice = self.rest.saturating_mul(2).min(REST_MAX);
                self.rest = took.saturating_mul(REST).max(twice);
                self.not_before = now.saturating_add(self.rest);
            }
        }
    }

    /// Continues a steady state behind a sync point, unless the sync point has changed the state.
    /// One period is simulated first, so that high-water marks that were reset there have seen a
    /// whole one.
    fn go_on<W: Watcher>(
        &mut self,
        slices: &mut Slices<'_, W>,
        now: &mut Instant,
    ) -> Result<(), Leaves> {
        let Some(period) = self.known else {
            return Ok(());
        };
        self.note(slices, *now);
        *now = slices.go(*now, now.saturating_add(period))?;
        if let Some(repetition) = slices.network().repeats(&self.noted, *now) {
            let begin = *now;
            let found = self.jump(slices, now, repetition)?;
            self.rest_after(&found, begin, *now);
        }
        Ok(())
    }

    /// Searches for a steady state, and jumps if there is one.
    fn look<W: Watcher>(
        &mut self,
        slices: &mut Slices<'_, W>,
        now: &mut Instant,
    ) -> Result<Found, Leaves> {
        let network = slices.network();
        self.lost = network.lost();
        let left = network.left_to_send();
        // A request that ends soon would end the steady state with it.
        let Some((_, home)) = left.filter(|(least, _)| *least >= LEFT_MIN) else {
            return Ok(Found::Ended);
        };
        let (guess, tries) = if let Some(known) = self.known {
            (known, TRIES_OF_KNOWN)
        } else {
            slices.network().listen_to(home);
            let Some(guess) = listen(slices, now, self.lost)? else {
                return Ok(Found::Nothing);
            };
            (guess, TRIES)
        };
        slices.network().listen();
        let Some(repetition) = self.try_guess(slices, now, guess, tries)? else {
            if slices.network().ended() != self.ended {
                return Ok(Found::Ended);
            }
            // A period that no longer fits is dropped, and the next search guesses another.
            let was_known = self.known.take().is_some();
            let found = if was_known {
                Found::Ended
            } else {
                Found::Nothing
            };
            return Ok(found);
        };
        self.known = Some(repetition.period);
        self.jump(slices, now, repetition)
    }

    /// Compares states that lie a multiple of `guess` apart (Brent, "An improved Monte Carlo
    /// factorization algorithm"). A period that was proven before is compared with the previous
    /// state each time.
    fn try_guess<W: Watcher>(
        &mut self,
        slices: &mut Slices<'_, W>,
        now: &mut Instant,
        guess: Time,
        tries: u32,
    ) -> Result<Option<Repetition>, Leaves> {
        let (mut span, mut steps, mut grown) = (1, 0, 0);
        self.note(slices, *now);
        for _ in 0..tries {
            // Lost data is sent again, and no state recurs until that is over.
            if self.noted.refused || slices.network().lost() != self.lost {
                return Ok(None);
            }
            *now = slices.go(*now, now.saturating_add(guess))?;
            steps += 1;
            let mut network = slices.network();
            if network.ended() != self.ended {
                return Ok(None);
            }
            self.values += self.noted.size();
            if let Some(repetition) = network.repeats(&self.noted, *now) {
                self.learn(true);
                return Ok(Some(repetition));
            }
            self.learn(false);
            if steps == span {
                let is_known = self.known.is_some();
                (span, steps) = (if is_known { 1 } else { 2 * span }, 0);
                let before = self.noted.size();
                self.note(slices, *now);
                grown = if self.noted.size() > before {
                    grown + 1
                } else {
                    0
                };
                if grown == GROWN_MAX {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Updates the estimate of the settling time with a comparison's result, if it is the first
    /// state since the last end.
    fn learn(&mut self, was_steady: bool) {
        if self.is_fresh && self.noted.at >= self.last_end {
            let after = self.noted.at - self.last_end;
            if was_steady {
                self.settling.was_steady(after);
            } else {
                self.settling.was_unsteady(after);
            }
        }
        self.is_fresh &= !was_steady;
    }

    /// Records the state, and clears the logs.
    fn note<W: Watcher>(&mut self, slices: &mut Slices<'_, W>, now: Instant) {
        let mut network = slices.network();
        network.note(now, &mut self.noted);
        self.values += self.noted.size();
        network.logs().for_each(super::SteadyLog::clear);
    }

    /// Jumps as far as the steady state lasts, once the log has the send times of all packets under
    /// way.
    fn jump<W: Watcher>(
        &mut self,
        slices: &mut Slices<'_, W>,
        now: &mut Instant,
        mut repetition: Repetition,
    ) -> Result<Found, Leaves> {
        for _ in 0..MORE_PERIODS {
            let edge = slices.edge_after(*now);
            let until = repetition.bounds.until.min(edge).min(slices.stop);
            let whole = until.saturating_since(*now) / repetition.period;
            let periods = whole.min(repetition.bounds.periods);
            if periods == 0 {
                return Ok(Found::Steady(until));
            }
            let mut network = slices.network();
            if let Some(starts) = network.starts(&repetition) {
                let before = network.packet_hops();
                let leaped = network.leap(&Jump {
                    noted: &self.noted,
                    now: *now,
                    repetition: &repetition,
                    starts: &starts,
                    periods,
                });
                let Some(accepted) = leaped else {
                    return Ok(Found::Nothing);
                };
                self.steps.hear(&mut network);
                self.steps.hear_again(&accepted, &repetition, periods);
                let hops = network.packet_hops() - before;
                self.jumped.add(repetition.period, periods, hops);
                self.credit = repetition.period * periods / SAVED;
                *now += repetition.period * periods;
                // If only the sync point ends the jump, the steady state may continue behind it.
                let reaches_it = until == edge && periods == whole;
                self.goes_on_at = reaches_it.then_some(until);
                if self.goes_on_at.is_some() {
                    *now = slices.go(*now, until)?;
                }
                return Ok(Found::Steady(until));
            }
            // The log lacks packets that were sent before it began; in some periods they will have
            // arrived.
            network.note(*now, &mut self.noted);
            *now = slices.go(*now, now.saturating_add(repetition.period))?;
            match slices.network().repeats(&self.noted, *now) {
                Some(next) => repetition = next,
                None => return Ok(Found::Ended),
            }
        }
        Ok(Found::Nothing)
    }
}

/// Logs one host until its frames repeat, and returns the period; `None` if data is lost meanwhile
/// or nothing repeats.
fn listen<W: Watcher>(
    slices: &mut Slices<'_, W>,
    now: &mut Instant,
    lost: u64,
) -> Result<Option<Time>, Leaves> {
    let until = now.saturating_add(LISTEN);
    let mut step = LOOK;
    while *now < until {
        *now = slices.go(*now, now.saturating_add(step))?;
        // The whole log is examined each time, so the intervals grow with it.
        step = step * 2;
        let mut network = slices.network();
        if network.lost() != lost {
            return Ok(None);
        }
        let mut logs = network.logs();
        let period = logs.find_map(|log| period::shortest(&log.departures));
        if let Some(period) = period.filter(|period| !period.is_zero()) {
            // A period should not be much shorter than a window, because each state is taken at the
            // end of one; so it is multiplied to a quarter of `LOOK` at least.
            return Ok(Some(period * (LOOK / 4).ps().div_ceil(period.ps())));
        }
    }
    Ok(None)
}
