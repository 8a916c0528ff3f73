//! The buffer of a switch against its topology: what is reserved, what headroom is needed, what is
//! left to share, and whether the thresholds make sense.

use tenter_endpoint::{NicAddress, ReceiveBufferSpec};
use tenter_net::headroom::{self, PausedLink, Senders};
use tenter_net::load_balancing::LoadBalancing;
use tenter_net::{Headroom, Limit, LosslessSpec, SwitchSpec, WIRE_OVERHEAD_BYTES};
use tenter_topology::Topology;
use tenter_units::Bytes;
use tenter_workload::Job;

use crate::classes::ClassDraft;
use crate::diagnostics::{Problems, quote};
use crate::endpoint::Endpoint;
use crate::switch::{BufferDraft, SwitchDraft};
use crate::tree::{Node, Value};

/// What a switch model is completed with.
pub(crate) struct Around<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) addresses: &'a [NicAddress],
    pub(crate) jobs: &'a [Job],
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) problems: &'a Problems,
    pub(crate) warnings: &'a Problems,
}

/// What one switch needs outside its pools.
struct Need {
    node: u32,
    ports: u64,
    reserved: u64,
    headroom: u64,
}

impl Need {
    fn bytes(&self) -> u64 {
        self.reserved.saturating_add(self.headroom)
    }
}

/// A queue that holds no full frame lets nothing through.
pub(crate) fn check_capacity(draft: &SwitchDraft, frame: u64, problems: &Problems) {
    let capacity = draft.queue_capacity;
    if draft.buffer.is_none() && capacity < frame {
        let message = format!(
            "`fabric.switch.queue_capacity` is {capacity} bytes, less than one full frame of {frame}: nothing would get through"
        );
        let help = format!("give at least `{frame}B`");
        problems.push(draft.queue_capacity_at, message, Some(help));
    }
}

