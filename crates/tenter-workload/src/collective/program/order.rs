//! Pairs of sends and receives, and orders in which all steps can run.
//!
//! Steps are numbered block after block. The k-th step that sends to a rank on a channel meets the
//! k-th step there that receives from it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::error::{At, ProgramError};
use super::parts::{Port, ProgramParts, ProgramStep};

/// Most steps that an error message names when they wait in a circle.
const NAMED: usize = 8;

/// Dependencies of each step, by its number.
#[derive(Debug, Default)]
pub(super) struct Wired {
    /// Number of each block's first step, followed by the step count.
    first: Vec<u32>,
    /// Each step's block, by its place in the block list.
    block: Vec<u32>,
    /// For each step that receives, the step that sends its message.
    sender: Vec<Option<u32>>,
    /// For each step, other steps of the same rank that it waits for; its predecessor in the block
    /// is implied.
    after: Vec<Vec<u32>>,
}

/// A connection, over which the messages of a channel go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Connection {
    src: u32,
    dst: u32,
    channel: u32,
}

/// Steps at the two ends of a connection, in order; each end belongs to one block.
#[derive(Default)]
struct Ends {
    sends: Vec<u32>,
    receives: Vec<u32>,
}

impl Wired {
    /// Pairs sends with receives and resolves the names of steps.
    ///
    /// # Errors
    /// Sends and receives that do not match; different chunk counts; an end that several blocks
    /// share; a wait for a step that does not exist.
    pub(super) fn new(parts: &ProgramParts) -> Result<Wired, ProgramError> {
        let mut wired = Wired::default();
        let mut blocks: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (place, block) in (0..).zip(&parts.blocks) {
            wired.first.push(wired.block.len() as u32);
            wired.block.extend(block.steps.iter().map(|_| place));
            if blocks.insert((block.rank, block.number), place).is_some() {
                let remedy = "give each block of a rank a number of its own";
                let what = "there is another block of that number";
                return Err(ProgramError::new(Some(block.at(None)), what, remedy));
            }
        }
        let count = wired.block.len();
        wired.first.push(count as u32);
        wired.sender = vec![None; count];
        for step in 0..count as u32 {
            let after = wired.waits(parts, &blocks, step)?;
            wired.after.push(after);
        }
        wired.meet(parts)?;
        Ok(wired)
    }

    /// Returns the step count over all blocks.
    pub(super) fn len(&self) -> u32 {
        self.block.len() as u32
    }

