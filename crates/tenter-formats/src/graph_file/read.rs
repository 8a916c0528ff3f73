//! Reader for Tenter's own file of a graph.

use tenter_language::config::Component;
use tenter_language::notation::decode::Section;
use tenter_language::notation::diagnostics::Problems;
use tenter_language::notation::yaml;
use tenter_language::units::{Budget, Time};
use tenter_workload::collective::CollectiveKind;
use tenter_workload::graph::{Collectives, Graph, GraphError, Measured, Operation, RankBuilder};

use super::{MAGIC, VERSION_WITHOUT_TIMES, follower_of, head};
use crate::content::{Content, Stream, unreadable};
use crate::error::{ImportError, Place};
use crate::limits::{MESSAGE_MAX, RANKS_MAX};
use crate::taken_graph::TakenGraph;

type Read<T> = Result<T, ImportError>;

/// Longest text with a collective's keys, in bytes; an algorithm's steps are among them.
const KIND_MAX: u64 = 64 << 20;

/// Reads a graph's file. Beside the graph one rank at a time is in memory.
///
/// # Errors
/// The first byte that violates the format.
pub fn read<'c>(content: impl Into<Content<'c>>, budget: &Budget) -> Read<Graph> {
    let mut content = content.into();
    let allowed = budget.read(content.length());
    allowed.map_err(|over| ImportError::of(Place::Byte(0), over))?;
    let head = content.part(0, MAGIC.len() as u64)?;
    // The last byte is the version, all before it say that this is a graph.
    let is_graph = head.get(..MAGIC.len() - 1) == Some(&MAGIC[..MAGIC.len() - 1]);
    let version = head.get(MAGIC.len() - 1).copied();
    let versions = [Some(VERSION_WITHOUT_TIMES), MAGIC.last().copied()];
    if !is_graph || !versions.contains(&version) {
        let what = if is_graph {
            "the graph is of another version of the format"
        } else {
            "the file is no graph that `tenter import` has written"
        };
        let remedy = "make it with this version of `tenter import`, or name the `kind` of the file";
        return Err(ImportError::new(Place::Byte(0), what, remedy));
    }
    let mut file = File {
        length: content.length(),
        stream: Stream::new(content.buffered()?),
    };
    file.text(MAGIC.len() as u64)?;
    let ranks = file.bounded("ranks", RANKS_MAX)?;
    let mut builder = TakenGraph::new(ranks as u32, file.place(), budget)?;
    file.collectives(builder.collectives())?;
    for _ in 0..ranks {
        let mut rank = file.rank(builder.collectives())?;
        if version != Some(VERSION_WITHOUT_TIMES) && file.bounded("lists of times", 1)? == 1 {
            file.measured(&mut rank)?;
        }
        builder.add(rank, file.place())?;
    }
    let is_at_end = file.stream.is_at_end();
    if !is_at_end.map_err(|error| unreadable(file.stream.at(), &error))? {
        return Err(file.damaged("there is more behind the last rank"));
    }
    builder.finish(file.place())
}

/// A file and the position in it.
struct File<'c> {
    stream: Stream<Box<dyn std::io::Read + 'c>>,
    length: u64,
}

