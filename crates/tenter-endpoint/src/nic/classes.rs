//! The classes of what a NIC sends.

/// The classes of what a NIC sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicClasses {
    /// The class of data packets, unless queue pairs differ in it.
    pub data: u8,
    /// All classes of data packets, one bit each.
    pub all_data: u8,
    /// The class of acknowledgements and connection set-up.
    pub control: u8,
    /// The class of congestion notifications.
    pub notification: u8,
    /// The classes that pause frames can stop, one bit each.
    pub lossless: u8,
}

impl NicClasses {
    /// Whether queue pairs differ in the class of their data.
    pub fn is_mixed(&self) -> bool {
        self.all_data.count_ones() > 1
    }
}
