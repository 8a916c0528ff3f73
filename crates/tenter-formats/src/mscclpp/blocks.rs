//! Thread blocks of an algorithm while they are made of a plan: those of the plan, and helpers that
//! take what is put into the memory of their GPU, or answer a get from it.

use std::collections::BTreeMap;
use std::rc::Rc;

use tenter_workload::collective::{At, Port, ProgramBlock, ProgramStep, Slot, StepName};

use super::gpu::{Channel, Gpu};

/// A rank and the number of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockName {
    pub(super) rank: u32,
    pub(super) block: u32,
}

/// What helpers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Helps {
    /// They take what is put.
    Take,
    /// They answer.
    Answer,
}

/// What goes over a channel of an algorithm, from a rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Carries {
    Signals(bool, u32),
    Puts(u32),
    Requests(u32),
    Answers(u32),
}

/// The blocks so far.
#[derive(Default)]
pub(super) struct Blocks {
    steps: BTreeMap<BlockName, Vec<ProgramStep>>,
    /// How many steps all blocks have.
    count: usize,
    names: Names,
    helpers: BTreeMap<(BlockName, u32, Helps), BlockName>,
    /// The next number of a helper of each rank.
    next: Vec<u32>,
    /// The channel numbers of a pair of ranks.
    channels: BTreeMap<(u32, u32), BTreeMap<Carries, u32>>,
    pub(super) notes: Vec<String>,
}

/// How messages call steps.
#[derive(Default)]
pub(super) struct Names(BTreeMap<BlockName, Vec<Rc<str>>>);

impl Names {
    pub(super) fn of(&self, at: At) -> String {
        let At { rank, block, .. } = at;
        let names = self.0.get(&BlockName { rank, block });
        let step = at.step.unwrap_or(0) as usize;
        let found = names.and_then(|names| names.get(step));
        found.map_or_else(|| at.to_string(), ToString::to_string)
    }
}

impl Blocks {
    pub(super) fn new(gpus: &[Gpu<'_>]) -> Blocks {
        let last = |gpu: &Gpu<'_>| gpu.blocks.iter().map(|of| of.id).max();
        let next = gpus
            .iter()
            .map(|gpu| last(gpu).map_or(0, |id| id.saturating_add(1)));
        Blocks {
            next: next.collect(),
            ..Blocks::default()
        }
    }

    pub(super) fn finish(self) -> (Vec<ProgramBlock>, Names, Vec<String>) {
        let block = |(of, steps): (BlockName, _)| ProgramBlock {
            rank: of.rank,
            number: of.block,
            steps,
        };
        let blocks = self.steps.into_iter().map(block).collect();
        (blocks, self.names, self.notes)
    }

    /// Adds a step to a block; `name` is what messages call it.
    pub(super) fn push(&mut self, block: BlockName, name: &Rc<str>, step: ProgramStep) -> StepName {
        let names = self.names.0.entry(block).or_default();
        names.push(Rc::clone(name));
        let steps = self.steps.entry(block).or_default();
        steps.push(step);
        self.count += 1;
        StepName {
            block: block.block,
            step: steps.len() as u32 - 1,
        }
    }

    /// How messages call a step.
    pub(super) fn name_of(&self, name: BlockName, step: u32) -> String {
        let BlockName { rank, block } = name;
        let step = Some(step);
        self.names.of(At { rank, block, step })
    }

    /// How many steps there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Lets a step wait for others of its rank.
    pub(super) fn wait_for(&mut self, block: BlockName, step: u32, others: &[StepName]) {
        let steps = self.steps.get_mut(&block);
        if let Some(step) = steps.and_then(|steps| steps.get_mut(step as usize)) {
            step.after.extend_from_slice(others);
        }
    }

    /// How many steps a block has.
    pub(super) fn len(&self, block: BlockName) -> u32 {
        self.steps.get(&block).map_or(0, |steps| steps.len() as u32)
    }

    /// The number of the channel that carries something between two ranks.
    fn channel(&mut self, src: u32, dst: u32, carries: Carries) -> u32 {
        let known = self.channels.entry((src, dst)).or_default();
        let next = known.len() as u32;
        *known.entry(carries).or_insert(next)
    }

    fn helper(&mut self, of: BlockName, rank: u32, helps: Helps) -> BlockName {
        if let Some(known) = self.helpers.get(&(of, rank, helps)) {
            return *known;
        }
        let next = self.next.get_mut(rank as usize);
        let block = next.map_or(u32::MAX, |next| {
            *next = next.saturating_add(1);
            *next - 1
        });
        let helper = BlockName { rank, block };
        self.helpers.insert((of, rank, helps), helper);
        helper
    }

    /// A signal from a rank.
    pub(super) fn signal(&mut self, block: BlockName, to: Channel, name: &Rc<str>) {
        let channel = self.channel(block.rank, to.peer, Carries::Signals(to.port, to.nth));
        let port = Port {
            peer: to.peer,
            channel,
        };
        let send = Some(port);
        self.push(
            block,
            name,
            ProgramStep {
                send,
                ..ProgramStep::default()
            },
        );
    }

    /// A wait for a signal.
    pub(super) fn wait(&mut self, block: BlockName, from: Channel, name: &Rc<str>) -> StepName {
        let channel = self.channel(from.peer, block.rank, Carries::Signals(from.port, from.nth));
        let receive = Some(Port {
            peer: from.peer,
            channel,
        });
        let step = ProgramStep {
            receive,
            ..ProgramStep::default()
        };
        self.push(block, name, step)
    }

    /// Puts what `step` makes into a buffer of another rank; gives the step that takes it there.
    pub(super) fn put(
        &mut self,
        block: BlockName,
        mut step: ProgramStep,
        rank: u32,
        slot: Slot,
        name: &Rc<str>,
    ) -> StepName {
        let channel = self.channel(block.rank, rank, Carries::Puts(block.block));
        step.send = Some(Port {
            peer: rank,
            channel,
        });
        let count = step.count;
        self.push(block, name, step);
        let helper = self.helper(block, rank, Helps::Take);
        let taken = ProgramStep {
            count,
            receive: Some(Port {
                peer: block.rank,
                channel,
            }),
            store: Some(slot),
            ..ProgramStep::default()
        };
        self.push(helper, name, taken)
    }

    /// Asks another rank for chunks of its buffer.
    pub(super) fn request(
        &mut self,
        block: BlockName,
        rank: u32,
        slot: Slot,
        count: u32,
        name: &Rc<str>,
    ) {
        let channel = self.channel(block.rank, rank, Carries::Requests(block.block));
        let port = |peer| Some(Port { peer, channel });
        let ask = ProgramStep {
            send: port(rank),
            ..ProgramStep::default()
        };
        self.push(block, name, ask);
        let helper = self.helper(block, rank, Helps::Answer);
        let asked = ProgramStep {
            receive: port(block.rank),
            ..ProgramStep::default()
        };
        self.push(helper, name, asked);
        let channel = self.channel(rank, block.rank, Carries::Answers(block.block));
        let answer = ProgramStep {
            count,
            sources: vec![slot],
            send: Some(Port {
                peer: block.rank,
                channel,
            }),
            ..ProgramStep::default()
        };
        self.push(helper, name, answer);
    }

    /// The port at which the answers of a rank arrive.
    pub(super) fn answers(&mut self, block: BlockName, rank: u32) -> Port {
        let channel = self.channel(rank, block.rank, Carries::Answers(block.block));
        Port {
            peer: rank,
            channel,
        }
    }
}
