//! Bounds of time that scenarios and the engine share.

use tenter_units::Time;

pub use tenter_workload::spec::SIMULATED_MAX;

/// No window of the engine is longer, whatever the fabric: a barrier of a job fires no sooner after
/// its cause.
pub const WINDOW_MAX: Time = tenter_workload::spec::GAP_MIN;

/// Where one node can affect another within less than this, windows go from event to event: fixed
/// ones would mostly be empty.
pub const CENTRAL_BELOW: Time = Time::from_ns(50);
