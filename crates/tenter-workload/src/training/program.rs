//! What one rank does, while it is put together: each operation waits for those before it.

use std::collections::BTreeMap;

use tenter_units::Time;

use super::streams::Stream;
use crate::collective::CollectiveKind;
use crate::graph::{Algorithms, CollectiveName, Collectives, GraphError, Operation, RankBuilder};

/// A group of ranks with a stream of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Communicator {
    stream: Stream,
    number: u32,
    /// How many ranks it has.
    pub(super) size: u32,
}

/// The communicators of all ranks.
pub(super) struct Communicators {
    numbers: BTreeMap<(Stream, Vec<u32>), u32>,
    tensor: Algorithms,
    others: Algorithms,
    /// What carries out collectives, as far as they were met.
    kinds: BTreeMap<(bool, CollectiveName, u32, u64), CollectiveKind>,
}

impl Communicators {
    pub(super) fn new(tensor: Algorithms, others: Algorithms) -> Communicators {
        Communicators {
            numbers: BTreeMap::new(),
            tensor,
            others,
            kinds: BTreeMap::new(),
        }
    }

    /// The communicator of some ranks; none of a rank alone.
    pub(super) fn of(
        &mut self,
        collectives: &mut Collectives,
        stream: Stream,
        ranks: Vec<u32>,
    ) -> Result<Option<Communicator>, GraphError> {
        let size = ranks.len() as u32;
        if size < 2 {
            return Ok(None);
        }
        let key = (stream, ranks);
        let number = if let Some(number) = self.numbers.get(&key) {
            *number
        } else {
            let number = collectives.add_group(key.1.clone())?;
            self.numbers.insert(key, number);
            number
        };
        Ok(Some(Communicator {
            stream,
            number,
            size,
        }))
    }

    fn kind(
        &mut self,
        stream: Stream,
        name: CollectiveName,
        (ranks, bytes): (u32, u64),
    ) -> &CollectiveKind {
        let is_tensor = stream == Stream::Tensor;
        let algorithms = if is_tensor {
            &self.tensor
        } else {
            &self.others
        };
        let kinds = self.kinds.entry((is_tensor, name, ranks, bytes));
        kinds.or_insert_with(|| algorithms.kind(name, ranks, bytes))
    }
}

/// What has been computed, in seconds over all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Computed {
    /// Forward passes.
    pub forward: f64,
    /// Backward passes, without what is recomputed.
    pub backward: f64,
    /// What is recomputed.
    pub recomputed: f64,
    /// The optimizer.
    pub optimizer: f64,
}

/// What computing is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Forward,
    Backward,
    Recompute,
    Optimizer,
}

impl Computed {
    pub(super) fn add(&mut self, purpose: Purpose, seconds: f64) {
        *match purpose {
            Purpose::Forward => &mut self.forward,
            Purpose::Backward => &mut self.backward,
            Purpose::Recompute => &mut self.recomputed,
            Purpose::Optimizer => &mut self.optimizer,
        } += seconds;
    }

    /// All of it.
    pub fn all(&self) -> f64 {
        self.forward + self.backward + self.recomputed + self.optimizer
    }
}

/// What a rank does, while it is put together.
pub(super) struct Program<'g> {
    rank: u32,
    of: RankBuilder,
    /// What the next operation waits for.
    front: Vec<u32>,
    /// How many collectives of each group the rank runs so far.
    run: BTreeMap<u32, u32>,
    collectives: &'g mut Collectives,
    communicators: &'g mut Communicators,
    computed: &'g mut Computed,
}

