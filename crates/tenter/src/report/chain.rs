//! The cause of a collective's delay: the chain of chunks that ends with the last chunk to arrive.
//!
//! A rank posts a chunk when its last dependency is met: a chunk has arrived at the rank, or one
//! that it sent was acknowledged. Followed backwards from the chunk that arrived last, this gives a
//! chain in which each chunk waited for the previous one. The time lost along the chain is what the
//! collective lost.

use std::collections::{BTreeMap, HashMap};

use crate::explain::UnloadedTimes;

use crate::report::trial_data::Chunk;

/// Reason why a chunk was posted when it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The collective started: nothing had to be waited for.
    Start,
    /// A chunk had arrived at the rank.
    Arrival,
    /// A chunk that the rank had sent was acknowledged.
    Acknowledgement,
}

/// One chunk in a chain, with its time split into parts. Times are in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Chunk with its instants, as the flow table has it.
    pub chunk: Chunk,
    /// Event that allowed the rank to post the chunk.
    pub cause: Cause,
    /// Time from the cause to the posting: computing, start skew, transport through a host.
    pub rank_wait: f64,
    /// Time from the posting to the first bit on the wire, without the time held by the rate.
    pub nic_wait: f64,
    /// Time from the first bit on the wire to the last byte at the receiver.
    pub transfer: f64,
    /// Time held by the rate, before the first bit and after it: at most the wait in the NIC, and
    /// at most the transfer time beyond `alone`.
    pub held: [f64; 2],
    /// Transfer time without other traffic. Where it is unknown, because there is no plan or
    /// because a scale-up domain carries the chunk, the collective's shortest transfer with this
    /// size stands in.
    pub alone: f64,
}

impl Link {
    /// Returns the transfer time lost to other traffic, without the time held by the rate.
    pub fn excess(&self) -> f64 {
        between(self.alone + self.held[1], self.transfer)
    }

    /// Returns the time for which congestion control held the sender back.
    pub fn held_by_rate(&self) -> f64 {
        self.held[0] + self.held[1]
    }

    /// Returns all time that the chunk waited or lost.
    pub(crate) fn loss(&self) -> f64 {
        self.rank_wait + self.nic_wait + self.held_by_rate() + self.excess()
    }
}

/// Returns the time between two instants in ns, rounded to whole picoseconds: instants are exact to
/// a picosecond, but their floating-point difference is not.
fn between(from: f64, to: f64) -> f64 {
    ((to - from) * 1e3).round() / 1e3
}

/// The chain for one iteration of one collective.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// Links in time order, the last chunk to arrive at the end.
    pub links: Vec<Link>,
    /// True if `alone` comes from the trial's plan, not from the fastest chunk.
    pub knows_alone: bool,
}

/// Facts about the chunks beside their times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// Transfer times without other traffic; `None` without the trial's plan.
    pub unloaded: Option<&'a UnloadedTimes>,
    /// True for a load's flows: their starts are drawn, so no flow waits for another.
    pub are_drawn: bool,
}

