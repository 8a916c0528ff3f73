//! When a steady state is looked for, and what is done when one is found.

use tenter_engine::{Control, Pace, RunOutcome, Windows, run_windowed};

use tenter_units::{Instant, Time};

use super::Jumped;
use super::period;
use super::settling::Settling;
use super::state::{Jump, Network, Noted, Repetition};
use super::steps::{JumpedSteps, Steps};
use crate::network::jobs::JobProgress;
use crate::network::watch::Watcher;

/// Between two looks at whether anything has ended.
const LOOK: Time = Time::from_us(1);
/// The frames of one host are listened to for so long at most.
const LISTEN: Time = Time::from_us(100);
/// A queue pair with fewer packets left is about to end. Tests jump in short trials, too.
const LEFT_MIN: u32 = if cfg!(debug_assertions) { 8 } else { 64 };
/// A guess is tried so often in a row, and one that came true before so often.
const TRIES: u32 = 128;
const TRIES_OF_KNOWN: u32 = 12;
/// Queues that have grown in so many states on end, each noted twice as long after the one before
/// it, are filling.
const GROWN_MAX: u32 = 3;
/// After a look in vain, so many times as long passes before the next one, unless jumps before have
/// saved more than so many times what it took. Tests look as often as they can.
const REST: u64 = if cfg!(debug_assertions) { 1 } else { 50 };
const SAVED: u64 = 4;
/// To note or to compare so many values takes no longer than to simulate a packet-hop.
const VALUES_PER_HOP: u64 = 16;
/// No rest is longer.
const REST_MAX: Time = if cfg!(debug_assertions) {
    Time::from_us(10)
} else {
    Time::from_us(100_000)
};
/// After so many simulated packet-hops a run comes back to its caller, which tells progress.
pub(crate) const HOPS_PER_RUN: u64 = 4_000_000;
/// The same while steps that repeat are listened to.
const HOPS_OF_STEPS: u64 = 16 * HOPS_PER_RUN;
/// They are counted after so many slices: all ports are asked for theirs.
const SLICES_PER_COUNT: u32 = 32;
/// For so many periods more it is waited until all packets under way have been heard of.
const MORE_PERIODS: u32 = 16;

/// What the engine is driven with.
#[derive(Debug)]
pub(crate) struct Slices<'a, W: Watcher> {
    pub(crate) parts: &'a mut [tenter_engine::Part<crate::network::Fabric<W>>],
    pub(crate) windows: Windows,
    pub(crate) pace: &'a mut Pace,
    pub(crate) progress: &'a JobProgress,
    pub(crate) edge: Instant,
    /// Where steps are compared next: no look or jump goes on beyond it.
    pub(crate) stop: Instant,
}

/// When the packet-hops of a run are counted.
struct Counting {
    /// How many there were when it began.
    before: u64,
    slices: u32,
}

impl Counting {
    fn begin(before: u64) -> Counting {
        Counting { before, slices: 0 }
    }

    /// Whether they are counted after this slice.
    fn is_due(&mut self) -> bool {
        self.slices = (self.slices + 1) % SLICES_PER_COUNT;
        self.slices == 0
    }
}

/// Why a look is given up.
enum Leaves {
    /// The run comes back to its caller.
    Over(RunOutcome),
    /// Steps are compared now.
    Stop(Instant),
}

/// What became of a look for a steady state.
enum Found {
    /// Nothing: rests until then.
    Nothing,
    /// It is steady, for this long.
    Steady(Instant),
    /// Something has ended meanwhile.
    Ended,
}

/// The look for steady states in a trial.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) jumped: Jumped,
    /// A period that came true before.
    known: Option<Time>,
    /// The next look is no earlier.
    not_before: Instant,
    /// How long the present rest is; none after a jump.
    rest: Time,
    /// So many values were noted and compared in the present look.
    values: u64,
    /// The next look is no earlier than when so many packet-hops are done.
    hops_before: u64,
    /// Time that looks may take in vain without a rest: jumps have saved more.
    credit: Time,
    /// How much had ended at the last look, and how much was lost when it began.
    ended: u64,
    lost: u64,
    /// When the last of that had.
    last_end: Instant,
    /// How long after that it is steady, and when it may be now.
    settling: Settling,
    settled_at: Instant,
    /// Whether nothing was looked at since.
    is_fresh: bool,
    /// Where the run stopped at a sync point in a steady state that has not ended, if it did; all
    /// packets under way have been heard of.
    goes_on_at: Option<Instant>,
    noted: Noted,
    steps: Steps,
}

