//! Shared buffers, classes, pauses and marks at odd settings: set in the plan, for half of the
//! scenarios and most rings.

use tenter_endpoint::ReceiveBufferSpec;
use tenter_fabric::net::headroom::PauseResponse;
use tenter_fabric::net::{
    BufferSharing, CLASSES, ClassSpec, EcnSpec, Headroom, Level, Levels, Limit, LosslessSpec,
    MarkAt, PfcTrigger, PoolScope, Scheduling, UNLIMITED_POOL,
};
use tenter_language::units::{Bytes, Rate, Time};
use tenter_sim::plan::Plan;

use super::draw::Draw;

/// Draws buffers and classes for a plan, or leaves it.
pub(super) fn change(plan: &mut Plan, draw: &mut Draw) {
    if !plan.topology.routes.is_empty() && draw.chance(70) {
        return provoke_deadlock(plan, draw);
    }
    if draw.chance(50) {
        return;
    }
    if draw.chance(25) {
        let time = Time::from_ps(draw.below(3_000_000));
        plan.switches.pause_response = PauseResponse::Fixed(time);
    } else if draw.chance(10) {
        plan.switches.pause_response = PauseResponse::Fixed(Time::ZERO);
    }
    // Frame bytes of the largest packet: 62 of headers and 16 of RETH beside the payload.
    let frame = u64::from(plan.nic.mtu_bytes) + 78;
    let control = draw.below(CLASSES as u64) as u8;
    if draw.chance(50) {
        plan.nic.control_dscp = Some(control << 3);
    }
    if draw.chance(30) {
        let fewer = draw.below(4) as u8;
        for (host, address) in plan.addresses.iter_mut().enumerate() {
            address.dscp = 8 * (host as u8 % (fewer + 1)) + 3;
        }
    }
    let mut used: Vec<u8> = plan
        .addresses
        .iter()
        .map(tenter_endpoint::NicAddress::class)
        .collect();
    used.extend(plan.nic.control_class());
    used.sort_unstable();
    used.dedup();
    let pools = 1 + draw.below(2);
    plan.switches.usual.pool_bytes = (0..pools)
        .map(|_| {
            if draw.chance(10) {
                UNLIMITED_POOL
            } else {
                frame * (2 + draw.below(60))
            }
        })
        .collect();
    plan.switches.usual.classes = used
        .iter()
        .map(|&class| class_spec(class, pools, frame, draw))
        .collect();
    plan.switches.usual.sharing = sharing(&plan.switches.usual.classes, frame, draw);
    if draw.chance(40) {
        plan.nic.receive_buffer = Some(receive_buffer(frame, draw));
    }
}

/// Puts everything into one lossless class with little room: on a ring, pauses then go round.
fn provoke_deadlock(plan: &mut Plan, draw: &mut Draw) {
    // Frame bytes, as in `change`.
    let frame = u64::from(plan.nic.mtu_bytes) + 78;
    plan.switches.usual.pool_bytes = vec![frame * (20 + draw.below(40))];
    let mut lossless = lossless(frame, draw);
    lossless.headroom = Headroom::Model;
    plan.switches.usual.classes = vec![ClassSpec {
        class: 0,
        scheduling: Scheduling::Strict,
        pool: 0,
        reserved_bytes: 0,
        limit: Limit::Static(frame * (1 + draw.below(3))),
        lossless: Some(lossless),
        ecn: None,
        next_region: None,
        trim: None,
    }];
    plan.nic.window_packets = None;
    plan.nic.outstanding_messages = None;
}

