//! Checks a switch's buffer against its topology: reserved bytes, headroom, the remaining pool,
//! thresholds and pauses.

use std::cmp::Reverse;

use tenter_endpoint::{NicAddress, ReceiveBufferSpec};
use tenter_fabric::net::headroom::{self, PausedLink};
use tenter_fabric::net::load_balancing::LoadBalancing;
use tenter_fabric::net::{
    ClassSpec, Headroom, Limit, LosslessSpec, PfcTrigger, SwitchSpec, Switches, WIRE_OVERHEAD_BYTES,
};
use tenter_fabric::topology::{NodeId, Topology};
use tenter_language::units::{Budget, Bytes};
use tenter_sim::plan::Links;
use tenter_workload::Job;

use crate::resolve::classes::ClassDraft;
use crate::resolve::endpoint::Endpoint;
use crate::resolve::findings::Findings;
use crate::resolve::switch::{Buffer, Switch};
use crate::resolve::switch_model::{SwitchDraft, section_of};
use tenter_language::notation::diagnostics::{Problems, quote};
use tenter_language::notation::tree::{Node, Value};

/// The receive buffer's path in a scenario.
const RECEIVE_BUFFER: &str = "endpoint.nic.receive_buffer";

/// Inputs that complete a switch model.
pub(crate) struct Around<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) addresses: &'a [NicAddress],
    pub(crate) jobs: &'a [Job],
    pub(crate) endpoint: &'a Endpoint,
    /// True if leaves store each frame before they forward it, as in a scheduled fabric.
    pub(crate) leaves_take_whole: bool,
    pub(crate) problems: &'a Problems,
    pub(crate) warnings: &'a Problems,
    pub(crate) budget: &'a Budget,
}

impl<'a> Around<'a> {
    pub(crate) fn findings(&self) -> Findings<'a> {
        Findings {
            problems: self.problems,
            warnings: self.warnings,
            budget: self.budget,
        }
    }
}

/// One switch model, and the links into its switches.
struct Model<'a> {
    /// 0 for the base model, then 1 for the first listed tier, and so on.
    number: usize,
    switches: &'a Switches,
    links: &'a Links,
}

impl Model<'_> {
    fn spec(&self) -> &SwitchSpec {
        let tier = self.number.checked_sub(1);
        tier.map_or(&self.switches.usual, |tier| &self.switches.tiers[tier].1)
    }

    /// Returns the nodes of this model's switches.
    fn nodes(&self, topology: &Topology) -> impl DoubleEndedIterator<Item = NodeId> {
        let all = topology.switch_nodes();
        // Two models may be equal in value: only the address tells them apart.
        all.filter(|&node| std::ptr::eq(self.switches.of(topology, node), self.spec()))
    }
}

/// Moves `tiers` behind the derived classes: the reader has it as a switch's last key.
fn keep_last(effective: &mut Node) {
    let switch = section_of(effective, "fabric.switch");
    if let Some(tiers) = switch.and_then(|switch| switch.entry_mut("tiers")).cloned() {
        effective.remove(&["fabric", "switch", "tiers"]);
        effective.put(&["fabric", "switch", "tiers"], tiers);
    }
}

fn spec_mut(switches: &mut Switches, number: usize) -> &mut SwitchSpec {
    match number.checked_sub(1) {
        None => &mut switches.usual,
        Some(tier) => &mut switches.tiers[tier].1,
    }
}

/// Bytes that one switch needs outside its pools.
struct Need {
    node: NodeId,
    ports: u64,
    reserved: u64,
    /// Bytes kept as headroom, for all ports and lossless classes.
    headroom: u64,
}

impl Need {
    fn bytes(&self) -> u64 {
        self.reserved.saturating_add(self.headroom)
    }
}

/// Refuses queues shorter than one full frame, which would let nothing through.
pub(crate) fn check_capacities(
    models: Option<&[SwitchDraft]>,
    endpoint: Option<&Endpoint>,
    problems: &Problems,
) {
    if let (Some(models), Some(endpoint)) = (models, endpoint) {
        let frame = u64::from(endpoint.nic.longest_frame_bytes());
        for model in models {
            check_capacity(model, frame, problems);
        }
    }
}

