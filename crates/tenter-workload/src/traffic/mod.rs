//! A job's traffic: a collective, streams, flows, a pattern, or an operation graph.

mod flows;
mod grouped;
mod operations;

use std::sync::Arc;

use tenter_language::units::Time;

use crate::closed_form::IdealSwitch;
use crate::collective::{CollectiveKind, CollectiveMember, Factor};
use crate::flow_workload::{FlowSchedule, FlowWorkload};
use crate::graph;
use crate::pattern::PatternSchedule;
use crate::{Schedule, WorkloadError};

pub use flows::Flow;
pub use grouped::Groups;
pub use operations::{Known, Operations};

/// Traffic that a job's ranks carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// A collective, run by all ranks together or by several groups separately.
    Collective {
        /// Collective and the algorithm for it.
        kind: CollectiveKind,
        /// Groups that run the collective side by side; `None` for all ranks together.
        groups: Option<Groups>,
    },
    /// Streams that never end, as background load.
    Flows(Vec<Flow>),
    /// Flows with random sizes, in a closed or an open loop.
    FlowWorkload(Arc<FlowWorkload>),
    /// A parallel application's step, phase by phase.
    Pattern(PatternSchedule),
    /// Operations whose order the run decides, from a file or a model.
    Operations(Operations),
}

/// Wraps a collective that all ranks run.
impl<T: Into<CollectiveKind>> From<T> for Traffic {
    fn from(collective: T) -> Traffic {
        Traffic::Collective {
            kind: collective.into(),
            groups: None,
        }
    }
}

impl Traffic {
    /// Returns true if the traffic never ends, so that nothing in it is ever complete.
    pub const fn is_endless(&self) -> bool {
        matches!(self, Traffic::Flows(_))
    }

    /// Returns the collective if the traffic is one.
    pub fn collective(&self) -> Option<&CollectiveKind> {
        match self {
            Traffic::Collective { kind, .. } => Some(kind),
            _ => None,
        }
    }

    /// Returns the flow workload if the traffic is one.
    pub fn flow_workload(&self) -> Option<&FlowWorkload> {
        match self {
            Traffic::FlowWorkload(workload) => Some(workload),
            _ => None,
        }
    }

    /// Returns the application's step if the traffic is a pattern.
    pub fn pattern(&self) -> Option<&PatternSchedule> {
        match self {
            Traffic::Pattern(schedule) => Some(schedule),
            _ => None,
        }
    }

    /// Returns the operation graph if the traffic is one.
    pub fn operations(&self) -> Option<&Operations> {
        match self {
            Traffic::Operations(of) => Some(of),
            _ => None,
        }
    }

