//! Which inputs send to which outputs: iSLIP.
//!
//! In each round every output that is free grants the first input that requests it, from its
//! pointer on, and every input accepts the first output that grants it, from its own pointer on.
//! Pointers move one beyond the accepted partner, in the first round alone, so that outputs grant
//! different inputs soon, and no input waits for ever.

/// Which inputs have a frame for which outputs.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// By output: its inputs, one bit each.
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

/// The memory of a matching, kept from one to the next.
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    /// Inputs that are free, one bit each.
    free: Vec<u64>,
    /// By input: the output whose grant it accepts, in this round.
    accepted: Vec<Option<u16>>,
    /// Outputs that are free and requested.
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

    /// Matches these inputs with outputs that are free; the pairs are in the order of outputs.
    /// `pointers` are those of grants, by output, and of acceptances, by input.
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
                if round == 0 {
                    grant[usize::from(output)] = (input + 1) % ports;
                    accept[usize::from(input)] = (output + 1) % ports;
                }
            }
        }
        matched.sort_unstable_by_key(|&(_, output)| output);
        matched
    }

    /// One round of grants and acceptances.
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

    /// The first free input that requests an output, from a pointer on.
    fn first(&self, requests: &Requests, output: u16, from: u16) -> Option<u16> {
        let bits = requests.of(usize::from(output));
        let words = self.free.len();
        let (start, bit) = (usize::from(from) / 64, from % 64);
        // The word of the pointer comes twice: first the bits at it or beyond, last all of it.
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