fn check_capacity(draft: &SwitchDraft, frame: u64, problems: &Problems) {
    let capacity = draft.queue_capacity();
    if draft.buffer().is_none() && capacity < frame {
        let what = format!(
            "is {capacity} bytes, less than one full frame of {frame}: nothing would get through"
        );
        let path = format!("{}.queue_capacity", draft.path);
        problems.push_at(&path, &what, format!("give at least `{frame}B`"));
    }
}

/// Packet classes that NICs send, each list ascending without repetition.
struct UsedClasses {
    data: Vec<u8>,
    control: Vec<u8>,
}

/// One model as it was read, with its classes.
struct Parts {
    draft: SwitchDraft,
    classes: Vec<ClassDraft>,
}

impl Around<'_> {
    /// Completes all switch models and the links between switches. Returns `None` after noting what
    /// does not fit.
    ///
    /// Writes derived values into the effective configuration.
    pub(crate) fn complete(
        &self,
        switch: &Switch,
        models: Vec<SwitchDraft>,
        load_balancing: &LoadBalancing,
        effective: &mut Node,
    ) -> Option<(Switches, Links)> {
        let used = self.used_classes();
        let frame = u64::from(self.endpoint.nic.longest_frame_bytes());
        let controlled = models.first()?.is_controlled();
        let (mut whole, mut specs, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for draft in models {
            let node = section_of(effective, &draft.path)?;
            let classes = draft.classes(&used.data, &used.control, self.problems, node)?;
            specs.push(draft.spec(&classes, frame, load_balancing.clone()));
            numbers.extend(draft.tier);
            whole.push(Parts { draft, classes });
        }
        // The list of classes is now in the configuration, and `flow_control` excludes such a list.
        if controlled {
            effective.remove(&["fabric", "flow_control"]);
        }
        keep_last(effective);
        // `models` has the base model first.
        let usual = specs.remove(0);
        let tiers = numbers.into_iter().zip(specs).collect();
        let mut switches = Switches {
            usual,
            tiers,
            leaves_take_whole: self.leaves_take_whole,
            pause_response: switch.usual.pause_response,
        };
        self.check_tiers(&whole, &switches)?;
        let links = Links::of(self.topology, &switches, &self.endpoint.nic);
        // Headroom of links depends on the classes, and pools are what headroom leaves.
        for (number, parts) in whole.iter().enumerate() {
            self.fit(number, parts, &mut switches, &links, effective)?;
        }
        self.check_receive_buffer(&links);
        // A NIC pauses all lossless classes of its leaf: the model with most of them is the worst
        // case.
        let most = switches.iter().max_by_key(|spec| lossless_classes(spec))?;
        self.check_receive_refresh(most, frame);
        self.check_marks(&switches, &used.data);
        Some((switches, links))
    }

    /// Sizes the pools in model `number`, and checks its thresholds and pauses.
    fn fit(
        &self,
        number: usize,
        Parts { draft, classes }: &Parts,
        switches: &mut Switches,
        links: &Links,
        effective: &mut Node,
    ) -> Option<()> {
        let frame = u64::from(self.endpoint.nic.longest_frame_bytes());
        if let Some(buffer) = draft.buffer() {
            let of = Model {
                number,
                switches,
                links,
            };
            let pools = match self.need(&of) {
                Some(need) => {
                    self.check_sharing(draft, &of)?;
                    self.pools(buffer, draft, &need, frame)?
                }
                // No switch has the base model if every tier has its own; nothing must fit then.
                None => draft.pools_before(),
            };
            let section = section_of(effective, &draft.path)?;
            section.put(&["buffer", "pools"], written(buffer, &pools));
            spec_mut(switches, number).pool_bytes = pools;
        }
        let of = Model {
            number,
            switches,
            links,
        };
        for class in classes {
            self.check_limit(draft, class, of.spec(), frame);
            if let Some(lossless) = &class.lossless {
                self.check_pauses(class, lossless, &of);
                self.check_refresh(class, lossless, of.spec());
            }
        }
        Some(())
    }

    fn used_classes(&self) -> UsedClasses {
        let nic = &self.endpoint.nic;
        let of_jobs = self.jobs.iter().filter_map(|job| job.class);
        let of_nics = self.addresses.iter().map(NicAddress::class);
        let mut data: Vec<u8> = of_nics.chain(of_jobs).collect();
        let notification = nic.notification().map(|notification| notification.class);
        let mut control: Vec<u8> = nic
            .control_class()
            .into_iter()
            .chain(notification)
            .collect();
        for classes in [&mut data, &mut control] {
            classes.sort_unstable();
            classes.dedup();
        }
        UsedClasses { data, control }
    }

    /// Returns the data classes that NICs send.
    pub(crate) fn data_classes(&self) -> Vec<u8> {
        self.used_classes().data
    }

    /// Returns all packet classes that NICs send.
    pub(crate) fn all_classes(&self) -> Vec<u8> {
        let UsedClasses { data, control } = self.used_classes();
        [data, control].concat()
    }

    /// Checks the models against each other: all must list the same classes, and a class that is
    /// lossless in one tier should be lossless in all.
    fn check_tiers(&self, whole: &[Parts], switches: &Switches) -> Option<()> {
        let listed = |spec: &SwitchSpec| -> Vec<String> {
            let classes = spec.classes.iter();
            classes.map(|class| class.class.to_string()).collect()
        };
        let first = listed(&switches.usual);
        for (parts, spec) in whole.iter().zip(switches.iter()).skip(1) {
            let own = listed(spec);
            if own != first {
                let path = &parts.draft.path;
                let message = format!(
                    "{} has the classes {}, and `fabric.switch` has {}: a packet needs the same queues everywhere",
                    quote(&format!("{path}.classes")),
                    own.join(", "),
                    first.join(", ")
                );
                let help = "list the same classes in both".to_owned();
                let at = parts.draft.at(self.problems);
                self.problems.push(at, message, Some(help));
                return None;
            }
        }
        for queue in 0..switches.usual.classes.len() {
            let is_lossless = |spec: &SwitchSpec| spec.classes[queue].lossless.is_some();
            let any = switches.iter().any(is_lossless);
            let lossy = switches.iter().position(|spec| !is_lossless(spec));
            if let Some(index) = lossy.filter(|_| any) {
                let draft = &whole[index].draft;
                let message = format!(
                    "class {} is lossless in other tiers, but not in {}: these switches never pause anybody, and drop what they cannot hold",
                    switches.usual.classes[queue].class,
                    quote(&draft.path),
                );
                let help = "make it lossless there, or give it a buffer that holds all".to_owned();
                let at = draft.at(self.warnings);
                self.warnings.push(at, message, Some(help));
            }
        }
        Some(())
    }

    /// Warns of a congestion control that would receive no notifications because no data class is
    /// marked.
    fn check_marks(&self, switches: &Switches, data: &[u8]) {
        let queues = switches.usual.queue_of_class();
        let marks = |class: &u8| {
            switches.classes_in_regions(*class).any(|class| {
                let queue = usize::from(queues[usize::from(class.class)]);
                let mut models = switches.iter();
                models.any(|spec| spec.classes[queue].ecn.is_some())
            })
        };
        if self.endpoint.nic.notification().is_none() || data.iter().any(marks) {
            return;
        }
        let message = "`endpoint.nic.congestion_control` has no effect: no class of the data is marked, so nothing is notified";
        let help =
            "mark it: `fabric.flow_control: ecn`, or `ecn` of its class in `fabric.switch.classes`";
        self.warnings
            .note("endpoint.nic.congestion_control", message, help);
    }

    /// Returns the need at the switch with the most reserved bytes and headroom; `None` if no
    /// switch has this model.
    fn need(&self, of: &Model<'_>) -> Option<Need> {
        let needs = of.nodes(self.topology).map(|node| self.need_of(node, of));
        // `max_by_key` takes the last of equal ones; reversed, that is the lowest in the fabric.
        needs.rev().max_by_key(Need::bytes)
    }

    fn need_of(&self, node: NodeId, of: &Model<'_>) -> Need {
        let ports = u64::from(self.topology.ports(node));
        let classes = of.spec().classes.iter();
        let reserved = classes.fold(0_u64, |sum, class| sum.saturating_add(class.reserved_bytes));
        let parts = self.headroom_of_parts(node, of).into_iter();
        let headroom = parts.fold(0, u64::saturating_add);
        // Ports with a headroom pool never hold more than it, nor more than their own headroom.
        let shared = of.spec().sharing.headroom_pool_bytes;
        Need {
            node,
            ports,
            reserved: reserved.saturating_mul(ports),
            headroom: shared.map_or(headroom, |shared| headroom.min(shared)),
        }
    }

    /// Returns the headroom that the ports in each buffer partition need at most, in bytes.
    fn headroom_of_parts(&self, node: NodeId, of: &Model<'_>) -> Vec<u64> {
        let sharing = of.spec().sharing;
        let ports = self.topology.nodes[node].ports.len();
        let mut parts = vec![0_u64; sharing.parts()];
        for (port, link) in of.links.incoming(node).enumerate() {
            let of_part = &mut parts[sharing.part_of_port(port, ports)];
            for bytes in link.headroom {
                *of_part = of_part.saturating_add(bytes);
            }
        }
        parts
    }

    /// Refuses partitions with pauses by queue, and warns of shared headroom that may run out.
    fn check_sharing(&self, draft: &SwitchDraft, of: &Model<'_>) -> Option<()> {
        let at = draft.buffer_at(self.problems);
        let path = format!("{}.buffer", draft.path);
        let by_queue = |class: &ClassSpec| {
            let lossless = class.lossless.as_ref();
            lossless.is_some_and(|lossless| lossless.trigger == PfcTrigger::Egress)
        };
        let divided = of.spec().sharing.partitions > 1;
        // An output queue holds frames of several inputs, which lie in different partitions.
        if divided && (of.spec().classes.iter().any(by_queue) || of.switches.leaves_take_whole) {
            let message = format!(
                "{} is divided, and `trigger: egress` and scheduled fabrics have queues whose frames lie in several parts",
                quote(&format!("{path}.partitions"))
            );
            let help =
                "leave it out, or use `trigger: ingress`, and no scheduled fabric".to_owned();
            self.problems.push(at, message, Some(help));
            return None;
        }
        self.warn_of_unused_parts(draft, of);
        self.warn_of_shared_headroom(draft, of);
        Some(())
    }

    /// Warns of partitions without a port.
    fn warn_of_unused_parts(&self, draft: &SwitchDraft, of: &Model<'_>) {
        let parts = of.spec().sharing.parts();
        let ports = |node: NodeId| self.topology.nodes[node].ports.len();
        let Some(node) = of.nodes(self.topology).find(|node| ports(*node) < parts) else {
            return;
        };
        let message = format!(
            "{} is {parts}, and {} has {} ports: nobody can use the parts that are left over",
            quote(&format!("{}.buffer.partitions", draft.path)),
            quote(self.topology.name(node)),
            ports(node)
        );
        let help = "give no more parts than the smallest switch has ports".to_owned();
        let at = draft.buffer_at(self.warnings);
        self.warnings.push(at, message, Some(help));
    }

    /// Warns of shared headroom that may run out, with the switch and partition that may need most.
    fn warn_of_shared_headroom(&self, draft: &SwitchDraft, of: &Model<'_>) {
        let sharing = of.spec().sharing;
        let Some(shared) = sharing.headroom_pool_bytes else {
            return;
        };
        let needs = of.nodes(self.topology).flat_map(|node| {
            let parts = self.headroom_of_parts(node, of);
            (0_usize..)
                .zip(parts)
                .map(move |(part, most)| (most, node, part))
        });
        // Of equal ones the first is named, which is the lowest in the fabric.
        let first = |needs: (u64, NodeId, usize)| (needs.0, Reverse((needs.1, needs.2)));
        let Some((most, node, part)) = needs.max_by_key(|&needs| first(needs)) else {
            return;
        };
        let own = sharing.of_one_part(shared);
        if own >= most {
            return;
        }
        let path = quote(&format!("{}.buffer.headroom_pool", draft.path));
        let name = quote(self.topology.name(node));
        let message = if sharing.parts() > 1 {
            format!(
                "{path} is {shared} bytes, {own} in each of {} parts, and the ports of part {part} of {name} may need {most} together: lossless frames may be lost when many of them pause at once",
                sharing.parts()
            )
        } else {
            format!(
                "{path} is {shared} bytes, and the ports of {name} may need {most} together: lossless frames may be lost when many of them pause at once"
            )
        };
        let help = "leave it out, and each port keeps all of its own".to_owned();
        let at = draft.buffer_at(self.warnings);
        self.warnings.push(at, message, Some(help));
    }

    /// Returns the pool sizes in bytes: the given ones, or a single pool with the remaining memory.
    fn pools(
        &self,
        buffer: &Buffer,
        draft: &SwitchDraft,
        need: &Need,
        frame: u64,
    ) -> Option<Vec<u64>> {
        let (size, pools) = (buffer.size.count(), buffer.pools());
        let given = pools.iter().flatten();
        let given = given.fold(0, |sum: u64, &size| sum.saturating_add(size));
        let needed = need.bytes().saturating_add(given);
        let left = size.saturating_sub(need.bytes());
        let fits = match pools {
            Some(_) => needed <= size,
            // A pool that takes no frame would be of no use.
            None => left >= frame,
        };
        if fits {
            return Some(pools.unwrap_or_else(|| vec![left]));
        }
        let Need {
            node,
            ports,
            reserved,
            headroom,
            ..
        } = need;
        let name = self.topology.name(*node);
        let (pools, least) = if pools.is_some() {
            (format!(" + pools {given}"), needed)
        } else {
            let pools = ", and leaves no frame of space to share".to_owned();
            (pools, need.bytes().saturating_add(frame))
        };
        let message = format!(
            "{} holds {} bytes, but {} with {ports} ports needs reserved {reserved} + headroom {headroom}{pools}",
            quote(&format!("{}.buffer", draft.path)),
            size,
            quote(name),
        );
        let help = format!(
            "give `size: {least}B` or more, reserve less, or lessen the headroom: shorter or slower links, fewer ports or lossless classes"
        );
        let at = draft.buffer_at(self.problems);
        self.problems.push(at, message, Some(help));
        None
    }

    /// Refuses a pool that would be full before it pauses senders, or whose threshold has levels.
    fn check_pool_trigger(&self, draft: &SwitchDraft, class: &ClassDraft, pool: u64, frame: u64) {
        let by_pool = |of: &LosslessSpec| matches!(of.trigger, PfcTrigger::Pool(_));
        if !class.lossless.as_ref().is_some_and(by_pool) {
            return;
        }
        // The frame that crosses the limit must still fit into the pool.
        let most = pool.saturating_sub(frame);
        let message = match class.limit {
            Limit::Levels(_) => format!(
                "`{}.levels` limits accounts by the fill of their pool, and `trigger: pool` knows no account but the pool",
                class.path
            ),
            limit if limit.of_all(pool) <= most => return,
            limit => format!(
                "`{}` pauses senders above {} bytes, and a pool of {pool} has no room for a frame of {frame} above it: it would be full before it pauses anybody",
                class.path,
                limit.of_all(pool)
            ),
        };
        let at = class.limit_at(self.problems);
        let at = at.or_else(|| draft.at(self.problems));
        let help = format!("give `limit: {most}B` or less, or leave out `trigger: pool`");
        self.problems.push(at, message, Some(help));
    }

    /// Refuses a threshold below one full frame, which would let nothing wait.
    fn check_limit(&self, draft: &SwitchDraft, class: &ClassDraft, spec: &SwitchSpec, frame: u64) {
        if draft.buffer().is_none() && class.limit == Limit::Static(draft.queue_capacity()) {
            // `check_capacity` reports this one.
            return;
        }
        // A queue or priority group lies in one partition, so that partition's pool bounds it.
        let own = spec.classes.iter().find(|of| of.class == class.keys.number);
        let pool = spec.pool_of(own.map_or(0, |own| own.pool));
        self.check_pool_trigger(draft, class, pool, frame);
        let (key, most) = match class.limit {
            Limit::Static(bytes) | Limit::AtRate { bytes, .. } => ("limit", bytes.min(pool)),
            Limit::Dynamic {
                numerator,
                denominator,
            } => {
                // With alpha above 1 the threshold may exceed the pool, which bounds it then.
                let most = u128::from(pool) * u128::from(numerator) / u128::from(denominator);
                ("alpha", u64::try_from(most).unwrap_or(pool).min(pool))
            }
            Limit::Levels(levels) => ("levels", levels.of_all(pool)),
        };
        let account = most.saturating_add(class.keys.reserved.count());
        if account >= frame {
            return;
        }
        let outcome = if class.lossless.is_some() {
            "every frame that waits would pause its sender"
        } else {
            "nothing could ever wait"
        };
        let message = format!(
            "`{}.{key}` gives an account {account} bytes at most, less than one full frame of {frame}: {outcome}",
            class.path
        );
        let at = class.limit_at(self.problems);
        let at = at.or_else(|| draft.at(self.problems));
        let help = format!("let an account have at least `{frame}B`, with what is reserved");
        self.problems.push(at, message, Some(help));
    }

    /// Refuses pauses that end before they are repeated, and warns of given headroom that is too
    /// small.
    fn check_pauses(&self, class: &ClassDraft, lossless: &LosslessSpec, of: &Model<'_>) {
        let mut short: Option<(u64, u64)> = None;
        let mut needed: Option<(u64, String)> = None;
        for node in of.nodes(self.topology) {
            for (port, link) in (0_u16..).zip(of.links.incoming(node)) {
                let link = &link.paused;
                let least = least_quanta(link, lossless.refresh_percent);
                if least > u64::from(lossless.quanta) && short.is_none_or(|(most, _)| least > most)
                {
                    short = Some((least, link.rate.bits_per_second() / 1_000_000_000));
                }
                let bytes = headroom::model(link);
                if needed.as_ref().is_none_or(|(most, _)| bytes > *most) {
                    needed = Some((bytes, self.topology.port_name(node, port)));
                }
            }
        }
        if let Some((least, gbps)) = short {
            let message = format!(
                "`{}.lossless.quanta` is {}: on a link of {gbps} Gb/s a pause would end before it is repeated",
                class.path, lossless.quanta
            );
            let help = format!("give at least {least}, or a smaller `refresh`");
            let at = class.at(self.problems);
            self.problems.push(at, message, Some(help));
        }
        let given = match lossless.headroom {
            Headroom::Bytes(bytes) => bytes,
            Headroom::Model | Headroom::Sonic => return,
        };
        if let Some((bytes, port)) = needed.filter(|(bytes, _)| *bytes > given) {
            let message = format!(
                "`{}.lossless.headroom` is {given} bytes, but up to {bytes} can arrive at {port} after XOFF: class {} may lose frames",
                class.path, class.keys.number
            );
            let help = "write `headroom: model` to keep as much as each port needs".to_owned();
            let at = class.at(self.warnings);
            self.warnings.push(at, message, Some(help));
        }
    }

    /// Refuses pauses whose repetitions would fill more than half the wire.
    fn check_refresh(&self, class: &ClassDraft, lossless: &LosslessSpec, spec: &SwitchSpec) {
        let least = seldom_quanta(spec, lossless.refresh_percent);
        if u64::from(lossless.quanta) >= least {
            return;
        }
        let message = format!(
            "`{}.lossless.quanta` is {}: pause frames, repeated after {} % of it, would fill more than half of the wire",
            class.path, lossless.quanta, lossless.refresh_percent
        );
        let help = format!("give at least {least}, or a larger `refresh`");
        let at = class.at(self.problems);
        self.problems.push(at, message, Some(help));
    }

    /// Checks how long NICs pause their leaf: until the repetition arrives, and without filling the
    /// wire.
    fn check_receive_refresh(&self, spec: &SwitchSpec, frame: u64) {
        let buffer = self.endpoint.nic.receive_buffer.as_ref();
        let Some(buffer) = buffer.filter(|buffer| buffer.xoff.is_some()) else {
            return;
        };
        let classes = lossless_classes(spec);
        if classes == 0 {
            return;
        }
        let refresh = ReceiveBufferSpec::REFRESH_PERCENT;
        // A repetition may wait for a full frame and for the pause frames of all other classes.
        let waits = frame + u64::from(WIRE_OVERHEAD_BYTES) + classes * PAUSE_WIRE;
        // A pause must outlast a late repetition, and leave half the wire to data.
        let least = outlasting_quanta(waits, refresh).max(seldom_quanta(spec, refresh));
        if u64::from(buffer.quanta) < least {
            let message = format!(
                "`endpoint.nic.receive_buffer.quanta` is {}: a pause would end before it is repeated, or be repeated all the time",
                buffer.quanta
            );
            let help = format!("give at least {least}");
            let at = self.problems.written(RECEIVE_BUFFER);
            self.problems.push(at, message, Some(help));
        }
    }

    /// Warns of receive buffers without room for what arrives after the NIC's XOFF.
    fn check_receive_buffer(&self, links: &Links) {
        let nic = &self.endpoint.nic;
        let Some(buffer) = nic.receive_buffer else {
            return;
        };
        let Some(xoff) = buffer.xoff else {
            return;
        };
        let hosts = self.topology.host_ids();
        let links = hosts.flat_map(|host| links.incoming(host.node()));
        let need = links.map(|link| headroom::model(&link.paused)).max();
        let need = need.unwrap_or(0);
        let room = buffer.capacity.count() - xoff.count();
        if need > room {
            let message = format!(
                "`endpoint.nic.receive_buffer` has room for {room} bytes above `xoff`, but up to {need} can arrive after XOFF: NICs may drop frames"
            );
            let help = format!("lower `xoff`, or give {need} bytes more than it");
            let at = self.warnings.written(RECEIVE_BUFFER);
            self.warnings.push(at, message, Some(help));
        }
    }
}

