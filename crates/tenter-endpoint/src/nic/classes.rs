//! Traffic classes (priorities) of a NIC's packets.

/// Traffic classes (priorities 0 to 7) of a NIC's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicClasses {
    /// Class of data packets, unless queue pairs differ.
    pub data: u8,
    /// Bit set of all classes that data packets may have.
    pub all_data: u8,
    /// Class of acknowledgements and connection set-up.
    pub control: u8,
    /// Class of congestion notifications.
    pub notification: u8,
    /// Bit set of the classes that pause frames can stop.
    pub lossless: u8,
}

impl NicClasses {
    /// Returns true if queue pairs differ in the class of their data.
    pub fn is_mixed(&self) -> bool {
        self.all_data.count_ones() > 1
    }
}
