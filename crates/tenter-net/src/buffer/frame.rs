//! A frame in the buffer, and what its sender is told.

/// Where a frame waits: the port it came through, its class, and the port it leaves by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) input: u16,
    pub(crate) output: u16,
    pub(crate) queue: usize,
}

impl Place {
    /// Any place of what came through a port.
    pub(crate) fn of_input(port: u16, queue: usize) -> Place {
        Place {
            input: port,
            output: port,
            queue,
        }
    }
}

/// A frame that joins an output queue or leaves it.
///
/// It has no [`Place`] in it: a struct in a struct would be kept in memory on the hot path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedFrame {
    /// The port it came through.
    pub(crate) input: u16,
    /// The port it leaves by.
    pub(crate) output: u16,
    pub(crate) queue: usize,
    /// Its frame bytes.
    pub(crate) bytes: u64,
    /// Frame bytes of all others in the queue.
    pub(crate) others: u64,
}

impl QueuedFrame {
    /// Where it waits.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        Place {
            input: self.input,
            output: self.output,
            queue: self.queue,
        }
    }

    /// Frame bytes of the queue with this frame in it.
    #[inline]
    pub(crate) fn queue_bytes(&self) -> u64 {
        self.others + self.bytes
    }
}

/// A control frame that is to go out through a port, for the class of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingControl {
    pub(crate) port: u16,
    pub(crate) queue: u8,
    pub(crate) message: ControlMessage,
}

/// What a control frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlMessage {
    /// The class pauses for this number of quanta; zero resumes it.
    Pause(u16),
    /// The number of blocks up to which the other end may send.
    Credit(u32),
}
