//! DCQCN: rates that fall with each congestion notification and rise with time and bytes.
//!
//! Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (2015), and the
//! parameters of the NICs that have it ("DCQCN CC parameters", NVIDIA). Its reaction point is the
//! one of quantized congestion notification (IEEE 802.1Qau) with an estimate of congestion, alpha.

use tenter_units::{Rate, Time};

use super::{Control, Feedback, part_of};
use crate::spec::NotificationSpec;

/// Alpha is counted in these parts of one.
const ONE: u64 = 1 << 30;
/// The gain of alpha and its first value are given in these parts of one, as NICs have them.
pub const PARTS: u16 = 1024;
const SECOND: u64 = 1_000_000_000_000;

/// The reaction point: how a sender slows down and speeds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dcqcn {
    /// Gain g of the estimate of congestion, in [`PARTS`] of one.
    pub gain: u16,
    /// The estimate when the first notification arrives, in [`PARTS`] of one.
    pub alpha_initial: u16,
    /// The estimate falls once in this time; where the rate falls in intervals it also rises then,
    /// if it was notified.
    pub alpha_interval: Time,
    /// The rate falls at most once in this time, at the end of an interval in which there was a
    /// notification; `None`: with each notification, at once.
    pub decrease_interval: Option<Time>,
    /// The rate at the first notification; `None`: that falls as any other.
    pub first_rate: Option<Rate>,
    /// The most that the rate falls at once, in percent.
    pub decrease_max_percent: u8,
    /// The rate never falls below.
    pub min_rate: Rate,
    /// Whether the target always falls to what the rate was; else only where the rate has risen
    /// since it fell last.
    pub clamp_target: bool,
    /// The rate rises once in this time.
    pub increase_interval: Time,
    /// The rate rises once in so many frame bytes sent as well; `None`: with time alone.
    pub increase_bytes: Option<u64>,
    /// How many times it rises half of the way to its target before the target rises too.
    pub recovery_steps: u32,
    /// What the target rises by then.
    pub additive: Rate,
    /// What it rises by later.
    pub hyper: Rate,
    /// How much a queue pair may have under way beside its rate; `None`: whatever its rate lets
    /// out.
    pub window: Option<Window>,
    /// The line rate that `additive`, `hyper` and `min_rate` are meant for: on other lines they are
    /// in proportion. `None`: they are the same on all.
    pub scale_from: Option<Rate>,
}

/// A window beside the rate, as the simulator of "HPCC: High Precision Congestion Control" has it
/// for all its congestion controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// What the line carries in this time may be under way.
    pub base_round_trip: Time,
    /// Whether it shrinks and grows with the rate.
    pub scaled: bool,
}

impl Window {
    /// Packets that may be unacknowledged at a rate: a packet may leave while the payload under way
    /// is less than the window.
    fn packets(&self, rate: u64, payload: u64) -> u32 {
        let bytes = part_of(rate, self.base_round_trip.ps(), 8 * SECOND);
        let packets = bytes.div_ceil(payload.max(1)).max(1);
        u32::try_from(packets).unwrap_or(u32::MAX)
    }
}

/// What a preset says of a sender, if it reacts at all, and of a receiver.
pub type Preset = (Option<Dcqcn>, NotificationSpec);

