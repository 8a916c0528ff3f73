//! Checks congestion-control delays from papers against the fabric's line rates.
//!
//! Rates scale with the line by themselves. Delays do not: one part is time on the wire, another is
//! the network's length and the latency that its operator accepts.

use tenter_endpoint::congestion_control::CongestionControl;
use tenter_endpoint::congestion_control::dcqcn::{Dcqcn, Preset, Window};
use tenter_language::units::{Bytes, Rate, Time};

use crate::resolve::buffer::Around;

/// Line rate at which TIMELY's paper measured its delays.
const TIMELY_LINE: Rate = Rate::from_gbps(10);
/// Fastest line in Swift's paper.
const SWIFT_LINE: Rate = Rate::from_gbps(100);

/// The congestion control's path in a scenario.
pub(crate) const CONTROL: &str = "endpoint.nic.congestion_control";

/// Warns of default delays that were chosen for other line rates.
pub(crate) fn check(around: &Around<'_>) {
    let nic = &around.endpoint.nic;
    let hosts = around.topology.host_ids();
    let rates = hosts.map(|host| around.topology.line_rate(host));
    // The fastest line is farthest from the papers', which were slower.
    let Some(line) = rates.clone().max_by_key(|rate| rate.bits_per_second()) else {
        return;
    };
    if let Some(slowest) = rates.min_by_key(|rate| rate.bits_per_second()) {
        // On the slowest line the window has the fewest packets.
        check_fixed_window(around, slowest);
    }
    let at = around.warnings.written(CONTROL);
    let warn = |message: String, help: &str| {
        around.warnings.push(at, message, Some(help.to_owned()));
    };
    // A smaller difference in rate is no reason for a warning.
    let is_far = |from: Rate| line.bits_per_second() >= 2 * from.bits_per_second();
    let waits = |time: Time| Bytes::new(carried(line, time));
    let delays = ["low", "high", "base_target"];
    let mut written = delays
        .map(|key| around.warnings.written(&format!("{CONTROL}.{key}")))
        .into_iter();
    // A user who wrote one of the delays has thought of this network.
    let left = written.all(|at| at.is_none());
    match &nic.congestion_control {
        Some(CongestionControl::Timely(timely)) if left && is_far(TIMELY_LINE) => {
            let (low, high) = (timely.low, timely.high);
            let message = format!(
                "`timely` has the delays of its paper, which are those of {TIMELY_LINE}: at {line} queues rest between {low} and {high}, which are {} and {}, and flows share unevenly",
                waits(low),
                waits(high)
            );
            let help = "give `low`, `high` and `base_round_trip` for this network, or write the paper's to keep them";
            warn(message, help);
        }
        Some(CongestionControl::Swift(swift)) if left && is_far(SWIFT_LINE) => {
            let target = swift.base_target;
            let message = format!(
                "`swift` has the target of its paper, whose lines have {SWIFT_LINE} at most: at {line} queues rest at {target} and more, which are {}",
                waits(target)
            );
            let help = "give `base_target` and `scaling_range` for this network, or write the paper's to keep them";
            warn(message, help);
        }
        Some(CongestionControl::Dcqcn(dcqcn)) if dcqcn.notifying.reacts => {
            check_steps(around, dcqcn, line);
        }
        _ => {}
    }
    if let Some(CongestionControl::Swift(swift)) = &nic.congestion_control {
        let most = u64::from(swift.max_window) * u64::from(nic.mtu_bytes);
        let needed = carried(line, swift.base_target);
        if most < needed {
            let message = format!(
                "`swift` cannot fill a line of {line}: {} packets of {} B, its `max_window`, are {} of the {} that it carries within `base_target`",
                swift.max_window,
                nic.mtu_bytes,
                Bytes::new(most),
                Bytes::new(needed)
            );
            warn(
                message,
                "give a larger `max_window`, or a shorter `base_target`",
            );
        }
    }
}

/// Warns of DCQCN's default rate steps if they were chosen for another line rate.
fn check_steps(around: &Around<'_>, dcqcn: &Dcqcn, line: Rate) {
    // NVIDIA gives its steps for NICs at all rates.
    let meant_for = match dcqcn.notifying.preset {
        Preset::Hpcc => Rate::from_gbps(100),
        Preset::Paper2015 => Rate::from_gbps(40),
        Preset::Nvidia | Preset::Kai | Preset::Tester => return,
    };
    let keys = [
        "additive_increase",
        "hyper_increase",
        "min_rate",
        "scale_from",
    ];
    let mut written = keys
        .map(|key| around.warnings.written(&format!("{CONTROL}.{key}")))
        .into_iter();
    let far = line.bits_per_second() >= 2 * meant_for.bits_per_second();
    if !far || written.any(|at| at.is_some()) {
        return;
    }
    let message = format!(
        "`dcqcn` has the steps of its preset, whose lines have {meant_for}: at {line} rates rise by {} a step, and short transfers end before they have recovered",
        dcqcn.reaction.additive_increase
    );
    let help = format!(
        "give `scale_from: {meant_for}`, or write `additive_increase` to keep the preset's"
    );
    around
        .warnings
        .push(around.warnings.written(CONTROL), message, Some(help));
}

/// Refuses a fixed DCQCN window that is full before the first acknowledgement is due.
fn check_fixed_window(around: &Around<'_>, slowest: Rate) {
    let nic = &around.endpoint.nic;
    let Some(CongestionControl::Dcqcn(control)) = nic.reacting() else {
        return;
    };
    let own = &control.reaction;
    let Some(base_round_trip) = own.base_round_trip.filter(|_| own.window == Window::Fixed) else {
        return;
    };
    let bytes = carried(slowest, base_round_trip);
    let packets = bytes.div_ceil(u64::from(nic.mtu_bytes)).max(1);
    let due = nic.first_acknowledgement();
    if packets >= due {
        return;
    }
    let message = format!(
        "`dcqcn` has a window of {packets} packets, what {slowest} carries in `base_round_trip`, but the first acknowledgement comes after {due}: QPs would wait for timeouts"
    );
    let help = "give a longer `base_round_trip`, or set `acknowledge: per-packet`".to_owned();
    let at = around.warnings.written(CONTROL);
    around.problems.push(at, message, Some(help));
}

/// Returns the bytes that `line` carries in `time`.
fn carried(line: Rate, time: Time) -> u64 {
    // A rate in bit/s times picoseconds exceeds 64 bits after 46 µs at 400 Gb/s.
    let bits = u128::from(line.bits_per_second()) * u128::from(time.ps()) / 1_000_000_000_000;
    u64::try_from(bits / 8).unwrap_or(u64::MAX)
}
