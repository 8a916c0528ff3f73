//! `fabric.source_flow_control`: what switches tell senders whose packets wait in a long queue.

use tenter_net::{
    Limit, PlaceOfSignals, SignalMode, SignalSpec, SwitchSpec, Switches, UNLIMITED_POOL,
};
use tenter_units::Bytes;

use tenter_config::Presence::{Default, Depends};
use tenter_config::{Key, KeyTable, key};
use tenter_notation::decode::{Read, Section};
use tenter_notation::diagnostics::{Location, Problems};
use tenter_notation::tree::Node;

const SOURCE_FLOW_CONTROL: KeyTable = KeyTable {
    title: "`fabric.source_flow_control`",
    keys: &[
        key(
            "mode",
            "`none`, `remote-pfc` or `nic`",
            Default("none"),
        "Whether a switch tells senders whose packets come for a long queue: not at all; by a signal that the sender's leaf turns into a pause frame for the class; or by a signal that its NIC obeys, for its queue pairs to that receiver alone; with `none` the other keys do nothing",
        ),
        key(
            "threshold",
            "size",
            Default("100KB"),
            "A signal is sent when a data packet arrives for a queue that holds this many frame bytes or more",
        )
        .from("Remote Priority Flow Control (OCP Summit 2021)"),
        key(
            "target",
            "size",
            Depends("half of `threshold`"),
            "The pause is as long as the queue takes down to here, at the rate of its port; less than `threshold`",
        )
        .from("assumed: no source gives the pause time"),
        key(
            "at",
            "`last-hop` or `any`",
            Default("last-hop"),
            "Which queues are looked at: those in front of hosts, or all of them",
        )
        .from("Remote Priority Flow Control (OCP Summit 2021): the destination's top-of-rack switch"),
        key(
            "class",
            "1 to 7",
            Default("7"),
            "The class of the signals, for which every switch gets a strict queue that never drops; above all classes of the data and of the switches",
        ),
        key(
            "cache_entries",
            "0 to 1048576",
            Default("1024"),
            "Pairs of receiver and class that a source leaf remembers, to pause its other senders to that receiver at once; 0 for none",
        )
        .from("assumed: no source gives the size"),
        key(
            "repeat",
            "`when-longer` or `after-pause`",
            Default("when-longer"),
            "When a sender is told again: also before its pause has passed, if the queue has grown so much that the pause is too short by what the queue takes from `threshold` to `target`; or after it only",
        )
        .from("assumed: the first pause is from when the queue passed the threshold, and the queue grows for a round trip after that"),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 1] = [&SOURCE_FLOW_CONTROL];

/// How `fabric` names this section.
pub(crate) const KEY: Key = key(
    "source_flow_control",
    "mapping",
    Default("{}"),
    "What switches tell senders of long queues: Remote PFC, or source flow control in the NIC; it goes with any `flow_control`",
);

/// No threshold is larger.
const SIZE_MAX: u64 = 1 << 30;

/// The section, read.
#[derive(Clone, Copy)]
pub(crate) struct SignalDraft {
    spec: SignalSpec,
    at: Option<Location>,
    class_at: Option<Location>,
}

/// Reads the section out of `fabric`: what signals there are, if any.
pub(crate) fn read(fabric: &mut Section<'_>) -> Read<Option<SignalDraft>> {
    let mut own = fabric.section(KEY.name, &SOURCE_FLOW_CONTROL)?;
    let modes = [
        ("none", None),
        ("remote-pfc", Some(SignalMode::RemotePfc)),
        ("nic", Some(SignalMode::Nic)),
    ];
    let mode = own.choice("mode", &modes);
    let draft = read_signals(&mut own);
    fabric.put(KEY.name, own.finish());
    let (mode, mut draft) = (mode?, draft?);
    let Some(mode) = mode else {
        // The usual: it need not be said.
        fabric.drop_key(KEY.name);
        return Some(None);
    };
    draft.spec.mode = mode;
    Some(Some(draft))
}

/// Reads what there is beside the mode.
fn read_signals(own: &mut Section<'_>) -> Read<SignalDraft> {
    let at = own.at();
    let threshold = own.take("threshold");
    let threshold = threshold.and_then(|field| field.size(&(1..=SIZE_MAX)));
    let target_at = own.place("target");
    let target = own.optional("target", |field| field.size(&(0..=SIZE_MAX)));
    let places = [
        ("last-hop", PlaceOfSignals::LastHop),
        ("any", PlaceOfSignals::Any),
    ];
    let place = own.choice("at", &places);
    let class_at = own.place("class");
    let class = own.integer::<u8>("class", 1..=7);
    let cache_entries = own.integer::<u32>("cache_entries", 0..=1 << 20);
    let renews = own.choice("repeat", &[("when-longer", true), ("after-pause", false)]);
    let threshold = threshold?;
    let target = target?.unwrap_or(threshold / 2);
    own.put("target", Node::plain(Bytes::new(target).to_string()));
    if target >= threshold {
        let what = format!(
            "is {target} bytes, and the threshold {threshold}: a queue that has just reached it would have nothing to drain"
        );
        own.problem_of(
            "target",
            target_at.or(at),
            &what,
            "give less than `threshold`",
        );
        return None;
    }
    Some(SignalDraft {
        spec: SignalSpec {
            mode: SignalMode::RemotePfc,
            place: place?,
            threshold_bytes: threshold,
            target_bytes: target,
            class: class?,
            cache_entries: cache_entries?,
            renews: renews?,
        },
        at,
        class_at: class_at.or(at),
    })
}

/// What the section is checked with.
pub(crate) struct Around<'a> {
    /// The classes of all packets that NICs send.
    pub(crate) used: Vec<u8>,
    pub(crate) scheduled: bool,
    pub(crate) by_credit: bool,
    pub(crate) problems: &'a Problems,
    pub(crate) warnings: &'a Problems,
}

impl SignalDraft {
    /// The signals, for which all switches get the class, where they can work.
    pub(crate) fn complete(self, switches: &mut Switches, around: &Around<'_>) -> Read<SignalSpec> {
        let name = self.spec.mode_name();
        let refuse = |at, what: String, help: &str| {
            around.problems.push(at, what, Some(help.to_owned()));
        };
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
            refuse(self.at, message, help);
            return None;
        }
        let class = self.spec.class;
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
            refuse(self.class_at, message, help);
            return None;
        }
        self.warn_of_capacity(switches, around);
        switches.add_class_for_signals(class);
        Some(self.spec)
    }

    /// A queue that never gets as long as the threshold signals nothing.
    fn warn_of_capacity(&self, switches: &Switches, around: &Around<'_>) {
        let most = |spec: &SwitchSpec| {
            let classes = spec.classes.iter();
            let lossy = classes.filter(|class| class.lossless.is_none());
            let most = lossy.map(|class| match class.limit {
                Limit::Static(bytes) => bytes.saturating_add(class.reserved_bytes),
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
            around
                .warnings
                .push(self.at, message, Some(help.to_owned()));
        }
    }
}
