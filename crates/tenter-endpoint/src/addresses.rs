//! The addresses of NICs.

/// The addresses of one NIC. The address feeds the ECMP hash, the DSCP gives the class; prefix and
/// gateway are checked when a scenario is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicAddress {
    /// IPv4 address.
    pub address: u32,
    /// Prefix length of its subnet.
    pub prefix: u8,
    /// IPv4 address of its gateway.
    pub gateway: u32,
    /// DSCP of its data packets.
    pub dscp: u8,
}

impl NicAddress {
    /// The class (priority) of its data packets: the class selector bits of the DSCP.
    pub fn class(&self) -> u8 {
        self.dscp >> 3
    }
}

/// The UDP destination port of `RoCEv2` (InfiniBand Architecture Specification, Annex A17).
pub const ROCE_UDP_PORT: u16 = 4791;
