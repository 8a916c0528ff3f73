//! Unloaded times: requests between any two NICs in a plan without other traffic.

use std::fmt;

use tenter_fabric::topology::{HostId, Routing};
use tenter_language::units::{Budget, Time};
use tenter_sim::plan::Plan;
use tenter_sim::plan::unloaded::{Link, frames, links, request_time};

use crate::explain::error::ExplainError;
use crate::explain::scheduled::scheduled_time;

/// Longest request that is followed frame by frame, in bytes.
pub(crate) const REQUEST_MAX: u64 = 4 << 20;

/// Request times in a plan's empty network.
#[derive(Clone)]
pub struct UnloadedTimes {
    plan: Plan,
    routing: Routing,
}

impl fmt::Debug for UnloadedTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnloadedTimes")
            .field(&self.plan.name)
            .finish()
    }
}

impl UnloadedTimes {
    /// Builds a plan's routes.
    ///
    /// # Errors
    /// Hosts that cannot reach each other, or routes beyond the budget.
    pub(crate) fn new(plan: Plan, budget: &Budget) -> Result<UnloadedTimes, ExplainError> {
        let routing = Routing::build(&plan.topology, budget)?;
        Ok(UnloadedTimes { plan, routing })
    }

    /// Returns the time from a request's first bit at NIC `from` to its last bit at NIC `to`, both
    /// by node number. `None` for requests that no network carries: from a NIC to itself, within a
    /// scale-up domain, or between NICs without a path. Beyond 4 MiB, time grows with `bytes` as it
    /// does from 2 to 4 MiB.
    pub(crate) fn of(&self, from: u32, to: u32, bytes: u64) -> Option<Time> {
        let topology = &self.plan.topology;
        let is_host = |node: u32| node < topology.hosts as u32;
        if from == to || !is_host(from) || !is_host(to) {
            return None;
        }
        let (from, to) = (HostId::new(from), HostId::new(to));
        if self.plan.is_within_domain(from, to) || !topology.joins(from, to) {
            return None;
        }
        let links = links(&self.plan, &self.routing, from, to);
        let time = |bytes| request_alone(&self.plan, &self.routing, &links, [from, to], bytes);
        if bytes <= REQUEST_MAX {
            return Some(time(bytes));
        }
        let (half, whole) = (time(REQUEST_MAX / 2), time(REQUEST_MAX));
        // Beyond the limit each byte takes as long as those between 2 and 4 MiB.
        let rest = u128::from((whole - half).ps()) * u128::from(bytes - REQUEST_MAX);
        let rest = rest / u128::from(REQUEST_MAX / 2);
        Some(whole.saturating_add(Time::from_ps(rest as u64)))
    }
}

/// Returns a request's time over `links`, on all planes that its packets take.
pub(crate) fn request_alone(
    plan: &Plan,
    routing: &Routing,
    links: &[Link],
    [from, to]: [HostId; 2],
    bytes: u64,
) -> Time {
    let frames: Vec<_> = frames(&plan.nic, bytes).collect();
    let scheduled = scheduled_time(plan, routing, from, to, &frames);
    scheduled.unwrap_or_else(|| request_time(&plan.nic, links, plan.sprayed_planes(), bytes))
}
