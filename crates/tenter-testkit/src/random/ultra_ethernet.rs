//! Small scenarios whose NICs have the Ultra Ethernet transport; switches trim in most.

use tenter_endpoint::congestion_control::{
    ConstantWindow, Dctcp, Eqds, Ndp, Nscc, NsccWithCredit, Rccc, Smartt, UetControl,
};
use tenter_endpoint::ultra_ethernet::entropy::EntropySpec;
use tenter_endpoint::ultra_ethernet::{LossDetection, Transport, UltraEthernet};
use tenter_endpoint::{EntropyKind, PortChanges};
use tenter_fabric::net::impairment::{Strikes, TesterAction};
use tenter_fabric::net::{
    ClassSpec, EcnSpec, Limit, MarkAt, PacketKind, Scheduling, TrimSpec, UNLIMITED_POOL,
};
use tenter_language::units::{Bytes, Time};
use tenter_sim::plan::{Plan, RulePlan};

use super::draw::Draw;
use super::{RandomScenario, faults, text};

/// Makes a scenario from a seed; the same seed gives the same scenario.
///
/// Fabrics, jobs and faults are as in [`random_scenario`](super::random_scenario). There is any
/// congestion control and choice of paths, queues are so short that packets are trimmed or dropped,
/// and some scenarios lose a share of the control packets.
///
/// # Panics
/// Panics if the scenario is refused, which is a defect in this crate.
pub fn random_ultra_ethernet(seed: u64) -> RandomScenario {
    RandomScenario::made(seed, "ultra-ethernet", text(seed), |plan| {
        let mut draw = Draw::new(!seed);
        adopt(plan, &mut draw);
        faults::change(plan, &mut draw);
        if draw.chance(30) {
            lose_control(plan, &mut draw);
        }
    })
}

/// Gives NICs the transport, and switches the queues that it needs.
pub(super) fn adopt(plan: &mut Plan, draw: &mut Draw) {
    let spec = transport(draw);
    plan.nic.transport = Transport::UltraEthernet(spec);
    plan.nic.adopt_transport();
    plan.nic.connection_set_up = false;
    plan.nic.message_gap = Time::ZERO;
    let balancing = &plan.switches.usual.load_balancing;
    plan.port_changes = PortChanges::new(plan.nic.entropy.as_ref(), balancing);
    queues(plan, &spec, draw);
}

fn transport(draw: &mut Draw) -> UltraEthernet {
    let controls = [
        UetControl::Nscc(Nscc::default()),
        UetControl::Rccc(Rccc::default()),
        UetControl::NsccWithCredit(NsccWithCredit::default()),
        UetControl::Dctcp(Dctcp),
        UetControl::Constant(ConstantWindow),
        UetControl::Smartt(Smartt::default()),
        UetControl::Eqds(Eqds::default()),
        UetControl::Ndp(Ndp::default()),
    ];
    let kinds = [
        EntropyKind::Oblivious,
        EntropyKind::Bitmap,
        EntropyKind::Reps,
        EntropyKind::Mixed,
        EntropyKind::Random,
    ];
    let payload = draw.within(256..=4096);
    let entropy = EntropySpec {
        kind: kinds[draw.below(kinds.len() as u64) as usize],
        values: 1 << draw.below(8),
    };
    UltraEthernet {
        payload_bytes: payload as u32,
        acknowledge_after: Bytes::new(payload * draw.within(1..=8)),
        congestion_control: controls[draw.below(controls.len() as u64) as usize],
        entropy,
        loss_detection: if draw.chance(50) {
            LossDetection::Sleek
        } else {
            LossDetection::Timeout
        },
        initial_window: draw.chance(40).then(|| draw.within(1..=40) as u32),
        give_up_after: Time::from_us(draw.within(500..=20_000)),
        ..UltraEthernet::default()
    }
}

/// Sets a queue for data, and one for trimmed packets and control packets.
fn queues(plan: &mut Plan, spec: &UltraEthernet, draw: &mut Draw) {
    let frame = u64::from(spec.full_frame_bytes());
    let shares = draw.chance(40);
    let line = plan.topology.cables[0].rate;
    let limit = |draw: &mut Draw, most: u64| {
        if shares && draw.chance(50) {
            Limit::Dynamic {
                numerator: 1 + draw.below(4) as u32,
                denominator: 1 + draw.below(4) as u32,
            }
        } else if !shares && draw.chance(30) {
            // A link may be degraded to a fifth of its rate, and its queue with it: a frame must
            // still fit.
            Limit::AtRate {
                bytes: frame * (5 + draw.below(most)),
                rate: line,
                least: frame * draw.below(4),
            }
        } else {
            Limit::Static(frame * (1 + draw.below(most)))
        }
    };
    let ecn = draw.chance(70).then(|| EcnSpec {
        min_bytes: frame * draw.below(4),
        max_bytes: frame * (4 + draw.below(8)),
        max_probability_ppm: 1_000_000,
        scale_from: draw.chance(30).then_some(line),
        mark_at: *draw.pick(&[&MarkAt::Dequeue, &MarkAt::Enqueue]),
        at_hosts: draw.chance(30),
    });
    let data = ClassSpec {
        ecn,
        limit: limit(draw, 16),
        trim: draw.chance(75).then_some(TrimSpec { to: 6, bytes: 64 }),
        ..ClassSpec::without_end(0)
    };
    let control = ClassSpec {
        scheduling: Scheduling::Strict,
        limit: limit(draw, 4),
        ..ClassSpec::without_end(6)
    };
    plan.switches.tiers.clear();
    plan.switches.usual.classes = vec![data, control];
    plan.switches.usual.pool_bytes = vec![if shares {
        frame * (4 + draw.below(60))
    } else {
        UNLIMITED_POOL
    }];
    // DSCP 48 is class 6, the one of the control queue.
    plan.nic.control_dscp = Some(48);
    for address in &mut plan.addresses {
        address.dscp = 0;
    }
}

/// Makes some ports lose a tenth of the control packets.
fn lose_control(plan: &mut Plan, draw: &mut Draw) {
    let kinds = [
        PacketKind::SelectiveAck,
        PacketKind::TrimNak,
        PacketKind::Pull,
        PacketKind::Trimmed,
        PacketKind::RequestToSend,
    ];
    let rule = RulePlan {
        kinds: kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u8),
        from: None,
        to: None,
        strikes: Strikes::Chance(u64::MAX / 10),
        action: TesterAction::Drop,
    };
    for _ in 0..=draw.below(3) {
        let cables = plan.topology.cables.len() as u64;
        let cable = &plan.topology.cables[draw.below(cables) as usize];
        let sender = cable.ends[draw.below(2) as usize];
        if plan.impairments.iter().all(|of| of.sender != sender) {
            plan.impairments.push(tenter_sim::plan::LinkImpairment {
                sender,
                frame_loss: 0,
                bit_errors: 0,
                rules: vec![rule.clone()],
            });
        }
    }
}
