//! The tables of a trial as typed rows.

use std::borrow::Cow;

use tenter_record::{
    CircuitRow, CollectiveRow, Counts, CriticalPathRow, FlowRow, InferencePoolRow, InferenceRow,
    InterferenceRow, JobRow, NoteRow, OperationRow, PortRow, PowerRow, QueueChangeRow, QueueRow,
    RankTimeRow, ReactionRow, RequestRow, Row, SampleRow, SignalRow, SteeringRow, SwitchRow,
    TierRow, TrainingRankRow, TrainingStepRow,
};
use tenter_report::Tiers;

use crate::Trial;

/// A row type of which a trial has a table; its columns, with units and meanings, are
/// [`Row::COLUMNS`].
pub trait Table: Row + Clone {
    /// The rows of a trial: none where its scenario has nothing of the kind, and none of flows and
    /// samples that the run did not keep.
    fn rows(trial: &Trial) -> Cow<'_, [Self]>;
}

impl Trial {
    /// The rows of any table, for instance `trial.rows::<SwitchRow>()`.
    pub fn rows<R: Table>(&self) -> Cow<'_, [R]> {
        R::rows(self)
    }
}

impl Table for JobRow {
    fn rows(trial: &Trial) -> Cow<'_, [JobRow]> {
        trial.jobs().cloned().collect()
    }
}

impl Table for CollectiveRow {
    fn rows(trial: &Trial) -> Cow<'_, [CollectiveRow]> {
        trial.collectives().cloned().collect()
    }
}

impl Table for PowerRow {
    fn rows(trial: &Trial) -> Cow<'_, [PowerRow]> {
        trial.summary.power.iter().cloned().collect()
    }
}

impl Table for TierRow {
    fn rows(trial: &Trial) -> Cow<'_, [TierRow]> {
        let Counts {
            ports, switches, ..
        } = &trial.counts;
        Cow::Owned(Tiers::of(ports, switches).rows(ports))
    }
}

/// Tables that a trial holds as they are.
macro_rules! tables {
    ($($row:ty: |$trial:ident| $rows:expr;)+) => {
        $(impl Table for $row {
            fn rows($trial: &Trial) -> Cow<'_, [$row]> {
                Cow::Borrowed(&$rows)
            }
        })+
    };
}

tables! {
    NoteRow: |trial| trial.summary.notes;
    InterferenceRow: |trial| trial.summary.interference;
    FlowRow: |trial| trial.flows;
    SampleRow: |trial| trial.samples;
    PortRow: |trial| trial.counts.ports;
    QueueRow: |trial| trial.counts.queues;
    SwitchRow: |trial| trial.counts.switches;
    SignalRow: |trial| trial.counts.signals;
    ReactionRow: |trial| trial.counts.reactions;
    CircuitRow: |trial| trial.counts.circuits;
    SteeringRow: |trial| trial.counts.steering;
    QueueChangeRow: |trial| trial.counts.queue_changes;
    OperationRow: |trial| trial.counts.operations;
    RankTimeRow: |trial| trial.counts.rank_times;
    CriticalPathRow: |trial| trial.counts.critical_path;
    TrainingStepRow: |trial| trial.summary.training_steps;
    TrainingRankRow: |trial| trial.counts.training_ranks;
    InferenceRow: |trial| trial.summary.inference;
    InferencePoolRow: |trial| trial.summary.inference_pools;
    RequestRow: |trial| trial.counts.requests;
}
