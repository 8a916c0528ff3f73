//! One rank's program under construction: each operation waits for the ones before it.

use tenter_language::units::Time;

use super::streams::Stream;
use crate::collective::CollectiveKind;
use crate::graph::{
    self, Algorithms, CollectiveName, Collectives, GraphError, Operation, RankBuilder,
};

/// A rank group whose collectives run on one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Communicator {
    stream: Stream,
    group: graph::Communicator,
}

impl Communicator {
    /// Returns the group's rank count.
    pub(crate) fn size(self) -> u32 {
        self.group.size()
    }
}

/// Communicators for all ranks. Tensor-parallel collectives have their own algorithms, because
/// their groups usually share a host.
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

    /// Begins the next rank, whose collectives count from 0.
    fn begin_rank(&mut self) {
        self.tensor.begin_rank();
        self.others.begin_rank();
    }

    /// Returns the communicators whose algorithms apply to `stream`.
    fn of(&mut self, stream: Stream) -> &mut graph::Communicators<'a> {
        if stream == Stream::Tensor {
            &mut self.tensor
        } else {
            &mut self.others
        }
    }
}

/// Computing time by purpose, in seconds, summed over all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Computed {
    /// Time spent in forward passes.
    pub forward: f64,
    /// Time in backward passes, recomputation excluded.
    pub backward: f64,
    /// Time spent on recomputing activations.
    pub recomputed: f64,
    /// Time spent in the optimizer.
    pub optimizer: f64,
}

/// Purpose for which an operation computes.
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

    /// Returns the sum over all purposes.
    pub fn all(&self) -> f64 {
        self.forward + self.backward + self.recomputed + self.optimizer
    }
}

/// One rank's program under construction.
pub(crate) struct Program<'g, 'a> {
    rank: u32,
    of: RankBuilder,
    /// Operations for which the next one waits.
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

    /// Returns the communicator among `ranks` on `stream`; `None` if the rank is alone in it.
    pub(crate) fn communicator(
        &mut self,
        stream: Stream,
        ranks: Vec<u32>,
    ) -> Result<Option<Communicator>, GraphError> {
        let known = self.communicators.of(stream);
        // The label as tag keeps streams independent that have the same ranks.
        let group = known.of_tag(self.collectives, ranks, stream.label())?;
        Ok(group.map(|group| Communicator { stream, group }))
    }

    /// Returns the operations for which the next one waits.
    pub(crate) fn front(&self) -> &[u32] {
        &self.front
    }

    /// Makes the next operation wait for `others`, too.
    pub(crate) fn also_after(&mut self, others: &[u32]) {
        self.front.extend_from_slice(others);
    }

    /// Returns the place that the next operation will have.
    pub(crate) fn next_place(&self) -> u32 {
        self.of.len() as u32
    }

    /// Adds an operation that waits for `after`.
    fn add(&mut self, operation: Operation, stream: Stream, after: &[u32]) -> u32 {
        let place = self.of.add(operation, stream.label());
        for &other in after {
            self.of.after(place, other);
        }
        place
    }

    /// Adds an operation that computes for `seconds` behind the front, and makes it the front.
    pub(crate) fn compute(&mut self, seconds: f64, purpose: Purpose) -> u32 {
        self.computed.add(purpose, seconds);
        let time = Time::from_ps((seconds * 1e12).round() as u64);
        let front = std::mem::take(&mut self.front);
        let place = self.add(Operation::Compute { time }, Stream::Compute, &front);
        self.front = vec![place];
        place
    }

    /// Adds a collective that waits for `after`. Returns `None` without adding one if the group is
    /// a single rank or there are no bytes to send.
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

    /// Does as [`Program::collective_after`] with an algorithm that the caller chooses.
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
        // The builder also makes it wait for the group's previous collective.
        let place = self.of.add_collective(group, which, stream.label());
        for &other in after {
            self.of.after(place, other);
        }
        place
    }

    /// Adds a collective behind the front; it becomes the front.
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

    /// Makes `operation` wait until `other` has started.
    pub(crate) fn after_start(&mut self, operation: u32, other: u32) {
        self.of.after_start(operation, other);
    }

    /// Adds a send behind the front, which stays as it is: computing goes on beside the message.
    pub(crate) fn send(&mut self, stream: Stream, peer: u32, tag: u32, bytes: u64) -> u32 {
        let front = self.front.clone();
        self.send_after(stream, peer, tag, bytes, &front)
    }

    /// Adds a send that waits for `after`.
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

    /// Exchanges a tied embedding's gradient with `peer`, behind the front. The send and the
    /// receive become the front.
    pub(crate) fn exchange(&mut self, peer: u32, tag: u32, bytes: u64) {
        let front = self.front.clone();
        let sent = self.send_after(Stream::Embedding, peer, tag, bytes, &front);
        let (peer, tag) = (Some(peer), Some(tag));
        let receive = Operation::Receive { peer, bytes, tag };
        let received = self.add(receive, Stream::PipelineReceive, &front);
        self.front = vec![sent, received];
    }

    /// Adds an idle time on `stream`. Only the stream's order delays it.
    pub(crate) fn wait(&mut self, stream: Stream, time: Time) -> u32 {
        self.add(Operation::Wait { time }, stream, &[])
    }

    /// Adds a receive that waits for its message from the step's beginning on.
    pub(crate) fn receive(&mut self, stream: Stream, peer: u32, tag: u32, bytes: u64) -> u32 {
        let (peer, tag) = (Some(peer), Some(tag));
        self.add(Operation::Receive { peer, bytes, tag }, stream, &[])
    }
}
