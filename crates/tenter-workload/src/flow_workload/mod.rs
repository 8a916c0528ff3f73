//! Flow workloads: distributions for sizes and gaps, and the flows that follow from them.

mod distribution;
mod distributions;
mod gaps;
mod receivers;
mod schedule;

pub use distribution::{Between, DistributionError, Point, SizeDistribution};
pub(crate) use distributions::{DISTRIBUTIONS, NamedDistribution};
pub use gaps::GapLaw;
pub use receivers::{Receivers, Weights};
pub use schedule::{Arrivals, FlowSchedule, FlowWay, FlowWorkload, Sender};
