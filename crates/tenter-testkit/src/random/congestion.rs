//! Congestion control and loss recovery at odd settings: set in the plan.

use tenter_endpoint::congestion_control::dcqcn::{Carrier, Preset, Window};
use tenter_endpoint::congestion_control::{CongestionControl, Dctcp, Hpcc, Swift, Timely};
use tenter_endpoint::loss_recovery::{LossRecovery, SelectiveRepeat};
use tenter_endpoint::{AckPolicy, LimitedBy, NicSpec};
use tenter_language::config::{Share, Words as _};
use tenter_language::units::{Bytes, Rate, Time};
use tenter_sim::plan::Plan;

use super::draw::Draw;

/// Draws loss recovery for a plan, and congestion control for a third of them.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    let nic = &mut plan.nic;
    let due = packets_until_acknowledged(nic);
    nic.loss_recovery = match draw.below(10) {
        0..6 => LossRecovery::GoBackN,
        6..9 => LossRecovery::SelectiveRepeat(SelectiveRepeat {
            window: (due + draw.below(100)) as u32,
            reorder: 1 + draw.below(3) as u32,
        }),
        _ => LossRecovery::None,
    };
    nic.outstanding_messages = draw.chance(20).then(|| 1 + draw.below(3) as u32);
    match draw.below(20) {
        0..13 => {}
        13 => hpcc(nic, draw),
        14..17 => dcqcn(plan, draw),
        17 => nic.congestion_control = Some(CongestionControl::Timely(timely(draw))),
        18 => swift(nic, draw),
        _ => dctcp(plan, draw),
    }
}

/// Returns the most packets until an acknowledgement, as long as none is lost.
fn packets_until_acknowledged(nic: &NicSpec) -> u64 {
    let message = nic.message_bytes.div_ceil(u64::from(nic.mtu_bytes));
    match nic.acknowledge {
        AckPolicy::PerMessage => message,
        AckPolicy::EveryPackets(every) => message.min(u64::from(every)),
    }
}

/// Draws a time up to about `most_ns`; every other one is round, so that ties are likely.
fn time(draw: &mut Draw, most_ns: u64) -> Time {
    if draw.chance(50) {
        Time::from_ns(100 + 100 * draw.below(most_ns / 100))
    } else {
        Time::from_ps(1 + draw.below(most_ns * 1_000))
    }
}

fn rate(draw: &mut Draw) -> Rate {
    Rate::from_bits_per_second(1_000_000_000 + draw.below(40_000_000_000))
}

fn dcqcn(plan: &mut Plan, draw: &mut Draw) {
    let nic = &mut plan.nic;
    let mut control = Preset::ALL[draw.below(5) as usize].of_both();
    let classes = &plan.switches.usual.classes;
    let class = classes[draw.below(classes.len() as u64) as usize].class;
    let notifying = &mut control.notifying;
    if draw.chance(50) {
        notifying.cnp_interval = time(draw, 5_000);
    }
    if draw.chance(30) {
        notifying.cnp = Carrier::InAcknowledgement;
    }
    notifying.cnp_limit = LimitedBy::ALL[draw.below(3) as usize];
    notifying.cnp_dscp = class << 3;
    let window = draw.chance(30).then(|| {
        let base_round_trip = time(draw, 20_000);
        let scaled = draw.chance(50);
        (
            base_round_trip,
            if scaled {
                Window::Scaled
            } else {
                Window::Fixed
            },
        )
    });
    // A window opens by acknowledgements, so each packet gets one.
    if window.is_some() {
        nic.acknowledge = AckPolicy::EveryPackets(1);
    }
    mark(plan, draw);
    let own = &mut control.reaction;
    if control.notifying.reacts {
        // Scenarios last some dozens of microseconds; rates must move within them.
        own.alpha_interval = time(draw, 5_000);
        own.increase_interval = time(draw, 20_000);
        own.decrease_interval = own.decrease_interval.map(|_| time(draw, 5_000));
        own.increase_bytes = own
            .increase_bytes
            .map(|_| Bytes::new(1 + draw.below(50_000)));
        own.min_rate = Rate::from_bits_per_second(500_000_000);
        own.first_rate = draw.chance(30).then(|| rate(draw));
        own.additive_increase = rate(draw);
        if let Some((base_round_trip, kind)) = window {
            own.base_round_trip = Some(base_round_trip);
            own.window = kind;
        }
        own.clamp_target = draw.chance(50);
        own.scale_from = draw.chance(30).then(|| Rate::from_gbps(100));
    }
    plan.nic.congestion_control = Some(CongestionControl::Dcqcn(control));
}

/// Lets switches mark in every class.
fn mark(plan: &mut Plan, draw: &mut Draw) {
    // Frame bytes of the largest packet: 62 of headers and 16 of RETH beside the payload.
    let frame = u64::from(plan.nic.mtu_bytes) + 78;
    for class in &mut plan.switches.usual.classes {
        let own = class.ecn.take();
        class.ecn = own.or_else(|| Some(super::flow_control::ecn(frame, draw)));
    }
}

fn dctcp(plan: &mut Plan, draw: &mut Draw) {
    // Windows may be as small as one packet, as under Swift.
    plan.nic.acknowledge = AckPolicy::EveryPackets(1);
    mark(plan, draw);
    plan.nic.congestion_control = Some(CongestionControl::Dctcp(Dctcp));
}

fn timely(draw: &mut Draw) -> Timely {
    let low = time(draw, 20_000);
    Timely {
        low,
        high: low + time(draw, 50_000),
        base_round_trip: time(draw, 20_000),
        weight: Share::from_ppm(draw.below(1_000_001) as u32),
        beta: Share::from_ppm(draw.below(1_000_001) as u32),
        min_rate: Rate::from_bits_per_second(500_000_000),
        ..Timely::default()
    }
}

fn hpcc(nic: &mut NicSpec, draw: &mut Draw) {
    // HPCC needs the telemetry of each packet; with fewer answers a scenario is refused.
    nic.acknowledge = AckPolicy::EveryPackets(1);
    nic.congestion_control = Some(CongestionControl::Hpcc(Hpcc {
        base_round_trip: draw.chance(70).then(|| time(draw, 20_000)),
        target: Share::from_ppm(10_000 + draw.below(990_001) as u32),
        max_stage: draw.below(6) as u32,
        additive_increase: Bytes::new(1 + draw.below(500)),
        scale_from: draw.chance(50).then(|| Rate::from_gbps(100)),
        hops: 1 + draw.below(6) as u8,
    }));
}

fn swift(nic: &mut NicSpec, draw: &mut Draw) {
    // Windows may be as small as one packet; with fewer answers a scenario is refused.
    nic.acknowledge = AckPolicy::EveryPackets(1);
    nic.congestion_control = Some(CongestionControl::Swift(Swift {
        base_target: time(draw, 20_000),
        scaling_range: time(draw, 50_000),
        initial_window: 1 + draw.below(20) as u32,
        max_window: 1 + draw.below(50) as u32,
        ..Swift::default()
    }));
}
