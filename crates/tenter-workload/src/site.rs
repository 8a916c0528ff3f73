//! Placement of a group's ranks on hosts, and the values that collectives take from these hosts.
//!
//! Algorithms that distinguish hosts (`hierarchical`, `pxn`, `nccl`) have keys that describe them.
//! The scenario already says the same in `endpoint.host` and `fabric`, so these keys are left out
//! or must agree.

use std::collections::BTreeSet;

use tenter_language::config::Words as _;
use tenter_language::units::Rate;

use crate::collective::{CollectiveKind, HOST_KEYS, InDomain, NPUS_KEY};
use crate::scale_up::ScaleUp;

/// Ranks and NICs that a group has at each host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtHost {
    /// Ranks that the group has at each host.
    pub ranks: u32,
    /// NICs next to these ranks, reduced to a number that divides the ranks.
    pub nics: u32,
}

impl AtHost {
    /// Counts ranks and NICs at each host from each rank's (host, NIC), in rank order.
    ///
    /// Returns `None` if the counts differ between hosts, or if a host's ranks are not consecutive.
    pub fn of(ranks: impl Iterator<Item = (u32, u32)>) -> Option<AtHost> {
        let ranks: Vec<(u32, u32)> = ranks.collect();
        let mut hosts = BTreeSet::new();
        let mut each = ranks.chunk_by(|a, b| a.0 == b.0).map(|part| {
            let nics: BTreeSet<u32> = part.iter().map(|&(_, nic)| nic).collect();
            let (count, nics) = (part.len() as u32, nics.len() as u32);
            let fitting = (1..=nics).rev().find(|nics| count.is_multiple_of(*nics));
            let here = AtHost {
                ranks: count,
                nics: fitting.unwrap_or(1),
            };
            // A host that comes a second time has ranks that are not consecutive.
            hosts.insert(part[0].0).then_some(here)
        });
        let first = each.next()??;
        each.all(|of| of == Some(first)).then_some(first)
    }
}

/// A group's hosts, reduced to what collectives depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Ranks and NICs of the group at each host; `None` if the ranks are not spread evenly, host
    /// after host, or if the host size is unknown.
    pub at_each: Option<AtHost>,
    /// NPUs that a host has; `None` if neither the scenario nor a recording says it.
    pub npus_per_host: Option<u32>,
    /// NICs that a host has.
    pub nics_per_host: u32,
    /// Rate that the group's slowest NIC has.
    pub nic_rate: Rate,
    /// Scale-up domain that joins a host's NPUs, if there is one.
    pub scale_up: Option<ScaleUp>,
}

/// Reason why the collective's usual algorithm replaces the one that was requested or is the
/// default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Instead {
    /// The ranks are not placed as NCCL's choice and PXN need it.
    #[error("their ranks are not spread evenly, host after host")]
    Uneven,
    /// Nothing says which NPUs share a host.
    #[error("nothing says which NPUs share a host (`endpoint.host.scale_up`)")]
    Unknown,
}

/// A collective whose host keys are filled in, as [`Site::fit`] returns it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sited {
    /// Collective that is to be run.
    pub kind: CollectiveKind,
    /// Reason for the usual algorithm if it replaces another; `None` if nothing was replaced.
    pub instead: Option<Instead>,
}

/// Reason why a collective does not suit its site.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// A key contradicts the hosts.
    #[error(
        "`{key}` of {collective} is {written}, and {place} says {known}; leave `{key}` out, or \
         make the two agree"
    )]
    Differs {
        /// The collective's key, such as `nic_rate`.
        key: &'static str,
        /// Collective and algorithm in words.
        collective: String,
        /// Value that is written in the key.
        written: String,
        /// Value that follows from the hosts.
        known: String,
        /// Scenario keys that `known` comes from.
        place: &'static str,
    },
    /// The algorithm needs ranks that are spread evenly over hosts, and these are not.
    #[error(
        "{collective}: the ranks are not spread evenly, host after host, over hosts of {npus} NPUs; \
         place them so, or give another algorithm"
    )]
    Uneven {
        /// Collective and algorithm in words.
        collective: String,
        /// NPUs that a host has.
        npus: u32,
    },
}

/// A value that follows from the hosts, and where the scenario says it.
struct Known {
    key: &'static str,
    value: String,
    /// Another value that is accepted: the whole host's count where `value` counts only the group's
    /// part.
    also: Option<String>,
    place: &'static str,
}

