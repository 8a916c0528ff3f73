//! Thread blocks of an algorithm under construction: those of the plan, and helpers. A helper takes
//! data that is put into its GPU's memory, or answers gets from there.

use std::collections::BTreeMap;
use std::rc::Rc;

use tenter_workload::collective::{At, Port, ProgramBlock, ProgramStep, Slot, StepName};

use super::gpu::{Channel, Gpu};

/// A thread block: rank and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockName {
    pub(super) rank: u32,
    pub(super) block: u32,
}

/// The task of a helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Helps {
    /// It takes data that is put.
    Take,
    /// It answers requests with data.
    Answer,
}

/// The content of an algorithm's channel from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Carries {
    /// Signals on one of the plan's channels: true for a port channel, and its number.
    Signals(bool, u32),
    /// Data that a thread block puts, by the block's number.
    Puts(u32),
    /// Requests from a thread block, by its number.
    Requests(u32),
    /// Answers to a thread block, by its number.
    Answers(u32),
}

/// All blocks so far, with the channels between them.
#[derive(Default)]
pub(super) struct Blocks {
    steps: BTreeMap<BlockName, Vec<ProgramStep>>,
    /// Number of steps in all blocks.
    count: usize,
    names: Names,
    /// Helpers, by the block that they help, their rank and their task.
    helpers: BTreeMap<(BlockName, u32, Helps), BlockName>,
    /// Next free block number of each rank, for helpers.
    next: Vec<u32>,
    /// Channel numbers between each pair of ranks.
    channels: BTreeMap<(u32, u32), BTreeMap<Carries, u32>>,
    pub(super) notes: Vec<String>,
}

/// Names of steps for messages.
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
        // Helpers are numbered behind the plan's own blocks.
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

    /// Adds a step to a block. Messages call it `name`.
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

    /// Returns the name of a step for messages.
    pub(super) fn name_of(&self, name: BlockName, step: u32) -> String {
        let BlockName { rank, block } = name;
        let step = Some(step);
        self.names.of(At { rank, block, step })
    }

    /// Returns the number of steps in all blocks.
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

    /// Returns the number of steps in a block.
    pub(super) fn len(&self, block: BlockName) -> u32 {
        self.steps.get(&block).map_or(0, |steps| steps.len() as u32)
    }

    /// Returns the channel between two ranks for one kind of content, and adds it if it is new.
    fn channel(&mut self, src: u32, dst: u32, carries: Carries) -> u32 {
        let known = self.channels.entry((src, dst)).or_default();
        // Numbers follow the plan's order, so the same plan gives the same algorithm.
        let next = known.len() as u32;
        *known.entry(carries).or_insert(next)
    }

    /// Returns a block's helper at `rank`, and adds it if it is new. Each block has helpers to
    /// itself, because a channel keeps the order of one block.
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

    /// Adds a signal to another rank.
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

    /// Adds a wait for a signal.
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

    /// Adds a step whose result goes into a buffer of another rank. Returns the helper's step that
    /// stores it there.
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

    /// Adds a request for chunks in another rank's buffer, and the helper's answer.
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
        // A helper's steps run in order, so the answer waits for the request.
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

    /// Returns the port at which the answers of `rank` arrive.
    pub(super) fn answers(&mut self, block: BlockName, rank: u32) -> Port {
        let channel = self.channel(rank, block.rank, Carries::Answers(block.block));
        Port {
            peer: rank,
            channel,
        }
    }
}
