//! Event stream of a trace. Events without relevance are skipped while parsing.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;
use tenter_language::units::Budget;

use crate::compressed::{Checked, is_packed};
use crate::content::Content;
use crate::error::{ImportError, Place};
use crate::json_text;

/// Event arguments that the reader uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Stream,
    Correlation,
    External,
    Collective,
    Type,
    Sent,
    Received,
    GroupSize,
    SentSplits,
    ReceivedSplits,
    GroupName,
    GroupRanks,
    Start,
    Stride,
    Source,
    Destination,
    Sequence,
    Dimensions,
    InputType,
}

impl Argument {
    fn of(name: &str) -> Option<Argument> {
        Some(match name {
            "stream" => Argument::Stream,
            "correlation" => Argument::Correlation,
            "External id" | "external id" => Argument::External,
            "Collective name" => Argument::Collective,
            "dtype" => Argument::Type,
            "In msg nelems" => Argument::Sent,
            "Out msg nelems" => Argument::Received,
            "Group size" => Argument::GroupSize,
            "In split size" => Argument::SentSplits,
            "Out split size" => Argument::ReceivedSplits,
            "Process Group Name" => Argument::GroupName,
            "Process Group Ranks" => Argument::GroupRanks,
            "Global rank start" => Argument::Start,
            "Global rank stride" => Argument::Stride,
            "Src Rank" => Argument::Source,
            "Dst Rank" => Argument::Destination,
            "Seq" => Argument::Sequence,
            "Input Dims" => Argument::Dimensions,
            "Input type" => Argument::InputType,
            _ => return None,
        })
    }
}

/// An event with a duration.
#[derive(Clone, Debug, Default)]
pub(super) struct Event {
    /// Place among all events of the trace, from 0.
    pub(super) place: u64,
    pub(super) category: String,
    pub(super) name: String,
    /// Start and duration as written: microseconds with decimal places.
    pub(super) start: String,
    pub(super) duration: String,
    is_complete: bool,
    arguments: Vec<(Argument, String)>,
}

impl Event {
    /// Returns an argument as text; strings are without quotes.
    pub(super) fn argument(&self, of: Argument) -> Option<&str> {
        let found = self.arguments.iter().find(|(argument, _)| *argument == of);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns an argument as a number.
    pub(super) fn number(&self, of: Argument) -> Option<u64> {
        self.argument(of)?.parse().ok()
    }
}

/// Consumer of a trace's content.
pub(super) trait Takes {
    /// Takes an event.
    ///
    /// # Errors
    /// The problem with the event, and a remedy.
    fn event(&mut self, event: Event) -> Result<(), (String, String)>;

    /// Takes the object `distributedInfo`, which describes the whole job.
    fn distributed(&mut self, info: &serde_json::Value);
}

/// Reads a trace, perhaps compressed.
///
/// # Errors
/// Text that is no trace, and faulty events, by line.
pub(super) fn read(
    bytes: &[u8],
    takes: &mut dyn Takes,
    budget: &Budget,
) -> Result<(), ImportError> {
    // Charged in advance: the parser has no place at which to ask again.
    let worked = budget.work(bytes.len() as u64);
    worked.map_err(|over| ImportError::of(Place::Byte(0), over))?;
    // An error of `serde_json` has its line and one text; the remedy comes back in here.
    let mut wrong = None;
    let document = Document {
        takes,
        wrong: &mut wrong,
    };
    let read = if is_packed(bytes) {
        let mut content = Content::from(bytes);
        let mut packed = Checked::of(&mut content, budget)?;
        finished(
            serde_json::Deserializer::from_reader(packed.open()?),
            document,
        )
    } else {
        finished(serde_json::Deserializer::from_slice(bytes), document)
    };
    let Err(error) = read else {
        return Ok(());
    };
    let at = json_text::place(&error);
    let (what, remedy) = wrong.unwrap_or_else(|| {
        let remedy = "give a trace of PyTorch's profiler, whole";
        (format!("this is no trace ({error})"), remedy.to_owned())
    });
    Err(ImportError::new(at, what, remedy))
}

fn finished<'d, R: serde_json::de::Read<'d>>(
    mut from: serde_json::Deserializer<R>,
    document: Document<'_>,
) -> Result<(), serde_json::Error> {
    document.deserialize(&mut from)?;
    from.end()
}

/// The whole file: an object that contains the events, or a bare list.
struct Document<'t> {
    takes: &'t mut dyn Takes,
    wrong: &'t mut Option<(String, String)>,
}

