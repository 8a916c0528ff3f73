//! Traffic classes (priorities) in which a NIC sends.

/// Traffic classes (priorities 0 to 7) in which a NIC sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicClasses {
    /// Class for data packets, unless queue pairs differ.
    pub data: u8,
    /// All classes that data packets may have, as a bit set.
    pub all_data: u8,
    /// Class for acknowledgements and connection set-up.
    pub control: u8,
    /// Class for congestion notifications, such as CNPs.
    pub notification: u8,
    /// Classes that pause frames can stop, as a bit set.
    pub lossless: u8,
}

impl NicClasses {
    /// Returns true if queue pairs differ in their data's class.
    pub(crate) fn is_mixed(self) -> bool {
        self.all_data.count_ones() > 1
    }
}
