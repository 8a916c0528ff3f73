//! Hosts as users name them: by name, by number, or by a range of numbers.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use tenter_language::config::{Reader, Shape, Value, Written, parsed};

/// A host, or a range of hosts, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostRef {
    /// Number in the fabric's order, from 0.
    Number(u32),
    /// Range from one number to another, both inclusive: `16-23`.
    Stretch(u32, u32),
    /// Name that the fabric gives the host.
    Name(String),
}

impl FromStr for HostRef {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<HostRef, Infallible> {
        if let Ok(number) = word.parse() {
            return Ok(HostRef::Number(number));
        }
        // Host names may contain dashes, too; only two numbers make a range.
        let stretch = word.split_once('-').and_then(|(first, last)| {
            Some(HostRef::Stretch(
                first.trim().parse().ok()?,
                last.trim().parse().ok()?,
            ))
        });
        Ok(stretch.unwrap_or_else(|| HostRef::Name(word.to_owned())))
    }
}

impl fmt::Display for HostRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostRef::Number(number) => write!(out, "{number}"),
            HostRef::Stretch(first, last) => write!(out, "{first}-{last}"),
            HostRef::Name(name) => out.write_str(name),
        }
    }
}

parsed!(HostRef {
    "name or number",
    "must be a host, not",
    "write its name or its number, counted from 0"
});

/// One host or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostList(pub Vec<HostRef>);

impl Value for HostList {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let list = Vec::<HostRef>::shape(());
        Shape::Either(Box::new(HostRef::shape(())), Box::new(list))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<HostList> {
        let hosts = match reader.peek(key) {
            Some(Written::List(_)) => Vec::read(reader, key, ()),
            _ => HostRef::read(reader, key, ()).map(|host| vec![host]),
        };
        hosts.map(HostList)
    }

    fn written(&self) -> Written {
        match self.0.as_slice() {
            // As it was probably written: a single host without brackets.
            [host] => host.written(),
            _ => self.0.written(),
        }
    }
}

/// Hosts on which a job's ranks run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ranks {
    /// One rank on every host, or on every NPU.
    All,
    /// A rank count; the job's placement chooses the hosts.
    Count(u32),
    /// Explicit hosts: rank r runs on entry r.
    Hosts(Vec<HostRef>),
}

impl Value for Ranks {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let count = u32::shape(COUNTS);
        let list = Vec::<HostRef>::shape(());
        let either = Shape::Either(Box::new(count), Box::new(list));
        Shape::OrWord(Box::new(either), "all")
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Ranks> {
        if reader.is_word(key, "all") {
            return Some(Ranks::All);
        }
        match reader.peek(key) {
            Some(Written::List(_)) => Vec::read(reader, key, ()).map(Ranks::Hosts),
            _ => u32::read(reader, key, COUNTS).map(Ranks::Count),
        }
    }

    fn written(&self) -> Written {
        match self {
            Ranks::All => Written::word("all"),
            Ranks::Count(count) => count.written(),
            Ranks::Hosts(hosts) => hosts.written(),
        }
    }
}

/// Valid rank counts; a single rank would have no peer.
const COUNTS: std::ops::RangeInclusive<u32> = 2..=u32::MAX;
