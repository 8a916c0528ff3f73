//! The streams of a rank, one for each communicator: what an operation is for, by its stream.

/// A stream of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Stream {
    /// Computing.
    Compute,
    /// Tensor-parallel collectives.
    Tensor,
    /// Dispatch to experts, and combination.
    Expert,
    /// Keys and values sent on in the ring.
    Context,
    /// Keys and values that come.
    ContextReceive,
    /// Activations and their gradients sent to other stages.
    Pipeline,
    /// Activations and their gradients that come, and the gradient of a tied embedding.
    PipelineReceive,
    /// The gradient of a tied embedding, which the first and the last stage send each other.
    Embedding,
    /// Sums of gradients.
    Gradients,
    /// Gathering of weights.
    Parameters,
    /// Sums of the gradients of experts.
    ExpertGradients,
    /// Gathering of the weights of experts.
    ExpertParameters,
    /// Keys and values of prompts sent to another pool.
    CacheSend,
    /// Keys and values of prompts that come.
    CacheReceive,
    /// The times at which requests arrive.
    Arrivals,
    /// Requests that follow others, sent by the pool that has ended those, and word that an
    /// iteration begins to replicas without a request.
    Requests,
    /// Tokens sent to the first stage.
    Tokens,
    /// Tokens that come.
    TokensReceive,
}

/// What operations are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parallelism {
    /// Parts of matrices.
    Tensor,
    /// Experts.
    Expert,
    /// Parts of sequences.
    Context,
    /// Stages.
    Pipeline,
    /// Sequences: gradients and weights.
    Data,
    /// Keys and values between pools.
    Cache,
    /// Requests that have not come.
    Requests,
}

impl Stream {
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

    /// The label of the stream in a graph.
    pub fn label(self) -> u32 {
        self as u32
    }

    /// The stream of a label.
    pub fn of_label(label: u32) -> Option<Stream> {
        Stream::ALL.get(label as usize).copied()
    }

    /// What its operations are for; `None` of computing.
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
    /// All of them.
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