impl<'g> Program<'g> {
    pub(super) fn new(
        rank: u32,
        (collectives, communicators): (&'g mut Collectives, &'g mut Communicators),
        computed: &'g mut Computed,
    ) -> Program<'g> {
        Program {
            rank,
            of: RankBuilder::default(),
            front: Vec::new(),
            run: BTreeMap::new(),
            collectives,
            communicators,
            computed,
        }
    }

    pub(super) fn finish(self) -> RankBuilder {
        self.of
    }

    /// The communicator of the rank with others; none of it alone.
    pub(super) fn communicator(
        &mut self,
        stream: Stream,
        ranks: Vec<u32>,
    ) -> Result<Option<Communicator>, GraphError> {
        self.communicators.of(self.collectives, stream, ranks)
    }

    /// What the next operation waits for.
    pub(super) fn front(&self) -> &[u32] {
        &self.front
    }

    /// The next operation waits for these, too.
    pub(super) fn also_after(&mut self, others: &[u32]) {
        self.front.extend_from_slice(others);
    }

    /// The place of the operation that is added next.
    pub(super) fn next_place(&self) -> u32 {
        self.of.len() as u32
    }

    /// Adds an operation that waits for some others.
    fn add(&mut self, operation: Operation, stream: Stream, after: &[u32]) -> u32 {
        let place = self.of.add(operation, stream.label());
        for &other in after {
            self.of.after(place, other);
        }
        place
    }

    /// Computes; what comes next waits for it alone.
    pub(super) fn compute(&mut self, seconds: f64, purpose: Purpose) -> u32 {
        self.computed.add(purpose, seconds);
        let time = Time::from_ps((seconds * 1e12).round() as u64);
        let front = std::mem::take(&mut self.front);
        let place = self.add(Operation::Compute { time }, Stream::Compute, &front);
        self.front = vec![place];
        place
    }

    /// Adds a collective that waits for some operations, where there is one of several ranks that
    /// carries anything.
    pub(super) fn collective_after(
        &mut self,
        of: Option<Communicator>,
        (name, bytes): (CollectiveName, u64),
        after: &[u32],
    ) -> Result<Option<u32>, GraphError> {
        let Some(communicator) = of else {
            return Ok(None);
        };
        let of_size = (communicator.size, bytes);
        let kind = self.communicators.kind(communicator.stream, name, of_size);
        let kind = kind.clone();
        self.own_collective_after(of, (&kind, bytes), after)
    }

    /// The same with a way to carry it out of its own.
    pub(super) fn own_collective_after(
        &mut self,
        of: Option<Communicator>,
        (kind, bytes): (&CollectiveKind, u64),
        after: &[u32],
    ) -> Result<Option<u32>, GraphError> {
        let Some(Communicator { stream, number, .. }) = of.filter(|_| bytes > 0) else {
            return Ok(None);
        };
        let nth = self.run.entry(number).or_default();
        let which = self
            .collectives
            .add((number, *nth), self.rank, (kind, bytes))?;
        *nth += 1;
        let place = self.of.add_collective((number, which), stream.label());
        for &other in after {
            self.of.after(place, other);
        }
        Ok(Some(place))
    }

    /// A collective that what comes next waits for.
    pub(super) fn collective(
        &mut self,
        of: Option<Communicator>,
        what: (CollectiveName, u64),
    ) -> Result<(), GraphError> {
        let front = self.front.clone();
        if let Some(place) = self.collective_after(of, what, &front)? {
            self.front = vec![place];
        }
        Ok(())
    }

    /// An operation starts only when another one has started.
    pub(super) fn after_start(&mut self, operation: u32, other: u32) {
        self.of.after_start(operation, other);
    }

    /// Sends a message when what came before is done.
    pub(super) fn send(&mut self, stream: Stream, (peer, tag): (u32, u32), bytes: u64) -> u32 {
        let front = self.front.clone();
        self.send_after(stream, (peer, tag), bytes, &front)
    }

    /// Sends a message when some operations are done.
    pub(super) fn send_after(
        &mut self,
        stream: Stream,
        (peer, tag): (u32, u32),
        bytes: u64,
        after: &[u32],
    ) -> u32 {
        self.add(Operation::Send { peer, bytes, tag }, stream, after)
    }

    /// Sends a tied embedding's gradient to a rank and takes that rank's, when what came before is
    /// done; what comes next waits for both.
    pub(super) fn exchange(&mut self, (peer, tag): (u32, u32), bytes: u64) {
        let front = self.front.clone();
        let sent = self.send_after(Stream::Embedding, (peer, tag), bytes, &front);
        let (peer, tag) = (Some(peer), Some(tag));
        let receive = Operation::Receive { peer, bytes, tag };
        let received = self.add(receive, Stream::PipelineReceive, &front);
        self.front = vec![sent, received];
    }

    /// Waits for a message from the beginning of the step on.
    pub(super) fn receive(&mut self, stream: Stream, (peer, tag): (u32, u32), bytes: u64) -> u32 {
        let (peer, tag) = (Some(peer), Some(tag));
        self.add(Operation::Receive { peer, bytes, tag }, stream, &[])
    }
}
