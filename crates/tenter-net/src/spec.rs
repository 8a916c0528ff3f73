//! What a switch is built from: plain numbers, all units resolved.

use tenter_units::Time;

use crate::load_balancing::LoadBalancing;

/// How a switch hands a frame from its input to its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// The frame is received whole before it may leave.
    StoreAndForward,
    /// The frame may leave as soon as its head has passed the pipeline, on inputs no slower than
    /// any output of the switch; other inputs store and forward, for a faster output would run dry
    /// in mid-frame.
    CutThrough,
}

/// One switch model; all switches of a fabric tier share one.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchSpec {
    /// Cut-through or store-and-forward.
    pub forwarding: Forwarding,
    /// From the wire to the output queue.
    pub ingress_latency: Time,
    /// From the output queue to the wire.
    pub egress_latency: Time,
    /// Frame bytes one output queue holds before it drops the tail; `None` never drops.
    pub queue_capacity_bytes: Option<u64>,
    /// How one of several equal-cost ports is chosen.
    pub load_balancing: LoadBalancing,
}
