//! Classification of a rank's events: kernels, their launches, and calls on the CPU.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use super::events::{Argument, Event, Takes};
use crate::calls::{Called, Described, Elements, Members, Peer, called, element_bytes};
use crate::decimal;

/// A communication kernel. Times are nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) place: u64,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) stream: u32,
    /// True for NCCL's kernel that carries out messages, perhaps several at once.
    pub(super) sends_and_receives: bool,
    pub(super) correlation: Option<u64>,
    pub(super) external: Option<u64>,
    pub(super) info: Option<Rc<Described>>,
}

/// A call on the CPU. Times are nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct CpuCall {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) external: Option<u64>,
    pub(super) info: Rc<Described>,
}

/// Relevant events of one rank's trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Kernels {
    pub(super) rank: Option<u32>,
    pub(super) world: Option<u32>,
    pub(super) groups: Value,
    /// Start and end of compute kernels, in nanoseconds.
    pub(super) computes: Vec<(u64, u64)>,
    pub(super) communications: Vec<Kernel>,
    /// Launch times of kernels in nanoseconds, by correlation number.
    pub(super) launches: BTreeMap<u64, u64>,
    pub(super) calls: Vec<CpuCall>,
    pub(super) annotations: Vec<CpuCall>,
    /// Number of copies between two GPUs' memories.
    pub(super) peer_copies: u64,
    /// Number of kernels without a duration.
    pub(super) untimed: u64,
    streams: BTreeMap<String, u32>,
}

/// Most streams that communicate. GPUs run far fewer at once.
const STREAMS_MAX: u32 = 4_096;
/// Most calls, and most communication kernels, in a trace. A training step has some thousand.
const CALLS_MAX: usize = 1 << 20;

impl Takes for Kernels {
    fn event(&mut self, event: Event) -> Result<(), (String, String)> {
        let category = event.category.as_str();
        if is_one_of(category, &["kernel", "gpu_memset", "memset"]) {
            return self.kernel(&event);
        }
        if is_one_of(category, &["gpu_memcpy", "memcpy"]) {
            // Copies from and to the host overlap with computing, so they do not extend it.
            if event.name.contains("DtoD") {
                self.computes.push(times(&event)?);
            }
            self.peer_copies += u64::from(event.name.contains("PtoP"));
            return Ok(());
        }
        if is_one_of(category, &["cuda_runtime", "cuda_driver", "runtime"]) {
            if let Some(correlation) = event.number(Argument::Correlation) {
                // The launch tells which call or annotation was under way on the CPU.
                self.launches.insert(correlation, times(&event)?.0);
            }
            return Ok(());
        }
        if is_one_of(category, &["cpu_op", "operator"]) {
            if let Some(info) = info(&event) {
                let call = cpu_call(&event, info)?;
                self.calls.push(call);
            }
            return self.check(&event);
        }
        if category == "user_annotation"
            && event.name.starts_with("nccl:")
            && let Some(info) = info_of_annotation(&event)
        {
            let call = cpu_call(&event, info)?;
            self.annotations.push(call);
        }
        self.check(&event)
    }

    fn distributed(&mut self, info: &Value) {
        let whole = |key: &str| {
            let value = &info[key];
            let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
            u32::try_from(number).ok()
        };
        (self.rank, self.world) = (whole("rank"), whole("world_size"));
        self.groups = info["pg_config"].clone();
        // Some versions write the list as a string that contains JSON.
        if let Value::String(text) = &self.groups {
            self.groups = serde_json::from_str(text).unwrap_or_default();
        }
    }
}

impl Kernels {
    /// Sorts a kernel in: it computes or it communicates.
    fn kernel(&mut self, event: &Event) -> Result<(), (String, String)> {
        self.untimed += u64::from(event.duration.is_empty());
        let (start, end) = times(event)?;
        let info = info(event);
        let name = event.name.to_ascii_lowercase();
        // Guess: a kernel communicates if its arguments name a collective, or its name NCCL.
        if info.is_none() && !name.contains("nccl") {
            self.computes.push((start, end));
            return Ok(());
        }
        // Guess: kernels that name no stream were on one.
        let stream = event.argument(Argument::Stream).unwrap_or_default();
        // Streams are numbered in the order of their first kernels.
        let next = self.streams.len() as u32;
        let stream = *self.streams.entry(stream.to_owned()).or_insert(next);
        if stream >= STREAMS_MAX {
            let place = event.place;
            let what = format!("event {place} is on one more than {STREAMS_MAX} streams of NCCL");
            let remedy = "give the trace as PyTorch writes it: `stream` is a number of CUDA";
            return Err((what, remedy.to_owned()));
        }
        self.communications.push(Kernel {
            place: event.place,
            start,
            end,
            stream,
            sends_and_receives: name.contains("sendrecv"),
            correlation: event.number(Argument::Correlation),
            external: event.number(Argument::External),
            info: info.map(Rc::new),
        });
        self.check(event)
    }

