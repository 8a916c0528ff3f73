//! A switch model on its way from keys to the simulation. Classes follow once it is known which
//! classes packets have, and pools once the fabric is known.

use tenter_fabric::net::load_balancing::LoadBalancing;
use tenter_fabric::net::{BufferSharing, SwitchSpec, UNLIMITED_POOL};
use tenter_fabric::topology::Topology;
use tenter_language::units::Time;
use tenter_sim::plan::Device;

use crate::resolve::classes::{Class, ClassDraft};
use crate::resolve::device_defaults::fill_class;
use crate::resolve::profiles::{self, Profile};
use crate::resolve::switch::{Buffer, Capacity, FlowControl, Switch, SwitchKeys};
use tenter_language::config::{Component, Value as _};
use tenter_language::notation::decode::Field;
use tenter_language::notation::diagnostics::{Location, Problems};
use tenter_language::notation::tree::{Node, Value};

/// The switches in one tier, or in all tiers without their own model.
pub(crate) struct SwitchDraft {
    /// The tier; `None` for all others.
    pub(crate) tier: Option<u8>,
    /// Path of the model's section.
    pub(crate) path: String,
    keys: SwitchKeys,
    flow_control: FlowControl,
}

/// Returns all models, the base model first.
pub(crate) fn models(switch: &Switch, flow_control: FlowControl) -> Vec<SwitchDraft> {
    let model = |tier, path, keys| SwitchDraft {
        tier,
        path,
        keys,
        flow_control,
    };
    let usual = model(None, "fabric.switch".to_owned(), switch.usual.clone());
    let tiers = switch.tiers.iter().enumerate();
    let tiers = tiers.map(|(index, of)| {
        let path = format!("fabric.switch.tiers[{index}]");
        model(Some(of.number), path, of.beside(&switch.usual))
    });
    std::iter::once(usual).chain(tiers).collect()
}

impl SwitchDraft {
    /// Returns the buffer that all ports share, if any.
    pub(crate) fn buffer(&self) -> Option<&Buffer> {
        self.keys.buffer.as_ref()
    }

    /// Returns the queue capacity without a shared buffer, in bytes.
    pub(crate) fn queue_capacity(&self) -> u64 {
        self.keys.queue_capacity.map_or(0, Capacity::bytes)
    }

    /// Returns true if `flow_control: trim` lays out the classes.
    pub(crate) fn trims_by_word(&self) -> bool {
        self.keys.classes.is_none() && self.flow_control == FlowControl::Trim
    }

    /// Returns true if `flow_control` lays out the classes.
    pub(crate) fn is_controlled(&self) -> bool {
        self.keys.classes.is_none() && self.flow_control != FlowControl::None
    }

    /// Returns the ports and power that the profile's device has.
    pub(crate) fn device(&self) -> Option<Device> {
        self.keys.profile.profile().device
    }

    /// Returns the place to report for the whole model: its profile, else `flow_control`, else its
    /// section.
    pub(crate) fn at(&self, problems: &Problems) -> Option<Location> {
        let device = problems.written(&format!("{}.profile", self.path));
        let asked = || {
            let asked = problems.written("fabric.flow_control");
            asked.filter(|_| self.is_controlled())
        };
        let own = || problems.place(&self.path);
        device.or_else(asked).or_else(own)
    }

    /// Returns the place where its buffer was written, else the model's.
    pub(crate) fn buffer_at(&self, problems: &Problems) -> Option<Location> {
        let own = problems.written(&format!("{}.buffer", self.path));
        own.or_else(|| self.at(problems))
    }

    /// Returns the classes in ascending order; `data` and `control` are packet classes.
    ///
    /// Writes classes that were not listed into the model's section in the effective configuration.
    pub(crate) fn classes(
        &self,
        data: &[u8],
        control: &[u8],
        problems: &Problems,
        effective: &mut Node,
    ) -> Option<Vec<ClassDraft>> {
        let listed = match &self.keys.classes {
            Some(listed) => listed.clone(),
            None => self.unlisted(data, control, problems, effective)?,
        };
        let list = format!("{}.classes", self.path);
        let drafts = listed.into_iter().enumerate();
        let drafts =
            drafts.map(|(index, keys)| ClassDraft::new(index, keys, &list, self.queue_capacity()));
        let mut drafts: Vec<ClassDraft> = drafts.collect();
        // A class that is not listed shares the queue of the next lower one, which needs this
        // order.
        drafts.sort_unstable_by_key(|draft| draft.keys.number);
        Some(drafts)
    }

    fn unlisted(
        &self,
        data: &[u8],
        control: &[u8],
        problems: &Problems,
        effective: &mut Node,
    ) -> Option<Vec<Class>> {
        let profile = self.keys.profile.profile();
        let mut nodes = match self.flow_control {
            FlowControl::None => vec![class(0)],
            FlowControl::Trim if data.contains(&7) => {
                let message =
                    "`flow_control: trim` has no class above that of the data, which is 7";
                let help = "give the data a lower class, or list `fabric.switch.classes`";
                problems.push(self.at(problems), message.to_owned(), Some(help.to_owned()));
                return None;
            }
            FlowControl::Trim => trimming(data, control),
            asked => controlled(asked, &profile, data, control),
        };
        let pools = self.buffer().map(Buffer::names);
        let pool = pools.as_ref().map(|names| names[0].as_str());
        for node in &mut nodes {
            fill_class(node, &profile, pool);
        }
        let list = Node::unplaced(Value::List(nodes));
        let keys = Node::mapping([("classes", list)]);
        // Derived classes are read like listed ones, with the same defaults and checks.
        let field = Field::derived(&self.path, self.at(problems), keys, problems);
        let mut section = field.section(&SwitchKeys::TABLE);
        let read = Vec::<Class>::read(&mut section, "classes", ());
        // A reader assumes the plain class of a switch without flow control and buffer anyway.
        if self.is_controlled() || self.buffer().is_some() {
            let written = section.finish();
            let list = written.entry("classes").map(|entry| entry.node.clone());
            effective.put(&["classes"], list.unwrap_or_else(Node::empty));
        }
        read
    }

