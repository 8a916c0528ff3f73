//! A job's `pattern`: steps of a parallel application.

use tenter_language::config::{Reader, component};
use tenter_language::units::Time;

use super::collective::check_spread;
use super::limits::TIMES;
use crate::Compute;
use crate::pattern::PatternKind;

component! {
    /// A parallel application, step after step.
    pub struct PatternSpec as "`jobs[].pattern`", derive(Clone, Debug, PartialEq, Eq) {
        first ..kind: PatternKind, "Which application, and its keys.";
        /// Each computing time is drawn from `compute` ± this; at most `compute`.
        compute_spread: Time = "0ns", in TIMES;
        /// How often the ranks compute and then communicate, in place of `iterations`; at most 100
        /// if the steps differ.
        steps: Option<u32> = absent "`4`; none in the background", in 1..=STEPS_MAX;
        check holds;
    }
}

/// Most steps, more than anyone simulates packet by packet.
const STEPS_MAX: u32 = 1_000_000;
/// Most steps that differ, since each is stored by itself.
const CHANGING_STEPS_MAX: u32 = 100;
const USUAL_STEPS: u32 = 4;

fn holds(spec: &PatternSpec, reader: &mut dyn Reader) -> bool {
    let too_many = spec.kind.changes() && spec.steps.is_some_and(|of| of > CHANGING_STEPS_MAX);
    if too_many {
        let what = format!("are more than {CHANGING_STEPS_MAX} that differ");
        reader.refuse("steps", &what, "give fewer, or `regrid: 0`");
    }
    check_spread(spec.compute(), reader) && !too_many
}

impl PatternSpec {
    /// Returns the computing time before each step.
    pub fn compute(&self) -> Compute {
        Compute {
            mean: self.kind.compute(),
            spread: self.compute_spread,
        }
    }

    /// Returns true if the pattern has a fixed number of steps. Background load with equal steps
    /// has none: it repeats one step as long as other jobs run.
    pub fn has_steps(&self, background: bool) -> bool {
        !background || self.kind.changes()
    }

    /// Returns the step count; 1 for background load with equal steps.
    pub fn steps(&self, background: bool) -> u32 {
        if self.has_steps(background) {
            self.steps.unwrap_or(USUAL_STEPS)
        } else {
            1
        }
    }

    /// Lists the keys that concern steps, as paths in a component that holds the pattern as
    /// `pattern`.
    pub(super) fn keys_of_steps(&self) -> &'static [&'static str] {
        match self.kind {
            PatternKind::Amr(_) => &OF_STEPS,
            _ => &OF_STEPS[..3],
        }
    }
}

/// Keys that concern steps. `regrid` is last: only AMR's steps differ.
const OF_STEPS: [&str; 4] = [
    "pattern.steps",
    "pattern.compute",
    "pattern.compute_spread",
    "pattern.regrid",
];
