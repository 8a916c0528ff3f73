//! Communicators that one rank belongs to.

use super::data_parallel::Ways;
use super::layout::Training;
use crate::graph::GraphError;
use crate::transformer::{
    Communicator, Dimension, Place, Program, Stream, expert_group, expert_replicas,
};

/// Communicators that one rank belongs to; `None` where the rank is alone.
pub(super) struct Groups {
    pub(super) tensor: Option<Communicator>,
    pub(super) expert: Option<Communicator>,
    /// Replicas for weights that all data-parallel ranks share, and for experts.
    pub(super) data: [Ways; 2],
    /// Rank at the other end of the pipeline, if this rank is at one end and the embedding is tied.
    pub(super) embedding: Option<u32>,
}

impl Groups {
    pub(super) fn new(
        training: &Training,
        rank: u32,
        place: Place,
        stages: &[Vec<u32>],
        program: &mut Program<'_, '_>,
    ) -> Result<Groups, GraphError> {
        let (grid, ep) = (&training.grid, training.spec.ep);
        let stage = &stages[place.pp as usize];
        let index = stage.iter().position(|&own| own == rank).unwrap_or(0);
        let replicas = grid.replicas(place);
        let with_experts = training.model.experts > 0;
        let alike = if with_experts {
            expert_replicas(stage, index, ep)
        } else {
            Vec::new()
        };
        let tensor = grid.along(place, Dimension::Tensor);
        // A tied embedding is at the first stage, and again as output layer at the last one.
        let ends = [0, grid.size.pp - 1].map(|pp| grid.rank(Place { pp, ..place }));
        let other_end = match ends {
            [first, last] if rank == first => Some(last),
            [first, last] if rank == last => Some(first),
            _ => None,
        };
        let is_tied = training.model.tied && grid.size.pp > 1;
        Ok(Groups {
            tensor: program.communicator(Stream::Tensor, tensor)?,
            expert: if with_experts {
                program.communicator(Stream::Expert, expert_group(stage, index, ep))?
            } else {
                None
            },
            data: [
                Ways {
                    gradients: program.communicator(Stream::Gradients, replicas.clone())?,
                    parameters: program.communicator(Stream::Parameters, replicas)?,
                },
                Ways {
                    gradients: program.communicator(Stream::ExpertGradients, alike.clone())?,
                    parameters: program.communicator(Stream::ExpertParameters, alike)?,
                },
            ],
            embedding: other_end.filter(|_| is_tied),
        })
    }
}
