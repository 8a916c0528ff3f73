//! Parsing of the text: groups in the first line, then layers.

use tenter_language::notation::diagnostics::quote;
use tenter_language::units::Time;
use tenter_workload::graph::CollectiveName;

use crate::error::{ImportError, Place};
use crate::grid::Group;
use crate::limits::{MESSAGE_MAX, RANKS_MAX};
use crate::words::number;

type Read<T> = Result<T, ImportError>;

/// A collective behind a layer's computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Communication {
    pub(super) name: CollectiveName,
    pub(super) group: Group,
    pub(super) bytes: u64,
}

/// Computing, and the collective behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) compute: Time,
    pub(super) communication: Option<Communication>,
}

/// A layer: forward pass, input gradient, weight gradient, and the weights' update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layer {
    pub(super) forward: Part,
    pub(super) input: Part,
    pub(super) weights: Part,
    pub(super) update: Time,
}

/// Group sizes in ranks, and the stages of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    pub(super) tensor: u32,
    pub(super) expert: u32,
    pub(super) pipeline: u32,
    /// Number of all ranks, if the file has it.
    pub(super) all: Option<u32>,
}

/// A file's groups and layers, with notes for the user.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) groups: Groups,
    pub(super) layers: Vec<Layer>,
    /// Parts that are left out, one sentence each.
    pub(super) notes: Vec<String>,
}

/// Words in a layer's line.
const WORDS: usize = 12;
/// Policies in which all ranks take part in each collective.
const OF_ALL: [&str; 2] = ["MICRO", "DATA"];
/// Policies that a file may begin with. Only those in [`OF_ALL`] change the groups.
const POLICIES: [&str; 11] = [
    "DATA",
    "MODEL",
    "HYBRID_DATA_MODEL",
    "HYBRID_MODEL_DATA",
    "HYBRID_TRANSFORMER",
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
    "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED",
    "HYBRID_CUSTOMIZED",
    "MICRO",
    "DISTRIBUTED_INFERENCE",
];

fn wrong<T>(line: usize, what: impl Into<String>, remedy: &str) -> Read<T> {
    Err(ImportError::new(Place::Line(line), what, remedy))
}

/// Reads the groups and layers from a text.
pub(super) fn read(text: &str) -> Read<Workload> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut lines = lines.filter(|(_, line)| !line.is_empty());
    let (Some((at, first)), Some((at_count, count))) = (lines.next(), lines.next()) else {
        return Err(ImportError::nothing(
            "begin with a policy, and the number of layers in the second line",
        ));
    };
    // Guess: a kind of group that the first line does not name has one rank.
    let mut workload = Workload {
        groups: Groups {
            tensor: 1,
            expert: 1,
            pipeline: 1,
            all: None,
        },
        layers: Vec::new(),
        notes: Vec::new(),
    };
    let of_all = workload.first_line(first, at)?;
    let expected = number(count, "the number of layers", Place::Line(at_count))?;
    let mut last = at_count;
    let mut empty = 0;
    for (at, line) in lines {
        if workload.layers.len() as u64 == expected {
            let what = "lines behind the number of layers that the file says are left out";
            workload.notes.push(what.to_owned());
            break;
        }
        let layer = layer(line, at, of_all)?;
        empty += empty_collectives(line);
        workload.layers.push(layer);
        last = at;
    }
    let found = workload.layers.len() as u64;
    if found < expected || found == 0 {
        let what = format!("there are {found} layers, and the file says {expected}");
        return wrong(last, what, "correct the number, or give the whole file");
    }
    if empty > 0 {
        let what = format!("{empty} collectives of 0 bytes are left out");
        workload.notes.push(what);
    }
    Ok(workload)
}

/// Positions of the collectives among a layer's words; their bytes follow.
const COLLECTIVES: [usize; 3] = [3, 6, 9];

/// Counts the collectives of a layer that have no bytes.
fn empty_collectives(line: &str) -> usize {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_empty = |of: &&usize| words[**of] != "NONE" && words[**of + 1].parse() == Ok(0_u64);
    COLLECTIVES.iter().filter(is_empty).count()
}

