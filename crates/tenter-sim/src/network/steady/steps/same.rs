//! How many periods of whole steps a schedule goes on in the same way.

use std::collections::BTreeSet;

use tenter_units::Time;
use tenter_workload::{Destination, JobId, QueuePairScope, Schedule};

use crate::network::context::Context;
use crate::network::partition_records::FlowKey;
use crate::network::schedules::Schedules;
use crate::network::steady::shifts::Shifts;

/// In how many periods after one in which these flows have ended, with the turns of their jobs, the
/// same transfers follow each other, each between the same ranks and as large.
pub(super) fn periods(
    ended: impl Iterator<Item = (FlowKey, u32)>,
    shifts: &Shifts,
    context: &Context,
    schedules: &Schedules,
) -> u64 {
    let transfers = ended.map(|(key, turn)| (key.job, turn, key.transfer));
    let transfers: BTreeSet<(JobId, u32, u32)> = transfers.collect();
    let mut periods = u64::MAX;
    for (job, turn, id) in transfers {
        if turn != schedules.turn(job) {
            return 0;
        }
        let schedule = schedules.of(job);
        let shift = shifts.of(job).filter(|shift| *shift > 0);
        let (Some(shift), true) = (shift, is_plain(schedule)) else {
            return 0;
        };
        let scope = context.jobs[job].job.queue_pair_scope;
        let first = Moment::of(schedule, id, scope, 0);
        let mut later = 1..=periods.min(u64::from(u32::MAX / shift));
        let differs = |turn: &u64| {
            let by = shift * *turn as u32;
            let next = id
                .checked_add(by)
                .filter(|id| *id < schedule.transfer_count());
            next.is_none_or(|next| Moment::of(schedule, next, scope, by) != first)
        };
        if let Some(turn) = later.find(differs) {
            periods = turn - 1;
        }
        if periods == 0 {
            return 0;
        }
    }
    periods
}

/// Whether transfers follow each other by arrivals alone.
pub(super) fn is_plain(schedule: &dyn Schedule) -> bool {
    schedule.flow_workload().is_none() && schedule.operations().is_none()
}

/// What an arrival is and does.
#[derive(Debug, PartialEq, Eq)]
struct Moment {
    arrives: Way,
    /// What it releases: which, and after how many other arrivals.
    releases: Vec<(u32, Way, u32)>,
}

/// What is sent where.
#[derive(Debug, PartialEq, Eq)]
struct Way {
    src: u32,
    dst: Destination,
    bytes: u64,
    latency: Time,
    is_followed: bool,
}

impl Moment {
    /// That of the arrival of a transfer, with ids that are so much less.
    fn of(schedule: &dyn Schedule, id: u32, scope: QueuePairScope, by: u32) -> Moment {
        let way = |id: u32| {
            let transfer = schedule.transfer(id);
            Way {
                src: transfer.src,
                dst: transfer.way(scope),
                bytes: transfer.bytes,
                latency: schedule.latency(id),
                is_followed: schedule.followed_by(id).is_some(),
            }
        };
        let mut released = Vec::new();
        schedule.released_by(id, &mut released);
        let released = released.into_iter();
        Moment {
            arrives: way(id),
            releases: released
                .map(|next| {
                    (
                        next.wrapping_sub(by),
                        way(next),
                        schedule.dependencies(next),
                    )
                })
                .collect(),
        }
    }
}
