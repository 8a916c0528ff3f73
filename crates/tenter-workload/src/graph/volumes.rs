//! A graph's payload volumes by stream.

use std::collections::BTreeMap;

use super::operation::Operation;
use super::schedule::GraphSchedule;

impl GraphSchedule {
    /// Sums the payload that all ranks send, by stream label. The first number counts transfers for
    /// which `is_within(src, dst)` holds, for example within a scale-up domain, the second one all
    /// others.
    pub fn bytes_by_stream(&self, is_within: impl Fn(u32, u32) -> bool) -> BTreeMap<u32, [u64; 2]> {
        let graph = self.graph();
        let mut bytes: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        let mut labels = vec![0; graph.collectives().len()];
        for rank in 0..graph.ranks() {
            for place in 0..graph.operations_of(rank) {
                let (operation, label) = graph.operation(rank, place);
                // A message to the rank itself is no traffic.
                match operation {
                    Operation::Send {
                        peer, bytes: of, ..
                    } if peer != rank => {
                        let sent = bytes.entry(label).or_default();
                        sent[usize::from(!is_within(rank, peer))] += of;
                    }
                    // If ranks run a collective on different streams, the last rank's label counts.
                    Operation::Collective { which } => labels[which as usize] = label,
                    _ => {}
                }
            }
        }
        // Collectives that share a schedule within a group send the same bytes. The address
        // identifies the schedule, so that its transfers are summed once.
        let mut known: BTreeMap<(u32, usize), [u64; 2]> = BTreeMap::new();
        for (number, label) in (0..).zip(labels) {
            let (group, _, _) = graph.collectives().get(number);
            let (schedule, base) = self.collectives().schedule(number);
            let address = std::ptr::from_ref(schedule).cast::<()>() as usize;
            let of_one = known.entry((group, address)).or_insert_with(|| {
                let mut sent = [0; 2];
                for id in base..base + schedule.transfer_count() {
                    let transfer = self.collectives().transfer(id);
                    let is_within = is_within(transfer.src, transfer.dst);
                    sent[usize::from(!is_within)] += transfer.bytes;
                }
                sent
            });
            let sent = bytes.entry(label).or_default();
            for (sum, of) in sent.iter_mut().zip(of_one) {
                *sum += *of;
            }
        }
        bytes
    }
}
