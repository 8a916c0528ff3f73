//! A trial's totals, in a sentence for each kind.

use std::fmt::Write as _;

use tenter_language::units::Time;
use tenter_results::{EngineStats, PowerRow, Summary, Totals};

use super::cells::{count, counted, decimals, milliseconds, optional};
use super::section::Fact;
use crate::report::numbers::{decimals_for, duration_s, si};

/// Returns facts about all frames, links and ports together. Kinds that did not occur are left out.
pub(super) fn facts(summary: &Summary) -> Vec<Fact> {
    let totals = &summary.totals;
    let mut facts = vec![total(totals)];
    facts.extend(trimmed(totals));
    facts.extend(lost(totals));
    facts.extend(wire(totals));
    facts.extend(pauses(summary));
    if totals.watchdog_storms > 0 {
        let stuck = counted(totals.watchdog_storms, "queue");
        facts.push(Fact::new("watchdog", format!("{stuck} found stuck")));
    }
    facts.extend(notices(totals));
    facts.extend(signals(totals));
    facts.extend(marks(totals));
    facts.extend(summary.power.as_ref().map(power));
    facts
}

fn total(totals: &Totals) -> Fact {
    let mut text = format!(
        "{}, {} sent, {} dropped, {} retransmitted",
        counted(totals.flows, "flow"),
        counted(totals.tx_frames, "data frame"),
        count(totals.dropped_frames),
        count(totals.retransmitted_frames),
    );
    // Without losses there are none, and the line stays short.
    if totals.nak_frames > 0 || totals.timeouts > 0 {
        let _ = write!(
            text,
            ", {}, {}",
            counted(totals.nak_frames, "NAK"),
            counted(totals.timeouts, "timeout")
        );
    }
    Fact::new("total", text)
}

/// Describes the power that the fabric takes.
fn power(power: &PowerRow) -> Fact {
    let short = |value: f64| format!("{value:.*}", decimals_for(value, 4));
    let of = |value: Option<f64>| optional(value, short);
    let text = format!(
        "by `{}`: static {} W, dynamic {} W; for {} Gb/s delivered {} and {} W per Gb/s, {} pJ per bit in all",
        power.profile,
        short(power.static_power),
        of(power.dynamic_power),
        of(power.throughput_gbps),
        of(power.static_per_gbps),
        of(power.dynamic_per_gbps),
        of(power.picojoules_per_bit),
    );
    Fact::new("power", text)
}

/// Describes what happened to frames that found no room where switches trim, so that no loss is
/// silent.
fn trimmed(totals: &Totals) -> Option<Fact> {
    let text = || {
        format!(
            "{} of {}B, and {} dropped whole; {} retransmitted, {}",
            counted(totals.trimmed_frames, "frame"),
            si(totals.trimmed_bytes as f64),
            count(totals.dropped_frames),
            count(totals.retransmitted_frames),
            counted(totals.timeouts, "timeout"),
        )
    };
    (totals.trimmed_frames > 0).then(|| Fact::new("trimmed", text()))
}

/// Describes unexpected losses, by place.
fn lost(totals: &Totals) -> Option<Fact> {
    let lossless = totals.lossless_dropped_frames;
    let places = [
        (lossless, "of lossless classes in switches"),
        (totals.nic_dropped_frames, "in the receive buffers of NICs"),
        (totals.given_up_frames, "that are not retransmitted"),
        (
            totals.lost_frames,
            "on links that went down or are impaired",
        ),
        (totals.unsent_frames, "at ports whose link was down"),
        (totals.watchdog_dropped_frames, "by the PFC watchdog"),
    ];
    let places = places.iter().filter(|(frames, _)| *frames > 0);
    let places: Vec<String> = places
        .map(|&(frames, place)| format!("{} {place}", counted(frames, "frame")))
        .collect();
    (!places.is_empty()).then(|| Fact::new("lost", places.join(", ")))
}

/// Describes how much on the links is not data.
fn wire(totals: &Totals) -> Option<Fact> {
    if totals.wire_bytes == 0 {
        return None;
    }
    let mut text = format!(
        "{}B on all links, {:.2} % of it acknowledgements and other control packets",
        si(totals.wire_bytes as f64),
        totals.control_wire,
    );
    if totals.pause_wire > 0.0 {
        // A share that would print as 0.000 is not zero.
        let share = if totals.pause_wire < 0.001 {
            "under 0.001".to_owned()
        } else {
            format!("{:.3}", totals.pause_wire)
        };
        let _ = write!(text, ", {share} % {}", pause_word(totals));
    }
    Some(Fact::new("wire", text))
}

