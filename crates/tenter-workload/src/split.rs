//! The split that turns a transfer into work for queue pairs: byte shares, and each share's RDMA
//! messages.

/// Returns the bytes of a transfer that queue pair `index` of `queue_pairs` carries. Shares are
/// even; the first queue pairs carry one byte more if the division leaves a remainder.
///
/// Source: parallel queue pairs per rank pair in "AI Fabric Test Methodology" (Keysight).
///
/// # Panics
/// If `queue_pairs` is 0, which [`crate::QueuePairs`] refuses.
pub fn share(bytes: u64, queue_pairs: u16, index: u16) -> u64 {
    let count = u64::from(queue_pairs);
    bytes / count + u64::from(u64::from(index) < bytes % count)
}

/// Returns how many queue pairs, counted from the first, carry part of a transfer with `bytes`.
///
/// All do, unless there are fewer bytes than queue pairs. A transfer with 0 bytes goes over the
/// first queue pair as one message without payload, because its receiver still has to see it
/// arrive.
pub(crate) fn sharers(bytes: u64, queue_pairs: u16) -> u16 {
    bytes.clamp(1, u64::from(queue_pairs)) as u16
}

/// Returns the shares of all queue pairs that carry something, starting with the first.
///
/// # Panics
/// If `queue_pairs` is 0, which [`crate::QueuePairs`] refuses.
pub fn shares(bytes: u64, queue_pairs: u16) -> impl Iterator<Item = u64> {
    (0..sharers(bytes, queue_pairs)).map(move |index| share(bytes, queue_pairs, index))
}

/// RDMA messages that carry one share; all have the same size except the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Messages {
    /// Number of messages, at least 1.
    pub count: u64,
    /// Payload in each message except the last, in bytes.
    pub full_bytes: u64,
    /// Payload in the last message, in bytes: 1 to `full_bytes`, or 0 if the share is empty.
    pub last_bytes: u64,
}

impl Messages {
    /// Returns the payload in message `index`, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self, index: u64) -> u64 {
        if index + 1 < self.count {
            self.full_bytes
        } else {
            self.last_bytes
        }
    }
}

/// Cuts `bytes` into messages of `message_bytes`; 0 bytes make one message without payload.
///
/// # Panics
/// If `message_bytes` is 0. Scenarios are validated for that earlier.
pub fn messages(bytes: u64, message_bytes: u64) -> Messages {
    let count = bytes.div_ceil(message_bytes).max(1);
    Messages {
        count,
        full_bytes: message_bytes,
        last_bytes: bytes - (count - 1) * message_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_queue_pairs_take_the_remainder() {
        assert_eq!(shares(10, 4).collect::<Vec<_>>(), [3, 3, 2, 2]);
        assert_eq!(shares(2, 4).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(shares(0, 4).collect::<Vec<_>>(), [0]);
        // 25 MiB over 4 queue pairs: 6,553,600 bytes each.
        assert_eq!(shares(25 << 20, 4).collect::<Vec<_>>(), [6_553_600; 4]);
    }

    #[test]
    fn messages_of_128_kib() {
        let messages_128k = |bytes| messages(bytes, 128 << 10);
        let expect = |count, last_bytes| Messages {
            count,
            full_bytes: 131_072,
            last_bytes,
        };
        assert_eq!(messages_128k(2 << 20), expect(16, 131_072));
        assert_eq!(messages_128k(25 << 20), expect(200, 131_072));
        assert_eq!(messages_128k(131_073), expect(2, 1));
        assert_eq!(messages_128k(5), expect(1, 5));
        assert_eq!(messages_128k(0), expect(1, 0));
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            bytes in 0_u64..1 << 24,
            queue_pairs in 1_u16..300,
            size in 1_u64..1 << 20,
        ) {
            let shares: Vec<_> = shares(bytes, queue_pairs).collect();
            prop_assert_eq!(shares.iter().sum::<u64>(), bytes);
            prop_assert!(bytes == 0 || shares.iter().all(|&share| share > 0));
            prop_assert!((sharers(bytes, queue_pairs)..queue_pairs)
                .all(|index| share(bytes, queue_pairs, index) == 0));

            let cut = messages(bytes, size);
            prop_assert_eq!((cut.count - 1) * cut.full_bytes + cut.last_bytes, bytes);
            prop_assert!(cut.last_bytes <= size && (bytes == 0 || cut.last_bytes > 0));
            prop_assert_eq!(cut.bytes(cut.count - 1), cut.last_bytes);
        }
    }
}
