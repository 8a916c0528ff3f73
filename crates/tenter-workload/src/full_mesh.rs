//! Transfer times over a full mesh of point-to-point links at port speed: the denominators of ideal
//! ratios.
//!
//! Source: the metric in the simulation report on scheduled Ethernet fabrics (Scala Computing and
//! DriveNets, 2023). Links carry payload alone, so the ratio includes what headers cost. A rank has
//! one port, which all its links share; ranks on the same NIC share that NIC's port.

use tenter_fabric::topology::HostId;
use tenter_language::units::{Rate, Time};

use crate::{Schedule, Transfer};

/// Ideal times for a schedule's transfers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullMesh {
    /// Each port's rate, by the port's dense number.
    rates: Vec<Rate>,
    /// Each rank's port, by the port's dense number.
    port_of: Vec<u32>,
    whole: Time,
    loads: Loads,
}

/// Bytes that each port carries in each algorithm step; not stored if a transfer never shares its
/// port.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Loads {
    /// No port sends, or receives, two transfers in the same step, so each transfer has its ports
    /// to itself.
    Apart,
    /// The algorithm has a single step: bytes sent and received by each port.
    OneStep(Vec<[u64; 2]>),
    /// Bytes sent (index 0) and received (index 1) for each (step, port), in ascending order.
    Steps([Vec<((u32, u32), u64)>; 2]),
}

impl FullMesh {
    /// Computes the times for a schedule whose rank r uses the NIC `nics[r]`, given by host and
    /// rate.
    ///
    /// Transfers for which `passes_no_port` holds, such as those within a scale-up domain, are left
    /// out. Visits every transfer.
    pub fn new(
        schedule: &dyn Schedule,
        nics: &[(HostId, Rate)],
        passes_no_port: impl Fn(&Transfer) -> bool,
    ) -> FullMesh {
        let (rates, port_of) = ports_of(nics);
        let ends = |transfer: &Transfer| ends(transfer).map(|rank| port_of[rank as usize]);
        let transfers = || {
            let all = (0..schedule.transfer_count()).map(|id| schedule.transfer(id));
            all.filter(|transfer| !passes_no_port(transfer))
        };
        let mut ports = vec![[0; 2]; rates.len()];
        let mut last = vec![[None; 2]; rates.len()];
        let (mut apart, mut steps) = (true, 0);
        for transfer in transfers() {
            steps = steps.max(transfer.step + 1);
            for (side, port) in ends(&transfer).into_iter().enumerate() {
                let sum: &mut u64 = &mut ports[port as usize][side];
                *sum = sum.saturating_add(transfer.bytes);
                let last = &mut last[port as usize][side];
                // A port whose transfers come in strictly ascending steps never has two in one
                // step. Any other order merely misses the shortcut: its loads are stored.
                apart &= last.is_none_or(|last| last < transfer.step);
                *last = Some(transfer.step);
            }
        }
        let busiest =
            |(&[sent, received], &rate): (&[u64; 2], &Rate)| port_time(sent.max(received), rate);
        let whole = ports.iter().zip(&rates).map(busiest).max();
        let loads = match steps {
            // A graph of operations has no steps: each message counts by itself.
            _ if apart || schedule.operations().is_some() => Loads::Apart,
            1 => Loads::OneStep(ports),
            _ => Loads::Steps([0, 1].map(|side| {
                let of = |transfer: &Transfer| (transfer.step, ends(transfer)[side]);
                sums(transfers(), of)
            })),
        };
        FullMesh {
            whole: whole.unwrap_or_default(),
            rates,
            port_of,
            loads,
        }
    }

    /// Returns the time for all transfers together: the busiest port sends or receives for that
    /// long.
    pub fn whole(&self) -> Time {
        self.whole
    }

