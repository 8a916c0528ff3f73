//! What is known of a collective algorithm without running it.

use std::fmt;

use crate::WorkloadError;

/// What algorithm bandwidth is multiplied with to get bus bandwidth, as a function of the number
/// of ranks n.
///
/// Source: "Performance reported by NCCL tests" (NVIDIA/nccl-tests, `doc/PERFORMANCE.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// 1: every byte of the size crosses the busiest port once.
    One,
    /// (n−1)/n: a rank's own share stays where it is.
    AllButOwn,
    /// 2(n−1)/n: every share crosses each rank's port twice, but for its own.
    TwiceAllButOwn,
}

impl Factor {
    /// Its value for `ranks` ranks, at least 1.
    pub fn of(self, ranks: u32) -> f64 {
        let all_but_own = f64::from(ranks - 1) / f64::from(ranks);
        match self {
            Factor::One => 1.0,
            Factor::AllButOwn => all_but_own,
            Factor::TwiceAllButOwn => 2.0 * all_but_own,
        }
    }
}

/// What is known of a collective algorithm without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveMember {
    /// The collective's name in scenarios and tables.
    pub collective: &'static str,
    /// The algorithm's name, unique within the collective.
    pub algorithm: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Its model page, from the top of the repository.
    pub model_page: &'static str,
    /// The most ranks it can have, so that every transfer has an id of 32 bits.
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
    /// Refuses what no algorithm can run: a rank alone, nothing to send, more transfers than ids.
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

    /// The NPUs of a host, which an algorithm by hosts has to know.
    pub(super) fn known_npus(&self, npus_per_host: Option<u32>) -> Result<u32, WorkloadError> {
        let unknown = || WorkloadError::HostsUnknown {
            collective: self.to_string(),
        };
        npus_per_host.ok_or_else(unknown)
    }

    /// Refuses a number of ranks that does not fill two hosts or more.
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

    /// Refuses a root that is no rank.
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
