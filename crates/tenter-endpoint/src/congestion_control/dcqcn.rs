//! DCQCN: rates that fall with each congestion notification and rise with time and bytes.
//!
//! Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (2015), and the
//! parameters of the NICs that have it ("DCQCN CC parameters", NVIDIA). Its reaction point is the
//! one of quantized congestion notification (IEEE 802.1Qau) with an estimate of congestion, alpha.

use tenter_config::{
    Component, Key, KeyTable, Reader, Words as _, Written, choice, component, joined,
};
use tenter_units::{Bytes, Instant, Rate, Time};

use super::{Answers, Control, Feedback, RATES, SECOND, TICK_MIN, part_of};
use crate::notification::{LimitedBy, NotificationSpec};

/// Alpha is counted in these parts of one.
const ONE: u64 = 1 << 30;
/// The gain of alpha and its first value are given in these parts of one, as NICs have them.
pub const PARTS: u16 = 1024;
/// The most bytes that a byte counter counts to.
const BYTES_MAX: Bytes = Bytes::new(1 << 40);

/// DCQCN: what receivers notify of, and what senders do then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dcqcn {
    /// The notification point.
    pub notifying: Notifying,
    /// The reaction point; without effect where senders do not react.
    pub reaction: Reaction,
}

component! {
    /// The notification point: what carries notifications, and how often.
    pub struct Notifying, derive(Clone, Copy, Debug, PartialEq, Eq) {
        fill notifying_of_preset;
        /// Origin of the values of all other keys; `tester` sends notifications and does not react
        /// to them.
        preset: Preset = "nvidia", from "what is in use; the page of the model has the origin of every constant";
        /// Whether senders slow down when they are notified; the keys from `gain` on are for those
        /// that do.
        reacts as "reaction": bool = filled "by `preset`: `false` for `tester`";
        /// The carrier of notifications: a packet of its own (CNP), or the next acknowledgement or
        /// NAK of the QP.
        cnp: Carrier = "packet", from "RoCEv2 (InfiniBand Architecture Specification, Annex A17); HPCC's simulator has `in-acknowledgement`";
        /// A receiver sends at most one notification (CNP) in this time for each QP, or for what
        /// `cnp_limit` says.
        cnp_interval: Time = filled "by `preset`", in Time::ZERO..=SECOND;
        /// The scope of `cnp_interval`: each QP, all QPs of a sending address together, or all that
        /// the port notifies. With several planes and `planes: spray` the ports of a NIC are one.
        cnp_limit: LimitedBy = "queue-pair", from "what the simulator of HPCC does; the InfiniBand Architecture Specification leaves it to the device";
        /// DSCP of notifications, and with it their class, which is the DSCP shifted right by 3.
        cnp_dscp: u8 = filled "by `preset`: `48`", in 0..=63;
    }
}