fn class_spec(class: u8, pools: u64, frame: u64, draw: &mut Draw) -> ClassSpec {
    let scheduling = if draw.chance(40) {
        Scheduling::Strict
    } else {
        Scheduling::Weighted {
            quantum_bytes: (frame * (1 + draw.below(4))) as u32,
        }
    };
    let bytes = Limit::Static(frame * (1 + draw.below(20)));
    let mut limit = if draw.chance(40) {
        bytes
    } else {
        Limit::Dynamic {
            numerator: 1 + draw.below(8) as u32,
            denominator: 1 + draw.below(4) as u32,
        }
    };
    let lossless = draw.chance(60).then(|| lossless(frame, draw));
    let trigger = lossless.as_ref().map(|class| class.trigger);
    // With this trigger, the limit is a fill of the pool in bytes.
    if trigger.is_some_and(|trigger| matches!(trigger, PfcTrigger::Pool(_))) {
        limit = bytes;
    } else if draw.chance(15) {
        limit = levels(frame, draw);
    }
    ClassSpec {
        class,
        scheduling,
        pool: draw.below(pools) as u8,
        reserved_bytes: if draw.chance(50) {
            0
        } else {
            draw.below(3 * frame)
        },
        limit,
        lossless,
        ecn: draw.chance(50).then(|| ecn(frame, draw)),
        next_region: None,
        trim: None,
    }
}

/// Draws headroom that ports share, and a partitioned buffer unless queues pause senders: a queue's
/// frames come from ports of all partitions.
fn sharing(classes: &[ClassSpec], frame: u64, draw: &mut Draw) -> BufferSharing {
    let by_queue = |class: &ClassSpec| {
        let trigger = class.lossless.as_ref().map(|lossless| lossless.trigger);
        trigger == Some(PfcTrigger::Egress)
    };
    let divided = draw.chance(30) && !classes.iter().any(by_queue);
    BufferSharing {
        headroom_pool_bytes: draw.chance(30).then(|| draw.below(80 * frame)),
        partitions: if divided { 2 + draw.below(3) as u16 } else { 1 },
    }
}

/// Draws a limit of one to four levels of a small pool; the last may be 0 bytes.
fn levels(frame: u64, draw: &mut Draw) -> Limit {
    let count = 1 + draw.below(4);
    let (mut pool_bytes, mut account_bytes) = (0, frame * (1 + draw.below(30)));
    let list: Vec<Level> = (0..count)
        .map(|_| {
            pool_bytes += 1 + draw.below(20 * frame);
            account_bytes = draw.below(account_bytes + 1);
            Level {
                pool_bytes,
                account_bytes,
            }
        })
        .collect();
    Limit::Levels(Levels::new(&list).expect("fills rise, and limits fall"))
}

fn lossless(frame: u64, draw: &mut Draw) -> LosslessSpec {
    LosslessSpec {
        trigger: match draw.below(20) {
            0..=3 => PfcTrigger::Pool(PoolScope::All),
            4 | 5 => PfcTrigger::Pool(PoolScope::Hosts),
            6..=9 => PfcTrigger::Egress,
            _ => PfcTrigger::Ingress,
        },
        xon_offset_bytes: draw.below(3 * frame),
        headroom: match draw.below(5) {
            0 => Headroom::Sonic,
            1 | 2 => Headroom::Bytes(draw.below(10 * frame)),
            _ => Headroom::Model,
        },
        quanta: if draw.chance(50) {
            65_535
        } else {
            1_000 + draw.below(4_000) as u16
        },
        refresh_percent: 20 + draw.below(80) as u8,
    }
}

pub(super) fn ecn(frame: u64, draw: &mut Draw) -> EcnSpec {
    let min_bytes = draw.below(5 * frame);
    EcnSpec {
        min_bytes,
        max_bytes: min_bytes + 1 + draw.below(10 * frame),
        max_probability_ppm: draw.below(1_000_001) as u32,
        scale_from: draw
            .chance(20)
            .then(|| Rate::from_gbps(1 + draw.below(400))),
        mark_at: if draw.chance(35) {
            MarkAt::Dequeue
        } else {
            MarkAt::Enqueue
        },
        at_hosts: true,
    }
}

fn receive_buffer(frame: u64, draw: &mut Draw) -> ReceiveBufferSpec {
    let xoff = frame * (1 + draw.below(10));
    ReceiveBufferSpec {
        drain_rate: Some(Rate::from_gbps(5 + draw.below(400))),
        capacity: Bytes::new(xoff + frame * draw.below(20)),
        xoff: draw.chance(65).then_some(Bytes::new(xoff)),
        xon: Bytes::new(draw.below(xoff)),
        quanta: 1_000 + draw.below(60_000) as u16,
    }
}
