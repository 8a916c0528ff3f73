//! Computes for how many periods of whole steps a schedule continues in the same way.

use std::collections::BTreeSet;

use tenter_language::units::Time;
use tenter_workload::{Destination, JobId, QueuePairScope, Schedule};

use crate::network::context::Context;
use crate::network::partition_records::FlowKey;
use crate::network::schedules::Schedules;
use crate::network::steady::shifts::Shifts;

/// Returns the number of periods, after one in which the flows `ended` (with their instances) have
/// ended, in which transfers between the same ranks and of the same size follow each other.
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
        // The job runs another instance by now, whose schedule may differ.
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
        // Never beyond the bound found so far: the shortest lasting transfer decides. The other
        // bound keeps transfer numbers within 32 bits.
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

/// Returns true if transfers are released by arrivals alone.
pub(super) fn is_plain(schedule: &dyn Schedule) -> bool {
    schedule.flow_workload().is_none() && schedule.operations().is_none()
}

/// An arrival with its consequences, comparable between periods.
#[derive(Debug, PartialEq, Eq)]
struct Moment {
    arrives: Way,
    /// The transfers that it releases: number, properties, and arrivals that each waits for.
    releases: Vec<(u32, Way, u32)>,
}

/// The properties of a transfer that must recur.
#[derive(Debug, PartialEq, Eq)]
struct Way {
    src: u32,
    dst: Destination,
    bytes: u64,
    latency: Time,
    is_followed: bool,
}

impl Moment {
    /// Describes the arrival of transfer `id`, with the numbers of released transfers reduced by
    /// `by`.
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
                        // Steps are the same if they release transfers at the same distance, so
                        // numbers are relative.
                        next.wrapping_sub(by),
                        way(next),
                        schedule.dependencies(next),
                    )
                })
                .collect(),
        }
    }
}
