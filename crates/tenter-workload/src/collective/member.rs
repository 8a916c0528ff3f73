//! The static description that each collective algorithm has.

use std::fmt;

use crate::WorkloadError;

/// Factor that turns algorithm bandwidth into bus bandwidth, as a function of the rank count n.
///
/// Source: "Performance reported by NCCL tests" (NVIDIA/nccl-tests, `doc/PERFORMANCE.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Factor 1: every byte crosses the busiest port once.
    One,
    /// Factor (n−1)/n: a rank's own share stays where it is.
    AllButOwn,
    /// Factor 2(n−1)/n: every share except a rank's own crosses the rank's port twice.
    TwiceAllButOwn,
}

impl Factor {
    /// Returns the factor for `ranks` ranks, at least 1.
    pub(crate) fn of(self, ranks: u32) -> f64 {
        let all_but_own = f64::from(ranks - 1) / f64::from(ranks);
        match self {
            Factor::One => 1.0,
            Factor::AllButOwn => all_but_own,
            Factor::TwiceAllButOwn => 2.0 * all_but_own,
        }
    }
}

/// Static description of a collective algorithm: everything that is known without a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveMember {
    /// Collective's name in scenarios and tables.
    pub collective: &'static str,
    /// Algorithm's name, unique within the collective.
    pub algorithm: &'static str,
    /// One line for users that says what the algorithm does.
    pub summary: &'static str,
    /// Path to the model page, from the top of the repository.
    pub model_page: &'static str,
    /// Most ranks for which every transfer has a 32-bit id; the ring all-reduce permits more and
    /// then runs at flow level only.
    pub ranks_max: u32,
    /// Bus bandwidth over algorithm bandwidth.
    pub busbw: Factor,
}

impl fmt::Display for CollectiveMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.collective, self.algorithm)
    }
}

impl CollectiveMember {
    /// Refuses what no algorithm can run: a single rank, 0 bytes, or more ranks than
    /// [`Self::ranks_max`].
    pub(crate) fn check(&self, ranks: u32, size_bytes: u64) -> Result<(), WorkloadError> {
        let collective = self.to_string();
        if ranks < 2 {
            return Err(WorkloadError::TooFewRanks { collective, ranks });
        }
        if size_bytes == 0 {
            return Err(WorkloadError::ZeroSize { collective });
        }
        if ranks > self.ranks_max {
            let ranks_max = self.ranks_max;
            return Err(WorkloadError::TooManyTransfers {
                collective,
                ranks,
                ranks_max,
            });
        }
        Ok(())
    }

    /// Returns the NPUs per host, without which an algorithm that distinguishes hosts cannot run.
    pub(super) fn known_npus(&self, npus_per_host: Option<u32>) -> Result<u32, WorkloadError> {
        let unknown = || WorkloadError::HostsUnknown {
            collective: self.to_string(),
        };
        npus_per_host.ok_or_else(unknown)
    }

    /// Refuses a rank count that does not fill two or more hosts.
    pub(super) fn check_hosts(&self, ranks: u32, npus_per_host: u32) -> Result<(), WorkloadError> {
        let full = npus_per_host > 0 && ranks.is_multiple_of(npus_per_host);
        if full && ranks / npus_per_host >= 2 {
            return Ok(());
        }
        Err(WorkloadError::HostsNotFull {
            collective: self.to_string(),
            ranks,
            npus_per_host,
        })
    }

    /// Refuses a root that is not one of the ranks.
    pub(super) fn check_root(&self, root: u32, ranks: u32) -> Result<(), WorkloadError> {
        if root < ranks {
            return Ok(());
        }
        let collective = self.to_string();
        Err(WorkloadError::RootOutOfRange {
            collective,
            root,
            ranks,
        })
    }
}
