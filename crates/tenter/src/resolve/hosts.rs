//! A fabric's hosts by name and number.

use std::collections::BTreeMap;

use tenter_fabric::topology::{HostId, NodeId, Topology};
use tenter_language::units::{Rate, suggestion};
use tenter_workload::collective::CollectiveKind;
use tenter_workload::inference::Reach;
use tenter_workload::spec::HostRef;
use tenter_workload::{AtHost, ScaleUp, Site};

use tenter_language::notation::diagnostics::{Location, Problems, quote};

/// A fabric's host names, and the receiver for problems about unknown ones.
pub(crate) struct HostNames<'t> {
    topology: &'t Topology,
    npus: u32,
    scale_up: Option<ScaleUp>,
    numbers: BTreeMap<&'t str, HostId>,
    problems: &'t Problems,
}

impl<'t> HostNames<'t> {
    /// Lists the hosts in `topology`; each NIC has `npus` NPUs, in `scale_up` domains.
    pub(crate) fn of(
        topology: &'t Topology,
        npus: u32,
        scale_up: Option<ScaleUp>,
        problems: &'t Problems,
    ) -> HostNames<'t> {
        let hosts = topology.host_ids();
        let numbers = hosts.map(|host| (topology.name(host), host)).collect();
        HostNames {
            topology,
            npus,
            scale_up,
            numbers,
            problems,
        }
    }

    /// Returns the fabric's host count.
    pub(crate) fn count(&self) -> u32 {
        self.topology.hosts as u32
    }

    /// Returns all hosts in ascending order.
    pub(crate) fn all(&self) -> impl Iterator<Item = HostId> {
        self.topology.host_ids()
    }

    /// Returns each NIC's NPU count, which limits one job's ranks there.
    pub(crate) fn npus(&self) -> u32 {
        self.npus
    }

    /// Returns the rates between NPUs that a request scheduler assumes.
    pub(crate) fn reach(&self) -> Reach {
        Reach {
            within: self.scale_up,
            // One rate must stand for all; most fabrics give their hosts equal links.
            network: self.rate(HostId::new(0)),
        }
    }

    /// Describes the hosts of ranks on these NICs to collectives.
    pub(crate) fn site(&self, nics: &[HostId]) -> Site {
        let npus_per_host = self.scale_up.map(|domain| domain.npus_per_host);
        let spread = |npus: u32| {
            let host = move |nic: &HostId| nic.number() * self.npus / npus;
            AtHost::of(nics.iter().map(|nic| (host(nic), nic.number())))
        };
        // The slowest NIC holds a collective up, so its rate decides.
        let rates = nics.iter().map(|&nic| self.rate(nic));
        Site {
            at_each: npus_per_host.and_then(spread),
            npus_per_host,
            nics_per_host: npus_per_host.map_or(1, |npus| npus / self.npus),
            nic_rate: rates.min().unwrap_or_else(|| self.rate(HostId::new(0))),
            scale_up: self.scale_up,
        }
    }

    /// Describes the hosts for some `ranks` in a graph's job on `nics`. Without a scale-up domain,
    /// ranks fill hosts as large as the collective states.
    pub(crate) fn site_of_group(
        &self,
        nics: &[HostId],
        ranks: &[u32],
        kind: &CollectiveKind,
    ) -> Site {
        let of_group: Vec<HostId> = ranks.iter().map(|&rank| nics[rank as usize]).collect();
        let site = self.site(&of_group);
        let (Some((npus, nics)), None) = (kind.hosts(), self.scale_up) else {
            return site;
        };
        let of_a_nic = (npus / nics).max(1);
        let spread = ranks.iter().map(|&rank| (rank / npus, rank / of_a_nic));
        Site {
            at_each: AtHost::of(spread),
            npus_per_host: Some(npus),
            nics_per_host: nics,
            ..site
        }
    }

    /// Returns true if the fabric has several planes, which no path connects.
    pub(crate) fn has_planes(&self) -> bool {
        !self.topology.planes.is_empty()
    }

    /// Returns true if two hosts can exchange data: over the fabric, or in one scale-up domain.
    pub(crate) fn joins(&self, a: HostId, b: HostId) -> bool {
        let in_domain = |domain: ScaleUp| domain.joins_nics(self.npus, a, b);
        // Data within a domain enter no fabric, so planes do not matter to them.
        self.topology.joins(a, b) || self.scale_up.is_some_and(in_domain)
    }

    /// Returns the leaf that a host is cabled to.
    pub(crate) fn leaf(&self, host: HostId) -> NodeId {
        self.topology.neighbour(host, 0).node
    }

    /// Returns the rate on the link between a host and its leaf.
    pub(crate) fn rate(&self, host: HostId) -> Rate {
        self.topology.line_rate(host)
    }

    pub(crate) fn name(&self, host: HostId) -> &'t str {
        self.topology.name(host)
    }

    /// Finds the one host that `host` names; notes a problem otherwise.
    pub(crate) fn find(&self, host: &HostRef, at: Option<Location>) -> Option<HostId> {
        let mut found = Vec::new();
        self.expand(host, at, &mut found, "")?;
        if let [one] = found.as_slice() {
            return Some(*one);
        }
        let help = "write its name or its number".to_owned();
        self.problem(
            at,
            "one host is wanted here, not several".to_owned(),
            Some(help),
        );
        None
    }

    /// Adds the hosts that `host` names to `out`; notes a problem that begins with `prelude` if one
    /// is missing.
    pub(crate) fn expand(
        &self,
        host: &HostRef,
        at: Option<Location>,
        out: &mut Vec<HostId>,
        prelude: &str,
    ) -> Option<()> {
        self.refuse_two_readings(host, at, prelude)?;
        match host {
            HostRef::Number(number) if *number < self.count() => out.push(HostId::new(*number)),
            HostRef::Stretch(first, last) if first <= last && *last < self.count() => {
                out.extend((*first..=*last).map(HostId::new));
            }
            HostRef::Name(name) if self.numbers.contains_key(name.as_str()) => {
                out.push(self.numbers[name.as_str()]);
            }
            HostRef::Stretch(first, last) if first > last => {
                let message = format!("the hosts {first}-{last} run backwards");
                self.problem(at, message, Some(format!("write `{last}-{first}`")));
                return None;
            }
            HostRef::Number(number) | HostRef::Stretch(_, number) => {
                self.absent(&number.to_string(), at, prelude);
                return None;
            }
            HostRef::Name(name) => {
                self.absent(name, at, prelude);
                return None;
            }
        }
        Some(())
    }

    /// Refuses a number or range that is also the name of another host.
    fn refuse_two_readings(
        &self,
        host: &HostRef,
        at: Option<Location>,
        prelude: &str,
    ) -> Option<()> {
        let (word, meant) = match host {
            HostRef::Number(number) => (number.to_string(), format!("host number {number}")),
            HostRef::Stretch(first, last) => (
                format!("{first}-{last}"),
                format!("the hosts numbered {first} to {last}"),
            ),
            HostRef::Name(_) => return Some(()),
        };
        let named = self.numbers.get(word.as_str());
        let named = named.filter(|&&named| *host != HostRef::Number(named.number()));
        let Some(named) = named else {
            return Some(());
        };
        let message = format!("{prelude}{} has two meanings", quote(&word));
        let help = format!(
            "it may be {meant}, or the one called so, whose number is {named}: give that host a name that is no number"
        );
        self.problem(at, message, Some(help));
        None
    }

    fn absent(&self, host: &str, at: Option<Location>, prelude: &str) {
        // Every fabric has at least one host.
        let last = self.count() - 1;
        let range = format!(
            "hosts are 0 to {last}, `{}` to `{}`",
            self.name(HostId::new(0)),
            self.name(HostId::new(last))
        );
        // `gpu17` beside `gpu0` to `gpu15` is no typing error: the range of hosts helps more than a
        // similar name.
        let stem = host.trim_end_matches(|c: char| c.is_ascii_digit());
        let in_row = self
            .numbers
            .keys()
            .any(|name| name.trim_end_matches(|c: char| c.is_ascii_digit()) == stem);
        let near = suggestion(host, self.numbers.keys().copied());
        let help = if !stem.is_empty() && !in_row && near.starts_with("did") {
            near
        } else {
            range
        };
        self.problem(
            at,
            format!("{prelude}there is no host {}", quote(host)),
            Some(help),
        );
    }

    /// Returns the place that the value at `path` has.
    pub(crate) fn place(&self, path: &str) -> Option<Location> {
        self.problems.place(path)
    }

    /// Notes a problem at `path`, with a message that names the value itself.
    pub(crate) fn note(&self, path: &str, message: impl Into<String>, help: &str) {
        self.problems.note(path, message, help);
    }

    /// Notes a problem about the value at `path`, which the message begins with.
    pub(crate) fn push_at(&self, path: &str, what: &str, help: &str) {
        self.problems.push_at(path, what, help);
    }

    /// Notes a problem at any place.
    pub(crate) fn problem(&self, at: Option<Location>, message: String, help: Option<String>) {
        self.problems.push(at, message, help);
    }
}
