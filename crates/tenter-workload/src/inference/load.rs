//! Work in an iteration over a batch.

/// Phase to which tokens belong: prompt or answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Prefill, in which the prompt's tokens are computed.
    Prefill,
    /// Decode, in which the answer's tokens are computed, one in each iteration.
    Decode,
}

/// Work that an iteration does for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Number of the request that is served.
    pub request: u32,
    /// Tokens computed: any number in a prompt, 1 in an answer.
    pub tokens: u32,
    /// Tokens whose keys and values are in memory beforehand.
    pub cached: u32,
    /// Phase that the tokens belong to.
    pub phase: Phase,
    /// True if the request enters the pool with it.
    pub is_first: bool,
    /// True if it yields a token for the answer.
    pub gives_token: bool,
    /// True if the request leaves the pool behind it.
    pub is_last: bool,
}

impl Work {
    /// Returns true if the tokens belong to a prompt.
    pub fn is_prompt(&self) -> bool {
        self.phase == Phase::Prefill
    }
}

/// Work in an iteration, summed over a replica's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Tokens that the iteration computes.
    pub tokens: u64,
    /// Part of `tokens` that belongs to requests which decode.
    pub decoding: u64,
    /// Tokens that it adds to answers.
    pub outputs: u64,
    /// Tokens whose keys and values attention reads.
    pub read: u64,
    /// Part of `read` that serves prompts.
    pub read_by_prompts: u64,
    /// Attention pairs in prompts: a token and one that it sees, itself included.
    pub prompt_pairs: u64,
    /// Attention pairs in requests that decode.
    pub decode_pairs: u64,
}

impl Load {
    /// Sums the work for one replica's requests.
    pub fn of(work: &[Work]) -> Load {
        let mut load = Load::default();
        for of in work {
            let [tokens, cached] = [of.tokens, of.cached].map(u64::from);
            load.tokens += tokens;
            load.outputs += u64::from(of.gives_token);
            load.read += tokens + cached;
            // A token sees those before it and itself.
            let pairs = tokens * cached + tokens * (tokens + 1) / 2;
            if of.is_prompt() {
                load.read_by_prompts += tokens + cached;
                load.prompt_pairs += pairs;
            } else {
                load.decoding += tokens;
                load.decode_pairs += pairs;
            }
        }
        load
    }
}
