//! Frames in the buffer, and control frames to their senders.

/// A waiting frame's place: the input port, the class, and the output port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) input: u16,
    pub(crate) output: u16,
    pub(crate) queue: usize,
}

impl Place {
    /// Returns a place that stands for the priority group of `port`; its output port is arbitrary.
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
/// The fields repeat those of [`Place`]: a struct within a struct would be kept in memory on the
/// hot path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedFrame {
    /// Input port, which names the priority group of a lossless frame.
    pub(crate) input: u16,
    /// Output port, at whose queue the frame waits.
    pub(crate) output: u16,
    pub(crate) queue: usize,
    /// Frame bytes, headers and FCS included.
    pub(crate) bytes: u64,
    /// Bytes in its output queue without this frame.
    pub(crate) others: u64,
}

impl QueuedFrame {
    #[inline]
    pub(crate) fn place(&self) -> Place {
        Place {
            input: self.input,
            output: self.output,
            queue: self.queue,
        }
    }

    /// Returns the bytes in the output queue with this frame.
    #[inline]
    pub(crate) fn queue_bytes(&self) -> u64 {
        self.others + self.bytes
    }
}

/// A control frame that is to go out through `port`, for the class of `queue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingControl {
    pub(crate) port: u16,
    pub(crate) queue: u8,
    pub(crate) message: ControlMessage,
}

/// Message that a control frame brings to a link's other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlMessage {
    /// PFC: quanta (512 bit times each) for which the class pauses; zero resumes it.
    Pause(u16),
    /// Link credit: the block count since the start up to which the other end may send.
    Credit(u32),
}
