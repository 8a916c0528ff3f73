//! What one rank does, while it is put together: each operation waits for those before it.

use tenter_units::Time;

use super::streams::Stream;
use crate::collective::CollectiveKind;
use crate::graph::{
    self, Algorithms, CollectiveName, Collectives, GraphError, Operation, RankBuilder,
};

/// A group of ranks with a stream of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Communicator {
    stream: Stream,
    group: graph::Communicator,
}

impl Communicator {
    /// How many ranks it has.
    pub(crate) fn size(self) -> u32 {
        self.group.size()
    }
}

/// The communicators of all ranks, whose tensor-parallel ones have algorithms of their own.
pub(crate) struct Communicators<'a> {
    tensor: graph::Communicators<'a>,
    others: graph::Communicators<'a>,
}

impl<'a> Communicators<'a> {
    pub(crate) fn new(tensor: &'a Algorithms, others: &'a Algorithms) -> Communicators<'a> {
        Communicators {
            tensor: graph::Communicators::new(tensor),
            others: graph::Communicators::new(others),
        }
    }

    /// What follows is of another rank.
    fn begin_rank(&mut self) {
        self.tensor.begin_rank();
        self.others.begin_rank();
    }

    /// Those of a stream.
    fn of(&mut self, stream: Stream) -> &mut graph::Communicators<'a> {
        if stream == Stream::Tensor {
            &mut self.tensor
        } else {
            &mut self.others
        }
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
pub(crate) enum Purpose {
    Forward,
    Backward,
    Recompute,
    Optimizer,
}

impl Computed {
    pub(crate) fn add(&mut self, purpose: Purpose, seconds: f64) {
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
pub(crate) struct Program<'g, 'a> {
    rank: u32,
    of: RankBuilder,
    /// What the next operation waits for.
    front: Vec<u32>,
    collectives: &'g mut Collectives,
    communicators: &'g mut Communicators<'a>,
    computed: &'g mut Computed,
}

impl<'g, 'a> Program<'g, 'a> {
    pub(crate) fn new(
        rank: u32,
        collectives: &'g mut Collectives,
        communicators: &'g mut Communicators<'a>,
        computed: &'g mut Computed,
    ) -> Program<'g, 'a> {
        communicators.begin_rank();
        Program {
            rank,
            of: RankBuilder::default(),
            front: Vec::new(),
            collectives,
            communicators,
            computed,
        }
    }

    pub(crate) fn finish(self) -> RankBuilder {
        self.of
    }

    /// The communicator of the rank with others; none of it alone.
    pub(crate) fn communicator(
        &mut self,
        stream: Stream,
        ranks: Vec<u32>,
    ) -> Result<Option<Communicator>, GraphError> {
        let known = self.communicators.of(stream);
        let group = known.of_tag(self.collectives, ranks, stream.label())?;
        Ok(group.map(|group| Communicator { stream, group }))
    }

    /// What the next operation waits for.
    pub(crate) fn front(&self) -> &[u32] {
        &self.front
    }

    /// The next operation waits for these, too.
    pub(crate) fn also_after(&mut self, others: &[u32]) {
        self.front.extend_from_slice(others);
    }

    /// The place of the operation that is added next.
    pub(crate) fn next_place(&self) -> u32 {
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
    pub(crate) fn compute(&mut self, seconds: f64, purpose: Purpose) -> u32 {
        self.computed.add(purpose, seconds);
        let time = Time::from_ps((seconds * 1e12).round() as u64);
        let front = std::mem::take(&mut self.front);
        let place = self.add(Operation::Compute { time }, Stream::Compute, &front);
        self.front = vec![place];
        place
    }

    /// Adds a collective that waits for some operations, where there is one of several ranks that
    /// carries anything.
    pub(crate) fn collective_after(
        &mut self,
        of: Option<Communicator>,
        name: CollectiveName,
        bytes: u64,
        after: &[u32],
    ) -> Result<Option<u32>, GraphError> {
        let Some(Communicator { stream, group }) = of.filter(|_| bytes > 0) else {
            return Ok(None);
        };
        let known = self.communicators.of(stream);
        let added = known.add(self.collectives, self.rank, group, name, bytes)?;
        Ok(Some(self.add_collective(added, stream, after)))
    }

    /// The same with a way to carry it out of its own.
    pub(crate) fn own_collective_after(
        &mut self,
        of: Option<Communicator>,
        kind: &CollectiveKind,
        bytes: u64,
        after: &[u32],
    ) -> Result<Option<u32>, GraphError> {
        let Some(Communicator { stream, group }) = of.filter(|_| bytes > 0) else {
            return Ok(None);
        };
        let known = self.communicators.of(stream);
        let added = known.add_own(self.collectives, self.rank, group, kind, bytes)?;
        Ok(Some(self.add_collective(added, stream, after)))
    }

    fn add_collective(&mut self, added: (u32, u32), stream: Stream, after: &[u32]) -> u32 {
        let (group, which) = added;
        let place = self.of.add_collective(group, which, stream.label());
        for &other in after {
            self.of.after(place, other);
        }
        place
    }

    /// A collective that what comes next waits for.
    pub(crate) fn collective(
        &mut self,
        of: Option<Communicator>,
        name: CollectiveName,
        bytes: u64,
    ) -> Result<(), GraphError> {
        let front = self.front.clone();
        if let Some(place) = self.collective_after(of, name, bytes, &front)? {
            self.front = vec![place];
        }
        Ok(())
    }

    /// An operation starts only when another one has started.
    pub(crate) fn after_start(&mut self, operation: u32, other: u32) {
        self.of.after_start(operation, other);
    }

    /// Sends a message when what came before is done.
    pub(crate) fn send(&mut self, stream: Stream, peer: u32, tag: u32, bytes: u64) -> u32 {
        let front = self.front.clone();
        self.send_after(stream, peer, tag, bytes, &front)
    }

    /// Sends a message when some operations are done.
    pub(crate) fn send_after(
        &mut self,
        stream: Stream,
        peer: u32,
        tag: u32,
        bytes: u64,
        after: &[u32],
    ) -> u32 {
        self.add(Operation::Send { peer, bytes, tag }, stream, after)
    }

    /// Sends a tied embedding's gradient to a rank and takes that rank's, when what came before is
    /// done; what comes next waits for both.
    pub(crate) fn exchange(&mut self, peer: u32, tag: u32, bytes: u64) {
        let front = self.front.clone();
        let sent = self.send_after(Stream::Embedding, peer, tag, bytes, &front);
        let (peer, tag) = (Some(peer), Some(tag));
        let receive = Operation::Receive { peer, bytes, tag };
        let received = self.add(receive, Stream::PipelineReceive, &front);
        self.front = vec![sent, received];
    }

    /// Does nothing for a time; operations of a stream wait one after the other.
    pub(crate) fn wait(&mut self, stream: Stream, time: Time) -> u32 {
        self.add(Operation::Wait { time }, stream, &[])
    }

    /// Waits for a message from the beginning of the step on.
    pub(crate) fn receive(&mut self, stream: Stream, peer: u32, tag: u32, bytes: u64) -> u32 {
        let (peer, tag) = (Some(peer), Some(tag));
        self.add(Operation::Receive { peer, bytes, tag }, stream, &[])
    }
}
