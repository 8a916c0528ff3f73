//! DCQCN: each congestion notification lowers a queue pair's rate; time and sent bytes raise it.
//!
//! Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (2015), and "DCQCN CC
//! parameters" (NVIDIA), the parameters of NICs that implement it. The reaction point is that of
//! quantized congestion notification (IEEE 802.1Qau), with an estimate of congestion, alpha, added.

use tenter_language::config::{
    Component, Key, KeyTable, Reader, Words as _, Written, choice, component, joined,
};
use tenter_language::units::{Bytes, Instant, Rate, Time};

use super::{Answers, Control, Feedback, Link, RATES, SECOND, TICK_MIN, part_of};
use crate::notification::{LimitedBy, NotificationSpec};

/// Fixed-point unit of alpha: alpha is counted in 2⁻³⁰.
const ONE: u64 = 1 << 30;
/// Unit of the keys `gain` and `alpha_initial`, which are given in 1024ths, as NICs have them.
pub const PARTS: u16 = 1024;
/// Upper bound of the byte counter's threshold.
const BYTES_MAX: Bytes = Bytes::new(1 << 40);

/// DCQCN: how receivers notify, and how senders react.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dcqcn {
    /// The notification point, at receivers.
    pub notifying: Notifying,
    /// The reaction point, at senders. It has no effect if senders do not react.
    pub reaction: Reaction,
}

component! {
    /// The notification point: what carries notifications, and how often.
    pub struct Notifying, derive(Clone, Copy, Debug, PartialEq, Eq) {
        fill notifying_of_preset;
        /// Origin of the values of all other keys; `tester` sends notifications and does not react
        /// to them.
        preset: Preset = "nvidia", from "what is in use; the page of the model has the origin of every constant";
        /// `true` slows senders down when they are notified; the keys from `gain` on are for those
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
        /// `true` always lowers the target to the rate before the cut; with `false` it falls only
        /// where the rate has risen since it fell last.
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

/// Source from which the constants are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Defaults of NVIDIA's `ConnectX-4` and later.
    Nvidia,
    /// Port model of the KAI Data Center Builder (Keysight).
    Kai,
    /// Example configuration of HPCC's simulator.
    Hpcc,
    /// The DCQCN paper, "Congestion Control for Large-Scale RDMA Deployments" (2015).
    Paper2015,
    /// Ports of a traffic tester: they notify and do not react.
    Tester,
}

choice!(Preset {
    "nvidia" => Nvidia,
    "kai" => Kai,
    "hpcc" => Hpcc,
    "paper-2015" => Paper2015,
    "tester" => Tester,
});

/// Carrier by which congestion notifications reach the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A congestion notification packet (CNP) of its own.
    Packet,
    /// A flag in the next acknowledgement or NAK of the queue pair.
    InAcknowledgement,
}

choice!(Carrier { "packet" => Packet, "in-acknowledgement" => InAcknowledgement });

/// Window beside the rate. The simulator of "HPCC: High Precision Congestion Control" has one for
/// each of its congestion controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// No window: the rate alone limits the bytes in flight.
    None,
    /// Bytes that the line carries in the base round trip.
    Fixed,
    /// Bytes that the current rate carries in the base round trip.
    Scaled,
}

choice!(Window { "none" => None, "fixed" => Fixed, "scaled" => Scaled });

/// Fills keys of the notification point that the scenario leaves out from its preset.
fn notifying_of_preset(reader: &mut dyn Reader) {
    // An unknown preset is reported once, when `preset` itself is read.
    let Some(preset) = preset_of(reader) else {
        return;
    };
    for (key, value) in Component::written(&preset.notifying()) {
        if key != "preset" {
            reader.fill(key, value);
        }
    }
}

