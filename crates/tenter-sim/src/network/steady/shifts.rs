//! The way in which the transfers in one period of whole steps follow those in the period before.

use tenter_workload::JobId;

use crate::network::partition_records::FlowKey;

/// For each job the difference between a transfer's number and that of the transfer that takes its
/// place a period later; `None` until one is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Shifts(Vec<Option<u32>>);

impl Shifts {
    /// Learns that the request with tag `before` is followed by that with tag `after`; returns
    /// false if that contradicts earlier pairs.
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

    /// Returns the difference for a job, if any of its requests follow each other.
    pub(super) fn of(&self, job: JobId) -> Option<u32> {
        self.0.get(job.index()).copied().flatten()
    }

    /// Returns the key that takes the place of `key` after `periods` periods.
    pub(super) fn key_after(&self, key: FlowKey, periods: u64) -> FlowKey {
        let by = self.of(key.job).unwrap_or(0).wrapping_mul(periods as u32);
        FlowKey {
            transfer: key.transfer.wrapping_add(by),
            ..key
        }
    }

    /// Returns the tag that takes the place of `tag` after `periods` periods.
    pub(super) fn tag_after(&self, tag: u64, periods: u64) -> u64 {
        self.key_after(FlowKey::unpack(tag), periods).pack()
    }
}