component! {
    /// The reaction point: how a sender slows down and speeds up.
    pub struct Reaction, derive(Clone, Copy, Debug, PartialEq, Eq) {
        /// Gain g of alpha, the estimate of congestion, in 1024ths.
        gain: u16 = filled "by `preset`", in 1..=PARTS;
        /// Alpha when the first notification arrives, in 1024ths.
        alpha_initial: u16 = filled "by `preset`", in 0..=PARTS;
        /// Alpha falls once in this time; where the rate falls in intervals it also rises then, if
        /// there was a notification.
        alpha_interval: Time = filled "by `preset`", in TICK_MIN..=SECOND;
        /// The rate falls at most once in this time, at the end of an interval in which there was a
        /// notification, and alpha rises once in its own; `none`: both with each notification, at
        /// once.
        decrease_interval: Option<Time> = filled "by `preset`", in TICK_MIN..=SECOND;
        /// The rate at the first notification; `none`: it falls as with any other.
        first_rate: Option<Rate> = filled "by `preset`", in RATES;
        /// The most that the rate falls at once.
        decrease_max_percent: u8 = filled "by `preset`", in 1..=100;
        /// The rate never falls below.
        min_rate: Rate = filled "by `preset`", in RATES;
        /// Whether the target always falls to what the rate was; else only where the rate has risen
        /// since it fell last.
        clamp_target: bool = filled "by `preset`";
        /// The rate rises once in this time.
        increase_interval: Time = filled "by `preset`", in TICK_MIN..=SECOND;
        /// The rate also rises after this many frame bytes sent.
        increase_bytes: Option<Bytes> = filled "by `preset`", in Bytes::new(1)..=BYTES_MAX;
        /// How often the rate rises half of the way to its target before the target rises too.
        recovery_steps: u32 = filled "by `preset`", in 0..=1000;
        /// Step by which the target rises then.
        additive_increase: Rate = filled "by `preset`", in RATES;
        /// Step by which the target rises when timer and byte counter are both beyond
        /// `recovery_steps`.
        hyper_increase: Rate = filled "by `preset`", in RATES;
        /// The line rate that `min_rate`, `additive_increase` and `hyper_increase` are meant for:
        /// on other lines they are in proportion.
        scale_from: Option<Rate> = "none", in RATES;
        /// Limit of the bytes that a QP may have under way: none, what its line carries in
        /// `base_round_trip` (`fixed`), or what its rate carries in that time (`scaled`).
        window: Window = "none", from "HPCC's simulator has `scaled` (HAS_WIN and VAR_WIN) for all its congestion controls";
        /// The round-trip time of an idle network: the longest there is.
        base_round_trip: Option<Time> = absent "with `window`", in TICK_MIN..=SECOND;
        check a_window_has_its_round_trip;
    }
}

/// Where the constants of DCQCN come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// NICs of NVIDIA.
    Nvidia,
    /// The KAI Data Center Builder.
    Kai,
    /// The simulator of HPCC.
    Hpcc,
    /// The paper.
    Paper2015,
    /// The ports of a traffic tester.
    Tester,
}

choice!(Preset {
    "nvidia" => Nvidia,
    "kai" => Kai,
    "hpcc" => Hpcc,
    "paper-2015" => Paper2015,
    "tester" => Tester,
});

/// What carries notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A packet of their own.
    Packet,
    /// The next acknowledgement or NAK.
    InAcknowledgement,
}

choice!(Carrier { "packet" => Packet, "in-acknowledgement" => InAcknowledgement });

/// A window beside the rate, as the simulator of "HPCC: High Precision Congestion Control" has it
/// for all its congestion controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Whatever the rate lets out may be under way.
    None,
    /// What the line carries in the base round trip may be.
    Fixed,
    /// What the rate does.
    Scaled,
}

choice!(Window { "none" => None, "fixed" => Fixed, "scaled" => Scaled });

/// Gives the notification point what the preset says of it.
fn notifying_of_preset(reader: &mut dyn Reader) {
    // Another word is refused when it is read.
    let Some(preset) = preset_of(reader) else {
        return;
    };
    for (key, value) in Component::written(&preset.notifying()) {
        if key != "preset" {
            reader.fill(key, value);
        }
    }
}

/// The preset that is written, or the usual one; `None` for a word that names none.
fn preset_of(reader: &dyn Reader) -> Option<Preset> {
    let word = reader.peek_word("preset");
    word.map_or(Some(Preset::Nvidia), |word| Preset::of_word(&word))
}

fn a_window_has_its_round_trip(own: &Reaction, reader: &mut dyn Reader) -> bool {
    match (own.window, own.base_round_trip) {
        (Window::None, Some(_)) => {
            let help = "leave it out, or set `window: scaled`";
            reader.refuse("base_round_trip", "means nothing without `window`", help);
            false
        }
        (Window::Fixed | Window::Scaled, None) => {
            let help = "add `base_round_trip: 13us`, for example";
            reader.refuse_all("has a `window`, but lacks `base_round_trip`", help);
            false
        }
        _ => true,
    }
}

