//! What workloads of flows are made of: distributions of flow sizes, and the flows themselves,
//! whose file is among those of the collectives.

mod distribution;
mod distributions;
mod gaps;
mod receivers;

pub use crate::collective::flow_workload::{Arrivals, FlowSchedule, FlowWay, FlowWorkload, Sender};
pub use distribution::{Between, DistributionError, Point, SizeDistribution};
pub use distributions::{DISTRIBUTIONS, NamedDistribution};
pub use gaps::GapLaw;
pub use receivers::{Receivers, Weights};