/// Returns the preset in the scenario or the default one, or `None` if its name is unknown.
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
        // Read both points even if one has errors, so that the user sees all problems at once. The
        // keys `preset` and `reaction` are peeked for the same reason: they decide which keys are
        // legal.
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
                // The value is consumed as well as refused: an unread key would be reported a
                // second time, as unknown.
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

    /// Omits the reaction keys that equal the preset if senders do not react. Any others are kept,
    /// so that reading the text back refuses them.
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

/// Effect of a single notification on a flow at line rate, as an estimate: no further notification
/// follows, and the flow sends no bytes that its byte counter would count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Lowest rate as a share of the line rate, 0 to 1.
    pub share: f64,
    /// Time until the rate is back at 90 % of the line rate.
    pub nearly_after: Time,
    /// Time until the rate is back at the line rate.
    pub line_after: Time,
}

impl Dcqcn {
    /// Returns a flow that was just cut from its line rate to `rate`, in bits per second.
    #[cfg(test)]
    pub(super) fn cut_to(&self, rate: u64, line: Rate) -> Flow {
        Flow {
            rate,
            ..self.reaction.start(line.bits_per_second(), Instant::START)
        }
    }

    /// Computes how a flow recovers from one notification on a line. Returns `None` if senders do
    /// not react, or if recovery takes more than a million timer steps.
    pub fn recovery(&self, line: Rate) -> Option<Cut> {
        const STEPS_MAX: u32 = 1_000_000;
        if !self.notifying.reacts {
            return None;
        }
        let bps = line.bits_per_second();
        let control = Dcqcn {
            reaction: self.reaction.on_line(bps),
            ..*self
        };
        let mut flow = control.reaction.start(bps, Instant::START);
        control.notified(&mut flow, true, Instant::START);
        let mut share = flow.rate;
        let mut nearly_after = None;
        for _ in 0..STEPS_MAX {
            let change = control.reaction.next_change(&flow);
            if change.is_never() {
                break;
            }
            // Timers act strictly after their instant, so catch up to one picosecond after it.
            control.reaction.catch_up(&mut flow, change + Time::LEAST);
            share = share.min(flow.rate);
            let after = change.saturating_since(Instant::START);
            // A rate above 90 % does not count while a cut is still pending: it has not fallen yet.
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
    /// Returns the packets that may be unacknowledged at `rate` on a line of rate `line`, in bits
    /// per second, at least one. A packet may leave while less payload than the window is in
    /// flight, so the count is rounded up.
    fn window_at(&self, rate: u64, line: u64, link: &Link) -> super::Window {
        let rate = match self.window {
            Window::None => return super::Window::OPEN,
            Window::Fixed => line,
            Window::Scaled => rate,
        };
        let base_round_trip = self.base_round_trip.unwrap_or_default();
        let bytes = part_of(rate, base_round_trip.ps(), 8 * SECOND.ps());
        let packets = bytes.div_ceil(link.payload.max(1)).max(1);
        super::Window::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
    }
}

/// Returns a rate in Mb/s.
const fn mbps(rate: u64) -> Rate {
    Rate::from_bits_per_second(rate * 1_000_000)
}

/// CNP class of NVIDIA's NICs: DSCP 48, priority 6 (`CNP_DSCP`, `CNP_802P_PRIO`).
const CNP_DSCP: u8 = 48;

/// Defaults of `ConnectX-4` and later, from "DCQCN CC parameters" (NVIDIA): `DCE_TCP_G` 1019,
/// `INITIAL_ALPHA_VALUE` 1023, `DCE_TCP_RTT` 1 us, `RATE_REDUCE_MONITOR_PERIOD` 4 us,
/// `RATE_TO_SET_ON_FIRST_CNP` 0, `RPG_MIN_DEC_FAC` 50, `RPG_MIN_RATE` 1, `CLAMP_TGT_RATE` false
/// with `CLAMP_TGT_RATE_AFTER_TIME_INC` true, `RPG_TIME_RESET` 300 us, `RPG_BYTE_RESET` 32767 (in
/// 64-byte units, as in the KAI Data Center Builder), `RPG_THRESHOLD` 1, `RPG_AI_RATE` 5,
/// `RPG_HAI_RATE` 50, `MIN_TIME_BETWEEN_CNPS` 4 us.
const NVIDIA: Reaction = Reaction {
    // NVIDIA's `DCE_TCP_G` is the share of alpha that stays, 1 - g.
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

/// Port model of the KAI Data Center Builder (Keysight): NVIDIA's values, except that alpha and
/// rate change every 21 us and that the first notification sets 10 Gb/s. Receivers notify every 4
/// us.
const KAI: Reaction = Reaction {
    alpha_interval: Time::from_us(21),
    decrease_interval: Some(Time::from_us(21)),
    first_rate: Some(Rate::from_gbps(10)),
    ..NVIDIA
};

/// Example configuration in the simulator for "HPCC: High Precision Congestion Control": gain
/// 1/256; alpha starts at 1 and falls every 1 us; the rate falls every 4 us at most and rises every
/// 900 us by 50 or 100 Mb/s at 100G; minimum 100 Mb/s; no byte counter. The simulator's receivers
/// notify with each acknowledgement, which means once per mark.
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

/// Values from the DCQCN paper: gain 1/256; alpha starts at 1 and falls every 55 us; the rate falls
/// with each notification (sent every 50 us) and rises every 55 us and every 10 MB, five times by
/// half the distance to the target, then by 40 Mb/s. The paper states neither hyper increase nor
/// minimum rate: ten times the additive increase and 10 Mb/s are assumed.
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
    /// Returns the preset for both points.
    pub fn of_both(self) -> Dcqcn {
        Dcqcn {
            notifying: self.notifying(),
            reaction: self.reaction(),
        }
    }

    /// Returns the preset's notification point. `tester` stands for a traffic tester's ports as in
    /// AI Fabric Test Methodology (Keysight): they notify every 55 us, the port model's default,
    /// and do not react.
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

    /// Returns the preset's reaction point. `tester` has NVIDIA's, which is without effect unless
    /// the scenario sets `reaction: true`.
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
    /// Scales minimum rate and increases from `scale_from` to a line of `line` bits per second.
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

/// State of a limited queue pair. Rates are in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    rate: u64,
    target: u64,
    line: u64,
    /// Frame bytes sent since the byte counter last expired.
    bytes: u64,
    next_alpha: Instant,
    next_decrease: Instant,
    next_increase: Instant,
    /// Estimate of congestion, in units of 1/[`ONE`].
    alpha: u32,
    /// Expiries of the timer since the last cut.
    time_stage: u32,
    /// Expiries of the byte counter since the last cut.
    byte_stage: u32,
    /// Set if a notification arrived since alpha was last updated.
    alpha_notified: bool,
    /// Set if a notification arrived since the rate was last cut.
    decrease_notified: bool,
}

/// Returns the number of instants `next`, `next + interval`, … that lie before `until`.
fn ticks_before(next: Instant, interval: Time, until: Instant) -> u64 {
    until.saturating_since(next).ps().div_ceil(interval.ps())
}

impl Reaction {
    /// Updates alpha at each of its timer's instants before `until`.
    fn update_alpha(&self, flow: &mut Flow, until: Instant) {
        let ticks = ticks_before(flow.next_alpha, self.alpha_interval, until);
        flow.next_alpha += self.alpha_interval * ticks;
        for _ in 0..ticks {
            // Alpha has decayed to zero and stays there until the next notification: skip the
            // remaining steps, which may be millions after a long idle time.
            if flow.alpha == 0 && !flow.alpha_notified {
                break;
            }
            self.step_alpha(flow);
        }
    }

    /// Decays alpha by one step, and raises it if a notification arrived since the last one.
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

    /// Cuts the rate at `now` and restarts timer and byte counter.
    fn decrease(&self, flow: &mut Flow, now: Instant) {
        // The target remembers the rate before the cut. Several cuts in a row, without a rise
        // between them, must not lower it further, or fast recovery would have nowhere to return
        // to.
        if self.clamp_target || flow.time_stage > 0 || flow.byte_stage > 0 {
            flow.target = flow.rate;
        }
        let half = part_of(flow.rate, u64::from(flow.alpha), 2 * ONE);
        let most = part_of(flow.rate, u64::from(self.decrease_max_percent), 100);
        // A key may set a minimum above the present rate, for example on a slow line; a cut must
        // never raise the rate.
        let min = self.min_rate.bits_per_second().min(flow.rate);
        flow.rate = (flow.rate - half.min(most)).max(min);
        flow.decrease_notified = false;
        flow.time_stage = 0;
        flow.byte_stage = 0;
        flow.bytes = 0;
        flow.next_increase = now + self.increase_interval;
    }

    /// Raises target and rate by one step. The stages of timer and byte counter decide which: fast
    /// recovery, additive or hyper increase.
    fn increase(&self, flow: &mut Flow) {
        // Without a byte counter the timer stands in for it, so that hyper increase remains
        // reachable.
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
        // Round up: rounding down would stop one bit per second short of the target for ever.
        flow.rate = (flow.rate + flow.target).div_ceil(2);
    }

    /// Raises the rate at each timer instant before `until`.
    fn increase_in_time(&self, flow: &mut Flow, until: Instant) {
        let ticks = ticks_before(flow.next_increase, self.increase_interval, until);
        flow.next_increase += self.increase_interval * ticks;
        for _ in 0..ticks {
            // At line rate nothing changes any more: skip the remaining ticks.
            if flow.rate == flow.line && flow.target == flow.line {
                break;
            }
            self.increase(flow);
            flow.time_stage += 1;
        }
    }

    /// Returns the instant after which a timer next changes the rate, if no further notification
    /// comes.
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

    /// Carries out all timers due before `now`. At equal times alpha comes first, then cuts, then
    /// rises. Timers due at exactly `now` wait: the event that calls this comes before them.
    fn catch_up(&self, flow: &mut Flow, now: Instant) {
        if let Some(interval) = self.decrease_interval {
            // A cut needs a notification and clears it, so at most one can be due however much time
            // has passed.
            if flow.decrease_notified && flow.next_decrease < now {
                let at = flow.next_decrease;
                self.update_alpha(flow, at + Time::LEAST);
                // Rises before the cut come first; one at the same instant comes after it, and the
                // cut restarts its timer.
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

    /// A fixed window is checked elsewhere, against the line rates, once these are known.
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

    fn on_link(self, link: &Link) -> Dcqcn {
        Dcqcn {
            reaction: self.reaction.on_line(link.line),
            ..self
        }
    }

    fn start(&self, link: &Link, now: Instant) -> Flow {
        self.reaction.start(link.line, now)
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

    fn window(&self, flow: &Flow, link: &Link) -> super::Window {
        self.reaction.window_at(flow.rate, flow.line, link)
    }

    fn line_window(&self, link: &Link) -> super::Window {
        self.reaction.window_at(link.line, link.line, link)
    }

    /// Catches up on timers, so that a scaled window follows the present rate.
    fn acknowledged(&self, flow: &mut Flow, _: &Link, feedback: &Feedback<'_>) {
        if self.reaction.window != Window::None {
            self.reaction.catch_up(flow, feedback.now);
        }
    }

    fn is_over(&self, flow: &Flow) -> bool {
        flow.rate == flow.line && flow.target == flow.line && !flow.decrease_notified
    }
}

impl Reaction {
    /// Creates the state of a queue pair that is notified for the first time.
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

    /// Handles a notification at `now`; `first` is set if it is the one that created the state.
    fn notified(&self, flow: &mut Flow, first: bool, now: Instant) {
        self.catch_up(flow, now);
        if self.decrease_interval.is_some() {
            // Alpha starts at its initial value, which already accounts for the first notification.
            flow.alpha_notified = !first;
            // With `first_rate` the first notification has set the rate already, so there is no cut
            // as well.
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
