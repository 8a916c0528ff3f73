//! Messages between a program and its processes of trials, one line of JSON each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tenter_language::units::Time;
use tenter_results::{Progress, SampleRow};

use crate::sweep::{TrialAnswer, TrialOrder};

/// A message to the process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Asked {
    /// Run a trial; the one before has been answered.
    Trial {
        order: Box<TrialOrder>,
        threads: u16,
    },
    /// Send the rows of samples from now on, or no more.
    Samples(bool),
    /// End the trial where it is.
    Stop,
}

/// A message from the process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Told {
    Begins(String),
    Progress {
        simulated_ps: u64,
        packet_hops: u64,
        flows_done: u64,
        flows_total: u64,
    },
    Samples(Vec<SampleRow>),
    FurtherRuns(usize),
    Ends,
    /// The trial was found in its folder and not run.
    Kept(PathBuf),
    /// The last message about a trial.
    Answer(Box<TrialAnswer>),
}

impl Told {
    pub(super) fn of(progress: &Progress) -> Told {
        Told::Progress {
            simulated_ps: progress.simulated.ps(),
            packet_hops: progress.packet_hops,
            flows_done: progress.flows_done,
            flows_total: progress.flows_total,
        }
    }

    /// Returns the progress, if the message has it.
    pub(super) fn progress(&self) -> Option<Progress> {
        let Told::Progress {
            simulated_ps,
            packet_hops,
            flows_done,
            flows_total,
        } = *self
        else {
            return None;
        };
        Some(Progress {
            simulated: Time::from_ps(simulated_ps),
            packet_hops,
            flows_done,
            flows_total,
        })
    }
}