/// Names the pause bytes on the wire: without any pause frame they are flow-control packets in a
/// credit-based fabric.
fn pause_word(totals: &Totals) -> &'static str {
    let told = totals.xoff_frames + totals.notice_frames > 0;
    if told || totals.pause_wire <= 0.0 {
        "pauses"
    } else {
        "flow control"
    }
}

fn pauses(summary: &Summary) -> Option<Fact> {
    let totals = &summary.totals;
    let nobody = totals.nic_paused + totals.switch_paused == Time::ZERO;
    let (label, mut text, verb) = if totals.xoff_frames + totals.xon_frames > 0 {
        let text = format!(
            "{} XOFF and {} sent",
            count(totals.xoff_frames),
            counted(totals.xon_frames, "XON frame"),
        );
        ("pauses", text, "paused")
    // Without pause frames, paused time is time without credit.
    } else if nobody {
        return None;
    } else {
        ("credit", "lanes waited".to_owned(), "without any")
    };
    let times = [totals.nic_paused, totals.switch_paused, totals.most_paused];
    let decimals = decimals(times.map(Some));
    let ms = |time| format!("{} ms", milliseconds(time, decimals));
    for (time, of) in [(times[0], "NICs"), (times[1], "switch ports")] {
        if !time.is_zero() {
            let _ = write!(text, ", {of} {verb} for {} in sum over ports", ms(time));
        }
    }
    if let Some(port) = &totals.most_paused_port {
        let longest = ms(totals.most_paused);
        let _ = write!(text, ", longest {port} for {longest}{}", of_trial(summary));
    }
    Some(Fact::new(label, text))
}

/// Formats a port's longest paused time as a share of the trial.
pub(super) fn of_trial(summary: &Summary) -> String {
    let simulated = summary.engine.simulated_ns;
    if simulated <= 0.0 {
        return String::new();
    }
    let share = 100.0 * summary.totals.most_paused.as_ns() / simulated;
    let decimals = decimals_for(share, 3).min(4);
    format!(" ({share:.decimals$} % of the trial)")
}

fn notices(totals: &Totals) -> Option<Fact> {
    let text = || {
        format!(
            "{} of long queues sent, {} of flows to another link or source port",
            count(totals.notice_frames),
            counted(totals.flow_moves, "move"),
        )
    };
    (totals.notice_frames > 0).then(|| Fact::new("notices", text()))
}

fn signals(totals: &Totals) -> Option<Fact> {
    let text = || {
        format!(
            "{} sent to senders of long queues, {} by leaves for them or for their own queues",
            count(totals.signal_frames),
            counted(totals.signal_xoff_frames, "pause frame"),
        )
    };
    (totals.signal_frames + totals.signal_xoff_frames > 0).then(|| Fact::new("signals", text()))
}

fn marks(totals: &Totals) -> Option<Fact> {
    if totals.marked_frames == 0 {
        return None;
    }
    let mut text = format!(
        "{} marked by switches, {:.2} % of the data frames that arrived",
        counted(totals.marked_frames, "frame"),
        totals.rx_marked
    );
    if totals.cnp_frames > 0 {
        let _ = write!(text, ", {}", counted(totals.cnp_frames, "notification"));
    }
    Some(Fact::new("marks", text))
}

/// Describes how the engine ran, with the results' digest.
pub(super) fn engine(engine: &EngineStats) -> Fact {
    let hops = engine.packet_hops as f64;
    let mut text = format!(
        "{} packet-hops in {}",
        si(hops).trim_end(),
        duration_s(engine.wall_s)
    );
    // A rate is given only if everything was simulated: jumps carry packet-hops in no time.
    let jumped = engine.jumped_packet_hops as f64;
    if jumped > 0.0 {
        let _ = write!(text, ", {} of them jumped over", si(jumped).trim_end());
    } else if engine.wall_s > 0.0 {
        let _ = write!(text, " = {}/s", si(hops / engine.wall_s).trim_end());
    }
    let _ = write!(text, ", {}", counted(u64::from(engine.threads), "thread"));
    if let Some(peak) = engine.peak_rss_bytes {
        let _ = write!(text, ", peak {}B", si(peak as f64));
    }
    Fact::new("engine", format!("{text}, digest {}", engine.digest))
}
