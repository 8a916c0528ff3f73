//! A node's attributes, and the operation that they describe.

use tenter_language::units::Time;
use tenter_workload::graph::CollectiveName;

use crate::error::{ImportError, Place};
use crate::limits::MESSAGE_MAX;
use crate::trace::{RankTrace, Traces, What, stream};

/// Node types by their numbers in the format.
pub(super) mod node_type {
    pub(crate) const METADATA: u64 = 1;
    pub(crate) const LOAD: u64 = 2;
    pub(crate) const STORE: u64 = 3;
    pub(crate) const COMPUTE: u64 = 4;
    pub(crate) const SEND: u64 = 5;
    pub(crate) const RECEIVE: u64 = 6;
    pub(crate) const COLLECTIVE: u64 = 7;
}

/// Collectives by their numbers in the format. 8 is a reduce-scatter with equal blocks.
pub(super) const COLLECTIVES: [CollectiveName; 10] = [
    CollectiveName::AllReduce,
    CollectiveName::Reduce,
    CollectiveName::AllGather,
    CollectiveName::Gather,
    CollectiveName::Scatter,
    CollectiveName::Broadcast,
    CollectiveName::AllToAll,
    CollectiveName::ReduceScatter,
    CollectiveName::ReduceScatter,
    CollectiveName::Barrier,
];

/// An attribute's value, by its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'t> {
    Number(i64),
    Real(f64),
    Text(&'t str),
}

impl Value<'_> {
    /// Returns a number that is not negative, whatever type it was written with.
    fn number(self) -> Option<u64> {
        match self {
            Value::Number(number) => u64::try_from(number).ok(),
            Value::Real(number) if number >= 0.0 && number.fract() == 0.0 => Some(number as u64),
            Value::Real(_) => None,
            Value::Text(text) => text.trim().parse().ok(),
        }
    }
}

/// A node while its fields are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) id: u64,
    pub(super) kind: u64,
    pub(super) start_us: Option<u64>,
    pub(super) duration_us: u64,
    is_cpu: Option<bool>,
    comm_type: Option<u64>,
    /// Bytes of a message, or a rank's own bytes in a collective.
    comm_size: Option<u64>,
    source: Option<u64>,
    destination: Option<u64>,
    tag: Option<u64>,
    group: Option<u32>,
    /// Stream on the device, as it was recorded.
    recorded: Option<u64>,
    /// Arithmetic operations, for computing without a duration.
    operations: Option<u64>,
}

impl Node {
    /// Stores an attribute, if it has a meaning here.
    pub(super) fn attribute(&mut self, name: &str, value: Value<'_>, traces: &mut Traces<'_>) {
        match name {
            "is_cpu_op" => self.is_cpu = value.number().map(|number| number != 0),
            "comm_type" => self.comm_type = value.number(),
            "comm_size" => self.comm_size = value.number(),
            "comm_src" => self.source = value.number(),
            "comm_dst" => self.destination = value.number(),
            "comm_tag" => self.tag = value.number(),
            "stream" => self.recorded = value.number(),
            "num_ops" => self.operations = value.number(),
            "pg_name" | "comm_group" => {
                let group = match value {
                    Value::Text(text) => traces.groups.number(text),
                    Value::Number(number) => traces.groups.number(&number.to_string()),
                    Value::Real(number) => traces.groups.number(&number.to_string()),
                };
                self.group = Some(group);
            }
            _ => {}
        }
    }

    /// Adds the node to its rank's trace.
    ///
    /// # Errors
    /// Messages and times that no trace has.
    pub(super) fn add(
        &self,
        traces: &mut Traces<'_>,
        rank: u32,
        trace: &mut RankTrace,
        at: Place,
    ) -> Result<(), ImportError> {
        let what = self.what(traces, rank, at)?;
        // Guess: a node that does not say so is not on the CPU.
        let is_cpu = self.is_cpu.unwrap_or(false);
        let communicates = matches!(
            what,
            What::Send { .. } | What::Receive { .. } | What::Collective { .. }
        );
        // Communication without size or peer still takes time on the stream of communication, so
        // that it keeps its order with the rest.
        let own = match self.kind {
            _ if communicates => stream::COMMUNICATION,
            node_type::SEND | node_type::RECEIVE | node_type::COLLECTIVE if !is_cpu => {
                stream::COMMUNICATION
            }
            node_type::LOAD | node_type::STORE => stream::MEMORY,
            _ if is_cpu => stream::CPU,
            _ => stream::COMPUTE,
        };
        let recorded = self.recorded.filter(|_| !is_cpu);
        let recorded = recorded.and_then(|recorded| u32::try_from(recorded).ok());
        // The duration of a computation is its cost, whether it was measured or calculated, so only
        // starts, and durations of communication, are kept as recorded times.
        let start = self.start_us.filter(|_| what != What::Nothing);
        if start.is_some() || communicates && self.duration_us > 0 {
            trace.was_measured(start, self.took(at)?);
        }
        trace.add(self.id, what, own, recorded);
        Ok(())
    }

    fn wrong(&self, at: Place, what: &str, remedy: &str) -> ImportError {
        ImportError::new(at, format!("node {}: {what}", self.id), remedy)
    }

    fn what(&self, traces: &mut Traces<'_>, rank: u32, at: Place) -> Result<What, ImportError> {
        match self.kind {
            node_type::COMPUTE | node_type::LOAD | node_type::STORE => self.compute(traces, at),
            node_type::SEND | node_type::RECEIVE => self.message(traces, rank, at),
            node_type::COLLECTIVE => self.collective(traces, at),
            node_type::METADATA => Ok(What::Nothing),
            other => {
                let what = format!("its type {other} is none of the format's");
                Err(self.wrong(at, &what, "give a Chakra execution trace of version 0.0.4"))
            }
        }
    }

