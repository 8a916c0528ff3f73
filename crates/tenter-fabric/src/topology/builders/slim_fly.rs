//! Slim fly: routers of which each two are at most two cables apart, by the graphs of `McKay`,
//! Miller and Širáň.
//!
//! Source: Besta and Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network Topology" (SC 2014),
//! section II-B.

use tenter_language::config::component;
use tenter_language::units::{Budget, Rate, Time};

use super::{COUNTS, DELAYS, RATES, check_counts, check_rates};
use crate::topology::finite_field::Field;
use crate::topology::size::Counts;
use crate::topology::wiring::{Wiring, product};
use crate::topology::{NodeId, SafeClasses, Size, Topology, TopologyError};

component! {
    /// Routers in `2 · q` groups of `q`, with hosts on each of them.
    ///
    /// Groups 0 to `q - 1` have the routers `(0, x, y)` of the paper, router `y` of group `x`; the
    /// others have `(1, m, c)`, router `c` of group `q + m`. Host `p` of router `r` of group `g` is
    /// number `(g · q + r) · hosts_per_router + p`.
    pub struct SlimFly as "`fabric` with `kind: slim-fly`", derive(Clone, Debug, PartialEq) {
        /// The order of the field: a power of a prime that is no more than 1 away from a multiple
        /// of 4. There are `2 · q²` routers.
        q: u32, in 3..=ORDER_MAX;
        /// Host ports of each router. About half as many as it has ports to others are as many as
        /// the cables are enough for.
        hosts_per_router: u32, in COUNTS;
        /// Line rate of host links.
        host_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Line rate of the cables between routers.
        link_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of host links.
        host_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of the cables within groups.
        local_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of the cables between groups.
        global_delay: Time = "200ns", in DELAYS, from "a fibre of 40 m at 1.98·10⁸ m/s";
    }
}

/// Largest order. Beyond it the routes would exceed their memory limit.
const ORDER_MAX: u32 = 89;

const SIZE_PARAMETERS: &str = "`q` or `hosts_per_router`";

impl SlimFly {
    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_counts(&[("hosts_per_router", self.hosts_per_router)])?;
        check_rates(&[("host_rate", self.host_rate), ("link_rate", self.link_rate)])?;
        if field_of(self.q).is_none() {
            return Err(self.refusal());
        }
        let hosts = self.hosts();
        // Each router has one cable to each group in the other half, and half as many within its
        // own group.
        let degree = self.q + self.q.div_ceil(2);
        Counts {
            hosts,
            switches: product(&[2, self.q, self.q]),
            leaves: product(&[2, self.q, self.q]),
            cables: hosts.saturating_add(product(&[self.q, self.q, degree])),
            regions: 0,
        }
        .size(SIZE_PARAMETERS)
    }

    fn hosts(&self) -> u128 {
        product(&[2, self.q, self.q, self.hosts_per_router])
    }

    fn refusal(&self) -> TopologyError {
        let works = |order: &u32| field_of(*order).is_some();
        let below = (3..self.q.min(ORDER_MAX + 1)).rev().find(works);
        let above = (self.q + 1..=ORDER_MAX).find(works);
        let near: Vec<String> = below
            .into_iter()
            .chain(above)
            .map(|q| q.to_string())
            .collect();
        TopologyError::Parameter {
            parameter: "q",
            what: format!(
                "is {}, which is no power of a prime from 3 to {ORDER_MAX} of which 4·w - 1, 4·w or 4·w + 1 can be",
                self.q
            ),
            remedy: format!("give for example {}", near.join(" or ")),
        }
    }

    pub(super) fn wire(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        let field = &field_of(self.q).ok_or_else(|| self.refusal())?;
        let (q, hosts) = (self.q, self.hosts() as u32);
        let mut wiring = Wiring::default();
        wiring.hosts(hosts);
        let router_of = |group: u32, router: u32| NodeId::new(hosts + group * q + router);
        for group in 0..2 * q {
            for router in 0..q {
                wiring.switch(format!("group{group}/router{router}"), 0);
            }
        }
        let first = NodeId::new(hosts);
        wiring.connect_hosts(
            first,
            self.hosts_per_router,
            self.host_rate,
            self.host_delay,
        );
        let sets = generators(field);
        for group in 0..2 * q {
            let set = &sets[usize::from(group >= q)];
            for router in 0..q {
                let from = router_of(group, router);
                let others = set.iter().map(|&step| field.sum(router, step));
                // Each cable is laid once, from its lower end.
                for other in others.filter(|&other| other > router) {
                    let to = router_of(group, other);
                    wiring.connect(from, to, 1, self.link_rate, self.local_delay);
                }
            }
        }
        // Router y of group x is cabled to router c of group q + m where y = m·x + c.
        for (x, m) in (0..q).flat_map(|x| (0..q).map(move |m| (x, m))) {
            for c in 0..q {
                let y = field.sum(field.product(m, x), c);
                let (from, to) = (router_of(x, y), router_of(q + m, c));
                wiring.connect(from, to, 1, self.link_rate, self.global_delay);
            }
        }
        let mut topology = wiring.finish(budget)?;
        topology.regions = (0..2 * q * q).collect();
        // One class for each router on a path of two cables, or on two such paths.
        topology.safe_classes = SafeClasses {
            shortest: Some(3),
            detours: Some(5),
        };
        Ok(topology)
    }
}

/// Returns the field with `order` elements, if a slim fly can have that order.
fn field_of(order: u32) -> Option<Field> {
    // q is 4·w − 1, 4·w or 4·w + 1, so only a remainder of 2 is excluded.
    let is_near = order % 4 != 2;
    (is_near && (3..=ORDER_MAX).contains(&order))
        .then(|| Field::of_order(order))
        .flatten()
}

/// Returns the generator sets: differences between cabled routers in one group, for the first half
/// of the groups and for the second. They are powers of a primitive element, and each set contains
/// its elements' additive inverses, since cables have no direction.
fn generators(field: &Field) -> [Vec<u32>; 2] {
    let order = field.order();
    let powers = |first: u32, last: u32| {
        let exponents = (first..=last).step_by(2);
        exponents.map(|exponent| field.power(exponent))
    };
    match order % 4 {
        1 => [
            powers(0, order - 3).collect(),
            powers(1, order - 2).collect(),
        ],
        0 => [
            powers(0, order - 2).collect(),
            powers(1, order - 1).collect(),
        ],
        // For order 4·w − 1 the second half of each set holds the inverses of the first half.
        _ => {
            let middle = (order - 1) / 2;
            [
                powers(0, middle - 1)
                    .chain(powers(middle, order - 2))
                    .collect(),
                powers(1, middle)
                    .chain(powers(middle + 1, order - 1))
                    .collect(),
            ]
        }
    }
}
