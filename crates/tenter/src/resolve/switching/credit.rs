//! `fabric.switching` with `kind: credit-based`: its checks, and how NICs adapt to it.

use tenter_endpoint::NicSpec;
use tenter_fabric::net::{
    CREDIT_BLOCK_BYTES, CREDIT_MAX_BYTES, ClassSpec, CreditSpec, Limit, SwitchSpec, UNLIMITED_POOL,
};

use super::around::{Around, PATH};
use crate::resolve::findings::Findings;
use tenter_language::units::Bytes;

/// Makes the receive buffer unlimited: frames wait for host memory in their lane's input buffer,
/// whose credit bounds them.
pub(super) fn widen_receive_buffer(nic: &mut NicSpec) {
    if let Some(buffer) = &mut nic.receive_buffer {
        buffer.capacity = Bytes::new(UNLIMITED_POOL);
        buffer.xoff = None;
        buffer.xon = Bytes::new(0);
    }
}

/// Refuses what excludes a credit-based fabric.
pub(super) fn check(spec: &CreditSpec, around: &Around<'_>, findings: Findings<'_>) {
    let Findings {
        problems, warnings, ..
    } = findings;
    let refuse = |what: &str, help: &str| problems.note(PATH, what, help);
    if around.switches.any_class(|class| class.lossless.is_some()) {
        refuse(
            "a credit-based fabric pauses nobody: a frame is sent when there is room for it",
            "leave out `fabric.flow_control` and `lossless`",
        );
    }
    if around.switches.any_class(|class| class.ecn.is_some()) {
        refuse(
            "marking is not part of the credit-based fabric",
            "leave out `ecn`, and `endpoint.nic.congestion_control` that goes by it",
        );
    }
    if around.switches.iter().any(has_limits) {
        refuse(
            "a credit-based fabric has an input buffer for each port and class, and no other limits: no frame is sent that finds no room",
            "leave out `buffer`, `queue_capacity`, `limit`, `alpha` and `reserved` of `fabric.switch`; `fabric.switching.lane_buffer` is the size",
        );
    }
    if around.has_watchdog {
        refuse(
            "`fabric.switch.pfc_watchdog` watches pauses, and a credit-based fabric has none",
            "leave it out",
        );
    }
    if around.has_storms {
        let what = "a pause storm has no effect in a credit-based fabric, where nobody is paused";
        let help = "leave it out; a slow `endpoint.nic.receive_buffer` holds its leaf up by credit";
        warnings.note(PATH, what, help);
    }
    check_size(spec, around, findings);
}

/// Returns true if a model may drop frames, or takes their memory from a shared buffer.
fn has_limits(spec: &SwitchSpec) -> bool {
    let limited = |class: &ClassSpec| {
        let unlimited = matches!(class.limit, Limit::Static(bytes) if bytes >= UNLIMITED_POOL);
        !unlimited || class.reserved_bytes > 0
    };
    spec.classes.iter().any(limited) || spec.pool_bytes != [UNLIMITED_POOL]
}

fn check_size(spec: &CreditSpec, around: &Around<'_>, findings: Findings<'_>) {
    let Findings {
        problems, warnings, ..
    } = findings;
    let frame = around.nic.longest_frame_bytes();
    let least = spec.least_lane_bytes(frame);
    if spec.lane_bytes < least {
        let message = format!(
            "`fabric.switching.lane_buffer` is {} bytes, and a frame of {frame} would wait for ever: its sender may not know of up to {} bytes that are free",
            spec.lane_bytes,
            u64::from(spec.update_blocks() - 1) * u64::from(CREDIT_BLOCK_BYTES),
        );
        let help = format!("give at least `{least}B`, or a smaller `update`");
        problems.note(PATH, message, &help);
        return;
    }
    if spec.lane_bytes > CREDIT_MAX_BYTES {
        let message = format!(
            "`fabric.switching.lane_buffer` is {} bytes, and credit counters of 12 bits grant {CREDIT_MAX_BYTES} at most",
            spec.lane_bytes
        );
        let help = "counters here have more bits; give `128KiB` or less for those of the standard";
        warnings.note(PATH, message, help);
    }
    let links = around.links.all().map(|(end, link)| (end, link.paused));
    let Some((end, link)) = links.max_by_key(|(_, link)| spec.needed_bytes(link)) else {
        return;
    };
    let needed = spec.needed_bytes(&link);
    if needed > spec.lane_bytes {
        let name = around.topology.port_name(end.node, end.port);
        let message = format!(
            "`fabric.switching.lane_buffer` is {} bytes, and the link into {name} may need {needed} to keep its rate: {} pass until the credit for a frame is back",
            spec.lane_bytes,
            spec.round_trip(&link),
        );
        let help = "give it more, or let it be: one lane then gets less than the rate";
        warnings.note(PATH, message, help);
    }
}