impl Component for Dcqcn {
    const KEYS: &'static [Key] = &joined::<{ Notifying::KEYS.len() + Reaction::KEYS.len() }>(&[
        Notifying::KEYS,
        Reaction::KEYS,
    ]);

    const TABLE: KeyTable = KeyTable {
        title: "",
        keys: Dcqcn::KEYS,
    };

    fn read(reader: &mut dyn Reader) -> Option<Dcqcn> {
        // Both points are read whatever is wrong with one of them, so that all problems are told.
        let preset = preset_of(reader).unwrap_or(Preset::Nvidia);
        let asked = reader
            .peek_word("reaction")
            .and_then(|word| word.parse().ok());
        let reacts = asked.unwrap_or(preset.notifying().reacts);
        let notifying = <Notifying as Component>::read(reader);
        let is_given = |reader: &dyn Reader, key: &&Key| reader.has(key.name);
        let given: Vec<&Key> = Reaction::KEYS
            .iter()
            .filter(|key| is_given(reader, key))
            .collect();
        let usual = preset.reaction();
        if !reacts {
            for key in given {
                reader.any(key.name);
                let help = "leave it out, or set `reaction: true`";
                reader.refuse(key.name, "means nothing where senders do not react", help);
                reader.leave_out(key.name);
            }
            return Some(Dcqcn {
                notifying: notifying?,
                reaction: usual,
            });
        }
        for (key, value) in Component::written(&usual) {
            reader.fill(key, value);
        }
        let reaction = <Reaction as Component>::read(reader);
        Some(Dcqcn {
            notifying: notifying?,
            reaction: reaction?,
        })
    }

    /// Of senders that do not react only what is unusual is written, to be refused when it is read.
    fn written(&self) -> Vec<(&'static str, Written)> {
        let mut reaction = Component::written(&self.reaction);
        if !self.notifying.reacts {
            let usual = Component::written(&self.notifying.preset.reaction());
            reaction.retain(|key| !usual.contains(key));
        }
        let mut keys = Component::written(&self.notifying);
        keys.extend(reaction);
        keys
    }
}

/// What one notification does to a flow at the rate of its line, if no other follows and it sends
/// nothing that its byte counter counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// The share of the line to which the rate falls.
    pub share: f64,
    /// When the rate is back at nine tenths of the line.
    pub nearly_after: Time,
    /// When it is back at the line.
    pub line_after: Time,
}

impl Dcqcn {
    /// A flow that has just been cut to a rate, from the rate of its line.
    #[cfg(test)]
    pub(super) fn cut_to(&self, rate: u64, line: Rate) -> Flow {
        Flow {
            rate,
            ..self.start(line.bits_per_second(), Instant::START)
        }
    }

    /// How a flow recovers from one notification on a line; `None` where senders do not react, and
    /// where that takes more than a million steps.
    pub fn recovery(&self, line: Rate) -> Option<Cut> {
        const STEPS_MAX: u32 = 1_000_000;
        if !self.notifying.reacts {
            return None;
        }
        let bps = line.bits_per_second();
        let control = self.on_line(bps);
        let mut flow = control.start(bps, Instant::START);
        control.notified(&mut flow, true, Instant::START);
        let mut share = flow.rate;
        let mut nearly_after = None;
        for _ in 0..STEPS_MAX {
            let change = control.reaction.next_change(&flow);
            if change.is_never() {
                break;
            }
            control.reaction.catch_up(&mut flow, change + Time::LEAST);
            share = share.min(flow.rate);
            let after = change.saturating_since(Instant::START);
            if nearly_after.is_none() && flow.rate >= bps / 10 * 9 && !flow.decrease_notified {
                nearly_after = Some(after);
            }
            if control.is_over(&flow) {
                return Some(Cut {
                    share: share as f64 / bps as f64,
                    nearly_after: nearly_after.unwrap_or(after),
                    line_after: after,
                });
            }
        }
        None
    }
}

impl Default for Dcqcn {
    fn default() -> Dcqcn {
        Preset::Nvidia.of_both()
    }
}

impl Reaction {
    /// Packets that may be unacknowledged at a rate: a packet may leave while the payload under way
    /// is less than the window.
    fn window_packets(&self, rate: u64, payload: u64) -> u32 {
        let base_round_trip = self.base_round_trip.unwrap_or_default();
        let bytes = part_of(rate, base_round_trip.ps(), 8 * SECOND.ps());
        let packets = bytes.div_ceil(payload.max(1)).max(1);
        u32::try_from(packets).unwrap_or(u32::MAX)
    }
}

