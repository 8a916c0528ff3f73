//! Optical circuit switches: initial circuits, and changes with their times.

use serde::Serialize;
use tenter_fabric::topology::{OpticalPlace, Topology};
use tenter_language::units::Time;
use tenter_sim::plan::{CircuitPlan, OnChange, Plan, SteeringDemand};

/// A fabric's optical circuit switches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CircuitFacts {
    /// Number of optical switches in the fabric.
    pub optical_switches: u64,
    /// Most ports in use at one such switch.
    pub ports_max: u64,
    /// Light's delay through an optical switch, in ns.
    pub delay_ns: f64,
    /// Time for which ports are dark when their circuits change, in ns.
    pub reconfiguration_ns: f64,
    /// Treatment for waiting frames at a change: `drain` or `lose`.
    pub on_change: String,
    /// Time from new circuits until routing knows them, in ns.
    pub convergence_ns: f64,
    /// Wait at direct circuits beyond which packets take the tree, in ns; missing if they do not.
    pub spill_ns: Option<f64>,
    /// Demand that steering uses, `jobs` or `counters`; missing without steering.
    pub steering: Option<String>,
    /// Ports on all optical switches, with their initial partners.
    pub ports: Vec<OpticalPortFacts>,
    /// Changes to circuits, in time order.
    pub changes: Vec<CircuitChangeFacts>,
}

/// A port on an optical switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpticalPortFacts {
    /// Name of the optical switch.
    pub switch: String,
    /// Port number on the optical switch.
    pub port: u16,
    /// Electrical switch port at the other end of its fibre.
    pub device: String,
    /// Optical port that it is joined with; missing for a dark port.
    pub peer: Option<u16>,
    /// Electrical switch port at the end of that circuit.
    pub peer_device: Option<String>,
}

/// New circuits at one optical switch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CircuitChangeFacts {
    /// Time when they are announced, in ns.
    pub at_ns: f64,
    /// Name of the optical switch.
    pub switch: String,
    /// Port pairs that are joined from then on.
    pub pairs: Vec<(u16, u16)>,
    /// Ports that are dark from then on.
    pub dark: Vec<u16>,
}

pub(crate) fn circuit_facts(plan: &Plan) -> Option<CircuitFacts> {
    let circuits = plan.circuits.as_ref()?;
    let topology = &plan.topology;
    let switches = topology.optics.switches();
    let ports = switches.iter().map(|switch| switch.ports.len() as u64);
    Some(CircuitFacts {
        optical_switches: switches.len() as u64,
        ports_max: ports.max().unwrap_or(0),
        delay_ns: Time::as_ns(circuits.delay),
        reconfiguration_ns: Time::as_ns(circuits.reconfiguration),
        on_change: match circuits.on_change {
            OnChange::Drain => "drain".to_owned(),
            OnChange::Lose => "lose".to_owned(),
        },
        convergence_ns: Time::as_ns(circuits.convergence),
        spill_ns: plan.spill().map(Time::as_ns),
        steering: circuits.steering.map(|of| match of.demand {
            SteeringDemand::Jobs => "jobs".to_owned(),
            SteeringDemand::Counters => "counters".to_owned(),
        }),
        ports: port_facts(topology),
        changes: change_facts(circuits, topology),
    })
}

fn port_facts(topology: &Topology) -> Vec<OpticalPortFacts> {
    let device = |place| {
        let end = topology.optics.port(place).device;
        topology.port_name(end.node, end.port)
    };
    let switches = (0_u32..).zip(topology.optics.switches());
    let ports = switches.flat_map(|(switch, of)| {
        (0..of.ports.len() as u16).map(move |port| {
            let place = OpticalPlace { switch, port };
            let peer = topology.circuit(place);
            OpticalPortFacts {
                switch: of.name.clone(),
                port,
                device: device(place),
                peer,
                peer_device: peer.map(|port| device(OpticalPlace { switch, port })),
            }
        })
    });
    ports.collect()
}

fn change_facts(circuits: &CircuitPlan, topology: &Topology) -> Vec<CircuitChangeFacts> {
    let changes = circuits.changes.iter();
    let changes = changes.flat_map(|change| {
        change.rewirings.iter().map(|of| CircuitChangeFacts {
            at_ns: Time::as_ns(change.at),
            switch: topology.optics.switches()[of.switch as usize].name.clone(),
            pairs: of.pairs.clone(),
            dark: of.dark.clone(),
        })
    });
    changes.collect()
}

#[cfg(test)]
mod tests {
    use crate::resolve::{Format, load};

    use super::circuit_facts;

    #[test]
    fn ports_are_named_with_what_they_are_joined_with() {
        let text = "
fabric:
  {kind: leaf-spine, leaves: 3, hosts_per_leaf: 1, spines: 3, circuits: {radix: 4, changes: [{at: 5us, circuits: [{switch: 1, dark: [0]}]}]}}
jobs: [{collectives: [{collective: all-reduce, size: 1MiB}]}]
";
        let plan = load(text, "test.yaml", Format::Yaml, &[], None)
            .unwrap()
            .plan;
        let facts = circuit_facts(&plan).unwrap();
        assert_eq!((facts.optical_switches, facts.ports_max), (3, 3));
        // In the first round the last two of three meet, and the first pauses.
        let first = &facts.ports[..3];
        assert_eq!(first[0].device, "leaf0:1");
        assert_eq!(first[0].peer_device, None);
        assert_eq!(first[1].peer_device.as_deref(), Some("leaf2:1"));
        assert_eq!(facts.changes.len(), 1);
        assert_eq!(
            (facts.changes[0].at_ns, &facts.changes[0].dark[..]),
            (5_000.0, &[0][..])
        );
    }
}
