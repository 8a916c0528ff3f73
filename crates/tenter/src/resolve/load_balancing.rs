//! The `fabric.load_balancing` section: its reading and its checks.

use tenter_endpoint::NicSpec;
use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::net::load_balancing::{Ecmp, InOrderNics, LoadBalancing, Order};
use tenter_fabric::topology::{Routing, Topology};

use crate::resolve::endpoint::Endpoint;
use crate::resolve::findings::Findings;
use tenter_language::config::{Component, Reader, Shape, Value, Written};

/// The section's path in a scenario.
const PATH: &str = "fabric.load_balancing";

/// A load balancer, and whether it may be used with NICs that need packets in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Balancing {
    /// The load balancer with its parameters.
    pub spec: LoadBalancing,
    /// Permission for NICs that need packets in order; `None` for a load balancer that keeps their
    /// order.
    pub order: Option<Order>,
}

/// ECMP by a hash over the 5-tuple.
impl Default for Balancing {
    fn default() -> Balancing {
        Balancing::from(LoadBalancing::Ecmp(Ecmp::default()))
    }
}

impl From<LoadBalancing> for Balancing {
    fn from(spec: LoadBalancing) -> Balancing {
        let order = spec.may_reorder().then(Order::default);
        Balancing { spec, order }
    }
}

impl Value for Balancing {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Variants(&LoadBalancing::VARIANTS)
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Balancing> {
        let mut read = None;
        reader.mapping(key, LoadBalancing::VARIANTS.own, &mut |keys| {
            read = Balancing::read_keys(keys);
        });
        read
    }

    fn written(&self) -> Written {
        let order = self.order.iter().flat_map(Component::written);
        let keys = self.spec.written().into_iter().chain(order);
        Written::mapping(keys.collect())
    }
}

/// Checks a load balancer against fabric and NICs, if all three could be read.
pub(crate) fn check(
    own: Option<&Balancing>,
    endpoint: Option<&Endpoint>,
    topology: &Topology,
    findings: Findings<'_>,
) {
    if let (Some(own), Some(endpoint)) = (own, endpoint) {
        own.check(&endpoint.nic, topology, findings);
    }
}

impl Balancing {
    fn read_keys(reader: &mut dyn Reader) -> Option<Balancing> {
        let members = LoadBalancing::VARIANTS.members;
        let Some(place) = reader.choice("kind", LoadBalancing::NAMES) else {
            let tables: Vec<_> = members.iter().map(|(_, table)| *table).collect();
            // Without a kind the keys may still show which one is meant, and have mistakes of their
            // own.
            reader.guess(&tables, &mut |place, reader| {
                Balancing::read_member(place, reader);
            });
            return None;
        };
        Balancing::read_member(place, reader)
    }

    fn read_member(place: usize, reader: &mut dyn Reader) -> Option<Balancing> {
        let (_, table) = LoadBalancing::VARIANTS.members[place];
        reader.extend(table);
        let spec = LoadBalancing::read(place, reader);
        // Only load balancers that may reorder packets have these keys.
        let is_asked = Order::KEYS.iter().all(|key| table.get(key.name).is_some());
        let order = is_asked.then(|| <Order as Component>::read(reader));
        Some(Balancing {
            spec: spec?,
            order: order.map_or(Some(None), |order| order.map(Some))?,
        })
    }

    /// Refuses NICs whose needs the load balancer does not meet, and warns of those it hardly
    /// meets.
    pub(crate) fn check(&self, nic: &NicSpec, topology: &Topology, findings: Findings<'_>) {
        if self.spec.detours().is_some() && topology.regions.is_empty() {
            findings.problems.push_at(
                "fabric.load_balancing.kind",
                "sends packets by other regions, and this topology has none",
                "use a `fabric.kind` with regions, such as `dragonfly` or `hyperx`, or another load balancer",
            );
        }
        // A single switch has no path to choose.
        if topology.switches() > 1 {
            self.check_nics(nic, findings);
            self.check_gap(nic, topology, findings);
        }
    }

    fn check_nics(&self, nic: &NicSpec, findings: Findings<'_>) {
        if !self.spec.reorders() {
            return;
        }
        let spray = Reordering {
            path: PATH,
            in_order_nics: self
                .order
                .is_some_and(|order| order.in_order_nics == InOrderNics::Allow),
            other_remedy: self.spec.order_remedy(),
        };
        spray.check(&nic.loss_recovery, findings);
    }

    /// Warns of flowlet gaps shorter than the paths' delay differences, for NICs that need packets
    /// in order.
    fn check_gap(&self, nic: &NicSpec, topology: &Topology, findings: Findings<'_>) {
        let Some(gap) = self.spec.gap() else {
            return;
        };
        if matches!(nic.loss_recovery, LossRecovery::SelectiveRepeat(_)) {
            return;
        }
        // The builder of routes reports its own errors.
        let Ok(routing) = Routing::build(topology, findings.budget) else {
            return;
        };
        let wire_bytes = nic.longest_frame_bytes() + WIRE_OVERHEAD_BYTES;
        let spread = routing.delay_spread(topology, wire_bytes);
        if spread <= gap {
            return;
        }
        let message = format!(
            "`gap` of `fabric.load_balancing` is {gap}, and equal-cost paths differ by {spread} when they are empty: a packet may overtake another one of its queue pair, and the NICs take that one for lost"
        );
        let help = format!(
            "make `gap` longer than {spread}, or set `endpoint.nic.loss_recovery` to `{{kind: selective-repeat, reorder: 64}}`"
        );
        findings.warnings.note(PATH, message, &help);
    }
}

/// A cause by which a queue pair's packets overtake each other.
pub(crate) struct Reordering {
    /// Path at which this cause is set.
    pub(crate) path: &'static str,
    /// True if NICs that need packets in order are allowed nevertheless.
    pub(crate) in_order_nics: bool,
    /// A further remedy, after a comma; may be empty.
    pub(crate) other_remedy: &'static str,
}

impl Reordering {
    /// Refuses NICs that need packets in order, and warns of those that wait for one packet only.
    pub(crate) fn check(&self, loss_recovery: &LossRecovery, findings: Findings<'_>) {
        let Findings {
            problems, warnings, ..
        } = findings;
        let path = self.path;
        match loss_recovery {
            LossRecovery::SelectiveRepeat(repeat) if repeat.reorder == 1 => {
                let message = format!(
                    "`{path}` lets packets overtake each other, and `endpoint.nic.loss_recovery` has `reorder: 1`: each overtaken packet is sent twice"
                );
                let help = "give `reorder` as many packets as may overtake one, e.g. 64";
                warnings.note(path, message, help);
            }
            LossRecovery::GoBackN | LossRecovery::None if !self.in_order_nics => {
                let message = format!(
                    "`{path}` lets packets of a queue pair overtake each other, but the NICs need them in order and take an overtaken packet for lost"
                );
                let wait = self.other_remedy;
                let help = format!(
                    "set `endpoint.nic.loss_recovery` to `{{kind: selective-repeat, reorder: 64}}`{wait}; or set `in_order_nics: allow` here to see what comes of it"
                );
                problems.note(path, message, &help);
            }
            _ => {}
        }
    }
}
