//! Checks that a job's ranks reach each other, by the fabric's cables and by addresses.

use std::net::Ipv4Addr;

use tenter_endpoint::NicAddress;
use tenter_fabric::topology::HostId;
use tenter_language::units::ById;
use tenter_workload::{Destination, Job, RankId, Traffic};

use crate::resolve::addresses::Addresses;
use crate::resolve::hosts::HostNames;

/// Refuses jobs in which a rank sends outside its NIC's prefix while the NIC's gateway is outside
/// it too. Both ranks in a pair send: one data, the other acknowledgements.
pub(crate) fn check(
    jobs: &[Job],
    addresses: &ById<HostId, NicAddress>,
    plan: &Addresses,
    names: &HostNames<'_>,
) {
    // Subnets from the pool contain their gateways, so most scenarios end here.
    if addresses.iter().all(has_gateway) {
        return;
    }
    for job in jobs {
        if let Some((from, to)) = first_unreachable(job, addresses) {
            report(job, from, to, addresses, plan, names);
        }
    }
}

fn has_gateway(nic: &NicAddress) -> bool {
    within(nic, nic.gateway)
}

fn within(nic: &NicAddress, address: u32) -> bool {
    // `prefix` is 1 to 30, so the shift is always defined.
    (nic.address ^ address) >> (32 - u32::from(nic.prefix)) == 0
}

/// Returns the first rank pair in which the first sends to the second and cannot reach it.
fn first_unreachable(job: &Job, addresses: &ById<HostId, NicAddress>) -> Option<(u32, u32)> {
    let nic = |rank: u32| &addresses[job.hosts[RankId::new(rank)]];
    // A NIC with its gateway in reach can send anywhere; this spares the search over pairs.
    if (0..job.ranks()).all(|rank| has_gateway(nic(rank))) {
        return None;
    }
    first_pair(job, |from, to| {
        !has_gateway(nic(from)) && !within(nic(from), nic(to).address)
    })
}

/// Returns the first pair, sender first, for which `holds` is true. Both ranks in a pair send: one
/// data, the other acknowledgements.
fn first_pair(job: &Job, holds: impl Fn(u32, u32) -> bool) -> Option<(u32, u32)> {
    let mut kinds: Vec<&Traffic> = Vec::new();
    let mut peers: Vec<Destination> = Vec::new();
    for run in &job.sequence {
        if kinds.contains(&&run.traffic) {
            continue;
        }
        kinds.push(&run.traffic);
        // `check_kinds` has reported traffic that cannot run at all.
        let Ok(schedule) = run.traffic.schedule(job.ranks(), run.size_bytes) else {
            continue;
        };
        for rank in 0..job.ranks() {
            peers.clear();
            schedule.pairs(rank, job.queue_pair_scope, &mut peers);
            for peer in &peers {
                if holds(rank, peer.dst) {
                    return Some((rank, peer.dst));
                }
                if holds(peer.dst, rank) {
                    return Some((peer.dst, rank));
                }
            }
        }
    }
    None
}

/// Refuses jobs in which a rank sends to another plane, unless both ranks share a scale-up domain.
pub(crate) fn check_planes(jobs: &[Job], names: &HostNames<'_>) {
    if !names.has_planes() {
        return;
    }
    for job in jobs {
        let host = |rank: u32| job.hosts[RankId::new(rank)];
        let found = first_pair(job, |from, to| !names.joins(host(from), host(to)));
        let Some((from, to)) = found else {
            continue;
        };
        let message = format!(
            "rank {from} of job `{}` (`{}`) sends to rank {to} (`{}`), and no cable leads from the rail of the one to that of the other",
            job.name,
            names.name(host(from)),
            names.name(host(to)),
        );
        let help = "let the scale-up domains of servers carry what changes rails \
                    (`endpoint.host.scale_up`) with an algorithm that uses them, such as \
                    `all-to-all` with `algorithm: pxn`, place each job on one rail, or use \
                    `fabric.kind: rail`";
        names.note("fabric.kind", message, help);
    }
}

fn report(
    job: &Job,
    from: u32,
    to: u32,
    addresses: &ById<HostId, NicAddress>,
    plan: &Addresses,
    names: &HostNames<'_>,
) {
    let [host, other] = [from, to].map(|rank| job.hosts[RankId::new(rank)]);
    let [nic, peer] = [host, other].map(|host| addresses[host]);
    let message = format!(
        "rank {from} of job `{}` (`{}`, {}/{}) cannot reach rank {to} (`{}`, {}): its gateway {} is not within its prefix",
        job.name,
        names.name(host),
        Ipv4Addr::from(nic.address),
        nic.prefix,
        names.name(other),
        Ipv4Addr::from(peer.address),
        Ipv4Addr::from(nic.gateway),
    );
    let subnet = nic.address & !(u32::MAX >> nic.prefix);
    let help = format!(
        "give `{}` a `gateway` within {}/{}, or a prefix that holds both addresses",
        names.name(host),
        Ipv4Addr::from(subnet),
        nic.prefix
    );
    names.problem(plan.place_of(host, names), message, Some(help));
}
