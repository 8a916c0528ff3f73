//! Conversion of a plan's operations into steps.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tenter_workload::collective::{Buffer, ProgramStep, Slot, StepName};

use super::blocks::{BlockName, Blocks};
use super::gpu::{Channel, Gpu};
use super::json::{Json, Read, wrong};
use super::taken::{Budget, Taken};

/// A chunk of packets: rank, and position in its scratch buffer.
type PacketChunk = (u32, u32);
/// A channel in one direction: source, destination, true for a port channel, and its number.
type Way = (u32, u32, bool, u32);
/// Facts from all GPUs that decide what steps wait for. They are complete only at the end.
#[derive(Default)]
struct Meetings {
    /// For each signal of a channel, the steps that took earlier puts.
    signals: BTreeMap<Way, Vec<Vec<StepName>>>,
    /// The waits on a channel, in order.
    waits: BTreeMap<Way, Vec<(BlockName, u32)>>,
    /// Writers of each packet chunk.
    writers: BTreeMap<PacketChunk, Writers>,
    /// Steps that read packets, with the first chunk and the number of chunks.
    readers: Vec<(BlockName, u32, PacketChunk, u32)>,
    budget: Budget,
}

/// The last step that writes a packet chunk, and the number of such steps.
struct Writers {
    last: StepName,
    count: u32,
}

/// A thread block while its operations are converted.
struct Running {
    place: usize,
    name: BlockName,
    /// Place of the next operation in the block's list.
    next: usize,
    taken: Taken,
}

/// An operation with its channels and buffers.
struct Operation<'a> {
    block: BlockName,
    kind: &'a str,
    name: Rc<str>,
    channels: Vec<Channel>,
    /// Remote rank if there is one, position, and number of chunks.
    sources: Vec<(Option<u32>, Slot, u32)>,
    targets: Vec<(Option<u32>, Slot, u32)>,
}

