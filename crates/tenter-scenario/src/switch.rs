//! The `fabric.switch` section: forwarding, buffer and classes, with the device profile behind
//! them.

use tenter_net::load_balancing::LoadBalancing;
use tenter_net::{
    BufferSharing, ClassSpec, Forwarding, Scheduling, SwitchSpec, UNLIMITED_POOL, WatchdogSpec,
};
use tenter_units::{Bytes, Time};

use crate::classes::{self, Around, CAPACITY_MAX, ClassDraft, Turn};
use crate::profiles::{self, Profile};
use crate::switching::credit;
use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{Component, KeyTable, Value as _, key};
use tenter_notation::decode::{Field, Read, Section};
use tenter_notation::diagnostics::{Location, Problems, quote};
use tenter_notation::tree::{Entry, Node, Value};
use tenter_plan::Device;

const SWITCH: KeyTable = KeyTable {
    title: "`fabric.switch`",
    keys: &[
        key(
            "profile",
            "`none`, `tomahawk5`, `tomahawk5-sonic`, `tofino2`, `generic-32mb`, `jericho3-ramon3` or `quantum2`",
            Depends("`none`; with `flow_control` `generic-32mb`, or `jericho3-ramon3` if the fabric is scheduled"),
            "The device whose constants hold for what is left out here and in `classes`; the folder `profiles/` says where each comes from",
        ),
        key(
            "forwarding",
            "`cut-through` or `store-and-forward`",
            Default("cut-through"),
            "Whether a frame may leave before all of it has come in; a frame from a slower input is always stored first",
        )
        .from("usual in low-latency Ethernet switches"),
        key(
            "pipeline_latency",
            "time",
            Default("600ns"),
            "From the input to the output of an idle switch, without the frame time of store-and-forward; half of it before the output queue, half after",
        )
        .from("published figures of comparable switch chips are 300 to 800 ns a hop; AI Fabric Test Methodology (Keysight) measures 795 ns through one ToR and about 2.1 us through three switches with frames of 4,158 bytes"),
        key(
            "buffer",
            "mapping or `none`",
            Default("none"),
            "The buffer that all ports share; without one each queue has `queue_capacity` of its own",
        ),
        key(
            "queue_capacity",
            "size or `none`",
            Depends("`64MiB` without `buffer`"),
            "Frame bytes one output queue holds before it drops the tail; `none` never drops",
        )
        .from("what one queue of a 51.2 Tb/s switch chip can take of its 165-MB shared buffer with alpha = 1, rounded down"),
        key(
            "classes",
            "list",
            Depends("one for everything; with `flow_control` that of the data"),
            "What becomes of each traffic class",
        ),
        key(
            "pause_response",
            "`standard` or time",
            Default("standard"),
            "How long after a pause frame has arrived a port, of a switch or a NIC, may still start frames of the class; `standard` is what its rate allows, `0s` stops it at once",
        )
        .from("IEEE 802.3, Annex 31B, as SONiC's headroom calculation tabulates it"),
        key(
            "pfc_watchdog",
            "",
            Default("none"),
            "What frees queues of lossless classes that stay paused",
        )
        .typed(|| Option::<WatchdogSpec>::shape(())),
        key(
            "tiers",
            "list",
            Default("[]"),
            "Tiers whose switches are not like the others, for example with deeper buffers",
        ),
    ],
};

const BUFFER: KeyTable = KeyTable {
    title: "`fabric.switch.buffer`",
    keys: &[
        key(
            "size",
            "size",
            Required,
            "The whole buffer of a switch: what is reserved, all headroom and all pools",
        ),
        key(
            "pools",
            "list",
            Default("[]"),
            "The parts that are shared; without any, one called `shared` of all that is neither reserved nor headroom in the switch that needs most of both",
        ),
        key(
            "headroom_pool",
            "size or `none`",
            Default("none"),
            "Headroom that all ports share: a port has no more than its own, and all together no more than this; with `none` each port has all of its own",
        ),
        key(
            "partitions",
            "1 to 64",
            Default("1"),
            "Into how many equal parts pools and shared headroom are divided; neighbouring ports take space from the same part",
        ),
    ],
};

