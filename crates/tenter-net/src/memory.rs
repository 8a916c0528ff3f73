//! How the ports of a switch share its memory.

/// How the ports of a switch share its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSharing {
    /// The most headroom of all ports together; `None`: each has its own whole.
    pub headroom_pool_bytes: Option<u64>,
    /// The number of equal parts of the pools, and of the pool of headroom: ports take space from
    /// the part of their group of neighbours. One is a buffer that all share.
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
    /// How many parts there are: one where the buffer is not divided.
    pub fn parts(&self) -> usize {
        usize::from(self.partitions.max(1))
    }

    /// The share of one part in a pool, or in the headroom that ports share.
    pub fn of_one_part(&self, bytes: u64) -> u64 {
        if bytes == UNLIMITED_POOL {
            bytes
        } else {
            bytes / self.parts() as u64
        }
    }

    /// The part of a port of a switch with a number of ports: neighbours share one, and parts have
    /// as many ports as others, or one more.
    pub fn part_of_port(&self, port: usize, ports: usize) -> usize {
        port * self.parts() / ports
    }
}

/// The size of a pool that never runs out.
pub const UNLIMITED_POOL: u64 = 1 << 62;