/// Converts all operations into steps.
pub(super) fn run(gpus: &[Gpu<'_>], blocks: &mut Blocks) -> Read<()> {
    let mut meetings = Meetings::default();
    for gpu in gpus {
        of_gpu(gpu, blocks, &mut meetings)?;
    }
    meetings.meet(blocks)
}

impl Meetings {
    /// Lets waits wait for puts before their signals, and readers of packets for writers.
    fn meet(self, blocks: &mut Blocks) -> Read<()> {
        // The n-th signal of a channel meets its n-th wait.
        for (way, waits) in &self.waits {
            let signals = self.signals.get(way).map_or(&[][..], Vec::as_slice);
            for ((block, step), taken) in waits.iter().zip(signals) {
                blocks.wait_for(*block, *step, taken);
            }
        }
        let Meetings {
            writers,
            readers,
            mut budget,
            ..
        } = self;
        for (block, step, (rank, first), count) in readers {
            let mut after: Vec<StepName> = Vec::new();
            for chunk in first..first.saturating_add(count) {
                let found = writers.get(&(rank, chunk));
                let Some(writer) = found.filter(|of| of.count == 1).map(|of| of.last) else {
                    let count = found.map_or(0, |of| of.count);
                    let name = blocks.name_of(block, step);
                    let what = format!(
                        "{name}: it reads packets of chunk {chunk} of scratch, which are written \
                         {count} times"
                    );
                    return Err(wrong(what, "write each chunk of packets once"));
                };
                // Neighbouring chunks mostly come from one step, so this removes most repetitions.
                let is_itself = (block.block, step) == (writer.block, writer.step);
                if !is_itself && after.last() != Some(&writer) {
                    after.push(writer);
                }
            }
            budget.waits(after.len(), &blocks.name_of(block, step))?;
            blocks.wait_for(block, step, &after);
        }
        Ok(())
    }
}

/// Converts the thread blocks of a GPU, from barrier to barrier.
fn of_gpu(gpu: &Gpu<'_>, blocks: &mut Blocks, meetings: &mut Meetings) -> Read<()> {
    let running = gpu.blocks.iter().enumerate().map(|(place, of)| Running {
        place,
        name: BlockName {
            rank: gpu.id,
            block: of.id,
        },
        next: 0,
        taken: Taken::default(),
    });
    let mut running: Vec<Running> = running.collect();
    // Blocks that stand at each barrier, and blocks that may go on.
    let mut waiting: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    let mut ready: Vec<usize> = (0..running.len()).collect();
    while !ready.is_empty() {
        let mut reached: BTreeSet<u32> = BTreeSet::new();
        for place in std::mem::take(&mut ready) {
            let Some(of) = running.get_mut(place) else {
                continue;
            };
            if let Some(barrier) = until_barrier(gpu, of, blocks, meetings)? {
                waiting.entry(barrier).or_default().insert(place);
                reached.insert(barrier);
            }
        }
        for barrier in reached {
            let places = waiting.get(&barrier).into_iter().flatten();
            let places: Vec<usize> = places.copied().collect();
            let first = at_barrier(gpu, &running, places.first());
            let asked = first.map_or(Ok(0), |of| of.number("num_threadblocks"))?;
            if places.len() == asked as usize {
                pass(gpu, &mut running, &places, blocks, meetings)?;
                waiting.remove(&barrier);
                ready.extend(places);
            }
        }
    }
    let stuck = waiting.values().flatten().next();
    let Some(of) = at_barrier(gpu, &running, stuck) else {
        return Ok(());
    };
    let what = "a deadlock: not as many thread blocks come to the barrier as it waits for";
    Err(of.wrong(what, "correct `num_threadblocks`"))
}

/// Returns the operation at which a block stands.
fn at_barrier<'g, 'v>(
    gpu: &'g Gpu<'v>,
    running: &[Running],
    place: Option<&usize>,
) -> Option<&'g Json<'v>> {
    let of = running.get(*place?)?;
    gpu.blocks.get(of.place)?.operations.get(of.next)
}

/// Lets blocks pass a barrier. The first one waits for all others, and these wait for it, so the
/// waits grow with blocks and not with pairs.
fn pass(
    gpu: &Gpu<'_>,
    running: &mut [Running],
    places: &[usize],
    blocks: &mut Blocks,
    meetings: &mut Meetings,
) -> Read<()> {
    let of_places = || places.iter().filter_map(|&place| running.get(place));
    let (taken, looked_at) = Taken::met(of_places().map(|of| &of.taken));
    let met = at_barrier(gpu, running, places.first());
    let met = met.map_or_else(String::new, |of| format!("{} (barrier)", of.name()));
    meetings.budget.waits(looked_at + 2 * places.len(), &met)?;
    let last = of_places().skip(1).filter_map(|of| {
        let step = blocks.len(of.name).checked_sub(1)?;
        let block = of.name.block;
        Some(StepName { block, step })
    });
    // The first block waits for the last step of all others; the others then wait for its step
    // alone.
    let mut after: Vec<StepName> = last.collect();
    let mut first: Option<StepName> = None;
    for &place in places {
        if let Some(of) = running.get_mut(place) {
            let step = ProgramStep {
                after,
                ..ProgramStep::default()
            };
            let own = gpu
                .blocks
                .get(of.place)
                .and_then(|block| block.operations.get(of.next));
            let name = own.map_or_else(String::new, |own| format!("{} (barrier)", own.name()));
            let passed = blocks.push(of.name, &name.into(), step);
            after = vec![*first.get_or_insert(passed)];
            of.taken = taken.clone();
            of.next += 1;
        }
    }
    Ok(())
}

/// Converts a block's operations up to its next barrier, and returns the number of that.
fn until_barrier(
    gpu: &Gpu<'_>,
    of: &mut Running,
    blocks: &mut Blocks,
    meetings: &mut Meetings,
) -> Read<Option<u32>> {
    let operations = gpu
        .blocks
        .get(of.place)
        .map_or(&[][..], |of| &of.operations);
    while let Some(json) = operations.get(of.next) {
        let kind = json.text("name")?;
        if kind == "barrier" {
            return json.number("barrier_id").map(Some);
        }
        let group = json.get("tbg_info");
        if group.is_some_and(|group| group.number("tbg_size").is_ok_and(|size| size > 1)) {
            let remedy = "name a plan in which each thread block has chunks of its own";
            return Err(json.wrong("several thread blocks share an operation", remedy));
        }
        let has_channels = json.get("channel_ids").is_some();
        let operation = Operation {
            block: of.name,
            kind,
            name: format!("{} ({kind})", json.name()).into(),
            channels: if has_channels {
                gpu.channels(of.place, json)?
            } else {
                Vec::new()
            },
            sources: gpu.buffers(of.place, json, "src_buff")?,
            targets: gpu.buffers(of.place, json, "dst_buff")?,
        };
        let buffers = operation.sources.iter().chain(&operation.targets);
        let chunks = buffers.map(|(.., size)| u64::from(*size)).sum();
        // The budget is taken before the operation is run, whose cost grows with its chunks.
        meetings.budget.chunks(chunks, json.name())?;
        operation.run(json, &mut of.taken, blocks, meetings)?;
        Budget::steps(blocks.count(), json.name())?;
        of.next += 1;
    }
    Ok(None)
}

impl Operation<'_> {
    /// Converts the operation into steps, by its kind.
    fn run(
        &self,
        json: &Json<'_>,
        taken: &mut Taken,
        blocks: &mut Blocks,
        meetings: &mut Meetings,
    ) -> Read<()> {
        match self.kind {
            // Operations of a block run in order, so there is nothing to flush.
            "nop" | "flush" => {}
            "signal" | "rlxsignal" => self.signal(taken, blocks, meetings)?,
            "wait" | "rlxwait" => self.wait(blocks, meetings),
            "copy" | "put" | "get" | "upkt" | "cpkt" | "ppkt" | "rppkt" => {
                self.pairwise(json, taken, blocks, meetings)?;
            }
            "pws" | "pwsf" => {
                self.pairwise(json, taken, blocks, meetings)?;
                self.signal(taken, blocks, meetings)?;
            }
            "re" | "res" | "rre" | "rres" | "repkt" | "respkt" | "recpkt" | "recspkt" => {
                self.sum(json, taken, blocks, meetings)?;
            }
            "glres" | "gstore" | "gstorepkt" => {
                let remedy =
                    "name a plan without switch channels: sums in switches are not simulated";
                return Err(json.wrong("it lets a switch add up or copy", remedy));
            }
            other => {
                let remedy = "name a plan of put, get, copy, signal, wait, flush, barrier, \
                              reductions and packets";
                return Err(json.wrong(&format!("`{other}` is not simulated"), remedy));
            }
        }
        Ok(())
    }

    fn signal(&self, taken: &Taken, blocks: &mut Blocks, meetings: &mut Meetings) -> Read<()> {
        for to in &self.channels {
            blocks.signal(self.block, *to, &self.name);
            let there = taken.of_rank(to.peer);
            meetings.budget.waits(there.len(), &self.name)?;
            let way = (self.block.rank, to.peer, to.port, to.nth);
            meetings.signals.entry(way).or_default().push(there);
        }
        Ok(())
    }

    fn wait(&self, blocks: &mut Blocks, meetings: &mut Meetings) {
        for from in &self.channels {
            let step = blocks.wait(self.block, *from, &self.name);
            let way = (from.peer, self.block.rank, from.port, from.nth);
            let waits = meetings.waits.entry(way).or_default();
            waits.push((self.block, step.step));
        }
    }

    /// Returns true if the operation sends packets, which need no signal.
    fn sends_packets(&self) -> bool {
        self.kind.ends_with("pkt") && self.kind != "upkt"
    }

    /// Notes that the next step of the block reads packets.
    fn reads(&self, slot: Slot, count: u32, blocks: &Blocks, meetings: &mut Meetings) {
        // Packets are read and written in scratch only.
        if slot.buffer != Buffer::Scratch {
            return;
        }
        let reader = (
            self.block,
            blocks.len(self.block),
            (self.block.rank, slot.chunk),
            count,
        );
        meetings.readers.push(reader);
    }

    /// Notes that a step has written packets.
    fn writes(&self, rank: u32, slot: Slot, count: u32, by: StepName, meetings: &mut Meetings) {
        if !self.sends_packets() || slot.buffer != Buffer::Scratch {
            return;
        }
        for chunk in slot.chunk..slot.chunk.saturating_add(count) {
            let writers = meetings.writers.entry((rank, chunk));
            let writers = writers.or_insert(Writers { last: by, count: 0 });
            // A chunk that is written twice is refused when a step reads it.
            (writers.last, writers.count) = (by, writers.count + 1);
        }
    }

    /// Adds a step whose result goes to another rank.
    fn put(
        &self,
        step: ProgramStep,
        rank: u32,
        slot: Slot,
        taken: &mut Taken,
        blocks: &mut Blocks,
        meetings: &mut Meetings,
    ) {
        let count = step.count;
        let name = blocks.put(self.block, step, rank, slot, &self.name);
        taken.add(rank, name);
        self.writes(rank, slot, count, name, meetings);
    }

    /// Converts an operation that moves each source to the target at the same place.
    fn pairwise(
        &self,
        json: &Json<'_>,
        taken: &mut Taken,
        blocks: &mut Blocks,
        meetings: &mut Meetings,
    ) -> Read<()> {
        if self.sources.len() != self.targets.len() {
            let remedy = "give each source one target";
            return Err(json.wrong("it has not as many sources as targets", remedy));
        }
        for (&(from, source, count), &(to, target, size)) in self.sources.iter().zip(&self.targets)
        {
            if count != size {
                return Err(json.wrong("source and target differ in size", "give both one size"));
            }
            // These read packets that another step has written without a signal.
            if matches!(self.kind, "upkt" | "rppkt") {
                self.reads(source, count, blocks, meetings);
            }
            let mut step = ProgramStep {
                count,
                ..ProgramStep::default()
            };
            match from {
                Some(rank) => {
                    blocks.request(self.block, rank, source, count, &self.name);
                    step.receive = Some(blocks.answers(self.block, rank));
                }
                None => step.sources.push(source),
            }
            if let Some(rank) = to {
                self.put(step, rank, target, taken, blocks, meetings);
            } else {
                step.store = Some(target);
                let name = blocks.push(self.block, &self.name, step);
                self.writes(self.block.rank, target, count, name, meetings);
            }
        }
        Ok(())
    }

    /// Converts an operation that stores the sum of all sources in all targets.
    fn sum(
        &self,
        json: &Json<'_>,
        taken: &mut Taken,
        blocks: &mut Blocks,
        meetings: &mut Meetings,
    ) -> Read<()> {
        let sizes = self.sources.iter().chain(&self.targets).map(|of| of.2);
        let count = self.sources.first().map_or(0, |of| of.2);
        if sizes.clone().any(|size| size != count) || self.targets.is_empty() {
            let remedy = "give all sources and targets one size, and at least one of each";
            return Err(json.wrong("sources and targets do not fit", remedy));
        }
        let own = self.targets.iter().find(|(rank, ..)| rank.is_none());
        let Some(&(_, own, _)) = own else {
            let remedy = "add a target in a buffer of the GPU itself";
            return Err(json.wrong("the sum is stored nowhere", remedy));
        };
        // All requests are sent before the first answer is awaited, so the answers travel in
        // parallel.
        let remote = self
            .sources
            .iter()
            .filter_map(|&(rank, slot, _)| Some((rank?, slot)));
        for (rank, slot) in remote.clone() {
            blocks.request(self.block, rank, slot, count, &self.name);
        }
        // The first source is the GPU's own data; the others are packets.
        if self.kind.ends_with("pkt") {
            for &(_, slot, _) in self.sources.iter().skip(1) {
                self.reads(slot, count, blocks, meetings);
            }
        }
        let local = self.sources.iter().filter(|(rank, ..)| rank.is_none());
        let mut sources: Vec<Slot> = local.map(|(_, slot, _)| *slot).collect();
        let mut receives: Vec<_> = remote
            .map(|(rank, _)| Some(blocks.answers(self.block, rank)))
            .collect();
        // A sum of local sources takes one step without a receive.
        if receives.is_empty() {
            receives.push(None);
        }
        for receive in receives {
            let step = ProgramStep {
                count,
                receive,
                // The first step takes all local sources, each later one adds an answer to the sum.
                sources: std::mem::replace(&mut sources, vec![own]),
                store: Some(own),
                ..ProgramStep::default()
            };
            blocks.push(self.block, &self.name, step);
        }
        let others = self
            .targets
            .iter()
            .filter(|(rank, slot, _)| (*rank, *slot) != (None, own));
        for &(rank, slot, _) in others {
            let step = ProgramStep {
                count,
                sources: vec![own],
                ..ProgramStep::default()
            };
            self.pass_on(step, rank, slot, taken, blocks, meetings);
        }
        Ok(())
    }

    /// Adds a copy of a sum.
    fn pass_on(
        &self,
        mut step: ProgramStep,
        rank: Option<u32>,
        slot: Slot,
        taken: &mut Taken,
        blocks: &mut Blocks,
        meetings: &mut Meetings,
    ) {
        let count = step.count;
        if let Some(rank) = rank {
            self.put(step, rank, slot, taken, blocks, meetings);
            return;
        }
        step.store = Some(slot);
        let name = blocks.push(self.block, &self.name, step);
        self.writes(self.block.rank, slot, count, name, meetings);
    }
}
