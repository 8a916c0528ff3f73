//! Exact integer units: time in picoseconds, rates in bits per second, sizes in bytes.
//!
//! No unit is a float, so adding ten thousand million frame times gives the same result as
//! multiplying one by that number. Parsing (`"400Gbps"`, `"5us"`, `"128KiB"`) insists on a unit;
//! printing picks the unit that a person would write.

mod budget;
mod bytes;
mod dimensions;
mod id;
mod instant;
mod name;
mod nearest;
mod parse;
mod rate;
mod text;
mod time;

pub use crate::id;
pub use budget::{Budget, Clock, Limits, OverBudget, Resource};
pub use bytes::Bytes;
pub use id::{ById, Id};
pub use instant::Instant;
pub use name::{
    LEDGER_FILE, NAME_REMEDY, SWEEPS_FOLDER, WORKERS_FOLDER, folder_name, is_reserved, is_visible,
};
pub use nearest::{nearest, suggestion};
pub(crate) use parse::UnitError;
pub use rate::{Rate, SerialisationTime};
pub use text::turns_text;
pub use time::Time;
