//! Topology files of ns-3 HPCC and its descendants: `topology.txt`.
//!
//! The first line has the number of nodes, of switches and of links, and more in the dialects of
//! `PowerTCP` (leaves), Reverie (leaves and rates) and `SimAI` (GPUs of a server, `NVSwitches`,
//! type of the GPUs). The second has the numbers of the switches. Then there is a link in each
//! line: two nodes, a rate, a delay, and the chance of losing a packet.
//!
//! Sources: `scratch/third.cc` of alibaba-edu/High-Precision-Congestion-Control,
//! `gen_Topo_Template.py` of aliyun/SimAI.

mod read;
mod servers;
#[cfg(test)]
mod tests;
mod units;
mod write;

pub use read::read;
pub use write::{Loss, write};