impl File<'_> {
    /// Returns the number of bytes that follow.
    fn left(&self) -> u64 {
        self.length.saturating_sub(self.stream.at())
    }

    /// Reads the next `length` bytes.
    fn text(&mut self, length: u64) -> Read<Vec<u8>> {
        let mut bytes = Vec::new();
        let taken = self.stream.take(length, &mut bytes);
        taken.map_err(|error| unreadable(self.stream.at(), &error))?;
        if (bytes.len() as u64) < length {
            return Err(self.damaged("the file ends too early"));
        }
        Ok(bytes)
    }

    fn damaged(&self, what: impl Into<String>) -> ImportError {
        let remedy = "the file is damaged; import it anew";
        ImportError::new(self.place(), what, remedy)
    }

    fn checked<T>(&self, result: Result<T, GraphError>) -> Read<T> {
        result.map_err(|error| ImportError::of(self.place(), error))
    }

    fn place(&self) -> Place {
        Place::Byte(self.stream.at() as usize)
    }

    fn byte(&mut self) -> Read<u8> {
        let byte = self.stream.byte();
        let byte = byte.map_err(|error| unreadable(self.stream.at(), &error))?;
        byte.ok_or_else(|| self.damaged("the file ends too early"))
    }

    /// Reads a varint up to 64 bits.
    fn number(&mut self) -> Read<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            // The tenth byte has room for one bit: bits that a shift would lose make the number too
            // long.
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.damaged("a number has more than 64 bits"))
    }

    /// Reads a number up to `most`; `of` names it in the error.
    fn bounded(&mut self, of: &str, most: u64) -> Read<u64> {
        let number = self.number()?;
        if number > most {
            return Err(self.damaged(format!("the number of {of} is {number}, beyond {most}")));
        }
        Ok(number)
    }

    /// Reads how many items follow. Each takes a byte or more, so a count beyond the file's rest is
    /// refused before memory is taken for it.
    fn count(&mut self, of: &str) -> Read<u64> {
        let number = self.number()?;
        let left = self.left();
        if number > left {
            let what = format!("{number} {of} do not fit into the {left} bytes that follow");
            return Err(self.damaged(what));
        }
        Ok(number)
    }

    fn u32(&mut self, of: &str) -> Read<u32> {
        self.bounded(of, u64::from(u32::MAX))
            .map(|number| number as u32)
    }

    /// Reads kinds, groups and collectives, on which the ranks' operations rely.
    fn collectives(&mut self, to: &mut Collectives) -> Read<()> {
        let mut kinds = Vec::new();
        for _ in 0..self.count("kinds of collectives")? {
            kinds.push(self.kind()?);
        }
        for _ in 0..self.count("groups")? {
            let count = self.count("ranks of a group")?;
            let ranks = (0..count)
                .map(|_| self.u32("a rank"))
                .collect::<Read<_>>()?;
            let added = to.add_group(ranks);
            self.checked(added)?;
        }
        for _ in 0..self.count("collectives")? {
            let (group, nth) = (self.u32("a group")?, self.u32("a collective of a group")?);
            let kind = self.number()?;
            let bytes = self.bounded("bytes", MESSAGE_MAX)?;
            let kind = usize::try_from(kind).ok().and_then(|kind| kinds.get(kind));
            let ranks = (group < to.groups()).then(|| to.ranks_of(group));
            let first = ranks.and_then(|ranks| ranks.first().copied());
            let (Some(kind), Some(first)) = (kind, first) else {
                return Err(self.damaged("a collective is of no kind or of no group"));
            };
            // Operations name collectives by their place in the list, so each must get the next
            // number.
            let next = to.len() as u32;
            let added = to.add(group, nth, first, kind, bytes);
            if self.checked(added)? != next {
                return Err(self.damaged("a collective is there twice"));
            }
        }
        Ok(())
    }

    /// Reads the keys for one kind of collective.
    fn kind(&mut self) -> Read<CollectiveKind> {
        let length = self.bounded("bytes of a text", KIND_MAX)?;
        let text = self.text(length)?;
        let text = std::str::from_utf8(&text);
        let problems = Problems::default();
        let kind = text.ok().and_then(|text| {
            let root = yaml::parse(text, 0, 0, &problems)?;
            let mut section = Section::root(root, &CollectiveKind::TABLE, &problems);
            let kind = CollectiveKind::read(&mut section);
            section.finish();
            kind.filter(|_| problems.is_empty())
        });
        kind.ok_or_else(|| self.damaged("a collective is of a kind that Tenter does not have"))
    }

    /// Reads a rank's operations with the waits between them.
    fn rank(&mut self, collectives: &Collectives) -> Read<RankBuilder> {
        let count = self.count("operations")?;
        let most = RankBuilder::OPERATIONS_MAX;
        if count > u64::from(most) {
            return Err(self.damaged(format!("a rank has more than {most} operations")));
        }
        let count = count as u32;
        let mut rank = RankBuilder::default();
        // A stream is written only where it changes.
        let mut stream = 0;
        for place in 0..count {
            let head = self.byte()?;
            if head & head::STREAM != 0 {
                stream = self.u32("a stream")?;
            }
            let operation = self.operation(head, collectives)?;
            rank.add(operation, stream);
            if head & head::FOLLOWERS == 0 {
                continue;
            }
            for _ in 0..self.count("operations that wait")? {
                let written = self.number()?;
                let known = follower_of(place, written).filter(|(follower, _)| *follower < count);
                let Some((follower, on_start)) = known else {
                    return Err(self.damaged("an operation waits that there is not"));
                };
                // The follower may come later in the file; the builder takes waits by place alone.
                if on_start {
                    rank.after_start(follower, place);
                } else {
                    rank.after(follower, place);
                }
            }
        }
        Ok(rank)
    }

    /// Reads the recorded times of a rank's operations.
    fn measured(&mut self, rank: &mut RankBuilder) -> Read<()> {
        for place in 0..rank.len() as u32 {
            let Some(took) = self.number()?.checked_sub(1) else {
                continue;
            };
            let start = self.number()?.checked_sub(1);
            rank.measured(
                place,
                Measured {
                    start: start.map(Time::from_ps),
                    took: Time::from_ps(took),
                },
            );
        }
        Ok(())
    }

    /// Reads the fields of an operation, as its `head` announces them.
    fn operation(&mut self, head: u8, collectives: &Collectives) -> Read<Operation> {
        match head & head::KIND {
            head::COMPUTE => self
                .number()
                .map(Time::from_ps)
                .map(|time| Operation::Compute { time }),
            head::WAIT => {
                let time = self.number().map(Time::from_ps)?;
                Ok(Operation::Wait { time })
            }
            head::SEND => Ok(Operation::Send {
                peer: self.u32("a rank")?,
                bytes: self.bounded("bytes", MESSAGE_MAX)?,
                tag: self.u32("a tag")?,
            }),
            head::RECEIVE => {
                let named = |flag: u8| head & flag != 0;
                let peer = named(head::PEER).then(|| self.u32("a rank")).transpose()?;
                let bytes = self.bounded("bytes", MESSAGE_MAX)?;
                let tag = named(head::TAG).then(|| self.u32("a tag")).transpose()?;
                Ok(Operation::Receive { peer, bytes, tag })
            }
            head::COLLECTIVE => {
                let which = self.u32("a collective")?;
                // Collectives stand before all ranks in the file, so the list is complete here.
                if which as usize >= collectives.len() {
                    return Err(self.damaged("a rank runs a collective that there is not"));
                }
                Ok(Operation::Collective { which })
            }
            _ => Err(self.damaged("an operation is of no kind")),
        }
    }
}
