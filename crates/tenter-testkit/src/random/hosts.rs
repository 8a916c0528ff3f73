//! Equipment behind NICs, and how queue pairs take turns.
//!
//! This is set in the plan, with its own random stream, so that everything else stays as without
//! it.

use std::sync::Arc;

use tenter_endpoint::{DmaRates, Entropy, EntropyKind, Interleave, Pcie};
use tenter_fabric::net::headroom::PauseResponse;
use tenter_language::units::{Bytes, Rate, Time};
use tenter_sim::plan::Plan;
use tenter_workload::{RankId, ScaleUp};

use super::draw::Draw;

/// Draws hosts for a plan.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    if draw.chance(20) {
        plan.scale_up = Some(ScaleUp {
            npus_per_host: draw.within(2..=6) as u32,
            rate: Rate::from_gbps(draw.within(1..=4_000)),
            latency: Time::from_ns(draw.within(50..=3_000)),
            generation: None,
            nccl_kernels: None,
            expert_kernels: None,
        });
    }
    if draw.chance(30) {
        plan.nic.interleave = if draw.chance(50) {
            Interleave::Message
        } else {
            Interleave::Burst(Bytes::new(draw.within(1..=60_000)))
        };
    }
    if draw.chance(30) {
        let time = Time::from_ps(draw.below(3_000_000));
        plan.nic.pause_response = Some(PauseResponse::Fixed(time));
    }
    if draw.chance(30) {
        plan.nic.resume_delay = Time::from_ps(draw.below(10_000_000));
    }
    if draw.chance(15) {
        let values = draw.within(2..=40) as u16;
        let differences = plan
            .switches
            .usual
            .load_balancing
            .source_port_differences(values);
        let packets = draw.within(1..=20) as u32;
        let entropy = Entropy::new(EntropyKind::Random, packets, differences);
        plan.port_changes.entropy = Some(Arc::new(entropy));
    }
    if plan.nic.receive_buffer.is_some() && draw.chance(40) {
        give_pcie(plan, draw);
    }
}

/// Lets several NPUs share each NIC in some plans: fewer NICs then carry the ranks of each job, in
/// blocks or in turn. Rings with static routes are left out: only if all NICs send do they wait for
/// each other.
pub(super) fn share_nics(plan: &mut Plan, draw: &mut Draw) {
    if !plan.topology.routes.is_empty() || !draw.chance(15) {
        return;
    }
    let npus = draw.within(2..=4) as u32;
    plan.npus_per_nic = npus;
    plan.scale_up = Some(ScaleUp {
        npus_per_host: npus * draw.within(1..=3) as u32,
        rate: Rate::from_gbps(draw.within(1..=4_000)),
        latency: Time::from_ns(draw.within(50..=3_000)),
        generation: None,
        nccl_kernels: None,
        expert_kernels: None,
    });
    for job in &mut plan.jobs {
        let (hosts, each) = (job.hosts.clone(), draw.within(1..=u64::from(npus)) as usize);
        let nics = hosts.len().div_ceil(each);
        let in_turn = draw.chance(40);
        let nic_of = |rank: usize| if in_turn { rank % nics } else { rank / each };
        let shared = hosts
            .ids()
            .map(|rank| hosts[RankId::new(nic_of(rank.index()) as u32)]);
        job.hosts = shared.collect();
    }
}

/// Gives hosts memory behind PCIe, which for some NICs is slower than the wire, one way or both.
fn give_pcie(plan: &mut Plan, draw: &mut Draw) {
    let peak = Rate::from_gbps(50 + draw.below(500));
    plan.nic.pcie = Some(Pcie {
        generation: None,
        lanes: None,
        peak: Some(peak),
        max_payload_bytes: 128 << draw.below(6),
        tlp_overhead_bytes: draw.below(65) as u32,
    });
    if let Some(buffer) = &mut plan.nic.receive_buffer {
        // Writing by DMA drains the buffer, in place of a stated rate.
        buffer.drain_rate = None;
    }
    let mut share = || {
        let percent = if draw.chance(50) {
            100
        } else {
            20 + draw.below(81)
        };
        Rate::from_bits_per_second(peak.bits_per_second() / 100 * percent)
    };
    let rates = (0..plan.topology.hosts).map(|_| DmaRates {
        write: share(),
        read: share(),
    });
    plan.dma = rates.collect();
}