impl Site {
    /// Returns the collective with the values of its hosts filled in, for a group of `ranks` ranks.
    ///
    /// NCCL's choice and PXN are replaced by the collective's usual algorithm if the ranks are not
    /// placed as they need it. Where all ranks share a domain whose kernels have times, collectives
    /// of NCCL take them. Other collectives that do not depend on hosts are returned unchanged.
    ///
    /// # Errors
    /// A key that contradicts the hosts; another algorithm that distinguishes hosts on ranks that
    /// are not spread evenly.
    pub fn fit(&self, kind: &CollectiveKind, ranks: u32) -> Result<Sited, Misfit> {
        let sited = self.fit_hosts(kind, ranks)?;
        let is_one = self.at_each.is_some_and(|each| each.ranks == ranks);
        let domain = self.scale_up.filter(|_| is_one);
        let timed = domain.and_then(|domain| InDomain::of(&sited.kind, domain));
        Ok(match timed {
            Some(timed) => Sited {
                kind: CollectiveKind::InDomain(Box::new(timed)),
                ..sited
            },
            None => sited,
        })
    }

    fn fit_hosts(&self, kind: &CollectiveKind, ranks: u32) -> Result<Sited, Misfit> {
        if !kind.has_key(NPUS_KEY) {
            return Ok(Sited::of(kind.clone()));
        }
        let says_npus = kind.texts().iter().any(|(key, _)| *key == NPUS_KEY);
        match (self.npus_per_host, self.at_each) {
            (Some(npus), None) if !kind.gives_way() => Err(Misfit::Uneven {
                collective: kind.member().to_string(),
                npus,
            }),
            (Some(_), None) => Ok(Sited::usual(kind, Some(Instead::Uneven))),
            // Within one host PXN has nothing to hand over: the parallel all-to-all is the same
            // traffic. The keys are still compared with the hosts, so that a contradiction does not
            // go unnoticed.
            (Some(_), Some(each)) if each.ranks == ranks && kind.hands_over_only() => {
                self.with_hosts(kind)?;
                Ok(Sited::usual(kind, None))
            }
            (None, _) if kind.gives_way() && !says_npus => {
                Ok(Sited::usual(kind, Some(Instead::Unknown)))
            }
            _ => self.with_hosts(kind).map(Sited::of),
        }
    }

    /// Fills in the keys that are left out from the hosts, and compares the others with them.
    fn with_hosts(&self, kind: &CollectiveKind) -> Result<CollectiveKind, Misfit> {
        let mut keys = kind.texts();
        for known in self.known().into_iter().filter(|of| kind.has_key(of.key)) {
            let written = keys.iter_mut().find(|(key, _)| *key == known.key);
            let Some((_, written)) = written else {
                keys.push((known.key, known.value));
                continue;
            };
            let agrees = *written == known.value || Some(&*written) == known.also.as_ref();
            if !agrees {
                return Err(Misfit::Differs {
                    key: known.key,
                    collective: kind.member().to_string(),
                    written: written.clone(),
                    known: known.also.unwrap_or(known.value),
                    place: known.place,
                });
            }
            *written = known.value;
        }
        Ok(kind.with(&keys).unwrap_or_else(|| kind.clone()))
    }

    /// Lists what follows from the hosts, by the collectives' keys.
    fn known(&self) -> Vec<Known> {
        let [
            npus_key,
            nics_key,
            rate_key,
            generation_key,
            kernels_key,
            within_key,
            latency_key,
        ] = HOST_KEYS;
        let known = |key, value: String, also, place| Known {
            key,
            value,
            also,
            place,
        };
        let nics = "the NICs of `fabric`";
        let mut all = vec![known(rate_key, self.nic_rate.to_string(), None, nics)];
        if let (Some(each), Some(npus)) = (self.at_each, self.npus_per_host) {
            let place = "`endpoint.host.scale_up.npus_per_host`";
            all.push(known(
                npus_key,
                each.ranks.to_string(),
                Some(npus.to_string()),
                place,
            ));
            let (own, place) = (self.nics_per_host, "`endpoint.host.npus_per_nic`");
            all.push(known(
                nics_key,
                each.nics.to_string(),
                Some(own.to_string()),
                place,
            ));
        }
        let Some(domain) = self.scale_up else {
            return all;
        };
        let (rate, latency) = (domain.rate.to_string(), domain.latency.to_string());
        all.push(known(
            within_key,
            rate,
            None,
            "`endpoint.host.scale_up.rate`",
        ));
        all.push(known(
            latency_key,
            latency,
            None,
            "`endpoint.host.scale_up.latency`",
        ));
        if let Some(generation) = domain.generation {
            let place = "`endpoint.host.scale_up.generation`";
            all.push(known(
                generation_key,
                generation.word().to_owned(),
                None,
                place,
            ));
        }
        if let Some(kernels) = domain.expert_kernels {
            let place = "`endpoint.host.scale_up.expert_kernels`";
            all.push(known(kernels_key, kernels.word().to_owned(), None, place));
        }
        all
    }
}

