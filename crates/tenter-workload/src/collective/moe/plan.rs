//! The members: transfers for a number of ranks and a size.

use tenter_language::units::Rate;

use super::copies::distinct;
use super::direct::Direct;
use super::kernels::{ExpertKernels, Kernel};
use super::keys::{ExpertKeys, NormalKeys};
use super::two_stage::TwoStage;
use super::{Direction, Mode};
use crate::collective::all_to_all_parallel::Transfers;
use crate::collective::chunks::Chunks;
use crate::collective::member::{CollectiveMember, Factor};
use crate::{Schedule, WorkloadError};

/// Most pieces between two ranks of a host: those of all other hosts.
pub(in crate::collective) const MORE_OF_A_WAY: u64 = 1 << 24;

/// Implements a member whose field `experts` has the keys; `normal` gets those of `normal`.
macro_rules! moe_member {
    ($name:ident, $direction:ident, $mode:ident, $normal:expr, $member:expr) => {
        impl Collective for $name {
            const MEMBER: CollectiveMember = $member;

            fn schedule(
                &self,
                ranks: u32,
                size_bytes: u64,
            ) -> Result<Box<dyn Schedule>, WorkloadError> {
                self.plan().schedule(ranks, size_bytes)
            }

            /// Takes the busiest port's time, or the longer of its stages.
            fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
                let schedule = self.schedule(switch.ranks, switch.size_bytes);
                schedule.map_or(Time::ZERO, |schedule| ideal(&*schedule, switch))
            }

            fn chunk_bytes(&self) -> Option<u64> {
                self.plan().normal.map(|normal| normal.chunk_bytes)
            }

            fn hands_over(&self) -> Option<u32> {
                self.experts.npus_per_host
            }

            fn own_size(&self) -> Option<u64> {
                self.plan().own_size()
            }

            fn more_of_a_way(&self) -> u64 {
                MORE_OF_A_WAY
            }

            fn wire_times(&self) -> u64 {
                u64::from(self.experts.top_k)
            }
        }

        impl $name {
            fn plan(&self) -> Plan<'_> {
                let normal: fn(&$name) -> Option<&NormalKeys> = $normal;
                Plan {
                    member: &<$name as Collective>::MEMBER,
                    direction: Direction::$direction,
                    mode: Mode::$mode,
                    keys: &self.experts,
                    normal: normal(self),
                }
            }
        }
    };
}
pub(in crate::collective) use moe_member;

/// Returns the description of a member.
pub(in crate::collective) const fn member(
    [collective, algorithm]: [&'static str; 2],
    summary: &'static str,
    model_page: &'static str,
) -> CollectiveMember {
    CollectiveMember {
        collective,
        algorithm,
        summary,
        model_page,
        // n(n−1) transfers, in one piece each, must not exceed 2³²−1 ids.
        ranks_max: 65_536,
        // Each rank keeps its own share of the copies.
        busbw: Factor::AllButOwn,
    }
}

/// A member and its keys, from which its transfers follow.
#[derive(Clone, Copy)]
pub(in crate::collective) struct Plan<'a> {
    pub(in crate::collective) member: &'a CollectiveMember,
    pub(in crate::collective) direction: Direction,
    pub(in crate::collective) mode: Mode,
    pub(in crate::collective) keys: &'a ExpertKeys,
    /// Further keys of `normal`.
    pub(in crate::collective) normal: Option<&'a NormalKeys>,
}

impl Plan<'_> {
    /// Returns the bytes of a rank's tokens, each once, if the keys count tokens.
    pub(in crate::collective) fn own_size(&self) -> Option<u64> {
        self.keys.size(self.direction)
    }

    /// Builds the transfers.
    ///
    /// # Errors
    /// Ranks that do not fill hosts, several hosts where one domain must have all ranks, fewer
    /// experts than ranks.
    pub(in crate::collective) fn schedule(
        &self,
        ranks: u32,
        size_bytes: u64,
    ) -> Result<Box<dyn Schedule>, WorkloadError> {
        let npus = self.member.known_npus(self.keys.npus_per_host)?;
        self.check(ranks, npus)?;
        let npus = npus.min(ranks);
        let hosts = ranks / npus;
        let kernel = self.kernel(hosts, npus);
        let bytes = self.own_size().unwrap_or(size_bytes);
        let ExpertKeys { top_k, experts, .. } = *self.keys;
        let copies = match (self.mode, self.normal) {
            (Mode::LowLatency, _) => bytes.saturating_mul(u64::from(top_k)),
            (_, Some(normal)) => return Ok(self.by_hosts(normal, [hosts, npus], bytes, kernel)),
            _ => distinct(bytes, top_k, ranks, experts),
        };
        Ok(Box::new(Direct {
            all: Transfers::new(ranks, copies),
            direction: self.direction,
            kernel,
        }))
    }

    /// Returns the kernel on `hosts` hosts with `npus` NPUs each.
    fn kernel(&self, hosts: u32, npus: u32) -> Kernel {
        let (mode, direction) = (self.mode, self.direction);
        let kernels = self.keys.kernels;
        let kernels = kernels.unwrap_or_else(|| ExpertKernels::of(self.keys.generation));
        let sms = self.normal.map(|normal| normal.sms);
        let rate = kernels.rate(mode, direction, hosts, sms);
        let rate = self.keys.kernel_rate.unwrap_or(rate).bits_per_second();
        // An NPU's own copies take the kernel's time, too, and pass no link.
        let sent = u128::from(rate) * u128::from(npus - 1) / u128::from(npus);
        let launch = kernels.launch(mode, direction, hosts);
        Kernel {
            launch: self.keys.launch.unwrap_or(launch),
            pace: (npus > 1).then(|| Rate::from_bits_per_second((sent as u64).max(1))),
        }
    }

    fn by_hosts(
        &self,
        normal: &NormalKeys,
        [hosts, npus]: [u32; 2],
        bytes: u64,
        kernel: Kernel,
    ) -> Box<dyn Schedule> {
        let ExpertKeys { top_k, experts, .. } = *self.keys;
        let near = normal.hosts_per_token.unwrap_or(hosts).clamp(1, hosts);
        // The experts of the hosts that a token may choose.
        let experts = u64::from(experts) * u64::from(near) / u64::from(hosts);
        let copies = |places| distinct(bytes, top_k, places, experts as u32);
        let to_hosts = Chunks::new(copies(near), hosts);
        let ranks = hosts * npus;
        let longest = to_hosts.total().div_ceil(u64::from(hosts));
        Box::new(TwoStage {
            direction: self.direction,
            npus,
            to_hosts,
            to_ranks: Chunks::new(copies(near * npus), ranks),
            // On one host nothing is passed on.
            pieces: if hosts == 1 || npus == 1 {
                1
            } else {
                TwoStage::pieces_of(longest, normal.chunk_bytes, ranks)
            },
            kernel,
        })
    }

    fn check(&self, ranks: u32, npus: u32) -> Result<(), WorkloadError> {
        let collective = || self.member.to_string();
        if self.keys.experts < ranks {
            return Err(WorkloadError::FewExperts {
                collective: collective(),
                experts: self.keys.experts,
                ranks,
            });
        }
        if ranks <= npus {
            return Ok(());
        }
        if self.mode == Mode::Nvlink {
            return Err(WorkloadError::SeveralDomains {
                collective: collective(),
                ranks,
                npus_per_host: npus,
            });
        }
        self.member.check_hosts(ranks, npus)
    }
}
