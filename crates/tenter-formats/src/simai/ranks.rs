//! Operations of the ranks: forward over the layers, and back.

use std::collections::BTreeMap;

use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{
    CollectiveName, Communicator, Communicators, GraphError, Operation, RankBuilder,
};
use tenter_workload::spec::{GatheredSize, SimaiSpec};

use super::layers::{self, Communication, Layer, Workload};
use crate::error::{ImportError, Place};
use crate::grid::{Grid, Group};
use crate::imported::Imported;
use crate::limits::{self, DECLARED_MAX, repeated};
use crate::taken_graph::TakenGraph;

/// Stream for computing; collectives have one for each kind of group.
const COMPUTE: u32 = 0;

/// Reads a workload.
///
/// # Errors
/// The first line that violates the format, and groups that do not divide the ranks.
pub fn read(text: &str, spec: &SimaiSpec, budget: &Budget) -> Result<Imported, ImportError> {
    limits::text(text.len(), budget)?;
    let workload = layers::read(text)?;
    let groups = workload.groups;
    let needed = groups.tensor.saturating_mul(groups.pipeline);
    let needed = needed.saturating_mul(groups.expert);
    // Guess: without `ranks` or `all_gpus`, the job has the fewest ranks that its groups need.
    let ranks = spec.ranks.or(groups.all).unwrap_or(needed.max(2));
    if !ranks.is_multiple_of(needed) {
        let what = format!(
            "{ranks} ranks do not divide into {} tensor-parallel, {} expert-parallel and {} pipeline-parallel ones",
            groups.tensor, groups.expert, groups.pipeline
        );
        let remedy = "give other `ranks`, a multiple of their product";
        return Err(ImportError::new(Place::Line(1), what, remedy));
    }
    if spec.ranks.is_none() {
        check_ranks(&workload, ranks, text.len())?;
    }
    let mut built = Built {
        spec,
        grid: Grid {
            tensor: groups.tensor,
            expert: groups.expert,
            pipeline: groups.pipeline,
            ranks,
        },
        builder: TakenGraph::new(ranks, Place::Line(1), budget)?,
        communicators: Communicators::new(&spec.algorithms),
        known: BTreeMap::new(),
        alone: 0,
    };
    for rank in 0..ranks {
        let of = built.rank(rank, &workload.layers)?;
        built.builder.add(of, Place::Line(1))?;
    }
    built.finish(workload)
}

/// Refuses more ranks, or more operations, than a file may declare by itself.
fn check_ranks(workload: &Workload, ranks: u32, stored: usize) -> Result<(), ImportError> {
    if ranks > DECLARED_MAX {
        let what = format!("the file is for {ranks} ranks");
        let remedy = "give `ranks`, if there are so many";
        return Err(ImportError::new(Place::Line(1), what, remedy));
    }
    // Four operations compute: forward, both gradients, the update. Collectives come on top.
    let of = |layer: &Layer| {
        let parts = [&layer.forward, &layer.input, &layer.weights];
        let sent = parts.iter().filter(|part| part.communication.is_some());
        4 + sent.count() as u64
    };
    let each: u64 = workload.layers.iter().map(of).sum();
    let all = each.saturating_mul(ranks.into());
    repeated(all, stored, ranks, Place::Line(1))
}

/// The graph under construction, with the communicators so far.
struct Built<'s> {
    spec: &'s SimaiSpec,
    grid: Grid,
    builder: TakenGraph<'s>,
    communicators: Communicators<'s>,
    /// Communicators that ranks have used, by kind of group and first rank.
    known: BTreeMap<(Group, u32), Option<Communicator>>,
    /// Number of collectives with a single rank.
    alone: u64,
}

impl Built<'_> {
    /// Makes the operations of a rank.
    fn rank(&mut self, rank: u32, layers: &[Layer]) -> Result<RankBuilder, ImportError> {
        self.communicators.begin_rank();
        let mut of = RankBuilder::default();
        let mut before: Vec<u32> = Vec::new();
        for layer in layers {
            let compute = add(&mut of, layer.forward.compute, &before);
            let sent = self.collective(&mut of, rank, layer.forward.communication, compute)?;
            before = vec![sent.unwrap_or(compute)];
        }
        for layer in layers.iter().rev() {
            let input = add(&mut of, layer.input.compute, &before);
            let of_input = self.collective(&mut of, rank, layer.input.communication, input)?;
            let weights = add(&mut of, layer.weights.compute, &[input]);
            let communication = layer.weights.communication;
            let of_weights = self.collective(&mut of, rank, communication, weights)?;
            add(&mut of, layer.update, &[of_weights.unwrap_or(weights)]);
            // The layer below needs the gradient of this layer's input, not the collective of its
            // weights.
            before = vec![of_input.unwrap_or(input), weights];
        }
        Ok(of)
    }

    /// Returns a rank's communicator for a kind of group; `None` for a rank alone.
    fn communicator(
        &mut self,
        rank: u32,
        group: Group,
    ) -> Result<Option<Communicator>, GraphError> {
        let first = self.grid.first(rank, group);
        if let Some(known) = self.known.get(&(group, first)) {
            return Ok(*known);
        }
        let members = self.grid.members(rank, group);
        let found = self.communicators.of(self.builder.collectives(), members)?;
        self.known.insert((group, first), found);
        Ok(found)
    }

    /// Adds a collective behind operation `after`; `None` if there is none, or if it has one rank.
    fn collective(
        &mut self,
        of: &mut RankBuilder,
        rank: u32,
        communication: Option<Communication>,
        after: u32,
    ) -> Result<Option<u32>, ImportError> {
        let Some(Communication { name, group, bytes }) = communication else {
            return Ok(None);
        };
        let wrong = |error| ImportError::of(Place::Line(1), error);
        let Some(communicator) = self.communicator(rank, group).map_err(wrong)? else {
            self.alone += 1;
            return Ok(None);
        };
        let gathers = name == CollectiveName::AllGather;
        let bytes = if gathers && self.spec.all_gather_size == GatheredSize::Input {
            name.size_of_own(bytes, communicator.size())
        } else {
            bytes
        };
        let collectives = self.builder.collectives();
        let added = self
            .communicators
            .add(collectives, rank, communicator, name, bytes);
        let (of_group, which) = added.map_err(wrong)?;
        // Collectives of one kind of group run one after the other, those of different kinds in
        // parallel.
        let added = of.add_collective(of_group, which, 1 + group as u32);
        of.after(added, after);
        Ok(Some(added))
    }

    fn finish(self, workload: Workload) -> Result<Imported, ImportError> {
        let graph = self.builder.finish(Place::Line(1))?;
        let mut notes = workload.notes;
        if self.alone > 0 {
            notes.push(format!(
                "{} collectives are of a rank alone and take no time; give `ranks` for more replicas",
                self.alone
            ));
        }
        Ok(Imported { graph, notes })
    }
}

/// Adds computing that waits for other operations, and returns its place.
fn add(of: &mut RankBuilder, time: Time, after: &[u32]) -> u32 {
    let compute = of.add(Operation::Compute { time }, COMPUTE);
    for &other in after {
        of.after(compute, other);
    }
    compute
}
