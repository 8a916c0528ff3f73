//! What workloads of flows are made of: laws of flow sizes, and the flows themselves, whose file is
//! among those of the collectives.

mod law;
mod laws;

pub use crate::collective::flow_workload::{FlowSchedule, FlowWay, FlowWorkload};
pub use law::{Between, LawError, Point, SizeLaw};
pub use laws::{LAWS, NamedLaw};