impl Sited {
    fn of(kind: CollectiveKind) -> Sited {
        Sited {
            kind,
            instead: None,
        }
    }

    fn usual(kind: &CollectiveKind, instead: Option<Instead>) -> Sited {
        Sited {
            kind: kind.usual(),
            instead,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NcclKernels;

    fn site(npus: u32, hosts: &[u32]) -> Site {
        let ranks = hosts.iter().map(|&nic| (nic / npus, nic));
        Site {
            at_each: AtHost::of(ranks),
            npus_per_host: Some(npus),
            nics_per_host: npus,
            nic_rate: Rate::from_gbps(200),
            scale_up: Some(ScaleUp {
                npus_per_host: npus,
                ..ScaleUp::default()
            }),
        }
    }

    fn kind(collective: &str, algorithm: &str, keys: &[(&str, &str)]) -> CollectiveKind {
        let kind = CollectiveKind::parse(collective, algorithm).expect("a member");
        let own = keys.iter().map(|&(key, text)| (key, text.to_owned()));
        kind.with(&own.collect::<Vec<_>>()).expect("its keys")
    }

    #[test]
    fn collectives_have_what_their_hosts_say() {
        let four: Vec<u32> = (0..16).collect();
        let found = site(4, &four).fit(&kind("all-reduce", "hierarchical", &[]), 16);
        let keys = [
            ("npus_per_host", "4"),
            ("scale_up_rate", "3600Gbps"),
            ("scale_up_latency", "1us"),
        ];
        let expected = kind("all-reduce", "hierarchical", &keys);
        assert_eq!(found.map(|of| of.kind), Ok(expected));
        // Half of the NPUs of each host.
        let half = [0, 1, 4, 5, 8, 9];
        let found = site(4, &half).fit(&kind("all-gather", "nccl", &[("npus_per_host", "4")]), 6);
        let found = found.expect("it fits").kind;
        assert_eq!(found.hands_over(), Some(2));
    }

    #[test]
    fn a_key_that_differs_names_both_places() {
        let all: Vec<u32> = (0..16).collect();
        let eight = kind("all-to-all", "pxn", &[("npus_per_host", "8")]);
        let refused = site(4, &all).fit(&eight, 16).unwrap_err().to_string();
        for part in [
            "`npus_per_host` of all-to-all (pxn) is 8",
            "scale_up.npus_per_host` says 4",
        ] {
            assert!(refused.contains(part), "{refused}");
        }
        let rate = kind("all-reduce", "nccl", &[("nic_rate", "400Gbps")]);
        let refused = site(4, &all).fit(&rate, 16).unwrap_err().to_string();
        assert!(refused.contains("says 200Gbps"), "{refused}");
    }

    #[test]
    fn kernels_have_times_where_one_domain_has_all_ranks() {
        let with_times = |hosts: &[u32]| {
            let own = site(4, hosts);
            let domain = own.scale_up.map(|domain| ScaleUp {
                nccl_kernels: Some(NcclKernels::default()),
                ..domain
            });
            Site {
                scale_up: domain,
                ..own
            }
        };
        let is_timed = |site: Site, kind: &CollectiveKind, ranks| {
            let sited = site.fit(kind, ranks).expect("it fits").kind;
            // Once more, it is the same.
            assert_eq!(site.fit(&sited, ranks).map(|of| of.kind), Ok(sited.clone()));
            matches!(sited, CollectiveKind::InDomain(_))
        };
        let (one, two) = ([0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7]);
        for (collective, algorithm, timed) in [
            ("all-reduce", "nccl", true),
            ("all-to-all", "pxn", true),
            ("send-recv", "ring", true),
            ("all-reduce", "ring", false),
        ] {
            let kind = kind(collective, algorithm, &[]);
            assert_eq!(is_timed(with_times(&one), &kind, 4), timed, "{kind:?}");
            assert!(!is_timed(with_times(&two), &kind, 8), "{kind:?}");
            assert!(!is_timed(site(4, &one), &kind, 4), "{kind:?}");
        }
    }

    #[test]
    fn choices_of_nccl_give_way_where_ranks_are_uneven() {
        let uneven = site(4, &[0, 4, 1, 5]);
        let found = uneven
            .fit(&kind("all-reduce", "nccl", &[]), 4)
            .expect("it gives way");
        assert_eq!(
            (found.kind.algorithm(), found.instead),
            ("ring", Some(Instead::Uneven))
        );
        let one = site(4, &[0, 1, 2, 3]);
        let found = one
            .fit(&kind("all-to-all", "pxn", &[]), 4)
            .expect("it gives way");
        assert_eq!((found.kind.algorithm(), found.instead), ("parallel", None));
        assert!(
            uneven
                .fit(&kind("all-reduce", "hierarchical", &[]), 4)
                .is_err()
        );
    }
}
