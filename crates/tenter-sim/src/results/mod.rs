//! A trial's results: counters and flows, as rows in its tables.

mod capture;
mod conservation;
mod counters;
mod credit;
mod critical_path;
mod flow_table;
mod flow_tally;
mod hash_paths;
mod ideal_ratio;
mod ideals;
mod inference;
mod interference;
mod iteration_id;
mod leaves;
mod metered;
mod names;
mod notices;
mod operations;
mod outcome;
mod overflow;
mod power;
mod queue_changes;
mod signals;
mod summary;
mod training;

pub(crate) use conservation::{Missing, check, check_link, missing};
pub(crate) use counters::active_span;
pub(crate) use credit::lanes;
pub(crate) use flow_table::FlowTable;
pub use hash_paths::HashPath;
pub(crate) use hash_paths::transfers;
pub(crate) use ideals::Ideals;
pub use interference::{Interference, interference_rows, interference_runs};
pub use names::names;
pub use outcome::Outcome;
pub(crate) use summary::{Trial, last_event, outcome, packet_hops};