/// Mb/s.
const fn mbps(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

/// DSCP 48, priority 6: `CNP_DSCP` and `CNP_802P_PRIO` of NVIDIA's NICs.
const CNP_DSCP: u8 = 48;

/// "DCQCN CC parameters" (NVIDIA), the defaults of `ConnectX-4` and later: `DCE_TCP_G` 1019,
/// `INITIAL_ALPHA_VALUE` 1023, `DCE_TCP_RTT` 1 us, `RATE_REDUCE_MONITOR_PERIOD` 4 us,
/// `RATE_TO_SET_ON_FIRST_CNP` 0, `RPG_MIN_DEC_FAC` 50, `RPG_MIN_RATE` 1, `CLAMP_TGT_RATE` false
/// with `CLAMP_TGT_RATE_AFTER_TIME_INC` true, `RPG_TIME_RESET` 300 us, `RPG_BYTE_RESET` 32767 (of
/// 64 bytes, the unit of the KAI Data Center Builder), `RPG_THRESHOLD` 1, `RPG_AI_RATE` 5,
/// `RPG_HAI_RATE` 50, `MIN_TIME_BETWEEN_CNPS` 4 us.
const NVIDIA: Reaction = Reaction {
    gain: PARTS - 1019,
    alpha_initial: 1023,
    alpha_interval: Time::from_us(1),
    decrease_interval: Some(Time::from_us(4)),
    first_rate: None,
    decrease_max_percent: 50,
    min_rate: mbps(1),
    clamp_target: false,
    increase_interval: Time::from_us(300),
    increase_bytes: Some(Bytes::new(32_767 * 64)),
    recovery_steps: 1,
    additive_increase: mbps(5),
    hyper_increase: mbps(50),
    scale_from: None,
    window: Window::None,
    base_round_trip: None,
};

/// The port model of the KAI Data Center Builder (Keysight): as NVIDIA's, but alpha and rate every
/// 21 us, and 10 Gb/s at the first notification. Notifications every 4 us.
const KAI: Reaction = Reaction {
    alpha_interval: Time::from_us(21),
    decrease_interval: Some(Time::from_us(21)),
    first_rate: Some(Rate::from_gbps(10)),
    ..NVIDIA
};

/// "HPCC: High Precision Congestion Control", the simulator's example configuration: gain 1/256,
/// alpha every 1 us from 1, rate every 4 us, 900 us to rise, no byte counter, 50 and 100 Mb/s at
/// 100G, at least 100 Mb/s. Its receivers notify with each acknowledgement, which is as often as
/// there are marks.
const HPCC: Reaction = Reaction {
    gain: PARTS / 256,
    alpha_initial: PARTS,
    min_rate: mbps(100),
    increase_interval: Time::from_us(900),
    increase_bytes: None,
    additive_increase: mbps(50),
    hyper_increase: mbps(100),
    ..NVIDIA
};

/// The paper's own: gain 1/256, alpha every 55 us from 1, the rate falls with each notification,
/// which receivers send every 50 us, rises every 55 us and every 10 MB, five times half of the way,
/// then by 40 Mb/s. The paper gives neither hyper increase nor the least rate: ten times as much
/// and 10 Mb/s are assumed.
const PAPER_2015: Reaction = Reaction {
    gain: PARTS / 256,
    alpha_initial: PARTS,
    alpha_interval: Time::from_us(55),
    decrease_interval: None,
    min_rate: mbps(10),
    clamp_target: true,
    increase_interval: Time::from_us(55),
    increase_bytes: Some(Bytes::new(10_000_000)),
    recovery_steps: 5,
    additive_increase: mbps(40),
    hyper_increase: mbps(400),
    ..NVIDIA
};

impl Preset {
    /// What it says of senders and receivers.
    pub fn of_both(self) -> Dcqcn {
        Dcqcn {
            notifying: self.notifying(),
            reaction: self.reaction(),
        }
    }

    /// What it says of receivers. `tester` notifies and does not react: the ports of a traffic
    /// tester as AI Fabric Test Methodology (Keysight) has them, with a notification every 55 us,
    /// the default of the port model.
    fn notifying(self) -> Notifying {
        Notifying {
            preset: self,
            reacts: self != Preset::Tester,
            cnp: Carrier::Packet,
            cnp_interval: match self {
                Preset::Nvidia | Preset::Kai => Time::from_us(4),
                Preset::Hpcc => Time::ZERO,
                Preset::Paper2015 => Time::from_us(50),
                Preset::Tester => Time::from_us(55),
            },
            cnp_limit: LimitedBy::QueuePair,
            cnp_dscp: CNP_DSCP,
        }
    }

    /// What it says of senders, or would say if those of a tester reacted.
    fn reaction(self) -> Reaction {
        match self {
            Preset::Nvidia | Preset::Tester => NVIDIA,
            Preset::Kai => KAI,
            Preset::Hpcc => HPCC,
            Preset::Paper2015 => PAPER_2015,
        }
    }
}

impl Reaction {
    /// With steps for lines of this rate.
    fn on_line(self, line: u64) -> Reaction {
        let Some(from) = self.scale_from else {
            return self;
        };
        let scaled = |rate: Rate| {
            let rate = part_of(rate.bits_per_second(), line, from.bits_per_second());
            Rate::from_bits_per_second(rate.max(1))
        };
        Reaction {
            min_rate: scaled(self.min_rate),
            additive_increase: scaled(self.additive_increase),
            hyper_increase: scaled(self.hyper_increase),
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
    next_alpha: Instant,
    next_decrease: Instant,
    next_increase: Instant,
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
fn ticks_before(next: Instant, interval: Time, until: Instant) -> u64 {
    until.saturating_since(next).ps().div_ceil(interval.ps())
}

impl Reaction {
    /// Alpha at its timer's instants before `until`.
    fn update_alpha(&self, flow: &mut Flow, until: Instant) {
        let ticks = ticks_before(flow.next_alpha, self.alpha_interval, until);
        flow.next_alpha += self.alpha_interval * ticks;
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
    fn decrease(&self, flow: &mut Flow, now: Instant) {
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
        flow.next_increase = now + self.increase_interval;
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
            self.hyper_increase.bits_per_second()
        } else {
            self.additive_increase.bits_per_second()
        };
        flow.target = (flow.target + more).min(flow.line);
        // Rounded up, so that it gets there.
        flow.rate = (flow.rate + flow.target).div_ceil(2);
    }

    /// The rate at its timer's instants before `until`.
    fn increase_in_time(&self, flow: &mut Flow, until: Instant) {
        let ticks = ticks_before(flow.next_increase, self.increase_interval, until);
        flow.next_increase += self.increase_interval * ticks;
        for _ in 0..ticks {
            if flow.rate == flow.line && flow.target == flow.line {
                break;
            }
            self.increase(flow);
            flow.time_stage += 1;
        }
    }

    /// The instant behind which a timer changes the rate next, if there is no further notification.
    fn next_change(&self, flow: &Flow) -> Instant {
        let falls = self.decrease_interval.is_some() && flow.decrease_notified;
        let falls = if falls {
            flow.next_decrease
        } else {
            Instant::NEVER
        };
        let rises = flow.rate != flow.line || flow.target != flow.line;
        falls.min(if rises {
            flow.next_increase
        } else {
            Instant::NEVER
        })
    }

    /// All that timers do before `now`: at equal times alpha first, then what falls, then what
    /// rises. Whatever else happens at the same instant comes before its timers.
    fn catch_up(&self, flow: &mut Flow, now: Instant) {
        if let Some(interval) = self.decrease_interval {
            if flow.decrease_notified && flow.next_decrease < now {
                let at = flow.next_decrease;
                self.update_alpha(flow, at + Time::LEAST);
                self.increase_in_time(flow, at);
                self.decrease(flow, at);
            }
            let ticks = ticks_before(flow.next_decrease, interval, now);
            flow.next_decrease += interval * ticks;
        }
        self.update_alpha(flow, now);
        self.increase_in_time(flow, now);
    }
}

impl Control for Dcqcn {
    type Flow = Flow;
    const FROM_START: bool = false;
    const RETIMES: bool = true;

    fn reacts(&self) -> bool {
        self.notifying.reacts
    }

    /// A fixed window is compared with the lines, where these are known.
    fn answers(&self) -> Answers {
        match self.reaction.window {
            Window::Scaled => Answers::BeforeOnePacketWaits,
            Window::None | Window::Fixed => Answers::Any,
        }
    }

    fn notification(&self) -> Option<NotificationSpec> {
        let own = &self.notifying;
        Some(NotificationSpec {
            interval: own.cnp_interval,
            limited_by: own.cnp_limit,
            in_acknowledgements: own.cnp == Carrier::InAcknowledgement,
            class: own.cnp_dscp >> 3,
        })
    }

    fn on_line(self, line: u64) -> Dcqcn {
        Dcqcn {
            reaction: self.reaction.on_line(line),
            ..self
        }
    }

    fn start(&self, line: u64, now: Instant) -> Flow {
        self.reaction.start(line, now)
    }

    fn rate(&self, flow: &mut Flow, now: Instant) -> u64 {
        self.reaction.catch_up(flow, now);
        flow.rate
    }

    fn next_change(&self, flow: &Flow) -> Instant {
        self.reaction.next_change(flow)
    }

    fn sent(&self, flow: &mut Flow, frame_bytes: u64) {
        let Some(every) = self.reaction.increase_bytes else {
            return;
        };
        flow.bytes += frame_bytes;
        if flow.bytes >= every.count() {
            flow.bytes -= every.count();
            self.reaction.increase(flow);
            flow.byte_stage += 1;
        }
    }

    fn notified(&self, flow: &mut Flow, first: bool, now: Instant) {
        self.reaction.notified(flow, first, now);
    }

    fn window(&self, flow: &Flow, payload: u64) -> u32 {
        match self.reaction.window {
            Window::None => u32::MAX,
            Window::Fixed => self.reaction.window_packets(flow.line, payload),
            Window::Scaled => self.reaction.window_packets(flow.rate, payload),
        }
    }

    fn line_window(&self, line: u64, payload: u64) -> u32 {
        match self.reaction.window {
            Window::None => u32::MAX,
            Window::Fixed | Window::Scaled => self.reaction.window_packets(line, payload),
        }
    }

    /// The window is that of the rate which timers have come to by now.
    fn acknowledged(&self, flow: &mut Flow, feedback: &Feedback<'_>) {
        if self.reaction.window != Window::None {
            self.reaction.catch_up(flow, feedback.now);
        }
    }

    fn is_over(&self, flow: &Flow) -> bool {
        flow.rate == flow.line && flow.target == flow.line && !flow.decrease_notified
    }
}

impl Reaction {
    fn start(&self, line: u64, now: Instant) -> Flow {
        let rate = self.first_rate.map_or(line, Rate::bits_per_second);
        let rate = rate.min(line);
        let interval = self.decrease_interval.unwrap_or_default();
        Flow {
            rate,
            target: rate,
            line,
            bytes: 0,
            next_alpha: now + self.alpha_interval,
            next_decrease: now + interval,
            next_increase: now + self.increase_interval,
            alpha: (u64::from(self.alpha_initial) * ONE / u64::from(PARTS)) as u32,
            time_stage: 0,
            byte_stage: 0,
            alpha_notified: false,
            decrease_notified: false,
        }
    }

    fn notified(&self, flow: &mut Flow, first: bool, now: Instant) {
        self.catch_up(flow, now);
        if self.decrease_interval.is_some() {
            flow.alpha_notified = !first;
            // A rate of its own is what the first notification does.
            flow.decrease_notified = !first || self.first_rate.is_none();
        } else if !first || self.first_rate.is_none() {
            self.decrease(flow, now);
            flow.alpha_notified = true;
            self.step_alpha(flow);
            flow.next_alpha = now + self.alpha_interval;
        }
    }
}

#[cfg(test)]
mod tests;
