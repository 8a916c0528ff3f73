//! What a switch is built from: plain numbers, all units resolved.

use tenter_units::Time;

use crate::class::{CLASSES, ClassSpec, Limit, Scheduling};
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
    /// The pools of the shared buffer, in bytes; [`UNLIMITED_POOL`] never runs out. Reserved bytes
    /// and headroom are outside of them.
    pub pool_bytes: Vec<u64>,
    /// What becomes of each class, ascending by class, at least one. A class that is not listed
    /// shares the queue of the next lower one that is, or of the first.
    pub classes: Vec<ClassSpec>,
    /// How one of several equal-cost ports is chosen.
    pub load_balancing: LoadBalancing,
}

/// The size of a pool that never runs out.
pub const UNLIMITED_POOL: u64 = 1 << 62;

impl SwitchSpec {
    /// The model of a spine of a scheduled fabric whose leaves this one describes: it has the same
    /// delays, and one queue without end at each port.
    #[must_use]
    pub fn of_spine(&self) -> SwitchSpec {
        let queue = ClassSpec {
            class: 0,
            scheduling: Scheduling::Strict,
            pool: 0,
            reserved_bytes: 0,
            limit: Limit::Static(UNLIMITED_POOL),
            lossless: None,
            ecn: None,
        };
        SwitchSpec {
            pool_bytes: vec![UNLIMITED_POOL],
            classes: vec![queue],
            ..self.clone()
        }
    }

    /// The queue of each class: its place in the list of classes.
    pub fn queue_of_class(&self) -> [u8; CLASSES] {
        std::array::from_fn(|class| {
            let upto = self
                .classes
                .iter()
                .take_while(|spec| usize::from(spec.class) <= class);
            upto.count().saturating_sub(1) as u8
        })
    }
}
