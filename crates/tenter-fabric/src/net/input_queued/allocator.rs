//! Matching inputs with outputs: iSLIP.
//!
//! In each round every free output grants the first input that requests it, from its pointer on,
//! and every input accepts the first output that grants it, from its own pointer on. Pointers move
//! one beyond the accepted partner, in the first round alone, so that outputs grant different
//! inputs soon, and no input waits for ever.

/// Inputs that have a frame for each output.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// Inputs for each output, one bit each, in `words` words.
    bits: Vec<u64>,
    words: usize,
}

impl Requests {
    pub(crate) fn new(ports: usize) -> Requests {
        let words = ports.div_ceil(64);
        Requests {
            bits: vec![0; words * ports],
            words,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bits.fill(0);
    }

    pub(crate) fn set(&mut self, input: u16, output: u16) {
        self.bits[usize::from(output) * self.words + usize::from(input) / 64] |= 1 << (input % 64);
    }

    pub(crate) fn unset(&mut self, input: u16, output: u16) {
        self.bits[usize::from(output) * self.words + usize::from(input) / 64] &=
            !(1 << (input % 64));
    }

    fn of(&self, output: usize) -> &[u64] {
        &self.bits[output * self.words..][..self.words]
    }
}

/// Memory for matchings, kept from one to the next.
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    /// Inputs that are free and not matched yet, one bit each.
    free: Vec<u64>,
    /// Output whose grant each input accepts in this round.
    accepted: Vec<Option<u16>>,
    /// Outputs that are free, requested and not matched yet.
    outputs: Vec<u16>,
}

impl Allocator {
    pub(crate) fn new(ports: usize) -> Allocator {
        Allocator {
            free: vec![0; ports.div_ceil(64)],
            accepted: vec![None; ports],
            outputs: Vec::new(),
        }
    }

    /// Matches `inputs` with free outputs, in up to `rounds` rounds; the pairs are ordered by
    /// output. `grant` has the outputs' pointers, `accept` the inputs'.
    pub(crate) fn allocate(
        &mut self,
        requests: &Requests,
        inputs: &[u16],
        is_free: impl Fn(u16) -> bool,
        grant: &mut [u16],
        accept: &mut [u16],
        rounds: u16,
    ) -> Vec<(u16, u16)> {
        self.free.fill(0);
        for &input in inputs {
            self.free[usize::from(input) / 64] |= 1 << (input % 64);
        }
        let ports = self.accepted.len() as u16;
        self.outputs.clear();
        for output in 0..ports {
            if self.first(requests, output, 0).is_some() && is_free(output) {
                self.outputs.push(output);
            }
        }
        let mut matched = Vec::new();
        for round in 0..rounds {
            let before = matched.len();
            self.round(requests, grant, accept, &mut matched);
            let fresh = &matched[before..];
            if fresh.is_empty() {
                break;
            }
            for &(input, output) in fresh {
                self.free[usize::from(input) / 64] &= !(1 << (input % 64));
                self.outputs.retain(|&other| other != output);
                // Later rounds leave the pointers, or an input could wait for ever.
                if round == 0 {
                    grant[usize::from(output)] = (input + 1) % ports;
                    accept[usize::from(input)] = (output + 1) % ports;
                }
            }
        }
        matched.sort_unstable_by_key(|&(_, output)| output);
        matched
    }

    /// Adds the pairs from one round, with its grants and acceptances, to `matched`.
    fn round(
        &mut self,
        requests: &Requests,
        grant: &[u16],
        accept: &[u16],
        matched: &mut Vec<(u16, u16)>,
    ) {
        let ports = self.accepted.len() as u16;
        let outputs = std::mem::take(&mut self.outputs);
        for &output in &outputs {
            let Some(input) = self.first(requests, output, grant[usize::from(output)]) else {
                continue;
            };
            let from = accept[usize::from(input)];
            // How far an output is from the input's pointer, around: the nearest grant is accepted.
            let after = |output: u16| (output + ports - from) % ports;
            let accepted = &mut self.accepted[usize::from(input)];
            if accepted.is_none_or(|other| after(output) < after(other)) {
                *accepted = Some(output);
            }
        }
        self.outputs = outputs;
        for (input, accepted) in (0..).zip(&mut self.accepted) {
            matched.extend(accepted.take().map(|output| (input, output)));
        }
    }

    /// Returns the first free input that requests an output, from the pointer `from` on and around.
    fn first(&self, requests: &Requests, output: u16, from: u16) -> Option<u16> {
        let bits = requests.of(usize::from(output));
        let words = self.free.len();
        let (start, bit) = (usize::from(from) / 64, from % 64);
        // The pointer's word comes twice: first the bits from the pointer on, last all of them.
        (0..=words).find_map(|step| {
            let word = (start + step) % words;
            let mut found = bits[word] & self.free[word];
            if step == 0 {
                found &= !0 << bit;
            }
            (found != 0).then(|| word as u16 * 64 + found.trailing_zeros() as u16)
        })
    }
}