    /// Refuses more calls than [`CALLS_MAX`].
    fn check(&self, event: &Event) -> Result<(), (String, String)> {
        let lengths = [
            self.communications.len(),
            self.calls.len(),
            self.annotations.len(),
        ];
        if lengths.iter().all(|length| *length <= CALLS_MAX) {
            return Ok(());
        }
        let what = format!("event {} is one more than {CALLS_MAX} calls", event.place);
        Err((what, "record fewer steps".to_owned()))
    }

    /// Returns the launch time of a kernel, if it was recorded.
    pub(super) fn launch(&self, kernel: &Kernel) -> Option<u64> {
        self.launches.get(&kernel.correlation?).copied()
    }
}

fn is_one_of(category: &str, names: &[&str]) -> bool {
    names.iter().any(|name| category.eq_ignore_ascii_case(name))
}

/// Returns start and end of an event in nanoseconds.
fn times(event: &Event) -> Result<(u64, u64), (String, String)> {
    // Microseconds with three decimal places are nanoseconds; digits beyond are cut.
    let ns = |text: &str| decimal::scientific(text, 3).map(|(time, _)| time.ps());
    // Guess: an event without a duration takes no time; kernels among them are counted.
    let duration = if event.duration.is_empty() {
        Some(0)
    } else {
        ns(&event.duration)
    };
    let end = ns(&event.start)
        .zip(duration)
        .and_then(|(start, took)| Some((start, start.checked_add(took)?)));
    end.ok_or_else(|| {
        let what = format!(
            "event {} has the time `{}` and the duration `{}`",
            event.place, event.start, event.duration
        );
        (what, "give both in microseconds, as decimals".to_owned())
    })
}

fn cpu_call(event: &Event, info: Described) -> Result<CpuCall, (String, String)> {
    let (start, end) = times(event)?;
    Ok(CpuCall {
        start,
        end,
        external: event.number(Argument::External),
        info: Rc::new(info),
    })
}

/// Reads a call from the arguments of an event; `None` if it moves no data between ranks.
fn info(event: &Event) -> Option<Described> {
    let called = called(event.argument(Argument::Collective)?)?;
    let text = |of| event.argument(of).unwrap_or_default().to_owned();
    let number = |of| event.number(of);
    // Guess: a count that is missing is 0, and the other side of the call decides.
    let elements = |bytes| Elements {
        sent: number(Argument::Sent).unwrap_or(0),
        received: number(Argument::Received).unwrap_or(0),
        bytes,
    };
    let peer = match called {
        Called::Nothing => return None,
        Called::Send => number(Argument::Destination),
        Called::Receive => number(Argument::Source),
        Called::Collective(_) => None,
    };
    Some(Described {
        called,
        elements: element_bytes(&text(Argument::Type)).map(elements),
        members: Members {
            name: text(Argument::GroupName),
            list: text(Argument::GroupRanks),
            start: number(Argument::Start),
            stride: event
                .argument(Argument::Stride)
                .and_then(|stride| stride.parse().ok()),
            size: number(Argument::GroupSize),
        },
        sent_splits: text(Argument::SentSplits),
        received_splits: text(Argument::ReceivedSplits),
        peer: peer.map(Peer::Rank),
        root: None,
        sequence: number(Argument::Sequence),
        names_group: true,
    })
}

/// Reads a collective from an annotation, where older versions note the input shapes. Guess: all
/// inputs have the first one's type.
fn info_of_annotation(event: &Event) -> Option<Described> {
    let called = called(&event.name).filter(|called| matches!(called, Called::Collective(_)))?;
    let shapes: Vec<Vec<u64>> = serde_json::from_str(event.argument(Argument::Dimensions)?).ok()?;
    let types: Vec<String> = serde_json::from_str(event.argument(Argument::InputType)?).ok()?;
    let size = |shape: &Vec<u64>| {
        let product = shape.iter().try_fold(1_u64, |all, &of| all.checked_mul(of));
        // An overflow is refused later, as more bytes than any message has.
        product.unwrap_or(u64::MAX)
    };
    let sent = shapes.iter().map(size).fold(0, u64::saturating_add);
    let bytes = types.first().and_then(|name| element_bytes(name));
    Some(Described {
        called,
        elements: bytes.map(|bytes| Elements {
            sent,
            received: 0,
            bytes,
        }),
        members: Members::default(),
        sent_splits: String::new(),
        received_splits: String::new(),
        peer: None,
        root: None,
        sequence: None,
        names_group: false,
    })
}
