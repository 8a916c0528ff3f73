//! Partitions of a switch's buffer, and headroom that its ports share.

/// Rules by which ports share their switch's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSharing {
    /// Headroom for all ports together, in bytes; `None` if each port has headroom to itself.
    pub headroom_pool_bytes: Option<u64>,
    /// Equal parts into which each pool and shared headroom are divided. Each part serves
    /// neighbouring ports; 1, like 0, is a buffer that all ports share.
    pub partitions: u16,
}

impl Default for BufferSharing {
    fn default() -> BufferSharing {
        BufferSharing {
            headroom_pool_bytes: None,
            partitions: 1,
        }
    }
}

impl BufferSharing {
    /// Returns how many partitions there are, at least 1.
    pub fn parts(&self) -> usize {
        usize::from(self.partitions.max(1))
    }

    /// Returns one partition's share when a pool or shared headroom has `bytes`; an unlimited pool
    /// stays so.
    pub fn of_one_part(&self, bytes: u64) -> u64 {
        if bytes == UNLIMITED_POOL {
            bytes
        } else {
            bytes / self.parts() as u64
        }
    }

    /// Returns the partition that `port` belongs to in a switch with `ports` ports. Each partition
    /// has neighbouring ports, and their port counts differ by one at most.
    pub fn part_of_port(&self, port: usize, ports: usize) -> usize {
        port * self.parts() / ports
    }
}

/// Size in bytes that stands for a pool without limit.
/// It lies below `u64::MAX` so that reserved bytes can be added without overflow.
pub const UNLIMITED_POOL: u64 = 1 << 62;
