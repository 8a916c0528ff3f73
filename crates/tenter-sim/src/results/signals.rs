//! Signals to senders: who is behind a packet, and what came of them.

use tenter_endpoint::{Nic, Reaction};
use tenter_net::{Cause, Switch};
use tenter_record::{Digest, ReactionRow, SignalRow};
use tenter_units::Time;

use crate::network::{Driver, NodeModel};

/// Marks its records in the digest.
const SIGNALS: u64 = 14;

/// What switches have told senders, switch after switch.
pub(crate) fn of_switches<D: Driver>(driver: &D) -> Vec<SignalRow> {
    let topology = driver.context().topology();
    let row = |(node, model): (u32, &NodeModel)| {
        let NodeModel::Switch(switch) = model else {
            return None;
        };
        let record = switch.signal_record()?;
        let ports = 0..switch.ports().len() as u16;
        let classes = switch.classes().iter();
        let frames = classes.flat_map(|&class| {
            let ports = ports.clone();
            ports.map(move |port| switch.signalled_pauses(port, class))
        });
        Some(SignalRow {
            node,
            node_name: topology.nodes[node as usize].name.clone(),
            tx_signal_frames: record.sent,
            suppressed_frames: record.suppressed,
            converted_frames: record.converted,
            own_senders: record.own_senders,
            cache_hits: record.cache_hits,
            cache_refused: record.cache_refused,
            covered: record.covered,
            tx_xoff_frames: frames.sum(),
        })
    };
    driver.nodes().filter_map(row).collect()
}

/// How fast senders were told, sender after sender; nothing where none were.
pub(crate) fn reactions<D: Driver>(driver: &D, ended: u64) -> Vec<ReactionRow> {
    let context = driver.context();
    let hosts = driver.nodes().filter_map(|(node, model)| match model {
        NodeModel::Host(host) => Some((node, host.nic())),
        NodeModel::Switch(_) => None,
    });
    let row = |(node, nic): (u32, &Nic), (receiver, cause, of): (u32, Cause, &Reaction)| {
        let name = |node: u32| context.topology.nodes[node as usize].name.clone();
        let [least, mean, most] = of.extremes().map(Time::from_ps);
        ReactionRow {
            sender: node,
            sender_name: name(node),
            receiver,
            receiver_name: name(receiver),
            cause: match cause {
                Cause::Signal => "signal",
                Cause::OwnQueue => "own-queue",
                Cause::Cache => "cache",
            }
            .to_owned(),
            pauses: of.count(),
            reaction_min: least,
            reaction_mean: mean,
            reaction_p50: Time::from_ps(of.per_mille(500)),
            reaction_p99: Time::from_ps(of.per_mille(990)),
            reaction_max: most,
            round_trip: context.round_trip(node, receiver),
            held: Time::from_ps(nic.held(receiver, ended)),
        }
    };
    let rows = hosts.flat_map(|(node, nic)| {
        let reactions = nic.reactions().iter();
        reactions.map(move |of| row((node, nic), of))
    });
    rows.collect()
}

/// Adds what a switch has counted to the digest; nothing where it has to do with no signals.
pub(crate) fn add_switch(switch: &Switch, node: u64, digest: &mut Digest) {
    let Some(record) = switch.signal_record() else {
        return;
    };
    digest.add(&[SIGNALS, node, record.sent, record.suppressed]);
    digest.add(&[record.converted, record.own_senders, record.covered]);
    digest.add(&[record.cache_hits, record.cache_refused]);
}

/// Adds how fast a NIC was told to the digest.
pub(crate) fn add_nic(nic: &Nic, node: u64, ended: u64, digest: &mut Digest) {
    for (receiver, cause, of) in nic.reactions().iter() {
        let [least, mean, most] = of.extremes();
        digest.add(&[SIGNALS, node, u64::from(receiver), cause as u64, of.count()]);
        digest.add(&[
            least,
            mean,
            most,
            of.per_mille(500),
            nic.held(receiver, ended),
        ]);
    }
}