/// Mb/s.
const fn mbps(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

/// DSCP 48, priority 6: `CNP_DSCP` and `CNP_802P_PRIO` of NVIDIA's NICs.
const CNP_CLASS: u8 = 6;

const fn notification(interval: Time) -> NotificationSpec {
    NotificationSpec {
        interval,
        in_acknowledgements: false,
        class: CNP_CLASS,
    }
}

/// "DCQCN CC parameters" (NVIDIA), the defaults of `ConnectX-4` and later: `DCE_TCP_G` 1019,
/// `INITIAL_ALPHA_VALUE` 1023, `DCE_TCP_RTT` 1 us, `RATE_REDUCE_MONITOR_PERIOD` 4 us,
/// `RATE_TO_SET_ON_FIRST_CNP` 0, `RPG_MIN_DEC_FAC` 50, `RPG_MIN_RATE` 1, `CLAMP_TGT_RATE` false
/// with `CLAMP_TGT_RATE_AFTER_TIME_INC` true, `RPG_TIME_RESET` 300 us, `RPG_BYTE_RESET` 32767 (of
/// 64 bytes, the unit of the KAI Data Center Builder), `RPG_THRESHOLD` 1, `RPG_AI_RATE` 5,
/// `RPG_HAI_RATE` 50, `MIN_TIME_BETWEEN_CNPS` 4 us.
const NVIDIA: Dcqcn = Dcqcn {
    gain: PARTS - 1019,
    alpha_initial: 1023,
    alpha_interval: Time::from_us(1),
    decrease_interval: Some(Time::from_us(4)),
    first_rate: None,
    decrease_max_percent: 50,
    min_rate: mbps(1),
    clamp_target: false,
    increase_interval: Time::from_us(300),
    increase_bytes: Some(32_767 * 64),
    recovery_steps: 1,
    additive: mbps(5),
    hyper: mbps(50),
    window: None,
    scale_from: None,
};

/// The port model of the KAI Data Center Builder (Keysight): as NVIDIA's, but alpha and rate every
/// 21 us, and 10 Gb/s at the first notification. Notifications every 4 us.
const KAI: Dcqcn = Dcqcn {
    alpha_interval: Time::from_us(21),
    decrease_interval: Some(Time::from_us(21)),
    first_rate: Some(Rate::from_gbps(10)),
    ..NVIDIA
};

/// "HPCC: High Precision Congestion Control", the simulator's example configuration: gain 1/256,
/// alpha every 1 us from 1, rate every 4 us, 900 us to rise, no byte counter, 50 and 100 Mb/s at
/// 100G, at least 100 Mb/s. Its receivers notify with each acknowledgement, which is as often as
/// there are marks.
const HPCC: Dcqcn = Dcqcn {
    gain: PARTS / 256,
    alpha_initial: PARTS,
    min_rate: mbps(100),
    increase_interval: Time::from_us(900),
    increase_bytes: None,
    additive: mbps(50),
    hyper: mbps(100),
    ..NVIDIA
};

/// The paper's own: gain 1/256, alpha every 55 us from 1, the rate falls with each notification,
/// which receivers send every 50 us, rises every 55 us and every 10 MB, five times half of the way,
/// then by 40 Mb/s. The paper gives neither hyper increase nor the least rate: ten times as much
/// and 10 Mb/s are assumed.
const PAPER_2015: Dcqcn = Dcqcn {
    gain: PARTS / 256,
    alpha_initial: PARTS,
    alpha_interval: Time::from_us(55),
    decrease_interval: None,
    min_rate: mbps(10),
    clamp_target: true,
    increase_interval: Time::from_us(55),
    increase_bytes: Some(10_000_000),
    recovery_steps: 5,
    additive: mbps(40),
    hyper: mbps(400),
    ..NVIDIA
};

impl Dcqcn {
    /// Names of the presets.
    pub const PRESETS: [&'static str; 5] = ["nvidia", "kai", "hpcc", "paper-2015", "tester"];

    /// The preset of a name, or `None` where there is none. `tester` notifies and does not react:
    /// the ports of a traffic tester as AI Fabric Test Methodology (Keysight) has them, with a
    /// notification every 55 us, the default of the port model.
    pub fn preset(name: &str) -> Option<Preset> {
        Some(match name {
            "nvidia" => (Some(NVIDIA), notification(Time::from_us(4))),
            "kai" => (Some(KAI), notification(Time::from_us(4))),
            "hpcc" => (Some(HPCC), notification(Time::ZERO)),
            "paper-2015" => (Some(PAPER_2015), notification(Time::from_us(50))),
            "tester" => (None, notification(Time::from_us(55))),
            _ => return None,
        })
    }

    /// With steps for lines of this rate.
    fn on_line(self, line: u64) -> Dcqcn {
        let Some(from) = self.scale_from else {
            return self;
        };
        let scaled = |rate: Rate| {
            let rate = part_of(rate.bits_per_second(), line, from.bits_per_second());
            Rate::from_bits_per_second(rate.max(1))
        };
        Dcqcn {
            min_rate: scaled(self.min_rate),
            additive: scaled(self.additive),
            hyper: scaled(self.hyper),
            scale_from: None,
            ..self
        }
    }
}

/// A queue pair that is limited. Rates are in bits per second, times in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    rate: u64,
    target: u64,
    line: u64,
    /// Frame bytes sent since the byte counter last ran out.
    bytes: u64,
    next_alpha: u64,
    next_decrease: u64,
    next_increase: u64,
    /// The estimate of congestion, in parts of [`ONE`].
    alpha: u32,
    /// How often the timer and the byte counter have run out since the rate fell.
    time_stage: u32,
    byte_stage: u32,
    /// Whether there was a notification since alpha changed last, and since the rate fell last.
    alpha_notified: bool,
    decrease_notified: bool,
}

/// So many of the instants `next`, `next + interval`, … lie before `until`.
fn ticks_before(next: u64, interval: Time, until: u64) -> u64 {
    until.saturating_sub(next).div_ceil(interval.ps())
}

impl Dcqcn {
    /// Alpha at its timer's instants before `until`.
    fn update_alpha(&self, flow: &mut Flow, until: u64) {
        let ticks = ticks_before(flow.next_alpha, self.alpha_interval, until);
        flow.next_alpha += ticks * self.alpha_interval.ps();
        for _ in 0..ticks {
            // At zero it stays until the next notification.
            if flow.alpha == 0 && !flow.alpha_notified {
                break;
            }
            self.step_alpha(flow);
        }
    }

    fn step_alpha(&self, flow: &mut Flow) {
        let gain = u64::from(self.gain);
        let parts = u64::from(PARTS);
        let kept = u64::from(flow.alpha) * (parts - gain) / parts;
        let added = if flow.alpha_notified {
            ONE * gain / parts
        } else {
            0
        };
        flow.alpha = (kept + added) as u32;
        flow.alpha_notified = false;
    }

    /// The rate falls at `now`.
    fn decrease(&self, flow: &mut Flow, now: u64) {
        if self.clamp_target || flow.time_stage > 0 || flow.byte_stage > 0 {
            flow.target = flow.rate;
        }
        let half = part_of(flow.rate, u64::from(flow.alpha), 2 * ONE);
        let most = part_of(flow.rate, u64::from(self.decrease_max_percent), 100);
        let min = self.min_rate.bits_per_second().min(flow.rate);
        flow.rate = (flow.rate - half.min(most)).max(min);
        flow.decrease_notified = false;
        flow.time_stage = 0;
        flow.byte_stage = 0;
        flow.bytes = 0;
        flow.next_increase = now + self.increase_interval.ps();
    }

    /// The rate rises, as far as timer and byte counter have come.
    fn increase(&self, flow: &mut Flow) {
        // Without a byte counter it is the timer alone that counts.
        let bytes = if self.increase_bytes.is_some() {
            flow.byte_stage
        } else {
            flow.time_stage
        };
        let (least, most) = (flow.time_stage.min(bytes), flow.time_stage.max(bytes));
        let more = if most < self.recovery_steps {
            0
        } else if least > self.recovery_steps {
            self.hyper.bits_per_second()
        } else {
            self.additive.bits_per_second()
        };
        flow.target = (flow.target + more).min(flow.line);
        // Rounded up, so that it gets there.
        flow.rate = (flow.rate + flow.target).div_ceil(2);
    }

    /// The rate at its timer's instants before `until`.
    fn increase_in_time(&self, flow: &mut Flow, until: u64) {
        let ticks = ticks_before(flow.next_increase, self.increase_interval, until);
        flow.next_increase += ticks * self.increase_interval.ps();
        for _ in 0..ticks {
            if flow.rate == flow.line && flow.target == flow.line {
                break;
            }
            self.increase(flow);
            flow.time_stage += 1;
        }
    }

    /// All that timers do before `now`: at equal times alpha first, then what falls, then what
    /// rises. Whatever else happens at the same instant comes before its timers.
    fn catch_up(&self, flow: &mut Flow, now: u64) {
        if let Some(interval) = self.decrease_interval {
            if flow.decrease_notified && flow.next_decrease < now {
                let at = flow.next_decrease;
                self.update_alpha(flow, at + 1);
                self.increase_in_time(flow, at);
                self.decrease(flow, at);
            }
            let ticks = ticks_before(flow.next_decrease, interval, now);
            flow.next_decrease += ticks * interval.ps();
        }
        self.update_alpha(flow, now);
        self.increase_in_time(flow, now);
    }
}

impl Control for Dcqcn {
    type Flow = Flow;
    const FROM_START: bool = false;

    fn on_line(self, line: u64) -> Dcqcn {
        Dcqcn::on_line(self, line)
    }

    fn start(&self, line: u64, now: u64) -> Flow {
        let rate = self.first_rate.map_or(line, Rate::bits_per_second);
        let rate = rate.min(line);
        let interval = self.decrease_interval.unwrap_or_default();
        Flow {
            rate,
            target: rate,
            line,
            bytes: 0,
            next_alpha: now + self.alpha_interval.ps(),
            next_decrease: now + interval.ps(),
            next_increase: now + self.increase_interval.ps(),
            alpha: (u64::from(self.alpha_initial) * ONE / u64::from(PARTS)) as u32,
            time_stage: 0,
            byte_stage: 0,
            alpha_notified: false,
            decrease_notified: false,
        }
    }

    fn rate(&self, flow: &mut Flow, now: u64) -> u64 {
        self.catch_up(flow, now);
        flow.rate
    }

    fn sent(&self, flow: &mut Flow, frame_bytes: u64) {
        let Some(every) = self.increase_bytes else {
            return;
        };
        flow.bytes += frame_bytes;
        if flow.bytes >= every {
            flow.bytes -= every;
            self.increase(flow);
            flow.byte_stage += 1;
        }
    }

    fn notified(&self, flow: &mut Flow, first: bool, now: u64) {
        self.catch_up(flow, now);
        if self.decrease_interval.is_some() {
            flow.alpha_notified = !first;
            // A rate of its own is what the first notification does.
            flow.decrease_notified = !first || self.first_rate.is_none();
        } else if !first || self.first_rate.is_none() {
            self.decrease(flow, now);
            flow.alpha_notified = true;
            self.step_alpha(flow);
            flow.next_alpha = now + self.alpha_interval.ps();
        }
    }

    fn window(&self, flow: &Flow, payload: u64) -> u32 {
        self.window.map_or(u32::MAX, |window| {
            let rate = if window.scaled { flow.rate } else { flow.line };
            window.packets(rate, payload)
        })
    }

    fn line_window(&self, line: u64, payload: u64) -> u32 {
        self.window
            .map_or(u32::MAX, |window| window.packets(line, payload))
    }

    /// The window is that of the rate which timers have come to by now.
    fn acknowledged(&self, flow: &mut Flow, feedback: &Feedback<'_>) {
        if self.window.is_some() {
            self.catch_up(flow, feedback.now);
        }
    }

    fn is_over(&self, flow: &Flow) -> bool {
        flow.rate == flow.line && flow.target == flow.line && !flow.decrease_notified
    }
}

#[cfg(test)]
mod tests;
