//! Time bounds that scenarios and the engine share.

use tenter_language::units::Time;

pub use tenter_workload::spec::SIMULATED_MAX;

/// Longest window on any fabric. It equals the shortest gap: a job's barrier fires a gap after its
/// cause, and a window must not be longer than that.
pub const WINDOW_MAX: Time = tenter_workload::spec::GAP_MIN;

/// Lookahead below which the engine uses central windows, which go from event to event: fixed
/// windows would mostly be empty.
pub const CENTRAL_BELOW: Time = Time::from_ns(50);