const POOL: KeyTable = KeyTable {
    title: "`fabric.switch.buffer.pools[]`",
    keys: &[
        key("name", "text", Required, "A name no other pool has"),
        key("size", "size", Required, "How much of the buffer it is"),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 4] = [&SWITCH, &BUFFER, &POOL, &WatchdogSpec::TABLE];

/// No switch is slower.
const SECOND: Time = Time::from_us(1_000_000);
/// What a queue of a switch without a shared buffer holds.
const QUEUE_CAPACITY: &str = "64MiB";
/// As many as there are classes.
const POOLS_MAX: usize = tenter_net::CLASSES;
/// The pool of a buffer that is not divided.
const SHARED: &str = "shared";

/// What `fabric.flow_control` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowControl {
    pub(crate) pfc: bool,
    pub(crate) ecn: bool,
}

/// A shared buffer, read.
#[derive(Clone, Debug)]
pub(crate) struct BufferDraft {
    pub(crate) size: u64,
    pub(crate) at: Option<Location>,
    /// Names of the pools, at least one.
    pub(crate) names: Vec<String>,
    /// Their sizes; `None` for one of what is left.
    pub(crate) pools: Option<Vec<u64>>,
    pub(crate) sharing: BufferSharing,
}

/// The switch model, read; what depends on topology and endpoints is not known yet.
pub(crate) struct SwitchDraft {
    forwarding: Forwarding,
    pipeline_latency: Time,
    profile: Profile,
    pub(crate) buffer: Option<BufferDraft>,
    /// What a queue holds where there is no shared buffer.
    pub(crate) queue_capacity: u64,
    pub(crate) queue_capacity_at: Option<Location>,
    /// The classes that were listed.
    classes: Option<Vec<ClassDraft>>,
    /// The PFC watchdog of all switches.
    pub(crate) watchdog: Option<WatchdogSpec>,
    /// How long all ports take to obey a pause, unless that is what their rate allows.
    pub(crate) pause_response: Option<Time>,
    flow_control: FlowControl,
    flow_control_at: Option<Location>,
    /// Where it is described, for what is wrong with the whole of it.
    pub(crate) at: Option<Location>,
    /// The path of its section.
    pub(crate) path: String,
}

/// What `flow_control` says, if that could be read, and where.
pub(crate) struct Controls {
    asked: Read<FlowControl>,
    at: Option<Location>,
}