    fn took(&self, at: Place) -> Result<Time, ImportError> {
        let ps = self.duration_us.checked_mul(1_000_000);
        let ps =
            ps.ok_or_else(|| self.wrong(at, "it takes longer than 213 days", "give microseconds"))?;
        Ok(Time::from_ps(ps))
    }

    /// Returns the operation for computing or a copy: its duration, or its operations at the given
    /// peak.
    fn compute(&self, traces: &mut Traces<'_>, at: Place) -> Result<What, ImportError> {
        if self.duration_us == 0
            && let Some(operations) = self.operations.filter(|&operations| operations > 0)
        {
            let Some(peak) = traces.peak_gflops() else {
                traces.count("computations have a number of operations and no time, and take none; give `peak_gflops`", 1);
                return Ok(What::Nothing);
            };
            // Billions of operations in a second are operations in a nanosecond, of 1,000 ps.
            let ps = u128::from(operations) * 1_000 / u128::from(peak);
            let ps = u64::try_from(ps).map_err(|_| {
                self.wrong(
                    at,
                    "it takes longer than 213 days",
                    "give a larger `peak_gflops`",
                )
            })?;
            return Ok(What::Compute(Time::from_ps(ps)));
        }
        let took = self.took(at)?;
        if took.is_zero() {
            traces.count(
                "computations and copies have neither a time nor operations, and take none",
                1,
            );
            return Ok(What::Nothing);
        }
        Ok(What::Compute(took))
    }

    /// Returns an operation with the recorded duration, and counts the note `said`.
    fn measured(
        &self,
        traces: &mut Traces<'_>,
        said: &'static str,
        at: Place,
    ) -> Result<What, ImportError> {
        traces.count(said, 1);
        self.took(at).map(What::Compute)
    }

    /// Returns the operation for a send or receive. Without peer or size it is a recorded time.
    fn message(&self, traces: &mut Traces<'_>, rank: u32, at: Place) -> Result<What, ImportError> {
        let sends = self.kind == node_type::SEND;
        let peer = if sends { self.destination } else { self.source };
        let (Some(peer), Some(bytes)) = (peer, self.comm_size) else {
            let said = "messages name no peer or no size, and take the time that was recorded";
            return self.measured(traces, said, at);
        };
        if bytes > MESSAGE_MAX {
            let what = format!("a message of {bytes} bytes is too long");
            return Err(self.wrong(at, &what, "give at most 2^50 bytes"));
        }
        let ranks = traces.ranks();
        if peer >= u64::from(ranks) {
            let what = format!("it names rank {peer}, and there are traces of {ranks} ranks");
            return Err(self.wrong(at, &what, "give the traces of all ranks"));
        }
        if traces.is_repeated() {
            let what = "a message to or from one rank cannot be repeated for all ranks";
            return Err(self.wrong(at, what, "give the traces of all ranks in place of `ranks`"));
        }
        let own = if sends { self.source } else { self.destination };
        // Only noted, because the rank of the file is certain.
        if own.is_some_and(|own| own != u64::from(rank)) {
            traces.count(
                "messages name another rank than that of their file as their own",
                1,
            );
        }
        // Guess: a message without a tag has tag 0.
        let (peer, tag) = (peer as u32, self.tag.unwrap_or(0));
        let tag = u32::try_from(tag).ok().filter(|&tag| tag < u32::MAX);
        let tag = tag.ok_or_else(|| self.wrong(at, "its tag is too large", "give 32 bits"))?;
        Ok(if sends {
            What::Send { peer, bytes, tag }
        } else {
            What::Receive { peer, bytes, tag }
        })
    }

    /// Returns the operation for a collective. Without kind or size it is a recorded time.
    fn collective(&self, traces: &mut Traces<'_>, at: Place) -> Result<What, ImportError> {
        // A collective on the CPU only launches a kernel, which has a node of its own.
        let Some(comm_type) = self.comm_type else {
            if self.is_cpu == Some(true) {
                traces.count("collectives are launched by the CPU here, and run elsewhere; they take no time", 1);
                return Ok(What::Nothing);
            }
            let said = "collectives name no kind, and take the time that was recorded";
            return self.measured(traces, said, at);
        };
        let name = COLLECTIVES.get(usize::try_from(comm_type).unwrap_or(usize::MAX));
        let Some(&name) = name else {
            let what = format!("`comm_type` {comm_type} is no collective");
            return Err(self.wrong(at, &what, "give 0 (all-reduce) to 9 (barrier)"));
        };
        let bytes = match (name, self.comm_size) {
            (CollectiveName::Barrier, _) => 0,
            (_, Some(0)) => {
                traces.count("collectives of 0 bytes take no time", 1);
                return Ok(What::Nothing);
            }
            (_, Some(bytes)) if bytes > MESSAGE_MAX => {
                let what = format!("a collective of {bytes} bytes is too long");
                return Err(self.wrong(at, &what, "give at most 2^50 bytes"));
            }
            (_, Some(bytes)) => bytes,
            (_, None) => {
                let said = "collectives name no size, and take the time that was recorded";
                return self.measured(traces, said, at);
            }
        };
        // Guess: a collective that names no communicator has all ranks.
        let group = self.group.unwrap_or_else(|| traces.groups.number(""));
        Ok(What::Collective { name, bytes, group })
    }
}
