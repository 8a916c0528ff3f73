//! Simulations held against formulas.
//!
//! Each test states its formula and the arithmetic of one case in a comment. Times are compared in
//! whole picoseconds wherever the formula is exact; where it is not, the comment says what makes it
//! inexact and by how much.

mod accounting;
mod collectives;
mod ecmp;
mod endpoint_delays;
mod incast;
mod loss;
mod one_switch;
mod paths;
mod queue_pairs;
mod trial;
mod waiting;
mod wire;