impl Workload {
    /// Reads policy and groups. Returns true if all ranks take part in each collective.
    fn first_line(&mut self, line: &str, at: usize) -> Read<bool> {
        let mut words = line.split_whitespace();
        let policy = words.next().unwrap_or_default();
        if !POLICIES.contains(&policy) {
            let what = format!("{} is no policy of the format", quote(policy));
            let remedy = "begin with one, such as HYBRID_TRANSFORMER_FWD_IN_BCKWD or MICRO";
            return wrong(at, what, remedy);
        }
        while let Some(word) = words.next() {
            let key = word.trim_end_matches(':');
            let mut value = |of: &str| {
                let word = words.next().unwrap_or_default();
                let value = number(word, of, Place::Line(at))?;
                match u32::try_from(value)
                    .ok()
                    .filter(|_| (1..=RANKS_MAX).contains(&value))
                {
                    Some(value) => Ok(value),
                    None => wrong(at, format!("`{key}` is {value}"), "give 1 to 1,048,576"),
                }
            };
            match key {
                "model_parallel_NPU_group" => self.groups.tensor = value("a number of ranks")?,
                "ep" => self.groups.expert = value("a number of ranks")?,
                "pp" => self.groups.pipeline = value("a number of stages")?,
                "all_gpus" => self.groups.all = Some(value("a number of ranks")?),
                "checkpoints" => {
                    let count =
                        number(words.next().unwrap_or_default(), "a count", Place::Line(at))?;
                    if count > 0 {
                        let what = "recomputing from checkpoints is left out";
                        self.notes.push(what.to_owned());
                    }
                }
                // Other words, such as `vpp: 1`, do not change the operations.
                _ => {}
            }
        }
        if self.groups.pipeline > 1 {
            let what = "sends between the stages of the pipeline are left out: every rank runs all layers of the file";
            self.notes.push(what.to_owned());
        }
        Ok(OF_ALL.contains(&policy))
    }
}

/// Reads the line of a layer. All ranks take part in its collectives if `of_all` is set.
fn layer(line: &str, at: usize, of_all: bool) -> Read<Layer> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() < WORDS {
        let what = format!("a layer has {} words in place of {WORDS}", words.len());
        let remedy =
            "give name, dependency, three times computing, collective and bytes, and the update";
        return wrong(at, what, remedy);
    }
    let time = |word: &str| {
        let ns = number(word, "a time in nanoseconds", Place::Line(at))?;
        match ns.checked_mul(1_000) {
            Some(ps) => Ok(Time::from_ps(ps)),
            None => wrong(at, format!("{ns} ns are longer than 213 days"), "give less"),
        }
    };
    // A suffix of the collective names another group than the usual one.
    let part = |first: usize, usual: Group| {
        let usual = if of_all { Group::All } else { usual };
        Ok(Part {
            compute: time(words[first])?,
            communication: communication(words[first + 1], words[first + 2], usual, at)?,
        })
    };
    Ok(Layer {
        // Words 0 and 1 are the layer's name and dependency: layers run in file order.
        forward: part(2, Group::Tensor)?,
        input: part(5, Group::Tensor)?,
        weights: part(8, Group::Data)?,
        update: time(words[11])?,
    })
}

/// Reads a collective; `None` without kind or bytes. Suffixes name other groups than `usual`.
fn communication(word: &str, bytes: &str, usual: Group, at: usize) -> Read<Option<Communication>> {
    let bytes = number(bytes, "a size in bytes", Place::Line(at))?;
    // The longer suffix first, as it ends in the shorter one.
    let (name, group) = match word.strip_suffix("_DP_EP") {
        Some(name) => (name, Group::DataOfExperts),
        None => match word.strip_suffix("_EP") {
            Some(name) => (name, Group::Expert),
            None => (word, usual),
        },
    };
    let name = match name {
        "NONE" => return Ok(None),
        "ALLREDUCE" => CollectiveName::AllReduce,
        "ALLGATHER" => CollectiveName::AllGather,
        "REDUCESCATTER" => CollectiveName::ReduceScatter,
        "ALLTOALL" => CollectiveName::AllToAll,
        "BROADCAST" => CollectiveName::Broadcast,
        _ => {
            let what = format!("{} is no collective of the format", quote(word));
            let remedy = "use NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or BROADCAST";
            return wrong(at, what, remedy);
        }
    };
    if bytes > MESSAGE_MAX {
        let what = format!("a collective of {bytes} bytes is too long");
        return wrong(at, what, "give at most 2^50 bytes");
    }
    Ok((bytes > 0).then_some(Communication { name, group, bytes }))
}