impl Around<'_> {
    /// The model of all switches; `None` where something does not fit, which is noted.
    ///
    /// Writes what it finds out into the effective configuration.
    pub(crate) fn complete(
        &self,
        mut draft: SwitchDraft,
        load_balancing: LoadBalancing,
        effective: &mut Node,
    ) -> Option<SwitchSpec> {
        let nic = &self.endpoint.nic;
        let of_jobs = self.jobs.iter().filter_map(|job| job.class);
        let of_nics = self.addresses.iter().map(NicAddress::class);
        let mut data: Vec<u8> = of_nics.chain(of_jobs).collect();
        data.sort_unstable();
        data.dedup();
        let notification = nic.notification.map(|notification| notification.class);
        let mut control: Vec<u8> = nic.control_class.into_iter().chain(notification).collect();
        control.sort_unstable();
        control.dedup();
        let classes = draft.classes(&data, &control, self.problems, effective)?;
        let frame = u64::from(nic.longest_frame_bytes());
        let mut spec = draft.spec(&classes, draft.pools_before(), frame, load_balancing);
        let senders = Senders {
            frame_bytes: frame as u32,
            transmit_latency: nic.transmit_latency,
            fast_ppm: nic.clock_offset_max_ppm,
        };
        if let Some(buffer) = &draft.buffer {
            let need = self.need(&spec, &senders);
            spec.pool_bytes = self.pools(buffer, &draft, &need, frame)?;
            effective.put(
                &["fabric", "switch", "buffer", "pools"],
                written(buffer, &spec.pool_bytes),
            );
        }
        for class in &classes {
            self.check_limit(&draft, class, &spec, frame);
            if let Some(lossless) = &class.lossless {
                self.check_pauses(class, lossless, &spec, &senders);
                self.check_refresh(class, lossless, &spec);
            }
        }
        self.check_receive_buffer(&spec, frame);
        self.check_receive_refresh(&spec, frame);
        self.check_marks(&spec, &data);
        Some(spec)
    }

    /// Whether there is anything that receivers could tell senders of.
    fn check_marks(&self, spec: &SwitchSpec, data: &[u8]) {
        let queues = spec.queue_of_class();
        let marks = |class: &u8| {
            let queue = queues[usize::from(*class)];
            spec.classes[usize::from(queue)].ecn.is_some()
        };
        if self.endpoint.nic.notification.is_none() || data.iter().any(marks) {
            return;
        }
        let message = "`endpoint.nic.congestion_control` has no effect: no class of the data is marked, so nothing is notified";
        let help =
            "mark it: `fabric.flow_control: ecn`, or `ecn` of its class in `fabric.switch.classes`";
        let at = self.endpoint.congestion_control_at;
        self.warnings
            .push(at, message.to_owned(), Some(help.to_owned()));
    }

    /// What the switch that needs most has to keep outside its pools.
    fn need(&self, spec: &SwitchSpec, senders: &Senders) -> Need {
        let first = self.topology.hosts as u32;
        let switches = first..self.topology.nodes.len() as u32;
        let needs = switches.map(|node| {
            let ports = self.topology.nodes[node as usize].ports.len() as u16;
            let mut need = Need {
                node,
                ports: u64::from(ports),
                reserved: 0,
                headroom: 0,
            };
            for link in headroom::incoming((self.topology, spec), node, senders) {
                for class in &spec.classes {
                    let bytes = class.lossless.as_ref();
                    let bytes = bytes.map_or(0, |lossless| lossless.headroom.bytes(&link));
                    need.headroom = need.headroom.saturating_add(bytes);
                    need.reserved = need.reserved.saturating_add(class.reserved_bytes);
                }
            }
            need
        });
        // Of equal ones the first, which is the lowest in the fabric.
        let most = needs.rev().max_by_key(Need::bytes);
        most.expect("hosts are never cabled to each other, so there is a switch")
    }

    /// The sizes of the pools: as given, or one of what is left.
    fn pools(
        &self,
        buffer: &BufferDraft,
        draft: &SwitchDraft,
        need: &Need,
        frame: u64,
    ) -> Option<Vec<u64>> {
        let given = buffer.pools.iter().flatten();
        let given = given.fold(0, |sum: u64, &size| sum.saturating_add(size));
        let needed = need.bytes().saturating_add(given);
        let left = buffer.size.saturating_sub(need.bytes());
        let fits = match buffer.pools {
            Some(_) => needed <= buffer.size,
            None => left >= frame,
        };
        if fits {
            return Some(buffer.pools.clone().unwrap_or_else(|| vec![left]));
        }
        let Need {
            node,
            ports,
            reserved,
            headroom,
        } = need;
        let name = &self.topology.nodes[*node as usize].name;
        let (pools, least) = if buffer.pools.is_some() {
            (format!(" + pools {given}"), needed)
        } else {
            let pools = ", and leaves no frame of space to share".to_owned();
            (pools, need.bytes().saturating_add(frame))
        };
        let message = format!(
            "`fabric.switch.buffer` holds {} bytes, but {} with {ports} ports needs reserved {reserved} + headroom {headroom}{pools}",
            buffer.size,
            quote(name),
        );
        let help = format!(
            "give `size: {least}B` or more, reserve less, or lessen the headroom: shorter or slower links, fewer ports or lossless classes"
        );
        let at = buffer.at.or(draft.at);
        self.problems.push(at, message, Some(help));
        None
    }

    /// An account that never holds a full frame lets nothing wait.
    fn check_limit(&self, draft: &SwitchDraft, class: &ClassDraft, spec: &SwitchSpec, frame: u64) {
        if draft.buffer.is_none() && class.limit == Limit::Static(draft.queue_capacity) {
            // Checked as a capacity.
            return;
        }
        let pool = spec.pool_bytes[usize::from(class.pool)];
        let (key, most) = match class.limit {
            Limit::Static(bytes) => ("limit", bytes.min(pool)),
            Limit::Dynamic {
                numerator,
                denominator,
            } => {
                let most = u128::from(pool) * u128::from(numerator) / u128::from(denominator);
                ("alpha", u64::try_from(most).unwrap_or(pool).min(pool))
            }
        };
        let account = most.saturating_add(class.reserved);
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
        let at = class.limit_at.or(class.at).or(draft.at);
        let help = format!("let an account have at least `{frame}B`, with what is reserved");
        self.problems.push(at, message, Some(help));
    }

    /// Whether pauses last until they are repeated, and whether headroom that was given is enough.
    fn check_pauses(
        &self,
        class: &ClassDraft,
        lossless: &LosslessSpec,
        spec: &SwitchSpec,
        senders: &Senders,
    ) {
        let first = self.topology.hosts as u32;
        let mut short: Option<(u64, u64)> = None;
        let mut needed: Option<(u64, String)> = None;
        for node in first..self.topology.nodes.len() as u32 {
            let links = headroom::incoming((self.topology, spec), node, senders);
            for (port, link) in (0_u16..).zip(links) {
                let least = least_quanta(&link, lossless.refresh_percent);
                if least > u64::from(lossless.quanta) && short.is_none_or(|(most, _)| least > most)
                {
                    short = Some((least, link.rate.bits_per_second() / 1_000_000_000));
                }
                let bytes = headroom::model(&link);
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
            self.problems.push(class.at, message, Some(help));
        }
        let given = match lossless.headroom {
            Headroom::Bytes(bytes) => bytes,
            Headroom::Model | Headroom::Sonic => return,
        };
        if let Some((bytes, port)) = needed.filter(|(bytes, _)| *bytes > given) {
            let message = format!(
                "`{}.lossless.headroom` is {given} bytes, but up to {bytes} can arrive at {port} after XOFF: class {} may lose frames",
                class.path, class.class
            );
            let help = "write `headroom: model` to keep as much as each port needs".to_owned();
            self.warnings.push(class.at, message, Some(help));
        }
    }

    /// Whether pauses are repeated so seldom that their frames leave half of the wire.
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
        self.problems.push(class.at, message, Some(help));
    }

    /// The same of the pauses of NICs, and whether these last until they are repeated.
    fn check_receive_refresh(&self, spec: &SwitchSpec, frame: u64) {
        let buffer = self.endpoint.nic.receive_buffer.as_ref();
        let Some(buffer) = buffer.filter(|buffer| buffer.xoff_bytes.is_some()) else {
            return;
        };
        let classes = lossless_classes(spec);
        if classes == 0 {
            return;
        }
        let refresh = ReceiveBufferSpec::REFRESH_PERCENT;
        let waits = frame + u64::from(WIRE_OVERHEAD_BYTES) + classes * PAUSE_WIRE;
        let least = outlasting_quanta(waits, refresh).max(seldom_quanta(spec, refresh));
        if u64::from(buffer.quanta) < least {
            let message = format!(
                "`endpoint.nic.receive_buffer.quanta` is {}: a pause would end before it is repeated, or be repeated all the time",
                buffer.quanta
            );
            let help = format!("give at least {least}");
            self.problems
                .push(self.endpoint.receive_buffer_at, message, Some(help));
        }
    }

    /// Whether what arrives after a NIC's XOFF still fits.
    fn check_receive_buffer(&self, spec: &SwitchSpec, frame: u64) {
        let nic = &self.endpoint.nic;
        let Some(buffer) = nic.receive_buffer else {
            return;
        };
        let Some(xoff) = buffer.xoff_bytes else {
            return;
        };
        let wire_bytes = frame as u32 + WIRE_OVERHEAD_BYTES;
        let links = (0..self.topology.hosts as u32).map(|host| {
            let cable = self.topology.cable(host, 0);
            let whole = cable.rate.serialisation(0).of(wire_bytes, 0).0;
            headroom::model(&PausedLink {
                rate: cable.rate,
                fast_ppm: 0,
                cable_delay: cable.delay,
                response_time: headroom::response_time(cable.rate),
                flight: spec.egress_latency + cable.delay + nic.receive_latency + whole,
                frame_bytes: frame as u32,
                reverse_wire_bytes: wire_bytes,
            })
        });
        let need = links.max().unwrap_or(0);
        let room = buffer.capacity_bytes - xoff;
        if need > room {
            let message = format!(
                "`endpoint.nic.receive_buffer` has room for {room} bytes above `xoff`, but up to {need} can arrive after XOFF: NICs may drop frames"
            );
            let help = format!("lower `xoff`, or give {need} bytes more than it");
            self.warnings
                .push(self.endpoint.receive_buffer_at, message, Some(help));
        }
    }
}

