//! Simulations held against formulas.
//!
//! Each test states its formula and the arithmetic of one case in a comment. Times are compared in
//! whole picoseconds wherever the formula is exact; where it is not, the comment says what makes it
//! inexact and by how much.

mod accounting;
mod algorithm_files;
mod arrangements;
mod collectives;
mod congestion;
mod credit;
mod default_sanity;
mod dragonfly;
mod ecmp;
mod ecn;
mod endpoint_delays;
mod entropy;
mod faults;
mod flow_workloads;
mod headroom;
mod held_by_rate;
mod host_memory;
mod incast;
mod inference;
mod input_queued;
mod jobs;
mod load_balancing;
mod lone_switch;
mod loss;
mod notices;
mod one_switch;
mod operations;
mod paths;
mod pauses;
mod power;
mod queue_pairs;
mod scale_up;
mod scheduled;
mod scheduling;
mod signals;
mod steps;
mod thresholds;
mod training;
mod trial;
mod triggers;
mod waiting;
mod wire;
