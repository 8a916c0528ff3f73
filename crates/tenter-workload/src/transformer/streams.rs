//! A rank's streams. Each communicator has its own, so a stream tells what its operations are for.

/// A rank's stream, numbered by its label in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Stream {
    /// Operations that compute, for whatever purpose.
    Compute,
    /// Collectives among a tensor-parallel group's ranks.
    Tensor,
    /// Dispatch to experts, and combination of their results.
    Expert,
    /// Keys and values sent on in context parallelism's ring.
    Context,
    /// Keys and values received in that ring.
    ContextReceive,
    /// Activations and their gradients sent to other stages.
    Pipeline,
    /// Activations and their gradients received from other stages, and a tied embedding's gradient.
    PipelineReceive,
    /// A tied embedding's gradient sent between the first and the last stage.
    Embedding,
    /// Gradient reductions over data-parallel replicas.
    Gradients,
    /// All-gathers that collect sharded weights.
    Parameters,
    /// Gradient reductions over experts' replicas.
    ExpertGradients,
    /// All-gathers that collect experts' sharded weights.
    ExpertParameters,
    /// A prompt's keys and values sent to the decode pool.
    CacheSend,
    /// A prompt's keys and values received from the prefill pool.
    CacheReceive,
    /// Waits for the times at which requests arrive.
    Arrivals,
    /// Requests sent to the pool that serves them next, after the requests they follow have ended,
    /// and the message by which replicas without a request learn that an iteration begins.
    Requests,
    /// Tokens sent from the last stage to the first.
    Tokens,
    /// Tokens received by the first stage.
    TokensReceive,
}

/// Purpose to which exposed communication is attributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parallelism {
    /// Tensor parallelism, which cuts matrices.
    Tensor,
    /// Expert parallelism: dispatch and combination.
    Expert,
    /// Context parallelism, which cuts sequences.
    Context,
    /// Pipeline parallelism: messages between stages.
    Pipeline,
    /// Data parallelism: gradients and weights.
    Data,
    /// Keys and values that pass between pools.
    Cache,
    /// Requests that have not arrived yet.
    Requests,
}

impl Stream {
    // In variant order: a label is an index into this list.
    const ALL: [Stream; 18] = [
        Stream::Compute,
        Stream::Tensor,
        Stream::Expert,
        Stream::Context,
        Stream::ContextReceive,
        Stream::Pipeline,
        Stream::PipelineReceive,
        Stream::Embedding,
        Stream::Gradients,
        Stream::Parameters,
        Stream::ExpertGradients,
        Stream::ExpertParameters,
        Stream::CacheSend,
        Stream::CacheReceive,
        Stream::Arrivals,
        Stream::Requests,
        Stream::Tokens,
        Stream::TokensReceive,
    ];

    /// Returns the stream's label in a graph.
    pub fn label(self) -> u32 {
        self as u32
    }

    /// Returns the stream with a label; `None` if there is none.
    pub fn of_label(label: u32) -> Option<Stream> {
        Stream::ALL.get(label as usize).copied()
    }

    /// Returns what the stream's operations are for; `None` if they compute.
    pub fn parallelism(self) -> Option<Parallelism> {
        Some(match self {
            Stream::Compute => return None,
            Stream::Tensor => Parallelism::Tensor,
            Stream::Expert => Parallelism::Expert,
            Stream::Context | Stream::ContextReceive => Parallelism::Context,
            Stream::Pipeline
            | Stream::PipelineReceive
            | Stream::Embedding
            | Stream::Tokens
            | Stream::TokensReceive => Parallelism::Pipeline,
            Stream::Gradients
            | Stream::Parameters
            | Stream::ExpertGradients
            | Stream::ExpertParameters => Parallelism::Data,
            Stream::CacheSend | Stream::CacheReceive => Parallelism::Cache,
            Stream::Arrivals | Stream::Requests => Parallelism::Requests,
        })
    }
}

impl Parallelism {
    /// All purposes, in variant order.
    pub const ALL: [Parallelism; 7] = [
        Parallelism::Tensor,
        Parallelism::Expert,
        Parallelism::Context,
        Parallelism::Pipeline,
        Parallelism::Data,
        Parallelism::Cache,
        Parallelism::Requests,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_places_in_the_list() {
        for stream in Stream::ALL {
            assert_eq!(Stream::of_label(stream.label()), Some(stream));
        }
        assert_eq!(Stream::of_label(18), None);
    }
}
