//! Reader and writer for topology files from ns-3 HPCC and its descendants: `topology.txt`.
//!
//! The first line counts nodes, switches and links, and has more in the dialects `PowerTCP`
//! (leaves), Reverie (leaves and rates) and `SimAI` (GPUs in a server, `NVSwitches`, GPU type). The
//! second line lists the switches. Each further line is a link: two nodes, rate, delay, and the
//! probability that a packet is lost.
//!
//! Sources: `scratch/third.cc` in alibaba-edu/High-Precision-Congestion-Control,
//! `gen_Topo_Template.py` in aliyun/SimAI.

mod read;
mod servers;
#[cfg(test)]
mod tests;
mod units;
mod write;

pub use read::read;
pub use write::{Loss, write};
