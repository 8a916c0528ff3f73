//! Congestion signals to senders, and the reactions to them.

use tenter_endpoint::{Nic, Reaction, Reactions};
use tenter_fabric::net::Cause;
use tenter_fabric::topology::{HostId, NodeId};
use tenter_language::units::{Instant, Time};
use tenter_results::{ReactionRow, SignalRow};

use crate::network::{Driver, NodeModel};

/// Makes a row for each switch that sends signals.
pub(crate) fn of_switches<D: Driver>(driver: &D) -> Vec<SignalRow> {
    let topology = driver.context().topology();
    let row = |(node, model): (NodeId, &NodeModel)| {
        let NodeModel::Switch(switch) = model else {
            return None;
        };
        let record = switch.signal_record()?;
        let ports = 0..switch.ports().len() as u16;
        // Pauses are counted by port and class, and the row has one sum.
        let classes = switch.classes().iter();
        let frames = classes.flat_map(|&class| {
            let ports = ports.clone();
            ports.map(move |port| switch.signalled_pauses(port, class))
        });
        Some(SignalRow {
            node: node.number(),
            node_name: topology.name(node).to_owned(),
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

/// Makes the rows with senders' reaction times; none without signals.
pub(crate) fn reactions<D: Driver>(driver: &D, ended: Instant) -> Vec<ReactionRow> {
    let context = driver.context();
    let hosts = driver.nodes().filter_map(|(_, model)| match model {
        NodeModel::Host(host) => Some(host.nic()),
        NodeModel::Switch(_) => None,
    });
    let row = |nic: &Nic, receiver: HostId, cause: Cause, of: &Reaction| {
        let sender = nic.host();
        let name = |host: HostId| context.topology.name(host).to_owned();
        // The quantiles below come from a histogram with its steps; these values do not.
        let [least, mean, most] = of.extremes().map(Time::from_ps);
        ReactionRow {
            sender: sender.number(),
            sender_name: name(sender),
            receiver: receiver.number(),
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
            round_trip: context.round_trip(sender, receiver),
            held: nic.held(receiver, ended),
        }
    };
    let rows = hosts.flat_map(|nic| {
        let reactions = nic.reactions().into_iter().flat_map(Reactions::iter);
        reactions.map(move |(receiver, cause, of)| row(nic, receiver, cause, of))
    });
    rows.collect()
}