impl Chain {
    /// Follows one iteration's chunks backwards from the last to arrive. The iteration started at
    /// `start` ns.
    pub(crate) fn of(chunks: &[Chunk], start: f64, known: Known<'_>) -> Chain {
        let Some(last) = (0..chunks.len()).max_by(|&a, &b| {
            let order = chunks[a].received.total_cmp(&chunks[b].received);
            // Of chunks that arrive together, the first in the table.
            order.then(b.cmp(&a))
        }) else {
            return Chain::default();
        };
        let events = if known.are_drawn {
            Events::default()
        } else {
            Events::of(chunks)
        };
        // Keys are the bits of a size: floats cannot be keys, and sizes are whole numbers.
        let mut fastest: HashMap<u64, f64> = HashMap::new();
        for chunk in chunks {
            let least = fastest
                .entry(chunk.payload_bytes.to_bits())
                .or_insert(f64::INFINITY);
            *least = least.min(between(chunk.first_sent, chunk.received));
        }
        // Many chunks share hosts and size, so each combination is looked up once.
        let mut unloaded: HashMap<(u32, u32, u64), Option<f64>> = HashMap::new();
        let mut alone = |chunk: &Chunk, transfer: f64| {
            let (from, to) = (chunk.src_host, chunk.dst_host);
            let bytes = chunk.payload_bytes as u64;
            let time = unloaded.entry((from, to, bytes)).or_insert_with(|| {
                let time = known.unloaded?.of(from, to, bytes)?;
                Some(time.as_ns())
            });
            let base = time.unwrap_or_else(|| fastest[&chunk.payload_bytes.to_bits()]);
            // Some paths are shorter than the one that the unloaded time assumes, the first choice
            // of every switch.
            base.min(transfer)
        };
        let mut links = Vec::new();
        let mut next = Some(last);
        // A cause was posted strictly before its effect, so the loop ends.
        while let Some(place) = next {
            let chunk = chunks[place];
            let cause = events.before(&chunk, chunks);
            let transfer = between(chunk.first_sent, chunk.received);
            let alone = alone(&chunk, transfer);
            let queued = between(chunk.posted, chunk.first_sent);
            let before = chunk.held_before_first.min(queued);
            let after = between(chunk.held_before_first, chunk.held_by_rate);
            links.push(Link {
                chunk,
                cause: cause.map_or(Cause::Start, |event| event.cause),
                rank_wait: between(cause.map_or(start, |event| event.at), chunk.posted),
                nic_wait: between(before, queued),
                transfer,
                held: [before, after.min(between(alone, transfer))],
                alone,
            });
            next = cause.map(|event| event.chunk as usize);
        }
        links.reverse();
        Chain {
            links,
            knows_alone: known.unloaded.is_some(),
        }
    }

    /// True if any chunk was held by its rate.
    pub(crate) fn is_held(&self) -> bool {
        self.links.iter().any(|link| link.held_by_rate() > 0.0)
    }

    /// Returns sums over the chain, in ns: waits at ranks, waits in NICs, time held by rates,
    /// transfers without other traffic, and transfer time lost to it.
    pub fn sums(&self) -> [f64; 5] {
        self.links.iter().fold([0.0; 5], |sums, link| {
            let parts = [
                link.rank_wait,
                link.nic_wait,
                link.held_by_rate(),
                link.alone,
                link.excess(),
            ];
            std::array::from_fn(|i| sums[i] + parts[i])
        })
    }
}

/// A possible cause at a rank.
#[derive(Clone, Copy)]
struct Event {
    at: f64,
    chunk: u32,
    cause: Cause,
}

/// Events at each rank, in time order.
#[derive(Default)]
struct Events {
    of_rank: BTreeMap<u32, Vec<Event>>,
}

impl Events {
    fn of(chunks: &[Chunk]) -> Events {
        let mut of_rank: BTreeMap<u32, Vec<Event>> = BTreeMap::new();
        for (place, chunk) in (0..).zip(chunks) {
            let mut add = |rank, at, cause| {
                let chunk = place;
                let events = of_rank.entry(rank).or_default();
                events.push(Event { at, chunk, cause });
            };
            add(chunk.dst_rank, chunk.received, Cause::Arrival);
            add(chunk.src_rank, chunk.acknowledged, Cause::Acknowledgement);
        }
        for events in of_rank.values_mut() {
            // At equal times an arrival is last, so the search below finds it first: a rank usually
            // waits for data.
            events.sort_by(|a, b| {
                let arrival = |event: &Event| event.cause == Cause::Arrival;
                let order = a.at.total_cmp(&b.at).then(arrival(a).cmp(&arrival(b)));
                order.then(b.chunk.cmp(&a.chunk))
            });
        }
        Events { of_rank }
    }

