//! The NPUs of a host, and what connects them beside their NICs.

use tenter_workload::collective::{CollectiveKind, ScaleUp};

use crate::buffer::Around;
use tenter_config::Presence::Default;
use tenter_config::{Component, Form, Key, KeyTable, Value, key};
use tenter_notation::decode::Section;

/// The key in the section of the host.
pub(crate) const KEY: Key = Key {
    form: Form::Typed(|| Option::<ScaleUp>::shape(())),
    ..key(
        "scale_up",
        "",
        Default("none"),
        "NPUs of a host that exchange data among themselves, past their NICs; `none`: all data pass the NICs",
    )
};

/// The tables for the reference.
pub(crate) const TABLES: [&KeyTable; 1] = [&ScaleUp::TABLE];

/// Warns of hosts of a PXN all-to-all that are not those of a domain: what is handed over within
/// them passes the network.
pub(crate) fn check(around: &Around<'_>) {
    for (index, job) in around.jobs.iter().enumerate() {
        let mut sizes = job
            .sequence
            .iter()
            .filter_map(|run| match run.kind.of_group() {
                CollectiveKind::AllToAllPxn { npus_per_host } => Some(*npus_per_host),
                _ => None,
            });
        let apart = |npus: u32| {
            let joined = |a: u32, b: u32| around.endpoint.joins(a, b);
            let mut hosts = job.hosts.chunks(npus as usize);
            !hosts.all(|npus| npus.iter().all(|&npu| joined(npu, npus[0])))
        };
        if let Some(npus) = sizes.find(|&npus| npus > 1 && apart(npus)) {
            let message = format!(
                "`jobs[{index}]` hands over within hosts of {npus} ranks (`algorithm: pxn`), which are not in one scale-up domain: that passes the network"
            );
            let help = format!(
                "set `endpoint.host.scale_up` to `{{npus_per_host: {npus}}}`, and let the ranks of a host be on NICs of a domain"
            );
            around.warnings.push(None, message, Some(help));
        }
    }
}

/// Reads `scale_up` and `npus_per_nic` out of `endpoint.host`.
pub(crate) fn read(host: &mut Section<'_>) -> Option<(Option<ScaleUp>, u32)> {
    let domain = Option::<ScaleUp>::read(host, KEY.name, ());
    let field = host.take("npus_per_nic")?;
    let npus_per_nic: u32 = field.integer(1..=64)?;
    let domain = domain?;
    if npus_per_nic == 1 {
        return Some((domain, 1));
    }
    let Some(npus_per_host) = domain.map(|domain| domain.npus_per_host) else {
        let what = format!("is {npus_per_nic}, and nothing connects the NPUs of a NIC");
        let help = format!(
            "give `endpoint.host.scale_up`, for example `{{npus_per_host: {npus_per_nic}}}`: what they send each other passes no NIC"
        );
        field.problem(&what, help);
        return None;
    };
    if !npus_per_host.is_multiple_of(npus_per_nic) {
        let what = format!(
            "is {npus_per_nic}, which does not divide the {npus_per_host} NPUs of a host: a NIC belongs to one host"
        );
        let help = "give an `npus_per_host` in `scale_up` that is a multiple of it".to_owned();
        field.problem(&what, help);
        return None;
    }
    Some((domain, npus_per_nic))
}
