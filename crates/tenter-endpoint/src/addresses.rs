//! NIC addresses: IPv4 and DSCP.

/// One NIC's addresses. The address feeds the ECMP hash and the DSCP sets the class. Prefix and
/// gateway matter only while a scenario is read: they decide which addresses the NIC can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicAddress {
    /// IPv4 address in host byte order.
    pub address: u32,
    /// Subnet prefix length, in bits.
    pub prefix: u8,
    /// IPv4 address of the gateway, which is no node in the fabric.
    pub gateway: u32,
    /// DSCP that data packets carry, 0 to 63.
    pub dscp: u8,
}

impl NicAddress {
    /// Returns the data packets' class (priority), which is the DSCP's class selector.
    pub fn class(&self) -> u8 {
        self.dscp >> 3
    }
}

/// The UDP destination port of `RoCEv2` (InfiniBand Architecture Specification, Annex A17).
pub const ROCE_UDP_PORT: u16 = 4791;
