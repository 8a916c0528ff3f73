//! What workloads of flows are made of: distributions of flow sizes and of times, and the flows
//! themselves.

mod distribution;
mod distributions;
mod gaps;
mod receivers;
mod schedule;

pub use distribution::{Between, DistributionError, Point, SizeDistribution};
pub use distributions::{DISTRIBUTIONS, NamedDistribution};
pub use gaps::GapLaw;
pub use receivers::{Receivers, Weights};
pub use schedule::{Arrivals, FlowSchedule, FlowWay, FlowWorkload, Sender};
