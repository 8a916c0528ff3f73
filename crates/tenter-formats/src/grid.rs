//! Rank groups in a grid for tensor, expert, data and pipeline parallelism.

/// Kinds of groups in which ranks communicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// All ranks in the job.
    All,
    /// Ranks that share each layer's tensors.
    Tensor,
    /// Ranks that hold the same part of the model (data-parallel replicas).
    Data,
    /// Neighbouring replicas that share out the experts.
    Expert,
    /// Replicas that hold the same experts.
    DataOfExperts,
    /// Ranks with the same place in all pipeline stages.
    Pipeline,
    /// All tensor-parallel groups in an expert-parallel one together.
    TensorOfExperts,
}

/// Rank numbering: tensor-parallel ranks are neighbours, then come expert-parallel and other
/// data-parallel ones, then pipeline stages. Each field counts ranks; `ranks` is a multiple of the
/// others' product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) tensor: u32,
    pub(crate) expert: u32,
    pub(crate) pipeline: u32,
    pub(crate) ranks: u32,
}

impl Grid {
    /// Counts the data-parallel replicas in a pipeline stage.
    pub(crate) fn data(&self) -> u32 {
        self.ranks / self.tensor / self.pipeline
    }

    /// Returns `rank`'s pipeline stage, from 0.
    pub(crate) fn stage(&self, rank: u32) -> u32 {
        rank / self.tensor / self.data()
    }

    /// Returns `rank`'s group as an arithmetic progression: first rank, stride and size.
    fn range(&self, rank: u32, group: Group) -> (u32, u32, u32) {
        let (tensor, expert, data) = (self.tensor, self.expert, self.data());
        let (own, replica) = (rank % tensor, rank / tensor % data);
        let stage = self.stage(rank);
        let at = |replica: u32| own + tensor * (replica + data * stage);
        let experts = replica / expert * expert;
        let of_experts = expert.min(data - experts);
        match group {
            Group::All => (0, 1, self.ranks),
            Group::Tensor => (rank / tensor * tensor, 1, tensor),
            Group::Data => (at(0), tensor, data),
            Group::Expert => (at(experts), tensor, of_experts),
            Group::DataOfExperts => {
                let first = replica % expert;
                let count = (data - first).div_ceil(expert);
                (at(first), tensor * expert, count)
            }
            Group::Pipeline => (own + tensor * replica, tensor * data, self.pipeline),
            Group::TensorOfExperts => (at(experts) - own, 1, tensor * of_experts),
        }
    }

    /// Returns the group's first rank.
    pub(crate) fn first(&self, rank: u32, group: Group) -> u32 {
        self.range(rank, group).0
    }

    /// Counts the ranks in the group, `rank` itself included.
    pub(crate) fn size(&self, rank: u32, group: Group) -> u32 {
        self.range(rank, group).2
    }

    /// Returns the group's ranks, `rank` itself included.
    pub(crate) fn members(&self, rank: u32, group: Group) -> Vec<u32> {
        let (first, distance, count) = self.range(rank, group);
        (0..count).map(|place| first + distance * place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_divide_the_ranks() {
        let grid = Grid {
            tensor: 2,
            expert: 2,
            pipeline: 2,
            ranks: 16,
        };
        let of = |group| grid.members(13, group);
        assert_eq!(of(Group::Tensor), [12, 13]);
        assert_eq!(of(Group::Data), [9, 11, 13, 15]);
        assert_eq!(of(Group::Expert), [13, 15]);
        assert_eq!(of(Group::DataOfExperts), [9, 13]);
        assert_eq!(of(Group::Pipeline), [5, 13]);
        assert_eq!(of(Group::TensorOfExperts), [12, 13, 14, 15]);
        assert_eq!(of(Group::All).len(), 16);
        assert_eq!(grid.stage(13), 1);
    }
}
