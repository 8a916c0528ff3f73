//! Both ends of the lanes of a NIC, in a fabric that sends by credit.

use tenter_net::{CLASSES, CreditSpec, LaneBuffer, LaneCredit};

/// Both ends of the lanes of a NIC, by class.
#[derive(Clone, Debug)]
pub(super) struct NicLanes {
    pub(super) credits: [LaneCredit; CLASSES],
    pub(super) buffers: [LaneBuffer; CLASSES],
    /// The classes that the leaf knows, one bit each.
    pub(super) classes: u8,
    pub(super) longest_frame_bytes: u32,
}

impl NicLanes {
    /// Before anything has happened, in classes given by one bit each.
    pub(super) fn new(spec: &CreditSpec, classes: u8, longest_frame_bytes: u32) -> NicLanes {
        NicLanes {
            credits: [LaneCredit::new(spec); CLASSES],
            buffers: [LaneBuffer::new(spec); CLASSES],
            classes,
            longest_frame_bytes,
        }
    }
}
