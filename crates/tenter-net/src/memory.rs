//! How the ports of a switch share its memory.

/// How the ports of a switch share its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSharing {
    /// What all ports have in headroom together at most; `None`: each has its own whole.
    pub headroom_pool_bytes: Option<u64>,
    /// Into how many equal parts the pools are divided, and the pool of headroom: ports take space
    /// from the part of their group of neighbours. One is a buffer that all share.
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

    /// What one part has of a pool, or of the headroom that ports share.
    pub fn of_one_part(&self, bytes: u64) -> u64 {
        if bytes == UNLIMITED_POOL {
            bytes
        } else {
            bytes / self.parts() as u64
        }
    }

    /// The part of a port of a switch that has so many: neighbours share one, and parts have as
    /// many ports as others, or one more.
    pub fn part_of_port(&self, port: usize, ports: usize) -> usize {
        port * self.parts() / ports
    }
}

/// The size of a pool that never runs out.
pub const UNLIMITED_POOL: u64 = 1 << 62;
