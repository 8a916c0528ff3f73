//! Sizes for calls, in bytes.

use tenter_workload::graph::CollectiveName;

use crate::limits::MESSAGE_MAX;

/// Element counts that a rank puts into a call and gets from it, and bytes per element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Elements {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) bytes: u64,
}

impl Elements {
    /// Returns the bytes that the rank puts in; `None` if a message cannot be that long.
    pub(crate) fn sent_bytes(self) -> Option<u64> {
        bounded(self.sent.checked_mul(self.bytes)?)
    }

    /// Returns the bytes that the rank gets; `None` if a message cannot be that long.
    pub(crate) fn received_bytes(self) -> Option<u64> {
        bounded(self.received.checked_mul(self.bytes)?)
    }
}

fn bounded(bytes: u64) -> Option<u64> {
    (bytes <= MESSAGE_MAX).then_some(bytes)
}

/// Returns a rank's own bytes in a collective with `ranks` ranks. `None` if they exceed any
/// message.
pub(crate) fn own_bytes(name: CollectiveName, elements: Elements, ranks: u32) -> Option<u64> {
    // Guess: a count of 0 on one side was not recorded, so the other side decides.
    let (sent, received) = (elements.sent_bytes()?, elements.received_bytes()?);
    let ranks = u64::from(ranks.max(1));
    bounded(match name {
        CollectiveName::Barrier => 0,
        // Each rank puts in its part of the common result.
        CollectiveName::AllGather | CollectiveName::Gather | CollectiveName::AllToAll
            if sent > 0 =>
        {
            sent
        }
        CollectiveName::AllGather | CollectiveName::Gather => received / ranks,
        // Each rank gets its part of the whole input.
        CollectiveName::ReduceScatter | CollectiveName::Scatter => {
            sent.max(received.checked_mul(ranks)?)
        }
        CollectiveName::AllReduce
        | CollectiveName::Broadcast
        | CollectiveName::Reduce
        | CollectiveName::AllToAll => sent.max(received),
    })
}

/// Divides `bytes` among `ranks` ranks by a list with split sizes such as `[2, 1]`. `None` if the
/// list is empty or incomplete.
pub(crate) fn splits(list: &str, bytes: u64, ranks: u32) -> Option<Vec<u64>> {
    let inner = list.trim().strip_prefix('[')?.strip_suffix(']')?;
    let shares = inner.split(',').map(|share| share.trim().parse().ok());
    let shares: Vec<u64> = shares.collect::<Option<_>>()?;
    if shares.len() != ranks as usize {
        return None;
    }
    // Splits count rows of a tensor, so a share in bytes follows from the total.
    let all: u128 = shares.iter().map(|&share| u128::from(share)).sum();
    let of = |share: u64| {
        let part = (u128::from(bytes) * u128::from(share)).checked_div(all);
        u64::try_from(part.unwrap_or(0)).ok()
    };
    shares.into_iter().map(of).collect()
}

/// Returns true if a list with split sizes, as far as it was not cut, has different ones.
pub(crate) fn are_uneven(list: &str) -> bool {
    let inner = list.trim().trim_start_matches('[').trim_end_matches(']');
    let mut sizes = inner
        .split(',')
        .map_while(|size| size.trim().parse::<u64>().ok());
    let first = sizes.next();
    sizes.any(|size| Some(size) != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_a_rank() {
        use CollectiveName as Name;
        let of = |sent, received| Elements {
            sent,
            received,
            bytes: 2,
        };
        assert_eq!(own_bytes(Name::AllGather, of(10, 40), 4), Some(20));
        assert_eq!(own_bytes(Name::AllGather, of(0, 40), 4), Some(20));
        assert_eq!(own_bytes(Name::ReduceScatter, of(40, 10), 4), Some(80));
        assert_eq!(own_bytes(Name::ReduceScatter, of(10, 10), 4), Some(80));
        assert_eq!(own_bytes(Name::AllReduce, of(10, 10), 4), Some(20));
        assert_eq!(own_bytes(Name::Barrier, of(1, 1), 4), Some(0));
        assert_eq!(own_bytes(Name::AllToAll, of(u64::MAX, 1), 4), None);
    }

    #[test]
    fn splits_are_parts_of_the_whole() {
        assert!(are_uneven("[2, 1, ...]") && !are_uneven("[2, 2]") && !are_uneven(""));
        assert_eq!(splits("[2, 1, 1]", 400, 3), Some(vec![200, 100, 100]));
        assert_eq!(splits("[0, 0]", 0, 2), Some(vec![0, 0]));
        for list in ["[]", "", "[2, 1]", "[2, 1, ...]", "x"] {
            assert_eq!(splits(list, 400, 3), None, "{list}");
        }
    }
}
