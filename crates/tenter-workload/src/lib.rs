//! Collective algorithms and jobs: which rank sends how many bytes to which, and which arrivals
//! each send waits for.
//!
//! ```text
//!      Traffic ─────schedule(ranks, size)─▶ dyn Schedule ─▶ transfers, released as arrivals allow
//!        Job ─────────────for_job─────────▶ QueuePairs   ─▶ slots of every queue pair, both ends
//! ```
//!
//! A collective algorithm is a [`Schedule`] over dense transfer ids that answers by arithmetic: an
//! all-to-all of 2,048 ranks has 4.2 million transfers, and none of them is stored. Packets, links
//! and host addresses are unknown here; the endpoint turns a transfer into messages and frames with
//! the help of [`split`].
//!
//! This crate's tests check three invariants on real vectors with arrivals in random order: each
//! transfer is released exactly once, a release depends only on what the releasing rank knows, and
//! the bytes of all transfers add up to what the algorithm's source states.
//!
//! ```
//! use tenter_workload::collective::CollectiveKind;
//!
//! let ring = CollectiveKind::parse("all-reduce", "ring")?;
//! let schedule = ring.schedule(4, 16 << 20)?;
//! // 2(n−1) steps of n transfers, each a quarter of the buffer.
//! assert_eq!(schedule.transfer_count(), 24);
//! assert_eq!(schedule.transfer(0).bytes, 4 << 20);
//! # Ok::<(), tenter_workload::WorkloadError>(())
//! ```

pub mod closed_form;
pub mod collective;
mod countdown;
mod error;
pub mod flow_workload;
mod full_mesh;
pub mod graph;
mod ids;
pub mod inference;
mod job;
mod nccl_kernels;
mod of_rank;
pub mod pairs;
pub mod pattern;
pub mod placement;
mod scale_up;
mod schedule;
mod site;
pub mod spec;
pub mod split;
mod traffic;
pub mod training;
mod transfer;
pub mod transformer;

pub use countdown::Countdown;
pub use error::{QUEUE_PAIRS_MAX, WorkloadError};
pub use full_mesh::FullMesh;
pub use ids::{JobId, RankId};
pub use job::{CollectiveRun, Compute, Job};
pub use nccl_kernels::NcclGpu;
pub(crate) use nccl_kernels::NcclKernels;
pub use pairs::{FarEnd, FirstSlots, QueuePairs, RankReceiveSlot, RankSendSlot};
pub use scale_up::ScaleUp;
pub use schedule::{Rings, Schedule};
pub use site::{AtHost, Instead, Misfit, Site, Sited};
pub use traffic::{Flow, Groups, Known, Operations, Traffic};
pub use transfer::{Destination, QueuePairScope, Transfer};