    /// Returns the time for one transfer: as long as its sender's port takes to send all transfers
    /// in the same step, or its receiver's port to receive them, whichever is longer.
    pub fn of(&self, transfer: &Transfer) -> Time {
        let side = |side: usize| {
            let port = self.port_of[ends(transfer)[side] as usize];
            let bytes = match &self.loads {
                Loads::Apart => transfer.bytes,
                Loads::OneStep(ports) => ports[port as usize][side],
                Loads::Steps(loads) => {
                    let key = (transfer.step, port);
                    let found = loads[side].binary_search_by_key(&key, |(key, _)| *key);
                    found.map_or(transfer.bytes, |found| loads[side][found].1)
                }
            };
            port_time(bytes, self.rates[port as usize])
        };
        side(0).max(side(1))
    }
}

/// Numbers the ports densely, in ascending host order; returns their rates and each rank's port.
fn ports_of(nics: &[(HostId, Rate)]) -> (Vec<Rate>, Vec<u32>) {
    let mut ports = nics.to_vec();
    ports.sort_unstable_by_key(|&(nic, _)| nic);
    ports.dedup_by_key(|&mut (nic, _)| nic);
    let place =
        |&(nic, _): &(HostId, Rate)| ports.partition_point(|&(other, _)| other < nic) as u32;
    let port_of = nics.iter().map(place).collect();
    (ports.iter().map(|&(_, rate)| rate).collect(), port_of)
}

/// Returns the sending and the receiving rank, in this order.
fn ends(transfer: &Transfer) -> [u32; 2] {
    [transfer.src, transfer.dst]
}

/// Sums the bytes of transfers with equal keys; the result ascends by key.
fn sums<K: Ord + Copy>(
    transfers: impl Iterator<Item = Transfer>,
    key: impl Fn(&Transfer) -> K,
) -> Vec<(K, u64)> {
    let mut loads: Vec<(K, u64)> = transfers.map(|t| (key(&t), t.bytes)).collect();
    loads.sort_unstable_by_key(|(key, _)| *key);
    loads.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0 };
        same
    });
    loads
}