    /// Returns the rank that runs a step, and the step.
    pub(super) fn step<'p>(&self, parts: &'p ProgramParts, step: u32) -> (u32, &'p ProgramStep) {
        let block = self.block[step as usize];
        let within = step - self.first[block as usize];
        let of = &parts.blocks[block as usize];
        (of.rank, &of.steps[within as usize])
    }

    /// Returns the place of the block with a step.
    pub(super) fn block_of(&self, step: u32) -> u32 {
        self.block[step as usize]
    }

    /// Returns the step whose message `step` receives.
    pub(super) fn sender(&self, step: u32) -> Option<u32> {
        self.sender[step as usize]
    }

    /// Returns other steps of the same rank that `step` waits for, without its predecessor in the
    /// block.
    pub(super) fn after(&self, step: u32) -> &[u32] {
        &self.after[step as usize]
    }

    /// Returns the place of a step for error messages.
    pub(super) fn at(&self, parts: &ProgramParts, step: u32) -> At {
        let block = self.block[step as usize];
        let within = step - self.first[block as usize];
        parts.blocks[block as usize].at(Some(within))
    }

    fn waits(
        &self,
        parts: &ProgramParts,
        blocks: &BTreeMap<(u32, u32), u32>,
        step: u32,
    ) -> Result<Vec<u32>, ProgramError> {
        let (rank, of) = self.step(parts, step);
        let find = |name: &super::parts::StepName| {
            let block = *blocks.get(&(rank, name.block))? as usize;
            let found = self.first[block].checked_add(name.step)?;
            let end = self.first.get(block + 1).copied();
            (found < end.unwrap_or(self.len())).then_some(found)
        };
        let mut found = Vec::with_capacity(of.after.len());
        for name in &of.after {
            let Some(other) = find(name) else {
                let what = format!(
                    "it waits for step {} of thread block {}, which rank {rank} does not have",
                    name.step, name.block
                );
                let at = Some(self.at(parts, step));
                return Err(ProgramError::new(at, what, "name a step of the same rank"));
            };
            found.push(other);
        }
        Ok(found)
    }

    /// Pairs the k-th send with the k-th receive on each connection.
    fn meet(&mut self, parts: &ProgramParts) -> Result<(), ProgramError> {
        let mut connections: BTreeMap<Connection, Ends> = BTreeMap::new();
        for step in 0..self.len() {
            let (rank, of) = self.step(parts, step);
            let wrong = |port: &Port| port.peer >= parts.ranks || port.peer == rank;
            if let Some(port) = [of.receive, of.send]
                .iter()
                .flatten()
                .find(|port| wrong(port))
            {
                let what = if port.peer == rank {
                    format!("rank {rank} exchanges data with itself")
                } else {
                    format!("there is no rank {}", port.peer)
                };
                let remedy = format!("name another one of the {} ranks", parts.ranks);
                return Err(ProgramError::new(Some(self.at(parts, step)), what, &remedy));
            }
            if let Some(to) = of.send {
                let connection = Connection {
                    src: rank,
                    dst: to.peer,
                    channel: to.channel,
                };
                let connection = connections.entry(connection).or_default();
                self.push(&mut connection.sends, step, parts, "sends", to)?;
            }
            if let Some(from) = of.receive {
                let connection = Connection {
                    src: from.peer,
                    dst: rank,
                    channel: from.channel,
                };
                let connection = connections.entry(connection).or_default();
                self.push(&mut connection.receives, step, parts, "receives", from)?;
            }
        }
        // Ends meet once all steps are known, since a receive may be listed before its send.
        for (connection, ends) in &connections {
            self.meet_on(parts, *connection, ends)?;
        }
        Ok(())
    }

    /// Adds a step to an end, which only one block may use: between blocks nothing would order the
    /// messages.
    fn push(
        &self,
        end: &mut Vec<u32>,
        step: u32,
        parts: &ProgramParts,
        does: &str,
        port: Port,
    ) -> Result<(), ProgramError> {
        if let Some(&last) = end.last()
            && self.block_of(last) != self.block_of(step)
        {
            let other = self.at(parts, last);
            let what = format!(
                "it {does} with rank {} on channel {}, as {other} does, and nothing says in which \
                 order",
                port.peer, port.channel
            );
            let remedy = "give each thread block a channel of its own";
            return Err(ProgramError::new(Some(self.at(parts, step)), what, remedy));
        }
        end.push(step);
        Ok(())
    }

    fn meet_on(
        &mut self,
        parts: &ProgramParts,
        connection: Connection,
        ends: &Ends,
    ) -> Result<(), ProgramError> {
        let Connection { src, dst, channel } = connection;
        let (sends, receives) = (ends.sends.len(), ends.receives.len());
        let met = sends.min(receives);
        for (&send, &receive) in ends.sends.iter().zip(&ends.receives) {
            let [sent, taken] = [send, receive].map(|step| self.step(parts, step).1.count);
            if sent != taken {
                let other = self.at(parts, send);
                let what = format!("it receives {taken} chunks, of which {other} sends {sent}");
                let at = Some(self.at(parts, receive));
                let remedy = "give both steps the same count";
                return Err(ProgramError::new(at, what, remedy));
            }
            self.sender[receive as usize] = Some(send);
        }
        // The first one without a partner is named, on whichever side there are more.
        let (alone, what) = match (ends.sends.get(met), ends.receives.get(met)) {
            (Some(&send), _) => (
                send,
                format!(
                    "no receive matches it: rank {dst} receives {receives} times from rank {src} \
                     on channel {channel}, and this is send {}",
                    met + 1
                ),
            ),
            (_, Some(&receive)) => (
                receive,
                format!(
                    "no send matches it: rank {src} sends {sends} times to rank {dst} on channel \
                     {channel}, and this is receive {}",
                    met + 1
                ),
            ),
            (None, None) => return Ok(()),
        };
        let remedy = "give each send one receive on the same channel";
        Err(ProgramError::new(Some(self.at(parts, alone)), what, remedy))
    }

    /// Lists what a step waits for: its predecessor in the block, the sender of its message, and
    /// others.
    fn all_before(&self, step: u32) -> impl Iterator<Item = u32> + '_ {
        let begins = self.first[self.block_of(step) as usize] == step;
        let before = (!begins).then(|| step - 1);
        let after = self.after[step as usize].iter().copied();
        before.into_iter().chain(self.sender(step)).chain(after)
    }
}