/// Reads `switch` out of `fabric`, and `flow_control`, which is a short form of parts of it.
/// `read_tiers` reads the tiers that are not like the others, after all else.
pub(crate) fn read<T>(
    fabric: &mut Section<'_>,
    (scheduled, by_credit): (bool, bool),
    read_tiers: impl FnOnce(&mut Section<'_>, &Controls) -> Read<Vec<T>>,
) -> Option<(SwitchDraft, Vec<T>)> {
    let words = [(false, false), (true, false), (false, true), (true, true)];
    let words = words.map(|(pfc, ecn)| FlowControl { pfc, ecn });
    let names = ["none", "pfc", "ecn", "pfc+ecn"];
    let choices: Vec<_> = names.into_iter().zip(words).collect();
    let asked = fabric.take("flow_control");
    let flow_control = match &asked {
        Some(asked) => asked.choice(&choices),
        None => Some(words[0]),
    };
    let at = asked.and_then(|field| field.at);
    let asked = flow_control;
    let controls = Controls { asked, at };
    let mut section = fabric.section("switch", &SWITCH)?;
    let usual = if scheduled {
        profiles::SCHEDULED
    } else {
        profiles::GENERIC
    };
    if by_credit {
        credit::switch_defaults(&mut section);
    }
    let profile_at = section.place("profile");
    let profile = read_profile(&mut section, controls.is_any().then_some(usual));
    if let Some(profile) = &profile {
        fill(&mut section, &profile.switch);
    }
    let watchdog: Option<Option<WatchdogSpec>> = section.value("pfc_watchdog");
    let response = section
        .take("pause_response")
        .and_then(|field| read_response(&field));
    let draft = read_switch(&mut section, profile, &controls, profile_at);
    // What is wrong here would be told again for each tier.
    let tiers = match &draft {
        Some(_) => read_tiers(&mut section, &controls),
        None => section.take("tiers").map(|_| Vec::new()),
    };
    fabric.put("switch", section.finish());
    let (mut draft, tiers) = (draft?, tiers?);
    draft.watchdog = watchdog?;
    draft.pause_response = response?;
    Some((draft, tiers))
}

/// Reads the switches of a tier, which have what they do not say from those of all others.
pub(crate) fn read_tier(
    section: &mut Section<'_>,
    controls: &Controls,
    usual: &[Entry],
) -> Option<SwitchDraft> {
    let profile_at = section.place("profile");
    // A list of its own says all of its classes, whatever is asked of the other switches.
    let listed = Controls {
        asked: Some(FlowControl::default()),
        at: None,
    };
    let controls = if section.has("classes") {
        &listed
    } else {
        controls
    };
    let own_device = section.has("profile");
    if !own_device {
        let device = usual.iter().filter(|entry| entry.key == "profile");
        section.fill(&device.cloned().collect::<Vec<_>>());
    }
    let profile = read_profile(section, None);
    if let Some(profile) = profile.as_ref().filter(|_| own_device) {
        fill(section, &profile.switch);
    }
    let has_buffer = section.has("buffer");
    let usual = usual
        .iter()
        .filter(|entry| !(has_buffer && entry.key == "buffer"));
    fill(section, &usual.cloned().collect::<Vec<_>>());
    read_switch(section, profile, controls, profile_at)
}

impl Controls {
    fn is_any(&self) -> bool {
        self.asked.is_some_and(|asked| asked.pfc || asked.ecn)
    }
}

/// Adds what was not written; where a buffer or the capacity of queues was, neither.
fn fill(section: &mut Section<'_>, parts: &[Entry]) {
    let (buffer, capacity) = (section.peek("buffer"), section.has("queue_capacity"));
    let shared = buffer.is_some_and(Node::is_map);
    let without = capacity && buffer.is_none();
    let parts = parts.iter().filter(|entry| match entry.key.as_str() {
        "buffer" => !without,
        "queue_capacity" => !shared,
        key => key != "profile",
    });
    section.fill(&parts.cloned().collect::<Vec<_>>());
    if without {
        section.fill(&[Entry {
            key: "buffer".to_owned(),
            key_at: None,
            node: Node::plain("none"),
        }]);
    }
}

fn read_switch(
    section: &mut Section<'_>,
    profile: Option<Profile>,
    controls: &Controls,
    profile_at: Option<Location>,
) -> Option<SwitchDraft> {
    let flow_control = controls.asked;
    let controlled = controls.is_any();
    let asked_at = controls.at.filter(|_| controlled);
    let forwardings = [
        ("cut-through", Forwarding::CutThrough),
        ("store-and-forward", Forwarding::StoreAndForward),
    ];
    let forwarding = section.choice("forwarding", &forwardings);
    let pipeline_latency = section.time("pipeline_latency", Time::ZERO..=SECOND);
    let buffer = section
        .take("buffer")
        .and_then(|field| read_buffer(field, section));
    let capacity = read_capacity(section, buffer.as_ref().is_some_and(Option::is_some));
    let profile = profile.unwrap_or_default();
    let classes = section.take("classes");
    if let (Some(listed), true) = (&classes, controlled) {
        let help = "keep one of them; `flow_control` stands for a list with the class of the data";
        listed.problem(
            "and `fabric.flow_control` exclude each other",
            help.to_owned(),
        );
    }
    let (capacity, queue_capacity_at) = capacity?;
    let buffer = buffer?;
    let around = Around {
        profile: &profile,
        pools: buffer.as_ref().map(|buffer| buffer.names.as_slice()),
        queue_capacity: capacity,
    };
    let classes = match classes {
        None => Some(None),
        Some(field) => {
            let (drafts, node) = classes::read(&field, &around);
            section.put("classes", node);
            drafts.map(Some)
        }
    };
    Some(SwitchDraft {
        forwarding: forwarding?,
        pipeline_latency: pipeline_latency?,
        profile,
        buffer,
        queue_capacity: capacity,
        queue_capacity_at,
        classes: classes?,
        watchdog: None,
        pause_response: None,
        flow_control: flow_control?,
        flow_control_at: asked_at,
        at: profile_at.or(asked_at).or(section.at()),
        path: section.path().to_owned(),
    })
}

fn read_response(field: &Field<'_>) -> Read<Option<Time>> {
    if field.word() == Some("standard") {
        return Some(None);
    }
    let time = field.quantity("a time", &(Time::ZERO..=SECOND));
    time.map(Some)
}

fn read_profile(section: &mut Section<'_>, usual: Option<&'static str>) -> Option<Profile> {
    let names = profiles::names().map(|name| (name, Some(name)));
    let choices: Vec<_> = names.chain([("none", None)]).collect();
    let chosen = match section.take("profile") {
        Some(field) => field.choice(&choices)?,
        None => usual,
    };
    section.put("profile", Node::plain(chosen.unwrap_or("none")));
    Some(chosen.map(profiles::profile).unwrap_or_default())
}

fn read_capacity(section: &mut Section<'_>, shared: bool) -> Option<(u64, Option<Location>)> {
    let given = section.take("queue_capacity");
    if shared {
        if let Some(field) = given {
            let help = "leave it out and give classes a `limit`, or set `buffer: none`";
            field.problem("has no meaning with a shared buffer", help.to_owned());
            return None;
        }
        return Some((0, None));
    }
    let Some(field) = given else {
        section.put("queue_capacity", Node::plain(QUEUE_CAPACITY));
        let capacity: Bytes = QUEUE_CAPACITY.parse().expect("the default is a size");
        return Some((capacity.count(), section.at()));
    };
    let capacity = field.or_none(|field| field.size(&(1..=CAPACITY_MAX)))?;
    Some((capacity.unwrap_or(UNLIMITED_POOL), field.at))
}

fn read_buffer(field: Field<'_>, section: &mut Section<'_>) -> Read<Option<BufferDraft>> {
    if field.word() == Some("none") {
        return Some(None);
    }
    let at = field.at;
    let mut own = field.section(&BUFFER);
    let size = own
        .take("size")
        .and_then(|field| field.size(&(1..=CAPACITY_MAX)));
    let pools = own.take("pools").and_then(|field| {
        let (pools, node) = read_pools(&field);
        own.put("pools", node);
        pools
    });
    let headroom_pool = own
        .take("headroom_pool")
        .and_then(|field| field.or_none(|field| field.size(&(1..=CAPACITY_MAX))));
    let partitions = own.integer("partitions", 1..=64);
    section.put("buffer", own.finish());
    let (size, pools) = (size?, pools?);
    let sharing = BufferSharing {
        headroom_pool_bytes: headroom_pool?,
        partitions: partitions?,
    };
    let (names, pools) = if pools.is_empty() {
        (vec![SHARED.to_owned()], None)
    } else {
        let (names, sizes) = pools.into_iter().unzip();
        (names, Some(sizes))
    };
    Some(Some(BufferDraft {
        size,
        at,
        names,
        pools,
        sharing,
    }))
}

fn read_pools(field: &Field<'_>) -> (Read<Vec<(String, u64)>>, Node) {
    if field.count().is_some_and(|count| count > POOLS_MAX) {
        let help = format!("divide it into at most {POOLS_MAX}");
        field.problem("has more pools than there are classes", help);
        return (None, field.node.clone());
    }
    let mut names: Vec<String> = Vec::new();
    field.each(|_, item| {
        let mut section = item.section(&POOL);
        let name_field = section.take("name");
        let name = name_field.as_ref().and_then(|field| field.text(64));
        let size = section
            .take("size")
            .and_then(|field| field.size(&(1..=CAPACITY_MAX)));
        if let (Some(name), Some(field)) = (&name, &name_field) {
            if names.contains(name) {
                let what = format!("is {}, as another pool is", quote(name));
                field.problem(&what, "give each pool a name of its own".to_owned());
                return (None, section.finish());
            }
            names.push(name.clone());
        }
        (name.zip(size), section.finish())
    })
}

impl SwitchDraft {
    /// Whether `flow_control` says what its classes are.
    pub(crate) fn is_controlled(&self) -> bool {
        let FlowControl { pfc, ecn } = self.flow_control;
        self.classes.is_none() && (pfc || ecn)
    }

    /// The device of its profile.
    pub(crate) fn device(&self) -> Option<Device> {
        self.profile.device.clone()
    }

    /// The classes, and the model without the sizes of its pools, once it is known which classes
    /// packets have.
    ///
    /// Writes classes that were not listed into its section of the effective configuration.
    pub(crate) fn classes(
        &mut self,
        (data, control): (&[u8], &[u8]),
        problems: &Problems,
        effective: &mut Node,
    ) -> Option<Vec<ClassDraft>> {
        if let Some(listed) = self.classes.take() {
            return Some(listed);
        }
        let FlowControl { pfc, ecn } = self.flow_control;
        let node = if pfc || ecn {
            self.controlled(data, control)
        } else {
            list([class(0)])
        };
        let at = if pfc || ecn {
            self.flow_control_at
        } else {
            self.at
        };
        let field = Field::derived(&format!("{}.classes", self.path), at, node, problems);
        let around = Around {
            profile: &self.profile,
            pools: self.buffer.as_ref().map(|buffer| buffer.names.as_slice()),
            queue_capacity: self.queue_capacity,
        };
        let (mut drafts, node) = classes::read(&field, &around);
        for draft in drafts.iter_mut().flatten() {
            draft.limit_at = self.queue_capacity_at.or(at);
        }
        if pfc || ecn || self.buffer.is_some() {
            effective.put(&["classes"], node);
        }
        drafts
    }

    /// What `flow_control` stands for: the classes of the data, and that of control packets where
    /// it is another.
    fn controlled(&self, data: &[u8], control: &[u8]) -> Node {
        let FlowControl { pfc, ecn } = self.flow_control;
        let marking = self.profile.ecn.clone();
        let marking = marking.or_else(|| profiles::profile(profiles::GENERIC).ecn);
        let data_classes = data.iter().map(|&number| {
            let mut node = class(number);
            if pfc {
                node.put(&["lossless"], Node::plain("true"));
            }
            if let Some(marking) = marking.clone().filter(|_| ecn) {
                node.put(&["ecn"], marking);
            }
            node
        });
        let control = control.iter().filter(|number| !data.contains(number));
        list(data_classes.chain(control.map(|&number| class(number))))
    }

    /// The model, with the largest frame known, and its pools before it is known how much is left.
    pub(crate) fn spec(
        &self,
        classes: &[ClassDraft],
        frame: u64,
        load_balancing: LoadBalancing,
    ) -> SwitchSpec {
        let ingress_latency = Time::from_ps(self.pipeline_latency.ps() / 2);
        SwitchSpec {
            forwarding: self.forwarding,
            ingress_latency,
            egress_latency: self.pipeline_latency - ingress_latency,
            pool_bytes: self.pools_before(),
            sharing: self
                .buffer
                .as_ref()
                .map_or_else(BufferSharing::default, |buffer| buffer.sharing),
            classes: classes.iter().map(|draft| draft.spec(frame)).collect(),
            load_balancing,
        }
    }

    /// The pools there are before it is known how much is left; one without end where nothing is
    /// shared.
    pub(crate) fn pools_before(&self) -> Vec<u64> {
        match &self.buffer {
            None => vec![UNLIMITED_POOL],
            Some(buffer) => buffer.pools.clone().unwrap_or_else(|| vec![buffer.size]),
        }
    }
}

impl ClassDraft {
    fn spec(&self, frame: u64) -> ClassSpec {
        ClassSpec {
            class: self.class,
            scheduling: match self.turn {
                Turn::Strict => Scheduling::Strict,
                // At most 1,000 frames of 4,174 bytes.
                Turn::Weight(weight) => Scheduling::Weighted {
                    quantum_bytes: weight * frame as u32,
                },
            },
            pool: self.pool,
            reserved_bytes: self.reserved,
            limit: self.limit,
            lossless: self.lossless.clone(),
            ecn: self.ecn,
        }
    }
}

fn class(number: u8) -> Node {
    Node::mapping([("class", Node::plain(number.to_string()))])
}

fn list(items: impl IntoIterator<Item = Node>) -> Node {
    Node::unplaced(Value::List(items.into_iter().collect()))
}
