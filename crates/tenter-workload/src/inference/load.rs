//! What an iteration over a batch has to do.

/// What tokens are of that are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A prompt.
    Prefill,
    /// An answer.
    Decode,
}

/// What an iteration does for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Which.
    pub request: u32,
    /// Tokens that are computed: 1 of a request that decodes.
    pub tokens: u32,
    /// Tokens whose keys and values are in memory before.
    pub cached: u32,
    /// What the tokens are of.
    pub phase: Phase,
    /// Whether it is the first of the request in the pool.
    pub is_first: bool,
    /// Whether a token of the answer follows from it.
    pub gives_token: bool,
    /// Whether it is the last of the request in the pool.
    pub is_last: bool,
}

impl Work {
    /// Whether it is part of a prompt.
    pub fn is_prompt(&self) -> bool {
        self.phase == Phase::Prefill
    }
}

/// What an iteration has to do, over all of its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Tokens that are computed.
    pub tokens: u64,
    /// Of those, tokens of requests that decode.
    pub decoding: u64,
    /// Tokens of answers that follow.
    pub outputs: u64,
    /// Tokens whose keys and values are read.
    pub read: u64,
    /// Of those, tokens of requests whose prompts are computed.
    pub read_by_prompts: u64,
    /// Pairs of a token of a prompt and one that it sees.
    pub prompt_pairs: u64,
    /// The same of requests that decode.
    pub decode_pairs: u64,
}

impl Load {
    /// Of a batch.
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
