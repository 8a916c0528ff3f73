//! Reader and writer for topology files of ns-3 HPCC and its descendants: `topology.txt`.
//!
//! The first line has the numbers of nodes, switches and links, and more in the dialects of
//! `PowerTCP` (leaves), Reverie (leaves and rates) and `SimAI` (GPUs of a server, `NVSwitches`, GPU
//! type). The second line lists the switches. Each further line is a link: two nodes, rate, delay,
//! and the probability that a packet is lost.
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
