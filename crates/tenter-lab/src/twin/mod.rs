//! The twin: a lab beside the simulation that runs the same scenario.
//!
//! It has the differences by size, flow and link, and host constants that were fitted to every
//! other collective.

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
