//! Bounds of time that scenarios and the engine share.

use tenter_units::Time;

/// The longest simulation, 100 days: less than half of what 64 bits of picoseconds hold, so that no
/// delay added to an instant of it wraps. A time beyond it is a slip of the unit.
pub const SIMULATED_MAX: Time = Time::from_us(100 * 86_400 * 1_000_000);

/// No window of the engine is longer, whatever the fabric: a barrier of a job fires no sooner after
/// its cause.
pub const WINDOW_MAX: Time = Time::from_us(2);

/// Where one node can affect another within less than this, windows go from event to event: fixed
/// ones would mostly be empty.
pub const CENTRAL_BELOW: Time = Time::from_ns(50);
