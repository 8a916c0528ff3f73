//! KV transfers: a prompt's keys and values go from the prefill pool to the decode pool.

use std::collections::BTreeMap;
use std::ops::Range;

use super::layout::Inference;
use super::sizes::{kept_heads, kept_of_head};

/// Transfer from a rank in a prefill replica to a rank in a decode replica. Ranks are named by
/// stage and tensor-parallel number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheTransfer {
    /// Stage and tensor-parallel number at the sender.
    pub from: (u32, u32),
    /// Stage and tensor-parallel number at the receiver.
    pub to: (u32, u32),
    /// Bytes for each prompt token, over all layers and heads that both ranks have.
    pub bytes: u64,
}

/// Returns the key-value heads that rank `own` among `tp` tensor-parallel ranks has.
fn heads_of(heads: u32, tp: u32, own: u32) -> Range<u32> {
    if tp <= heads {
        let each = heads / tp;
        return own * each..(own + 1) * each;
    }
    let head = own / (tp / heads);
    head..head + 1
}

/// Returns the tensor-parallel rank that sends a head. If several ranks hold copies, receivers use
/// them in turn.
fn sender(heads: u32, tp: u32, head: u32, receiver: u32) -> u32 {
    if tp <= heads {
        return head / (heads / tp);
    }
    let copies = tp / heads;
    // Ranks with the same head are neighbours.
    head * copies + receiver % copies
}

/// Counts the layers that two ranges share.
fn shared(one: &Range<u32>, other: &Range<u32>) -> u32 {
    let end = one.end.min(other.end);
    end.saturating_sub(one.start.max(other.start))
}

/// Returns all transfers from one prefill replica to one decode replica, ordered by sender and
/// receiver; empty if one pool does both.
pub fn transfers(of: &Inference) -> Vec<CacheTransfer> {
    let [from, to] = of.pools.as_slice() else {
        return Vec::new();
    };
    let (heads, of_head) = (kept_heads(of), kept_of_head(of));
    let [prefill, decode] = [from.grid.size, to.grid.size];
    let mut bytes: BTreeMap<[(u32, u32); 2], u64> = BTreeMap::new();
    for stage in 0..decode.pp {
        let layers = of.layers(to, stage);
        for tp in 0..decode.tp {
            for before in 0..prefill.pp {
                let layers = shared(&layers, &of.layers(from, before));
                if layers == 0 {
                    continue;
                }
                for head in heads_of(heads, decode.tp, tp) {
                    let source = sender(heads, prefill.tp, head, tp);
                    let way = [(before, source), (stage, tp)];
                    *bytes.entry(way).or_default() += u64::from(layers) * of_head;
                }
            }
        }
    }
    let transfer = |([from, to], bytes): ([(u32, u32); 2], u64)| CacheTransfer { from, to, bytes };
    bytes.into_iter().map(transfer).collect()
}

/// Returns the bytes per token at the rank that sends or receives most.
pub(super) fn busiest_bytes(transfers: &[CacheTransfer]) -> u64 {
    let mut sums: BTreeMap<(bool, (u32, u32)), u64> = BTreeMap::new();
    for of in transfers {
        *sums.entry((false, of.from)).or_default() += of.bytes;
        *sums.entry((true, of.to)).or_default() += of.bytes;
    }
    sums.into_values().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rank sends two others 3 bytes each, and one of these has 2 from another rank.
    #[test]
    fn the_busiest_rank_sends_or_receives_most() {
        let transfer = |from: u32, to: u32, bytes: u64| CacheTransfer {
            from: (0, from),
            to: (0, to),
            bytes,
        };
        let all = [transfer(0, 0, 3), transfer(0, 1, 3), transfer(1, 1, 2)];
        assert_eq!(busiest_bytes(&all), 6);
        assert_eq!(busiest_bytes(&all[1..]), 5);
        assert_eq!(busiest_bytes(&[]), 0);
    }
}