    /// Returns the static description: names, limits, bus bandwidth.
    pub fn member(&self) -> &'static CollectiveMember {
        match self {
            Traffic::Collective { kind, .. } => kind.member(),
            Traffic::Flows(_) => &flows::MEMBER,
            Traffic::FlowWorkload(workload) => workload.member(),
            Traffic::Pattern(schedule) => schedule.member(),
            Traffic::Operations(_) => &graph::MEMBER,
        }
    }

    /// Returns the collective's name, such as `all-to-all`.
    pub fn name(&self) -> &'static str {
        self.member().collective
    }

    /// Returns the algorithm's name, such as `parallel`.
    pub fn algorithm(&self) -> &'static str {
        self.member().algorithm
    }

    /// Returns the time spent within the hosts before the first transfer can be sent; the same time
    /// passes again after the last arrival.
    pub fn within_hosts(&self, size_bytes: u64) -> Time {
        let collective = self.collective();
        collective.map_or(Time::ZERO, |kind| kind.within_hosts(size_bytes))
    }

    /// Returns the ranks that run a collective together when `ranks` take part: the group size, if
    /// there are groups.
    pub(crate) fn ranks_together(&self, ranks: u32) -> u32 {
        match self {
            Traffic::Collective {
                groups: Some(groups),
                ..
            } => groups.size,
            _ => ranks,
        }
    }

    /// Builds the transfers over `ranks` ranks for `size_bytes`, counted as nccl-tests counts
    /// sizes.
    ///
    /// # Errors
    /// Those of [`CollectiveKind::schedule`]; ranks that do not fill the groups; a pattern or graph
    /// with another rank count.
    pub fn schedule(
        &self,
        ranks: u32,
        size_bytes: u64,
    ) -> Result<Box<dyn Schedule>, WorkloadError> {
        // Limits of a collective apply to one group; `kind.schedule` checks them.
        if let Traffic::Collective { kind, groups } = self {
            let Some(groups) = groups else {
                return kind.schedule(ranks, size_bytes);
            };
            let collective = kind.member().to_string();
            groups.count(&collective, ranks)?;
            let of_one = kind.schedule(groups.size, size_bytes)?;
            let grouped = grouped::Grouped::new(*groups, &collective, ranks, of_one)?;
            return Ok(Box::new(grouped));
        }
        self.member().check(ranks, size_bytes)?;
        Ok(match self {
            // Handled above; here for a complete match.
            Traffic::Collective { kind, .. } => kind.schedule(ranks, size_bytes)?,
            Traffic::Flows(flows) => Box::new(flows::Flows::new(ranks, size_bytes, flows)),
            Traffic::FlowWorkload(workload) => Box::new(FlowSchedule::new(ranks, workload)),
            Traffic::Pattern(schedule) => {
                let found = schedule.ranks();
                if found != ranks {
                    return Err(WorkloadError::RanksDisagree { ranks, found });
                }
                Box::new(schedule.clone())
            }
            Traffic::Operations(of) => of.schedule(ranks)?,
        })
    }

    /// Returns true if the modelled library gives latencies to the steps.
    pub fn has_latencies(&self) -> bool {
        // A graph may hold collectives that follow NCCL's choice beside its messages.
        let of_operations = self.operations().map(|of| of.graph.collectives());
        let in_graph = of_operations.is_some_and(|collectives| {
            let mut all = 0..collectives.len() as u32;
            all.any(|number| collectives.get(number).1.nccl().is_some())
        });
        in_graph || self.depends_on_size()
    }

    /// Returns true if the size decides about the algorithm.
    pub(crate) fn depends_on_size(&self) -> bool {
        self.collective().is_some_and(|kind| kind.nccl().is_some())
    }

    /// Builds one schedule for each algorithm that may run: the one for this size and, if sizes are
    /// drawn, one for each algorithm that a smaller size may have.
    ///
    /// # Errors
    /// Those of [`Traffic::schedule`].
    pub(crate) fn schedules_of_sizes(
        &self,
        ranks: u32,
        size_bytes: u64,
        is_drawn: bool,
    ) -> Result<Vec<Box<dyn Schedule>>, WorkloadError> {
        let mut schedules = vec![self.schedule(ranks, size_bytes)?];
        if let (Traffic::Collective { kind, groups }, true) = (self, is_drawn) {
            // Any size may be drawn. For each algorithm, the largest size has the destinations of
            // all smaller ones.
            for kind in kind.nccl_ways(self.ranks_together(ranks)) {
                let groups = *groups;
                let of = Traffic::Collective { kind, groups };
                schedules.push(of.schedule(ranks, size_bytes)?);
            }
        }
        Ok(schedules)
    }

    /// Returns the completion time on an ideal switch, or a lower bound; [`Time::MAX`] for endless
    /// traffic.
    pub fn ideal_completion(&self, switch: &IdealSwitch<'_>) -> Time {
        match self {
            Traffic::Collective { kind, .. } => kind.ideal_completion(&IdealSwitch {
                ranks: self.ranks_together(switch.ranks),
                ..*switch
            }),
            Traffic::Flows(_) => Time::MAX,
            Traffic::FlowWorkload(workload) => workload
                .ideal_time(switch.ranks, switch.port_time)
                .saturating_add(switch.latency),
            Traffic::Pattern(schedule) => schedule.ideal_time(switch.port_time, switch.latency),
            Traffic::Operations(of) => of.ideal_time(switch),
        }
    }

    /// Returns the ratio between algorithm bandwidth and size over time, for `ranks` ranks (at
    /// least 2).
    pub fn algbw_factor(&self, ranks: u32) -> f64 {
        let factor = self.collective().map_or(Factor::One, CollectiveKind::algbw);
        factor.of(self.ranks_together(ranks))
    }

    /// Returns the ratio between bus and algorithm bandwidth, for `ranks` ranks (at least 2). With
    /// it an ideal fabric reaches the goodput of one port whatever the collective.
    ///
    /// Source: "Performance reported by NCCL tests" (NVIDIA/nccl-tests, `doc/PERFORMANCE.md`).
    pub fn busbw_factor(&self, ranks: u32) -> f64 {
        self.member().busbw.of(self.ranks_together(ranks))
    }
}
