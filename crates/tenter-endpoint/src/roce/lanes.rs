//! Both ends of a NIC's lanes, in a fabric that sends by credit.

use tenter_fabric::net::{CLASSES, CreditSpec, LaneBuffer, LaneCredit};

/// Both ends of a NIC's lanes, by class.
#[derive(Clone, Debug)]
pub(super) struct NicLanes {
    pub(super) credits: [LaneCredit; CLASSES],
    pub(super) buffers: [LaneBuffer; CLASSES],
    /// Bit set of the classes in which the leaf has lanes.
    pub(super) classes: u8,
    /// Longest frame that the NIC sends: a lane needs credit for it before any frame may leave.
    pub(super) longest_frame_bytes: u32,
}

impl NicLanes {
    /// Creates lanes in their initial state for a bit set of classes.
    pub(super) fn new(spec: &CreditSpec, classes: u8, longest_frame_bytes: u32) -> NicLanes {
        NicLanes {
            credits: [LaneCredit::new(spec); CLASSES],
            buffers: [LaneBuffer::new(spec); CLASSES],
            classes,
            longest_frame_bytes,
        }
    }
}