/// Rule that chooses the next step among those that can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preference {
    /// Step that the shortest chain comes before.
    Shallowest,
    /// Step with the lowest number.
    Lowest,
    /// Step with the highest number.
    Highest,
    /// Step with the lowest hash, an order that no structure in the numbers predicts.
    Scattered,
}

impl Preference {
    /// All preferences except the one that becomes the schedule.
    pub(super) const OTHERS: [Preference; 3] = [
        Preference::Lowest,
        Preference::Highest,
        Preference::Scattered,
    ];

    /// Returns a step's sort key; the lowest comes next.
    fn key(self, step: u32, depth: u32) -> u32 {
        match self {
            Preference::Shallowest => depth,
            Preference::Lowest => step,
            Preference::Highest => u32::MAX - step,
            // An odd factor permutes the numbers, so keys stay distinct.
            Preference::Scattered => step.wrapping_mul(0x9E37_79B1),
        }
    }
}

/// Returns all steps, each after those that it waits for.
///
/// # Errors
/// A deadlock, naming the steps that wait for each other.
pub(super) fn order(
    parts: &ProgramParts,
    wired: &Wired,
    preference: Preference,
) -> Result<Vec<u32>, ProgramError> {
    let count = wired.len() as usize;
    let mut waiting = vec![0_u32; count];
    let mut followers: Vec<Vec<u32>> = vec![Vec::new(); count];
    for step in 0..wired.len() {
        for before in wired.all_before(step) {
            waiting[step as usize] += 1;
            followers[before as usize].push(step);
        }
    }
    let mut depths = vec![0; count];
    let mut ready = BinaryHeap::new();
    for step in (0..wired.len()).filter(|&step| waiting[step as usize] == 0) {
        ready.push(Reverse((preference.key(step, 0), step)));
    }
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse((_, step))) = ready.pop() {
        order.push(step);
        let depth = depths[step as usize] + 1;
        for &next in &followers[step as usize] {
            let of_next = &mut depths[next as usize];
            *of_next = depth.max(*of_next);
            waiting[next as usize] -= 1;
            if waiting[next as usize] == 0 {
                ready.push(Reverse((preference.key(next, *of_next), next)));
            }
        }
    }
    // Steps that were never ready wait for each other in a circle, or for one that does.
    if order.len() < count {
        return Err(deadlock(parts, wired, &waiting));
    }
    Ok(order)
}

/// Describes a deadlock: follows a step that never runs to what it waits for, until a step comes
/// twice.
fn deadlock(parts: &ProgramParts, wired: &Wired, waiting: &[u32]) -> ProgramError {
    let stuck = |step: &u32| waiting[*step as usize] > 0;
    let mut step = (0..wired.len()).find(stuck).unwrap_or(0);
    let mut chain: Vec<u32> = Vec::new();
    let mut place = vec![usize::MAX; waiting.len()];
    while place[step as usize] == usize::MAX {
        place[step as usize] = chain.len();
        chain.push(step);
        let Some(next) = wired.all_before(step).find(stuck) else {
            break;
        };
        step = next;
    }
    // The chain may begin with steps that only wait for the circle; these are not named.
    let circle = chain.get(place[step as usize]..).unwrap_or_default();
    let mut names: Vec<String> = circle
        .iter()
        .take(NAMED)
        .map(|&of| wired.at(parts, of).to_string())
        .collect();
    if circle.len() > NAMED {
        names.push(format!("{} more", circle.len() - NAMED));
    }
    names.extend(circle.first().map(|&of| wired.at(parts, of).to_string()));
    let what = format!(
        "a deadlock: these wait for each other: {}",
        names.join(" ← ")
    );
    let remedy = "let one of them come before what it waits for";
    ProgramError::new(None, what, remedy)
}
