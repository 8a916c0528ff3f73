//! The data that an RDMA queue pair sends to its peer before they are connected.

/// Version of this encoding, its first word, so that another one is refused.
const VERSION: u32 = 1;

/// Everything that a peer needs to connect and to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueuePairOffer {
    /// The device's number for the queue pair, 24 bits.
    pub(super) number: u32,
    /// First packet sequence number that it sends, 24 bits.
    pub(super) first: u32,
    /// Remote key for the memory that the peer may write to.
    pub(super) key: u32,
    /// Address at which that memory starts.
    pub(super) address: u64,
    /// Bytes that the peer may write there.
    pub(super) length: u64,
    /// The port's address: IPv4, mapped into IPv6.
    pub(super) gid: [u8; 16],
}

impl QueuePairOffer {
    /// Encodes the offer: version, then the fields in order, most significant byte first.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let words = [VERSION, self.number, self.first, self.key].map(u32::to_be_bytes);
        let wide = [self.address, self.length].map(u64::to_be_bytes);
        [&words.concat()[..], &wide.concat(), &self.gid].concat()
    }

    /// Decodes an offer.
    ///
    /// # Errors
    /// Returns an error if `bytes` has another length or version.
    pub(super) fn of(bytes: &[u8]) -> Result<QueuePairOffer, String> {
        let read = || {
            let (words, rest) = bytes.split_at_checked(16)?;
            let (wide, gid) = rest.split_at_checked(16)?;
            let word =
                |at: usize| Some(u32::from_be_bytes(words.get(at..at + 4)?.try_into().ok()?));
            let long = |at: usize| Some(u64::from_be_bytes(wide.get(at..at + 8)?.try_into().ok()?));
            let offer = QueuePairOffer {
                number: word(4)?,
                first: word(8)?,
                key: word(12)?,
                address: long(0)?,
                length: long(8)?,
                gid: gid.try_into().ok()?,
            };
            (word(0)? == VERSION).then_some(offer)
        };
        read().ok_or_else(|| {
            "a peer offers a queue pair in a form that is not known here; run the same version of Tenter on both hosts".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_are_read_as_they_are_written() {
        let offer = QueuePairOffer {
            number: 0x01_23_45,
            first: 0xff_ff_ff,
            key: 7,
            address: 0x7f00_0000_1000,
            length: 1 << 33,
            gid: [9; 16],
        };
        let bytes = offer.to_bytes();
        assert_eq!(QueuePairOffer::of(&bytes), Ok(offer));
        for wrong in [&bytes[..47], &[bytes.clone(), vec![0]].concat(), &[0; 48]] {
            assert!(QueuePairOffer::of(wrong).is_err());
        }
    }
}
