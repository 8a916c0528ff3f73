//! What workloads of flows are made of: laws of flow sizes, and the flows themselves, whose file is
//! among those of the collectives.

mod gaps;
mod law;
mod laws;
mod receivers;

pub use crate::collective::flow_workload::{Arrivals, FlowSchedule, FlowWay, FlowWorkload, Sender};
pub use gaps::GapLaw;
pub use law::{Between, LawError, Point, SizeLaw};
pub use laws::{LAWS, NamedLaw};
pub use receivers::{Receivers, Weights};
