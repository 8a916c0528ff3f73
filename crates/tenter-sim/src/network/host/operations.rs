//! Ranks whose job is a graph of operations.

use tenter_workload::graph::{Action, GraphSchedule, RankRun};

use super::{Host, HostScope, Timer};

impl Host {
    /// Where a rank with a graph of operations stands, by its number here.
    pub(crate) fn operations_of(&self, number: u16) -> Option<&RankRun> {
        self.operations.runs.get(&number)
    }

    /// A rank starts with all of its operations that wait for nothing.
    pub(super) fn start_operations(&mut self, number: u16, now: u64, scope: &HostScope<'_>) {
        self.advance(number, now, scope, |run, schedule, out| {
            run.start(schedule, out);
        });
    }

    /// A message has arrived whole at a rank.
    pub(super) fn message_arrived(
        &mut self,
        number: u16,
        id: u32,
        now: u64,
        scope: &HostScope<'_>,
    ) {
        self.advance(number, now, scope, |run, schedule, out| {
            run.arrived(schedule, id, out);
        });
    }

    /// An operation has had its time.
    pub(super) fn operation_woken(
        &mut self,
        number: u16,
        of: u32,
        now: u64,
        scope: &HostScope<'_>,
    ) {
        self.advance(number, now, scope, |run, schedule, out| {
            run.woken(schedule, of, out);
        });
    }

    /// A queue pair has acknowledged its share of a message of a rank here.
    pub(super) fn message_acknowledged(
        &mut self,
        (job, id): (u16, u32),
        now: u64,
        scope: &HostScope<'_>,
    ) {
        let schedule = scope.schedules.of(job);
        let Some(graph) = GraphSchedule::of(schedule) else {
            return;
        };
        if !graph.is_done_when_acknowledged(id) {
            return;
        }
        let sender = (job, schedule.transfer(id).src);
        let Some(number) = scope.context.number_of(self.nic.host(), sender) else {
            return;
        };
        let queue_pairs = scope.context.jobs[usize::from(job)].job.queue_pairs;
        let unacknowledged = &mut self.operations.unacknowledged;
        let left = unacknowledged.entry((number, id)).or_insert(queue_pairs);
        *left -= 1;
        if *left > 0 {
            return;
        }
        unacknowledged.remove(&(number, id));
        self.advance(number, now, scope, |run, schedule, out| {
            run.acknowledged(schedule, id, out);
        });
    }

    /// Tells a rank what has happened, and does what follows.
    fn advance(
        &mut self,
        number: u16,
        now: u64,
        scope: &HostScope<'_>,
        tell: impl FnOnce(&mut RankRun, &GraphSchedule, &mut Vec<Action>),
    ) {
        let here = scope.context.ranks_on(self.nic.host())[usize::from(number)];
        let Some(schedule) = GraphSchedule::of(scope.schedules.of(here.job)) else {
            return;
        };
        let mut actions = std::mem::take(&mut self.operations.actions);
        let runs = &mut self.operations.runs;
        let run = runs
            .entry(number)
            .or_insert_with(|| RankRun::new(schedule, here.rank));
        tell(run, schedule, &mut actions);
        for action in actions.drain(..) {
            match action {
                Action::Post(id) => self.post(number, id, now, scope),
                Action::Wake(time, operation) => {
                    let at = now.saturating_add(time.ps());
                    self.set_timer(at, Timer::Operation(number, operation));
                }
                Action::Done => scope.context.progress.arrived(usize::from(here.job), now),
            }
        }
        self.operations.actions = actions;
    }
}
