//! Calls that ranks have recorded: collectives and messages from NCCL and `PyTorch`, in their
//! order.
//!
//! ```text
//!   reader of a recording ─ Recorded calls of each rank ─ keep_common ─▶ calls that all have
//!   calls ─ Emitter ─▶ RankTrace of each rank ─▶ Traces
//! ```
//!
//! Names and sizes follow `torch/csrc/distributed/c10d` and `nccl.h`.

mod arrangement;
mod common;
mod emitter;
mod members;
mod names;
mod recorded;
mod resolving;
mod sizes;

pub(crate) use arrangement::{Arrangement, Head};
pub(crate) use common::{Kept, keep_common};
pub(crate) use emitter::{Emitter, one_after_another};
pub(crate) use members::{Members, ProcessGroups};
pub(crate) use names::{Called, called, element_bytes, nccl_element_bytes};
pub(crate) use recorded::{Call, Message, Recorded};
pub(crate) use resolving::{Described, Peer, Resolving};
pub(crate) use sizes::Elements;