impl<'d> DeserializeSeed<'d> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'d> Visitor<'d> for Document<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with `traceEvents`")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut has_events, mut has_nodes) = (false, false);
        while let Some(key) = map.next_key::<Word>()? {
            match key.0.as_str() {
                "traceEvents" => {
                    has_events = true;
                    map.next_value_seed(Events {
                        takes: &mut *self.takes,
                        wrong: &mut *self.wrong,
                    })?;
                }
                "distributedInfo" => {
                    let info: serde_json::Value = map.next_value()?;
                    self.takes.distributed(&info);
                }
                other => {
                    // A list of nodes tells the other format of PyTorch, for the remedy below.
                    has_nodes |= other == "nodes";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if has_events {
            return Ok(());
        }
        if has_nodes {
            let what = "this is an execution trace, a list of `nodes`, and none of the profiler";
            let remedy = "import it as `pytorch-et`, or as `chakra` if it is one of Chakra";
            *self.wrong = Some((what.to_owned(), remedy.to_owned()));
        }
        Err(A::Error::custom("there is no list `traceEvents`"))
    }

    fn visit_seq<A: SeqAccess<'d>>(self, list: A) -> Result<(), A::Error> {
        let Document { takes, wrong } = self;
        Events { takes, wrong }.visit_seq(list)
    }
}

/// The list of events, which is consumed one by one.
struct Events<'t> {
    takes: &'t mut dyn Takes,
    wrong: &'t mut Option<(String, String)>,
}

impl<'d> DeserializeSeed<'d> for Events<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'d> Visitor<'d> for Events<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut list: A) -> Result<(), A::Error> {
        let mut place = 0;
        while let Some(event) = list.next_element::<Event>()? {
            if event.is_complete {
                let taken = self.takes.event(Event { place, ..event });
                if let Err(wrong) = taken {
                    *self.wrong = Some(wrong);
                    return Err(A::Error::custom("an event is wrong"));
                }
            }
            place += 1;
        }
        Ok(())
    }
}

/// A key or a short text, owned because compressed input cannot be borrowed.
struct Word(String);

impl<'d> Deserialize<'d> for Word {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Word, D::Error> {
        String::deserialize(from).map(Word)
    }
}

/// Returns a value's text: a string's content, or any other value as written.
fn text(value: &RawValue) -> String {
    let written = value.get();
    let plain = written
        .starts_with('"')
        .then(|| serde_json::from_str(written));
    match plain {
        Some(Ok(plain)) => plain,
        _ => written.to_owned(),
    }
}

impl<'d> Deserialize<'d> for Event {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Event, D::Error> {
        from.deserialize_map(EventVisitor)
    }
}

struct EventVisitor;

impl<'d> Visitor<'d> for EventVisitor {
    type Value = Event;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an event, which is an object")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Event, A::Error> {
        let mut event = Event::default();
        while let Some(key) = map.next_key::<Word>()? {
            match key.0.as_str() {
                "ph" => event.is_complete = text(&map.next_value::<Box<RawValue>>()?) == "X",
                "cat" => event.category = text(&map.next_value::<Box<RawValue>>()?),
                "name" => event.name = text(&map.next_value::<Box<RawValue>>()?),
                // Numbers stay text: 64-bit floats do not hold nanoseconds since 1970.
                "ts" => event.start = text(&map.next_value::<Box<RawValue>>()?),
                "dur" => event.duration = text(&map.next_value::<Box<RawValue>>()?),
                "args" => event.arguments = map.next_value::<Arguments>()?.0,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(event)
    }
}

/// The arguments of an event that the reader uses.
struct Arguments(Vec<(Argument, String)>);

impl<'d> Deserialize<'d> for Arguments {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Arguments, D::Error> {
        from.deserialize_any(ArgumentsVisitor)
    }
}

struct ArgumentsVisitor;

impl<'d> Visitor<'d> for ArgumentsVisitor {
    type Value = Arguments;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("arguments, which are an object")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Arguments, A::Error> {
        let mut found = Vec::new();
        while let Some(key) = map.next_key::<Word>()? {
            match Argument::of(&key.0) {
                Some(argument) => {
                    found.push((argument, text(&map.next_value::<Box<RawValue>>()?)));
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Arguments(found))
    }

    // Some events have `null` in place of arguments.
    fn visit_unit<E: Error>(self) -> Result<Arguments, E> {
        Ok(Arguments(Vec::new()))
    }
}