    /// Returns the model for frames up to `frame` bytes, with provisional pools.
    pub(crate) fn spec(
        &self,
        classes: &[ClassDraft],
        frame: u64,
        load_balancing: LoadBalancing,
    ) -> SwitchSpec {
        // The two halves add up to the latency even for an odd number of picoseconds.
        let ingress_latency = Time::from_ps(self.keys.pipeline_latency.ps() / 2);
        let names = self.buffer().map_or_else(Vec::new, Buffer::names);
        let classes = classes.iter();
        SwitchSpec {
            forwarding: self.keys.forwarding,
            ingress_latency,
            egress_latency: self.keys.pipeline_latency - ingress_latency,
            pool_bytes: self.pools_before(),
            sharing: self
                .buffer()
                .map_or_else(BufferSharing::default, Buffer::sharing),
            classes: classes.map(|draft| draft.spec(frame, &names)).collect(),
            load_balancing,
        }
    }

    /// Returns provisional pool sizes, before reserved bytes and headroom are known; a single
    /// unlimited pool without a shared buffer.
    pub(crate) fn pools_before(&self) -> Vec<u64> {
        match self.buffer() {
            None => vec![UNLIMITED_POOL],
            Some(buffer) => buffer.pools().unwrap_or_else(|| vec![buffer.size.count()]),
        }
    }
}

/// Lays out the classes that `flow_control` stands for: those with data, and those with control
/// packets if they differ.
fn controlled(asked: FlowControl, profile: &Profile, data: &[u8], control: &[u8]) -> Vec<Node> {
    let generic = || profiles::profile(profiles::GENERIC).ecn;
    let marking = profile.ecn.clone().or_else(generic);
    let of_data = data.iter().map(|&number| {
        let mut node = class(number);
        if asked.pfc() {
            node.put(&["lossless"], Node::plain("true"));
        }
        if let Some(marking) = marking.clone().filter(|_| asked.ecn()) {
            node.put(&["ecn"], marking);
        }
        node
    });
    let others = control.iter().filter(|number| !data.contains(number));
    of_data.chain(others.map(|&number| class(number))).collect()
}

/// Returns the class for trimmed packets, above the highest data class and at least 6, so that they
/// overtake data.
pub(crate) fn trimmed_class(highest: u8) -> u8 {
    highest.max(5) + 1
}

/// Lays out classes with trimming, as in the Ultra Ethernet Consortium's simulator at 400G with
/// packets of 4,160 bytes: a queue holds 100 of them, is marked from 25 on and always above 75.
/// Limits scale with the rate, but no queue is smaller than the simulator's usual 150 kB at 100G.
/// The queue for trimmed packets has twice the size.
fn trimming(data: &[u8], control: &[u8]) -> Vec<Node> {
    let mapping = |keys: &[(&'static str, &str)]| {
        Node::mapping(keys.iter().map(|&(key, text)| (key, Node::plain(text))))
    };
    let trimmed = trimmed_class(data.iter().copied().max().unwrap_or_default());
    let of_data = data.iter().map(|&number| {
        let mut node = class(number);
        let marks = [
            ("kmin", "104kB"),
            ("kmax", "312kB"),
            ("pmax", "1"),
            ("mark", "dequeue"),
            ("scale_from", "400Gbps"),
        ];
        node.put(&["limit"], Node::plain("416kB"));
        node.put(&["limit_scale_from"], Node::plain("400Gbps"));
        node.put(&["limit_floor"], Node::plain("150kB"));
        node.put(&["ecn"], mapping(&marks));
        node.put(&["trim"], mapping(&[("to", &trimmed.to_string())]));
        node
    });
    let mut ahead = class(trimmed);
    ahead.put(&["limit"], Node::plain("832kB"));
    ahead.put(&["limit_scale_from"], Node::plain("400Gbps"));
    ahead.put(&["limit_floor"], Node::plain("300kB"));
    let others = control
        .iter()
        .filter(|&number| !data.contains(number) && *number != trimmed);
    let others = others.map(|&number| class(number));
    of_data.chain([ahead]).chain(others).collect()
}

fn class(number: u8) -> Node {
    Node::mapping([("class", Node::plain(number.to_string()))])
}

/// Refuses a model for a tier that has no switch in the fabric.
pub(crate) fn check_tiers(
    models: Option<&[SwitchDraft]>,
    topology: &Topology,
    problems: &Problems,
) {
    let has = |tier: u8| {
        let mut switches = topology.switch_nodes();
        switches.any(|node| topology.tier(node) == Some(tier))
    };
    for model in models.unwrap_or_default() {
        let Some(tier) = model.tier.filter(|tier| !has(*tier)) else {
            continue;
        };
        let message = format!("no switch of this fabric is of tier {tier}");
        let top = topology.top_tier();
        let help = top.map(|top| format!("the highest tier is {top}, and leaves are of tier 0"));
        problems.push(problems.place(&model.path), message, help);
    }
}

/// Returns the model's section at `path` in the effective configuration.
pub(crate) fn section_of<'n>(effective: &'n mut Node, path: &str) -> Option<&'n mut Node> {
    let switch = effective.entry_mut("fabric")?.entry_mut("switch")?;
    match path.split_once('[') {
        None => Some(switch),
        Some((_, index)) => {
            let index = index.strip_suffix(']')?.parse().ok()?;
            switch.item_mut("tiers", index)
        }
    }
}
