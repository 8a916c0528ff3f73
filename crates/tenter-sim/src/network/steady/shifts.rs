//! How the transfers of a period of whole steps follow each other.

use tenter_workload::JobId;

use crate::network::partition_records::FlowKey;

/// By how much the ids of the transfers of each job go on from a period to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Shifts(Vec<Option<u32>>);

impl Shifts {
    /// A request that was known by one tag is followed by that of another; whether they agree with
    /// all so far.
    pub(super) fn learn(&mut self, before: u64, after: u64) -> bool {
        let (before, after) = (FlowKey::unpack(before), FlowKey::unpack(after));
        let of_same = (before.job, before.queue_pair) == (after.job, after.queue_pair);
        let Some(shift) = after.transfer.checked_sub(before.transfer) else {
            return false;
        };
        let job = after.job.index();
        if self.0.len() <= job {
            self.0.resize(job + 1, None);
        }
        of_same && *self.0[job].get_or_insert(shift) == shift
    }

    /// That of a job, if requests of it follow each other.
    pub(super) fn of(&self, job: JobId) -> Option<u32> {
        self.0.get(job.index()).copied().flatten()
    }

    /// The key that follows one after some periods.
    pub(super) fn key_after(&self, key: FlowKey, periods: u64) -> FlowKey {
        let by = self.of(key.job).unwrap_or(0).wrapping_mul(periods as u32);
        FlowKey {
            transfer: key.transfer.wrapping_add(by),
            ..key
        }
    }

    /// The same of a tag.
    pub(super) fn tag_after(&self, tag: u64, periods: u64) -> u64 {
        self.key_after(FlowKey::unpack(tag), periods).pack()
    }
}