    /// Returns the last event at the sender before it posted the chunk.
    fn before(&self, chunk: &Chunk, chunks: &[Chunk]) -> Option<Event> {
        let events = self.of_rank.get(&chunk.src_rank)?;
        let count = events.partition_point(|event| event.at <= chunk.posted);
        let event = *events[..count].last()?;
        // A chunk whose events all lie at one instant could otherwise be its own cause, for ever.
        (chunks[event.chunk as usize].posted < chunk.posted).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(src: u32, dst: u32, times: [f64; 4]) -> Chunk {
        Chunk {
            src_rank: src,
            dst_rank: dst,
            payload_bytes: 4_096.0,
            posted: times[0],
            first_sent: times[1],
            received: times[2],
            acknowledged: times[3],
            ..Chunk::default()
        }
    }

    /// 0 → 1 takes 10, 1 waits 2 and sends to 2 with 3 in the NIC and 15 on the way; a chunk from 3
    /// to 2 is done earlier.
    #[test]
    fn a_chain_is_followed_to_its_beginning() {
        let chunks = [
            chunk(3, 2, [0.0, 0.0, 20.0, 21.0]),
            chunk(0, 1, [5.0, 5.0, 15.0, 16.0]),
            chunk(1, 2, [17.0, 20.0, 35.0, 36.0]),
        ];
        let chain = Chain::of(&chunks, 0.0, Known::default());
        let causes: Vec<Cause> = chain.links.iter().map(|link| link.cause).collect();
        assert_eq!(causes, [Cause::Start, Cause::Arrival]);
        assert_eq!(chain.links[0].chunk, chunks[1]);
        // Ranks: 5 + 2; NIC: 3; the fastest of this size took 10, the last one 15.
        assert_eq!(chain.sums().map(|ns| ns.round() as u64), [7, 3, 0, 20, 5]);
        // Together they are the whole time.
        assert!((chain.sums().iter().sum::<f64>() - 35.0).abs() < 1e-9);
    }

    /// The second chunk waits 6 in its NIC, 4 of them for its rate, and takes 15 where the first
    /// takes 10; its sender was held for 3 of the 5, and no more than all 5 can be.
    #[test]
    fn what_the_rate_holds_is_no_loss_on_the_way() {
        for (held, parts) in [(7.0, [0, 2, 7, 20, 2]), (40.0, [0, 2, 9, 20, 0])] {
            let chunks = [
                chunk(0, 1, [0.0, 0.0, 10.0, 11.0]),
                Chunk {
                    held_by_rate: held,
                    held_before_first: 4.0,
                    ..chunk(1, 2, [10.0, 16.0, 31.0, 32.0])
                },
            ];
            let chain = Chain::of(&chunks, 0.0, Known::default());
            assert_eq!(chain.sums().map(|ns| ns.round() as u64), parts);
            assert!((chain.sums().iter().sum::<f64>() - 31.0).abs() < 1e-9);
        }
    }

    #[test]
    fn own_chunks_are_waited_for_too() {
        let chunks = [
            chunk(0, 1, [0.0, 0.0, 8.0, 9.0]),
            chunk(0, 2, [9.0, 9.0, 18.0, 19.0]),
        ];
        let chain = Chain::of(&chunks, 0.0, Known::default());
        assert_eq!(chain.links[1].cause, Cause::Acknowledgement);
        assert_eq!(chain.links.len(), 2);
    }

    #[test]
    fn no_chunks_no_chain() {
        assert_eq!(Chain::of(&[], 0.0, Known::default()), Chain::default());
    }

    /// A difference of instants in floating point has noise that is no time.
    #[test]
    fn times_are_whole_picoseconds() {
        let chunks = [
            chunk(0, 1, [0.1, 0.3, 1_000_000.7, 1_000_001.0]),
            chunk(1, 2, [1_000_000.7, 1_000_000.9, 2_000_001.3, 2_000_002.0]),
        ];
        let chain = Chain::of(&chunks, 0.1, Known::default());
        let losses: Vec<f64> = chain.links.iter().map(Link::loss).collect();
        assert_eq!(losses, [0.2, 0.2]);
    }

    /// Flows of a load wait for no other flow: the last one stands alone.
    #[test]
    fn flows_of_a_load_have_no_cause() {
        let chunks = [
            chunk(0, 1, [0.0, 0.0, 8.0, 9.0]),
            chunk(1, 2, [9.0, 9.0, 18.0, 19.0]),
        ];
        let known = Known {
            are_drawn: true,
            ..Known::default()
        };
        let chain = Chain::of(&chunks, 0.0, known);
        assert_eq!(chain.links.len(), 1);
        assert_eq!(chain.links[0].cause, Cause::Start);
    }
}
