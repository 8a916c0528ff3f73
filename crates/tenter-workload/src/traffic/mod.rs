//! What the ranks of a job send: a collective, or what is none.

mod flows;
mod grouped;
mod operations;

use std::sync::Arc;

use tenter_units::Time;

use crate::closed_form::IdealSwitch;
use crate::collective::{CollectiveKind, CollectiveMember, Factor};
use crate::flow_workload::{FlowSchedule, FlowWorkload};
use crate::graph;
use crate::pattern::PatternSchedule;
use crate::{Schedule, WorkloadError};

pub use flows::Flow;
pub use grouped::Groups;
pub use operations::{Known, Operations};

/// What the ranks of a job send.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// A collective, of all ranks together or of each of several groups of them by itself.
    Collective {
        /// Which, and by which algorithm.
        kind: CollectiveKind,
        /// The groups.
        groups: Option<Groups>,
    },
    /// Streams that never end.
    Flows(Vec<Flow>),
    /// Flows with sizes by a distribution.
    FlowWorkload(Arc<FlowWorkload>),
    /// A step of a parallel application.
    Pattern(PatternSchedule),
    /// A graph of operations.
    Operations(Operations),
}

/// A collective of all ranks.
impl<T: Into<CollectiveKind>> From<T> for Traffic {
    fn from(collective: T) -> Traffic {
        Traffic::Collective {
            kind: collective.into(),
            groups: None,
        }
    }
}

impl Traffic {
    /// Whether it goes on for ever, so that nothing of it is ever complete.
    pub const fn is_endless(&self) -> bool {
        matches!(self, Traffic::Flows(_))
    }

    /// The collective, where it is one.
    pub fn collective(&self) -> Option<&CollectiveKind> {
        match self {
            Traffic::Collective { kind, .. } => Some(kind),
            _ => None,
        }
    }

    /// The flows, where it is a workload of flows with sizes by a distribution.
    pub fn flow_workload(&self) -> Option<&FlowWorkload> {
        match self {
            Traffic::FlowWorkload(workload) => Some(workload),
            _ => None,
        }
    }

    /// The step of an application, where it is one.
    pub fn pattern(&self) -> Option<&PatternSchedule> {
        match self {
            Traffic::Pattern(schedule) => Some(schedule),
            _ => None,
        }
    }

    /// The graph of operations, where it is one.
    pub fn operations(&self) -> Option<&Operations> {
        match self {
            Traffic::Operations(of) => Some(of),
            _ => None,
        }
    }

    /// What is known of it without running it.
    pub fn member(&self) -> &'static CollectiveMember {
        match self {
            Traffic::Collective { kind, .. } => kind.member(),
            Traffic::Flows(_) => &flows::MEMBER,
            Traffic::FlowWorkload(workload) => workload.member(),
            Traffic::Pattern(schedule) => schedule.member(),
            Traffic::Operations(_) => &graph::MEMBER,
        }
    }

    /// The name of its collective, such as `all-to-all`.
    pub fn name(&self) -> &'static str {
        self.member().collective
    }

    /// The name of its algorithm, such as `parallel`.
    pub fn algorithm(&self) -> &'static str {
        self.member().algorithm
    }

    /// What passes within the hosts before the first transfer can be sent, and once more after the
    /// last has arrived.
    pub fn within_hosts(&self, size_bytes: u64) -> Time {
        let collective = self.collective();
        collective.map_or(Time::ZERO, |kind| kind.within_hosts(size_bytes))
    }

    /// How many ranks run it together, of a number that run it in all.
    pub fn ranks_together(&self, ranks: u32) -> u32 {
        match self {
            Traffic::Collective {
                groups: Some(groups),
                ..
            } => groups.size,
            _ => ranks,
        }
    }

    /// The transfers over `ranks` ranks for a size of `size_bytes`, as nccl-tests counts sizes.
    ///
    /// # Errors
    /// Those of [`CollectiveKind::schedule`], ranks that do not fill the groups, and a pattern of
    /// another number of ranks.
    pub fn schedule(
        &self,
        ranks: u32,
        size_bytes: u64,
    ) -> Result<Box<dyn Schedule>, WorkloadError> {
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

    /// Whether the library that carries it out says what its steps take.
    pub fn has_latencies(&self) -> bool {
        let of_operations = self.operations().map(|of| of.graph.collectives());
        let in_graph = of_operations.is_some_and(|collectives| {
            let mut all = 0..collectives.len() as u32;
            all.any(|number| collectives.get(number).1.nccl().is_some())
        });
        in_graph || self.depends_on_size()
    }

    /// Whether its algorithm depends on the size.
    pub(crate) fn depends_on_size(&self) -> bool {
        self.collective().is_some_and(|kind| kind.nccl().is_some())
    }

    /// One schedule for each algorithm that a size may have, or smaller ones where it is drawn.
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
            // Any size may be drawn: the largest by each algorithm has the ways of smaller ones.
            for kind in kind.nccl_ways(self.ranks_together(ranks)) {
                let groups = *groups;
                let of = Traffic::Collective { kind, groups };
                schedules.push(of.schedule(ranks, size_bytes)?);
            }
        }
        Ok(schedules)
    }

    /// How long it takes on an ideal switch, by formula, or a lower bound: [`Time::MAX`] of what
    /// never ends.
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

    /// Algorithm bandwidth over size per time, for `ranks` ranks (at least 2).
    pub fn algbw_factor(&self, ranks: u32) -> f64 {
        let factor = self.collective().map_or(Factor::One, CollectiveKind::algbw);
        factor.of(self.ranks_together(ranks))
    }

    /// Bus bandwidth over algorithm bandwidth for `ranks` ranks (at least 2), so that an ideal
    /// fabric reaches the goodput of one port whatever the collective.
    ///
    /// Source: "Performance reported by NCCL tests" (NVIDIA/nccl-tests, `doc/PERFORMANCE.md`).
    pub fn busbw_factor(&self, ranks: u32) -> f64 {
        self.member().busbw.of(self.ranks_together(ranks))
    }
}
