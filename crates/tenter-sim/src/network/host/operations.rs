//! Ranks whose jobs run operation graphs.

use tenter_language::units::Instant;
use tenter_workload::JobId;
use tenter_workload::graph::{Action, GraphSchedule, News, RankRun};

use super::super::operation_runs::OperationRuns;
use super::{Host, HostScope, Timer};

impl Host {
    /// Returns the state of a rank with an operation graph, by its number on this host.
    pub(crate) fn operations_of(&self, number: u16) -> Option<&RankRun> {
        self.operations.get(number)
    }

    /// Returns the states and logs of ranks with operation graphs, finished ones included.
    pub(crate) fn operation_logs(&self) -> &OperationRuns {
        &self.operations
    }

    /// Handles an acknowledged share of a message that a rank on this host posted at `posted`.
    ///
    /// An eager send is done when it is posted, so its acknowledgement may come when the job
    /// already runs another graph, whose transfers reuse the numbers.
    pub(super) fn message_acknowledged(
        &mut self,
        job: JobId,
        id: u32,
        posted: Instant,
        now: Instant,
        scope: &HostScope<'_>,
    ) {
        let schedule = scope.schedules.of(job);
        let Some(graph) = GraphSchedule::of(schedule) else {
            return;
        };
        // Spares graphs in which no operation waits for acknowledgements the lookups below.
        if !graph.hears_acknowledgements() {
            return;
        }
        let since = self.operations.since.get(&job);
        let is_stale = since.is_none_or(|since| posted < *since);
        if is_stale || !graph.is_done_when_acknowledged(id) {
            return;
        }
        let sender = schedule.transfer(id).sender();
        let Some(number) = scope.context.number_of(self.nic.host(), job, sender) else {
            return;
        };
        let queue_pairs = u32::from(scope.context.jobs[job].job.queue_pairs);
        let unacknowledged = &mut self.operations.unacknowledged;
        if unacknowledged.is_last((number, id), queue_pairs) {
            self.hear(number, News::Acknowledged(id), now, scope);
        }
    }

    /// Reports an event to a rank's operation graph, and carries out the actions that follow.
    pub(super) fn hear(&mut self, number: u16, news: News, now: Instant, scope: &HostScope<'_>) {
        let here = scope.context.ranks_on(self.nic.host())[usize::from(number)];
        let Some(schedule) = GraphSchedule::of(scope.schedules.of(here.job)) else {
            return;
        };
        // Moved out and back, so that all ranks share its memory.
        let mut consequences = scope.partition_records.consequences.take();
        let run = self.operations.begun(number, here.job, now, || {
            if scope.context.records_operations {
                RankRun::with_log(schedule, here.rank.number())
            } else {
                RankRun::new(schedule, here.rank.number())
            }
        });
        run.hear(schedule, news, now, &mut consequences);
        for action in consequences.actions.drain(..) {
            match action {
                Action::Post(id) => {
                    let wait = Self::wait(here.job, id, scope);
                    self.post_after(number, id, wait, now, scope);
                }
                Action::Wake(time, operation) => {
                    let at = now.saturating_add(time);
                    self.set_timer(at, Timer::Operation(number, operation));
                }
                Action::Done => {
                    scope.context.progress.arrived(here.job, now);
                    let turn = scope.schedules.turn(here.job);
                    self.operations.keep_log(number, here.job, turn, here.rank);
                }
            }
        }
        scope.partition_records.consequences.replace(consequences);
    }
}