/// A pause frame's length on the wire, in bytes.
const PAUSE_WIRE: u64 = headroom::PAUSE_WIRE_BYTES as u64;

/// Returns the least `quanta` that outlast a delayed repetition: it waits for a frame on the wire
/// and takes a pause frame's time itself.
fn least_quanta(link: &PausedLink, refresh_percent: u8) -> u64 {
    outlasting_quanta(
        u64::from(link.reverse_wire_bytes) + PAUSE_WIRE,
        refresh_percent,
    )
}

/// Returns the `quanta` whose part after the repetition lasts as long as `wire_bytes` on the wire.
fn outlasting_quanta(wire_bytes: u64, refresh_percent: u8) -> u64 {
    let bits = wire_bytes * 8 * 100;
    bits.div_ceil(headroom::QUANTUM_BITS * u64::from(100 - refresh_percent))
}

/// Returns the least `quanta` at which pauses take at most half the wire: until a pause is
/// repeated, two pause frames fit for each lossless class.
fn seldom_quanta(spec: &SwitchSpec, refresh_percent: u8) -> u64 {
    let bits = lossless_classes(spec) * 2 * PAUSE_WIRE * 8 * 100;
    bits.div_ceil(headroom::QUANTUM_BITS * u64::from(refresh_percent))
}

fn lossless_classes(spec: &SwitchSpec) -> u64 {
    let lossless = spec.classes.iter().filter(|class| class.lossless.is_some());
    lossless.count() as u64
}

/// Writes pools as a scenario would list them.
fn written(buffer: &Buffer, sizes: &[u64]) -> Node {
    let pools = buffer.names().into_iter().zip(sizes).map(|(name, &size)| {
        let name = Node::plain(name);
        let size = Node::plain(Bytes::new(size).to_string());
        Node::mapping([("name", name), ("size", size)])
    });
    Node::unplaced(Value::List(pools.collect()))
}
