//! GPUs of a plan: channels, remote buffers and thread blocks.

use std::collections::BTreeMap;

use tenter_workload::collective::{Buffer, Slot};

use super::json::{Json, Read};

/// A channel between two GPUs. The n-th of a type on one side is the n-th of that type on the
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Channel {
    pub(super) peer: u32,
    /// True for a port channel, false for a memory channel.
    pub(super) port: bool,
    /// Place among the channels of this type to the peer.
    pub(super) nth: u32,
}

/// A thread block as the plan has it.
pub(super) struct ThreadBlock<'v> {
    pub(super) id: u32,
    pub(super) operations: Vec<Json<'v>>,
    /// Channels of the block, as indices into the GPU's list, by channel type.
    channels: Numbers<'v>,
    remote: Numbers<'v>,
}

/// Indices into a list of the GPU, by channel type.
type Numbers<'v> = BTreeMap<&'v str, Vec<u32>>;

/// A GPU as the plan has it.
pub(super) struct Gpu<'v> {
    pub(super) id: u32,
    pub(super) input_chunks: u32,
    pub(super) output_chunks: u32,
    pub(super) blocks: Vec<ThreadBlock<'v>>,
    channels: BTreeMap<String, Vec<Channel>>,
    /// Rank and buffer of each remote buffer.
    remote: Vec<(u32, Buffer)>,
}

impl<'v> Gpu<'v> {
    /// Reads a GPU from its part of the plan.
    pub(super) fn read(json: &Json<'v>) -> Read<Gpu<'v>> {
        let mut channels: BTreeMap<String, Vec<Channel>> = BTreeMap::new();
        let mut met: BTreeMap<(&str, u32), u32> = BTreeMap::new();
        for group in json.list("channels", "channels")? {
            let kind = group.text("channel_type")?;
            let list = channels.entry(kind.to_owned()).or_default();
            for peer in group.numbers("connected_to")? {
                let next = met.entry((kind, peer)).or_default();
                // The order in `connected_to` numbers the channels to a peer.
                let (nth, port) = (*next, kind == "port");
                *next += 1;
                list.push(Channel { peer, port, nth });
            }
        }
        let mut remote = Vec::new();
        for buffer in json.list("remote_buffers", "remote buffer")? {
            let letter = buffer.text("type")?;
            let kind = Buffer::of_letter(letter);
            let kind =
                kind.ok_or_else(|| buffer.wrong("its type is no buffer", "write i, o or s"))?;
            remote.push((buffer.number("rank")?, kind));
        }
        let mut blocks = Vec::new();
        for tb in json.list("threadblocks", "thread block")? {
            blocks.push(ThreadBlock {
                id: tb.number("id")?,
                operations: flat(tb.list("ops", "operation")?)?,
                channels: numbers(&tb, "channels", "channel_type", "channel_ids")?,
                remote: numbers(
                    &tb,
                    "remote_buffer_refs",
                    "access_channel_type",
                    "remote_buffer_ids",
                )?,
            });
        }
        Ok(Gpu {
            id: json.number("id")?,
            input_chunks: json.number("input_chunks")?,
            output_chunks: json.number("output_chunks")?,
            blocks,
            channels,
            remote,
        })
    }

    /// Returns the channels of an operation.
    pub(super) fn channels(&self, block: usize, operation: &Json<'_>) -> Read<Vec<Channel>> {
        let kind = operation.text("channel_type")?;
        let refuse = |what: &str| operation.wrong(what, "name a channel of the thread block");
        if kind == "switch" {
            let remedy = "name a plan without switch channels: sums in switches are not simulated";
            return Err(operation.wrong("it uses a switch channel", remedy));
        }
        let ids = self.blocks.get(block).and_then(|of| of.channels.get(kind));
        let ids = ids.map_or(&[][..], Vec::as_slice);
        let known = self.channels.get(kind).map_or(&[][..], Vec::as_slice);
        let find = |local: u32| {
            let id = *ids.get(local as usize)?;
            known.get(id as usize).copied()
        };
        let mut found = Vec::new();
        for local in operation.numbers("channel_ids")? {
            found.push(find(local).ok_or_else(|| refuse("there is no such channel"))?);
        }
        Ok(found)
    }

    /// Returns an operation's buffers: remote rank if there is one, position, chunk count.
    pub(super) fn buffers(
        &self,
        block: usize,
        operation: &Json<'_>,
        key: &str,
    ) -> Read<Vec<(Option<u32>, Slot, u32)>> {
        let mut found = Vec::new();
        for entry in operation.list(key, key)? {
            if entry.get("switch_channel_id").is_some() {
                let remedy =
                    "name a plan without switch channels: sums in switches are not simulated";
                return Err(entry.wrong("it is a buffer of a switch", remedy));
            }
            let (index, size) = (entry.number("index")?, entry.number("size")?);
            // A thread block counts its own references; these lead to the GPU's list.
            if let Some(id) = entry.get("buffer_id") {
                let kind = operation.text("channel_type")?;
                let ids = self.blocks.get(block).and_then(|of| of.remote.get(kind));
                let local = id.as_number()? as usize;
                let id = ids.and_then(|ids| ids.get(local));
                let remote = id.and_then(|&id| self.remote.get(id as usize));
                let Some(&(rank, buffer)) = remote else {
                    let remedy = "name one of `remote_buffer_refs`";
                    return Err(entry.wrong("there is no such remote buffer", remedy));
                };
                found.push((Some(rank), Slot::new(buffer, index), size));
                continue;
            }
            let buffer = Buffer::of_letter(entry.text("type")?);
            let buffer =
                buffer.ok_or_else(|| entry.wrong("its type is no buffer", "write i, o or s"))?;
            found.push((None, Slot::new(buffer, index), size));
        }
        Ok(found)
    }
}

/// Reads a thread block's references for each channel type.
fn numbers<'v>(block: &Json<'v>, list: &str, key: &str, ids: &str) -> Read<Numbers<'v>> {
    let mut found = Numbers::new();
    for group in block.list(list, list)? {
        let numbers = group.numbers(ids)?;
        found.entry(group.text(key)?).or_insert(numbers);
    }
    Ok(found)
}

/// Puts the operations within pipelines in their place: a pipeline only overlaps them.
fn flat(operations: Vec<Json<'_>>) -> Read<Vec<Json<'_>>> {
    let mut found = Vec::new();
    for operation in operations {
        if operation.text("name")? == "pipeline" {
            for inner in operation.list("ops", "operation")? {
                if inner.text("name")? == "pipeline" {
                    let remedy = "write its operations into the outer one";
                    return Err(inner.wrong("it is a pipeline in a pipeline", remedy));
                }
                found.push(inner);
            }
        } else {
            found.push(operation);
        }
    }
    Ok(found)
}
