//! A lab beside its simulation: the same scenario on both, the difference by size, flow and link,
//! and constants of hosts fitted to part of the sizes.

mod calibrate;
mod compare;
mod flows;
mod links;
mod paths;
mod report;
mod run;

pub use calibrate::{Calibration, calibrate};
pub use compare::{SizeRow, TOLERANCE_PERCENT};
pub use flows::FlowSpread;
pub use links::LinkRow;
pub use paths::{PathRow, kernel_paths};
pub use report::twin_text;
pub use run::{Constants, Twin, twin};