/// Wire bytes of a pause frame.
const PAUSE_WIRE: u64 = headroom::PAUSE_WIRE_BYTES as u64;

/// The quanta that outlast what may delay a repetition: a frame that is already on the wire, and
/// the pause frame itself.
fn least_quanta(link: &PausedLink, refresh_percent: u8) -> u64 {
    outlasting_quanta(
        u64::from(link.reverse_wire_bytes) + PAUSE_WIRE,
        refresh_percent,
    )
}

/// The quanta of which what is left after the repetition lasts as long as so many wire bytes.
fn outlasting_quanta(wire_bytes: u64, refresh_percent: u8) -> u64 {
    let bits = wire_bytes * 8 * 100;
    bits.div_ceil(headroom::QUANTUM_BITS * u64::from(100 - refresh_percent))
}

/// The quanta of which the share after which a pause is repeated lasts as long as two pause frames
/// for each class that may be paused, so that pauses never take more than half of the wire.
fn seldom_quanta(spec: &SwitchSpec, refresh_percent: u8) -> u64 {
    let bits = lossless_classes(spec) * 2 * PAUSE_WIRE * 8 * 100;
    bits.div_ceil(headroom::QUANTUM_BITS * u64::from(refresh_percent))
}

fn lossless_classes(spec: &SwitchSpec) -> u64 {
    let lossless = spec.classes.iter().filter(|class| class.lossless.is_some());
    lossless.count() as u64
}

/// The pools as they would be given.
fn written(buffer: &BufferDraft, sizes: &[u64]) -> Node {
    let pools = buffer.names.iter().zip(sizes).map(|(name, &size)| {
        let name = Node::unplaced(Value::Scalar {
            text: name.clone(),
            quoted: false,
        });
        let size = Node::plain(Bytes::new(size).to_string());
        Node::mapping([("name", name), ("size", size)])
    });
    Node::unplaced(Value::List(pools.collect()))
}
