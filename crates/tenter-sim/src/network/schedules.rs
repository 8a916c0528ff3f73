//! The schedules that jobs run now, and the far ends of their queue pairs.

use std::sync::Arc;

use tenter_endpoint::{Directory, ReplyPath};
use tenter_fabric::net::ReceiveSlot;
use tenter_fabric::topology::HostId;
use tenter_language::units::ById;
use tenter_workload::{Destination, JobId, Schedule, split};

use super::context::Context;

/// Looks up a queue pair's far end, and what it sends now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peers<'a> {
    pub(crate) context: &'a Context,
    pub(crate) schedules: &'a Schedules,
}

impl Directory for Peers<'_> {
    fn reply_path(&self, host: HostId, slot: ReceiveSlot) -> ReplyPath {
        self.context.reply_path(host, slot)
    }

    fn transfer_bytes(&self, host: HostId, slot: ReceiveSlot, nth: u32) -> Option<u64> {
        let (_, here) = self.context.rank_of_slot(host, slot);
        let plan = &self.context.jobs[here.job];
        let source = plan.pairs.source_of(here.rank, here.own_receive_slot(slot));
        let way = Destination {
            dst: here.rank.number(),
            lane: source.lane,
        };
        let schedule = self.schedules.of(here.job);
        let id = schedule.nth(source.rank.number(), way, plan.job.queue_pair_scope, nth)?;
        let (bytes, queue_pairs) = (schedule.transfer(id).bytes, plan.job.queue_pairs);
        Some(split::share(bytes, queue_pairs, source.queue_pair))
    }
}

/// An instance that a job runs: the number of its instance, and the schedule.
type Running = (u32, Arc<dyn Schedule>);

/// The schedule that each job runs now. Each partition has its own copy, which changes at sync
/// points.
#[derive(Clone, Default)]
pub(crate) struct Schedules(ById<JobId, Option<Running>>);

impl std::fmt::Debug for Schedules {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_list()
            .entries(self.0.iter().map(|now| now.as_ref().map(|n| n.0)))
            .finish()
    }
}

impl Schedules {
    pub(crate) fn set(&mut self, job: JobId, turn: u32, schedule: Arc<dyn Schedule>) {
        // Jobs start in any order, so the list grows when needed.
        let count = self.0.len().max(job.index() + 1);
        self.0.resize_with(count, || None);
        self.0[job] = Some((turn, schedule));
    }

    pub(crate) fn of(&self, job: JobId) -> &dyn Schedule {
        &*self.running(job).1
    }

    /// Returns the instance that a job runs.
    pub(crate) fn turn(&self, job: JobId) -> u32 {
        self.running(job).0
    }

    fn running(&self, job: JobId) -> &Running {
        self.0[job]
            .as_ref()
            .expect("packets move only while a collective runs")
    }
}
