//! Parser for log lines.

use std::collections::BTreeMap;

use tenter_language::notation::diagnostics::quote;

use crate::calls::{Called, called, nccl_element_bytes};
use crate::error::{ImportError, Place};

/// A communicator, as one of its ranks sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Communicator {
    /// Number that all its ranks print; older versions print none.
    pub(super) id: Option<String>,
    pub(super) size: u32,
    /// Place of the process in it, if a line tells.
    pub(super) rank: Option<u32>,
    /// Line of its first mention.
    pub(super) line: usize,
}

/// A call of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineCall {
    pub(super) line: usize,
    pub(super) called: Called,
    /// Bytes as NCCL counts them: those of one part if a call has a part for each rank.
    pub(super) bytes: u64,
    /// A message's peer, or a collective's root.
    pub(super) root: u64,
    /// Communicator, by its place in the process's list.
    pub(super) communicator: usize,
    /// Number of operations before the call. Messages with the same number were grouped.
    pub(super) operations: u64,
}

/// A device of a process, which is one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) host: String,
    pub(super) device: u32,
    /// Place of the file with its lines.
    pub(super) file: usize,
    pub(super) communicators: Vec<Communicator>,
    /// Communicator at each address, until a new one takes the address.
    by_address: BTreeMap<String, usize>,
    pub(super) calls: Vec<LineCall>,
    /// Number among all ranks, if a line tells.
    pub(super) global: Option<u32>,
}

/// Processes that the logs mention, with their calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    pub(super) processes: Vec<Process>,
    places: BTreeMap<String, usize>,
}

/// Text in front of every message.
const INFO: &str = " NCCL INFO ";

impl Log {
    /// Reads the lines of a file.
    ///
    /// # Errors
    /// A call in another form than NCCL writes, by its line.
    pub(super) fn take(&mut self, text: &str, file: usize) -> Result<(), ImportError> {
        for (line, words) in (1..).zip(text.lines()) {
            let Some((front, message)) = words.split_once(INFO) else {
                continue;
            };
            let is_call = message.contains(": opCount ");
            let is_ready = message.contains("Init COMPLETE") && message.contains("comm ");
            if !is_call && !is_ready {
                continue;
            }
            let Some(process) = self.process(front, file) else {
                let what = format!("{} names no process", quote(front));
                let remedy = "keep `host:pid:tid [device]` in front of lines";
                return Err(ImportError::new(Place::Line(line), what, remedy));
            };
            if is_call {
                process.call(message, line)?;
            } else {
                process.ready(message, line);
            }
        }
        Ok(())
    }

    /// Returns the process of a prefix `host:pid:tid [device]`, which may follow other text.
    fn process(&mut self, front: &str, file: usize) -> Option<&mut Process> {
        let (before, device) = front.rsplit_once('[')?;
        let (device, _) = device.split_once(']')?;
        let device: u32 = device.trim().parse().ok()?;
        let name = before.split_whitespace().last()?;
        let mut parts = name.rsplitn(3, ':');
        // From the right, since names of hosts may contain colons.
        let (_, process, host) = (parts.next()?, parts.next()?, parts.next()?);
        // Launchers such as `mpirun` put the rank in front: `[1,0]<stdout>:host`.
        let host = host.rsplit('>').next()?.trim_start_matches(':');
        let key = format!("{host}:{process}:{device}");
        let next = self.processes.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.processes.push(Process {
                host: host.to_owned(),
                device,
                file,
                ..Process::default()
            });
        }
        self.processes.get_mut(place)
    }
}

/// Returns the word behind `name`.
fn behind<'w>(words: &[&'w str], name: &str) -> Option<&'w str> {
    let place = words.iter().position(|word| *word == name)?;
    words.get(place + 1).copied()
}

impl Process {
    /// Reads the line that announces a communicator.
    fn ready(&mut self, message: &str, line: usize) {
        let words: Vec<&str> = message.split_whitespace().collect();
        let whole = |name: &str| behind(&words, name)?.parse().ok();
        let (Some(address), Some(size)) = (behind(&words, "comm"), whole("nranks")) else {
            return;
        };
        // A new communicator may get the address of one that is gone, and then has it.
        let communicator = Communicator {
            id: behind(&words, "commId").map(str::to_owned),
            size,
            rank: whole("rank"),
            line,
        };
        self.by_address
            .insert(address.to_owned(), self.communicators.len());
        self.communicators.push(communicator);
    }

    /// Reads the line of a call.
    fn call(&mut self, message: &str, line: usize) -> Result<(), ImportError> {
        let wrong = |what: String| {
            let remedy = "give the log as NCCL has written it";
            Err(ImportError::new(Place::Line(line), what, remedy))
        };
        let Some((name, rest)) = message.split_once(": opCount ") else {
            return Ok(());
        };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let Some(called) = called(name).filter(|called| *called != Called::Nothing) else {
            return wrong(format!("{} is no call of NCCL", quote(name)));
        };
        let operations = words.first().and_then(|word| {
            // NCCL prints the count in hexadecimal.
            let digits = word.trim_start_matches("0x");
            u64::from_str_radix(digits, 16).ok()
        });
        let number = |name: &str| behind(&words, name)?.parse::<u64>().ok();
        let Some((operations, count)) = operations.zip(number("count")) else {
            return wrong("the call has no `opCount` or no `count`".to_owned());
        };
        let element = number("datatype").and_then(nccl_element_bytes);
        let Some(bytes) = element.and_then(|bytes| bytes.checked_mul(count)) else {
            return wrong("the call has no known `datatype`, or too many bytes".to_owned());
        };
        let size = words.iter().find_map(|word| {
            let inner = word.strip_prefix("[nranks=")?;
            inner.trim_end_matches([']', ',']).parse().ok()
        });
        let Some((address, size)) = behind(&words, "comm").zip(size) else {
            return wrong("the call names no `comm` or no `nranks`".to_owned());
        };
        self.global = number("globalrank")
            .and_then(|rank| u32::try_from(rank).ok())
            .or(self.global);
        let next = self.communicators.len();
        // A log without INIT lines first mentions a communicator in a call.
        let communicator = *self.by_address.entry(address.to_owned()).or_insert(next);
        if communicator == next {
            self.communicators.push(Communicator {
                id: None,
                size,
                rank: None,
                line,
            });
        }
        self.calls.push(LineCall {
            line,
            called,
            bytes,
            // NCCL prints -1 for the root of some collectives, which is no number here.
            root: number("root").or(number("peer")).unwrap_or(u64::MAX),
            communicator,
            operations,
        });
        Ok(())
    }
}