impl<W: Watcher> Slices<'_, W> {
    fn network(&mut self) -> Network<'_, W> {
        Network { parts: self.parts }
    }

    /// The next edge after an instant: the sync point, or one before it that the end of a
    /// collective asks for.
    fn edge_after(&self, at: Instant) -> Instant {
        self.edge.min(self.progress.edge_after(at))
    }

    /// Runs to an instant, unless the run is over before or there.
    fn go(&mut self, from: Instant, to: Instant) -> Result<Instant, Leaves> {
        let edge = self.edge_after(from);
        let to = to.min(edge).min(self.stop);
        let (windows, progress) = (self.windows, self.progress);
        match run_windowed(self.parts, from, to, windows, progress, self.pace) {
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
    /// Runs as the engine does, and jumps over whole periods where it can.
    pub(crate) fn run<W: Watcher>(
        &mut self,
        slices: &mut Slices<'_, W>,
        from: Instant,
    ) -> RunOutcome {
        let outcome = self.run_on(slices, from);
        if self
            .goes_on_at
            .is_none_or(|at| outcome != RunOutcome::Edge(at))
        {
            self.goes_on_at = None;
            slices.network().stop_listening();
        }
        outcome
    }

    /// Packet-hops that were not jumped over.
    fn simulated<W: Watcher>(&self, slices: &mut Slices<'_, W>) -> u64 {
        slices.network().packet_hops() - self.jumped.packet_hops
    }

    fn run_on<W: Watcher>(&mut self, slices: &mut Slices<'_, W>, from: Instant) -> RunOutcome {
        let mut now = from;
        self.ended = slices.network().ended();
        self.steps.begin(&mut slices.network());
        slices.stop = Instant::NEVER;
        let mut counting = Counting::begin(self.simulated(slices));
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
                        return RunOutcome::Edge(now);
                    }
                }
            }
            slices.network().stop_listening();
            if counting.is_due() {
                let done = self.simulated(slices) - counting.before;
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

    /// Goes on to where something is to be looked at, and looks if nothing has ended.
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
        let to = if self.steps.is_active() { soon } else { to };
        *now = slices.go(*now, to)?;
        if slices.network().ended() != self.ended {
            self.see_ends(&slices.network(), *now);
            return Ok(());
        }
        if *now < self.not_before {
            return Ok(());
        }
        if !self.rest.is_zero() && slices.network().packet_hops() < self.hops_before {
            self.not_before = now.saturating_add(self.rest);
            return Ok(());
        }
        // While all that travels is listened to, only what is known is looked for.
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

    /// Compares the state after a step with that after others, and jumps if they repeat; whether
    /// records are to be collected then.
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

    /// Transfers have ended since the last look.
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

    /// Says when the next look is after one that took from `begin` to `now`.
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
                let twice = self.rest.saturating_mul(2).min(REST_MAX);
                self.rest = took.saturating_mul(REST).max(twice);
                self.not_before = now.saturating_add(self.rest);
            }
        }
    }

    /// Goes on in a steady state after a sync point, if that has changed nothing. A period passes
    /// first, so that high-water marks that were read off have seen one.
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

    /// Looks for a steady state, and jumps if there is one.
    fn look<W: Watcher>(
        &mut self,
        slices: &mut Slices<'_, W>,
        now: &mut Instant,
    ) -> Result<Found, Leaves> {
        let network = slices.network();
        self.lost = network.lost();
        let left = network.left_to_send();
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
            // Another one is looked for next.
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

    /// Compares states that are a guess apart, or a multiple of it (Brent, "An improved Monte Carlo
    /// factorization algorithm"). What came true before is compared with the last state each time.
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

    /// Says whether what is noted was steady, if it is the first that was looked at since something
    /// had ended.
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

    /// Notes the state, and listens anew.
    fn note<W: Watcher>(&mut self, slices: &mut Slices<'_, W>, now: Instant) {
        let mut network = slices.network();
        network.note(now, &mut self.noted);
        self.values += self.noted.size();
        network.logs().for_each(super::SteadyLog::clear);
    }

    /// Jumps as far as the steady state lasts, once all packets under way have been sent in it.
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
                // It may go on behind a sync point.
                let reaches_it = until == edge && periods == whole;
                self.goes_on_at = reaches_it.then_some(until);
                if self.goes_on_at.is_some() {
                    *now = slices.go(*now, until)?;
                }
                return Ok(Found::Steady(until));
            }
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

/// Listens to one host until what it sends repeats; after what time it does. Nothing where data is
/// lost meanwhile.
fn listen<W: Watcher>(
    slices: &mut Slices<'_, W>,
    now: &mut Instant,
    lost: u64,
) -> Result<Option<Time>, Leaves> {
    let until = now.saturating_add(LISTEN);
    let mut step = LOOK;
    while *now < until {
        *now = slices.go(*now, now.saturating_add(step))?;
        step = step * 2;
        let mut network = slices.network();
        if network.lost() != lost {
            return Ok(None);
        }
        let mut logs = network.logs();
        let period = logs.find_map(|log| period::shortest(&log.departures));
        if let Some(period) = period.filter(|period| !period.is_zero()) {
            // Not much shorter than a window, each of which would be cut.
            return Ok(Some(period * (LOOK / 4).ps().div_ceil(period.ps())));
        }
    }
    Ok(None)
}
