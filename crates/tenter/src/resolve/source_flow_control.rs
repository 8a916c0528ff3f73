//! `fabric.source_flow_control`: switches' signals to senders whose packets wait in a long queue.

use tenter_fabric::net::{
    Limit, PlaceOfSignals, SignalMode, SignalSpec, SwitchSpec, Switches, UNLIMITED_POOL,
};
use tenter_language::units::Bytes;

use tenter_language::config::{Reader, choice, component, default_of};
use tenter_language::notation::decode::Read;
use tenter_language::notation::diagnostics::Problems;

component! {
    /// Signals by which switches tell senders of long queues.
    pub struct SourceFlowControl as "`fabric.source_flow_control`", derive(Clone, Debug, PartialEq) {
        /// Signals of a switch to senders whose packets come for a long queue: none; by a signal
        /// that the sender's leaf turns into a pause frame for the class; or by a signal that the
        /// sender's NIC applies to its queue pairs to that receiver alone. With `none` the other
        /// keys do nothing.
        mode: Option<SignalMode> = "none";
        /// A signal is sent when a data packet arrives for a queue that holds this many frame bytes
        /// or more.
        threshold: Bytes = "100kB", in Bytes::new(1)..=SIZE_MAX, from "Remote Priority Flow Control (OCP Summit 2021)";
        /// The pause is as long as the queue takes down to here, at the rate of its port; less than
        /// `threshold`.
        target: Bytes = by half | threshold | "half of `threshold`", in Bytes::new(0)..=SIZE_MAX, from "assumed: no source gives the pause time";
        /// The queues that send signals: those in front of hosts, or all of them.
        at: PlaceOfSignals = "last-hop", from "Remote Priority Flow Control (OCP Summit 2021): the destination's top-of-rack switch";
        /// The class of the signals, for which every switch gets a strict queue that never drops;
        /// above all classes of the data and of the switches.
        class: u8 = "7", in 1..=7;
        /// Pairs of receiver and class that a source leaf remembers, to pause its other senders to
        /// that receiver at once; 0 for none.
        cache_entries: u32 = "1024", in 0..=1 << 20, from "assumed: no source gives the size";
        /// When a sender gets another signal: also before its pause has passed, if the queue has
        /// grown so much that the pause is too short by the time from `threshold` to `target`
        /// (`when-longer`); or only after it (`after-pause`).
        repeat: Repeat = "when-longer", from "assumed: the first pause is from when the queue passed the threshold, and the queue grows for a round trip after that";
        check queues_have_something_to_drain;
    }
}

/// Condition for another signal to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Also before its pause has passed, if that has become too short.
    WhenLonger,
    /// Only when its pause has passed.
    AfterPause,
}

choice!(Repeat { "when-longer" => WhenLonger, "after-pause" => AfterPause });

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "defaults are made from references"
)]
fn half(threshold: &Bytes) -> Bytes {
    Bytes::new(threshold.count() / 2)
}

fn queues_have_something_to_drain(own: &SourceFlowControl, reader: &mut dyn Reader) -> bool {
    let (target, threshold) = (own.target.count(), own.threshold.count());
    if target >= threshold {
        let what = format!(
            "is {target} bytes, and the threshold {threshold}: a queue that has just reached it would have nothing to drain"
        );
        reader.refuse("target", &what, "give less than `threshold`");
    }
    target < threshold
}

/// The section's path in a scenario.
const PATH: &str = "fabric.source_flow_control";

/// Upper limit for both thresholds: 1 GiB.
const SIZE_MAX: Bytes = Bytes::new(1 << 30);

/// Signals as the section describes them, before the switches have their class.
pub(crate) struct SignalDraft {
    spec: SignalSpec,
}

impl SourceFlowControl {
    /// Returns the signals, unless `mode` is `none`.
    pub(crate) fn signals(&self) -> Option<SignalDraft> {
        let spec = SignalSpec {
            mode: self.mode?,
            place: self.at,
            threshold_bytes: self.threshold.count(),
            target_bytes: self.target.count(),
            class: self.class,
            cache_entries: self.cache_entries,
            renews: self.repeat == Repeat::WhenLonger,
        };
        Some(SignalDraft { spec })
    }
}

/// No signals; `target` follows from `threshold`, so no plain values would do.
impl Default for SourceFlowControl {
    fn default() -> SourceFlowControl {
        default_of()
    }
}

/// Inputs that the checks need.
pub(crate) struct Around<'a> {
    /// All packet classes that NICs send.
    pub(crate) used: Vec<u8>,
    pub(crate) scheduled: bool,
    pub(crate) by_credit: bool,
    pub(crate) problems: &'a Problems,
    pub(crate) warnings: &'a Problems,
}

impl SignalDraft {
    /// Gives all switches a class for signals, and returns these; refuses fabrics in which they
    /// cannot work.
    pub(crate) fn complete(self, switches: &mut Switches, around: &Around<'_>) -> Read<SignalSpec> {
        let name = self.spec.mode_name();
        let refuse = |path: &str, what: String, help: &str| around.problems.note(path, what, help);
        if around.scheduled || around.by_credit {
            let (what, why) = if around.scheduled {
                (
                    "scheduled",
                    "packets wait at their source until their destination grants credit, so no queue grows at the last hop",
                )
            } else {
                (
                    "credit-based",
                    "nobody is paused: a frame is sent when the next switch has room for it",
                )
            };
            let message = format!(
                "`fabric.source_flow_control` cannot be `{name}` in a {what} fabric: {why}"
            );
            let help = "leave it out, or use `fabric.switching: {kind: output-queued}`";
            refuse(PATH, message, help);
            return None;
        }
        let class = self.spec.class;
        // Signals must overtake the queues that they report, in every switch.
        let taken = switches.highest_class(around.used.iter().copied());
        if let Some(taken) = taken.filter(|&taken| taken >= class) {
            let message = format!(
                "`fabric.source_flow_control.class` is {class}, but class {taken} is in use: signals need a class of their own above all others"
            );
            let help = if taken < 7 {
                "give a higher one"
            } else {
                "give packets and `fabric.switch.classes` classes below 7"
            };
            refuse(&format!("{PATH}.class"), message, help);
            return None;
        }
        self.warn_of_capacity(switches, around);
        switches.add_class_for_signals(class);
        Some(self.spec)
    }

    /// Warns if no queue can reach the threshold, so that no signal is ever sent.
    fn warn_of_capacity(&self, switches: &Switches, around: &Around<'_>) {
        let most = |spec: &SwitchSpec| {
            let classes = spec.classes.iter();
            // Lossless classes are left out: their queues are bounded by pauses, not by `limit`.
            let lossy = classes.filter(|class| class.lossless.is_none());
            let most = lossy.map(|class| match class.limit {
                Limit::Static(bytes) | Limit::AtRate { bytes, .. } => {
                    bytes.saturating_add(class.reserved_bytes)
                }
                Limit::Dynamic { .. } | Limit::Levels(_) => UNLIMITED_POOL,
            });
            most.max().unwrap_or(UNLIMITED_POOL)
        };
        let most = switches.iter().map(most).max().unwrap_or(UNLIMITED_POOL);
        if most < self.spec.threshold_bytes {
            let message = format!(
                "`fabric.source_flow_control` has no effect: no queue holds more than {most} bytes, and the threshold is {}",
                self.spec.threshold_bytes
            );
            let help = "give a lower `threshold`, or a larger `queue_capacity` or `limit`";
            around.warnings.note(PATH, message, help);
        }
    }
}
