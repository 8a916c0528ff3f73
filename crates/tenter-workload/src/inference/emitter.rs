//! Emitter that turns an iteration's parts into a rank's operations.

use std::collections::BTreeMap;

use super::layout::{Inference, Pool};
use super::pass::Sink;
use crate::collective::{CollectiveKind, Direction};
use crate::graph::{CollectiveName, GraphError};
use crate::transformer::{Communicator, Program, Purpose, all_to_all};

/// Exchanges with experts in a pool.
pub(super) struct Exchanges {
    /// Dispatch and combination by kernels, in place of all-to-alls.
    kernels: Option<[CollectiveKind; 2]>,
    top_k: u64,
    /// Token share at each rank, beginning with the most popular; empty if all are equal.
    shares: Vec<f64>,
}

impl Exchanges {
    pub(super) fn new(of: &Inference, pool: &Pool) -> Exchanges {
        let skew = of.spec.expert_skew;
        let is_even = skew.is_even() || pool.ep == 1;
        Exchanges {
            kernels: pool.exchange.kinds(&of.model),
            top_k: u64::from(of.model.top_k),
            shares: if is_even {
                Vec::new()
            } else {
                skew.shares(of.model.experts, pool.ep)
            },
        }
    }

    /// Returns the rank with which `layer` begins to deal its experts; `None` if tokens are spread
    /// evenly.
    fn rotation(&self, layer: u32) -> Option<usize> {
        (layer as usize).checked_rem(self.shares.len())
    }

    /// Returns the shares by rank for layers that begin with rank `rotation`.
    fn shares_of(&self, rotation: usize) -> Vec<f64> {
        let mut shares = self.shares.clone();
        shares.rotate_right(rotation);
        shares
    }
}

/// Adds iterations to a rank's program, part by part. Computing that no communication interrupts
/// becomes one operation.
pub(super) struct Emitter<'m, 'g, 'a> {
    pub(super) program: Program<'g, 'a>,
    groups: [Option<Communicator>; 2],
    exchanges: &'m Exchanges,
    own_expert: usize,
    /// All-to-alls with uneven shares, by rotation, direction and bytes. Building one is costly,
    /// and iterations repeat them.
    kinds: BTreeMap<(usize, bool, u64), Option<CollectiveKind>>,
    /// Computing in seconds that has not become an operation yet.
    pending: f64,
    /// First operation in the iteration.
    begin: Option<u32>,
    /// Last operation in the iteration so far.
    end: Option<u32>,
}

impl<'m, 'g, 'a> Emitter<'m, 'g, 'a> {
    pub(super) fn new(
        program: Program<'g, 'a>,
        groups: [Option<Communicator>; 2],
        exchanges: &'m Exchanges,
        own_expert: usize,
    ) -> Emitter<'m, 'g, 'a> {
        Emitter {
            program,
            groups,
            exchanges,
            own_expert,
            kinds: BTreeMap::new(),
            pending: 0.0,
            begin: None,
            end: None,
        }
    }

    pub(super) fn finish(self) -> Program<'g, 'a> {
        self.program
    }

    /// Ends an iteration, and returns its first and last operations.
    pub(super) fn end_iteration(&mut self) -> [Option<u32>; 2] {
        self.flush();
        [self.begin.take(), self.end.take()]
    }

    fn flush(&mut self) {
        if self.pending > 0.0 {
            let place = self.program.compute(self.pending, Purpose::Forward);
            self.pending = 0.0;
            self.added(Some(place));
        }
    }

    fn added(&mut self, place: Option<u32>) {
        self.begin = self.begin.or(place);
        self.end = place.or(self.end);
    }

    /// Makes the next operation wait for `place`, too.
    fn waited_for(&mut self, place: Option<u32>) {
        self.program.also_after(place.as_slice());
        self.added(place);
    }
}

impl Sink for Emitter<'_, '_, '_> {
    fn compute(&mut self, seconds: f64) {
        self.pending += seconds;
    }

    fn tensor(&mut self, name: CollectiveName, bytes: u64) -> Result<(), GraphError> {
        if self.groups[0].is_none() || bytes == 0 {
            return Ok(());
        }
        self.flush();
        let front = self.program.front().to_vec();
        let place = self
            .program
            .collective_after(self.groups[0], name, bytes, &front)?;
        self.waited_for(place);
        Ok(())
    }

    fn exchange(&mut self, layer: u32, way: Direction, bytes: u64) -> Result<(), GraphError> {
        if self.groups[1].is_none() || bytes == 0 {
            return Ok(());
        }
        self.flush();
        let front = self.program.front().to_vec();
        if let Some([dispatch, combine]) = &self.exchanges.kernels {
            // Kernels count each token once, and know themselves how many copies it needs.
            let bytes = bytes / self.exchanges.top_k;
            let kind = match way {
                Direction::Dispatch => dispatch,
                Direction::Combine => combine,
            };
            let group = self.groups[1];
            let place = self
                .program
                .own_collective_after(group, kind, bytes, &front)?;
            self.waited_for(place);
            return Ok(());
        }
        let place = match self.exchanges.rotation(layer) {
            // Evenly spread tokens give every rank the same share, so the usual all-to-all does.
            None => {
                let name = CollectiveName::AllToAll;
                self.program
                    .collective_after(self.groups[1], name, bytes, &front)?
            }
            Some(rotation) => {
                let key = (rotation, way == Direction::Dispatch, bytes);
                let shares = || self.exchanges.shares_of(rotation);
                let kind = self.kinds.entry(key);
                let kind = kind.or_insert_with(|| all_to_all(&shares(), bytes, way));
                match kind {
                    Some(kind) => {
                        self.program
                            .own_collective_after(self.groups[1], kind, bytes, &front)?
                    }
                    None => None,
                }
            }
        };
        self.waited_for(place);
        Ok(())
    }

    fn expert_load(&self, layer: u32) -> f64 {
        let Some(rotation) = self.exchanges.rotation(layer) else {
            return 1.0;
        };
        let ranks = self.exchanges.shares.len();
        // Inverse of the rotation in `shares_of`.
        let place = (self.own_expert + ranks - rotation) % ranks;
        self.exchanges.shares[place] * ranks as f64
    }
}