/// Returns the time that `bytes` take at `rate`, rounded up to a picosecond.
fn port_time(bytes: u64, rate: Rate) -> Time {
    rate.time_of_bits(8 * u128::from(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collective::tests::members;
    use crate::collective::{BroadcastTree, CollectiveKind};

    fn mesh(
        collective: &str,
        algorithm: &str,
        ranks: u32,
        size: u64,
    ) -> (FullMesh, Box<dyn Schedule>) {
        let kind = CollectiveKind::parse(collective, algorithm).expect("a member");
        let schedule = kind.schedule(ranks, size).expect("it can be run");
        // A byte in 20 ps.
        let mesh = FullMesh::new(&*schedule, &nics(vec![400; ranks as usize]), |_| false);
        (mesh, schedule)
    }

    /// Makes a NIC for each rank; `rates` are in gigabits per second.
    fn nics(rates: impl IntoIterator<Item = u64>) -> Vec<(HostId, Rate)> {
        let hosts = (0..).map(HostId::new);
        hosts.zip(rates.into_iter().map(Rate::from_gbps)).collect()
    }

    #[test]
    fn ranks_of_one_nic_share_its_port() {
        // Ranks 0 and 1 on one NIC, 2 and 3 on another; between them two blocks of 1,000 bytes
        // from each rank, and those within a NIC pass no port.
        let kind = CollectiveKind::parse("all-to-all", "parallel").expect("a member");
        let schedule = kind.schedule(4, 4_000).expect("it can be run");
        let nics = [7, 7, 3, 3].map(|nic| (HostId::new(nic), Rate::from_gbps(400)));
        let within = |t: &Transfer| t.src / 2 == t.dst / 2;
        let mesh = FullMesh::new(&*schedule, &nics, within);
        assert_eq!(mesh.whole(), Time::from_ps(4 * 1_000 * 20));
        let ids = 0..schedule.transfer_count();
        for transfer in ids.map(|id| schedule.transfer(id)).filter(|t| !within(t)) {
            assert_eq!(mesh.of(&transfer), mesh.whole(), "{transfer:?}");
        }
    }

    #[test]
    fn what_is_sent_at_once_shares_the_port() {
        // 511 of 512 blocks of 1 MiB at 50 GB/s, all at once.
        let (mesh, schedule) = mesh("all-to-all", "parallel", 512, 512 << 20);
        assert_eq!(mesh.whole(), Time::from_ps((511 << 20) * 20));
        assert_eq!(mesh.of(&schedule.transfer(7)), mesh.whole());
    }

    #[test]
    fn what_is_sent_one_after_the_other_has_the_port_to_itself() {
        let (mesh, schedule) = mesh("all-reduce", "ring", 4, 4_000);
        assert_eq!(mesh.loads, Loads::Apart);
        assert_eq!(mesh.whole(), Time::from_ps(2 * 3 * 1_000 * 20));
        assert_eq!(mesh.of(&schedule.transfer(3)), Time::from_ps(20_000));
    }

    #[test]
    fn the_end_that_has_more_to_carry_decides() {
        // Three blocks of 1,000 bytes to rank 0, at a byte in 20 ps, or in 80 ps from rank 3.
        let kind = CollectiveKind::parse("gather", "parallel").expect("a member");
        let schedule = kind.schedule(4, 4_000).expect("it can be run");
        let mesh = FullMesh::new(&*schedule, &nics([400, 400, 400, 80]), |_| false);
        let times: Vec<u64> = (0..3)
            .map(|id| mesh.of(&schedule.transfer(id)).ps())
            .collect();
        assert_eq!(times, [60_000, 60_000, 100_000]);
        assert_eq!(mesh.whole(), Time::from_ns(100));
    }

    #[test]
    fn steps_are_added_up_apart() {
        // Three ranks in a row: each passes on both chunks of 500 bytes, in a step of its own.
        let kind = CollectiveKind::BroadcastTree(BroadcastTree {
            root: 0,
            chunk_bytes: 500,
        });
        let schedule = kind.schedule(3, 1_000).expect("it can be run");
        let mesh = FullMesh::new(&*schedule, &nics([400; 3]), |_| false);
        let ids = 0..schedule.transfer_count();
        for transfer in ids.map(|id| schedule.transfer(id)) {
            assert_eq!(mesh.of(&transfer), Time::from_ps(20_000), "{transfer:?}");
        }
        assert_eq!(mesh.whole(), Time::from_ns(20));
    }

    proptest! {
        /// By the definition itself, for all members.
        #[test]
        fn follows_its_definition(
            member in 0..CollectiveKind::MEMBERS.len(),
            exponent in 1_u32..5,
            size in 1_u64..100_000,
            skip in 1_u32..4,
        ) {
            let kind = members().swap_remove(member);
            let ranks = 16_u32.max(1 << exponent);
            let schedule = kind.schedule(ranks, size).expect("a power of two suits all");
            // As many ranks of one NIC as are skipped together.
            let rate = |nic: u32| Rate::from_gbps(u64::from(100 + nic % 3));
            let nic = |rank: u32| (HostId::new(rank / skip), rate(rank / skip));
            let nics: Vec<(HostId, Rate)> = (0..ranks).map(nic).collect();
            let skipped = |t: &Transfer| t.src / skip == t.dst / skip;
            let mesh = FullMesh::new(&*schedule, &nics, skipped);
            let ids = 0..schedule.transfer_count();
            let mut all: Vec<Transfer> = ids.map(|id| schedule.transfer(id)).collect();
            all.retain(|t| !skipped(t));
            let load = |rank: u32, side: usize, step: Option<u32>| {
                let of_step = |t: &&Transfer| step.is_none_or(|step| t.step == step);
                let here = all.iter().filter(|t| ends(t)[side] / skip == rank / skip);
                port_time(here.filter(of_step).map(|t| t.bytes).sum(), nics[rank as usize].1)
            };
            let both = |rank: u32| [load(rank, 0, None), load(rank, 1, None)];
            let whole = (0..ranks).flat_map(both).max();
            prop_assert_eq!(Some(mesh.whole()), whole);
            for transfer in all.iter().step_by(7) {
                let step = Some(transfer.step);
                let ideal = load(transfer.src, 0, step).max(load(transfer.dst, 1, step));
                prop_assert_eq!(mesh.of(transfer), ideal);
            }
        }
    }
}
