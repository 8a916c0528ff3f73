//! Reader for GOAL texts, rank by rank.

use std::collections::BTreeMap;

use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{Operation, RankBuilder};

use super::collected::{Collected, Labels, TIME_MAX};
use super::lexer::{Lexer, Token, parse};
use super::pieces::Pieces;
use crate::content::{Content, Stream};
use crate::error::{ImportError, Place};
use crate::imported::Imported;
use crate::limits::{MESSAGE_MAX, RANKS_MAX};

type Read<T> = Result<T, ImportError>;

/// Reads the ranks of a text. They may come in any order.
pub(super) fn read(mut content: Content<'_>, budget: &Budget) -> Read<Imported> {
    check_head(&content.part(0, HEAD)?)?;
    let mut pieces = Pieces::new(Stream::new(content.buffered()?), budget);
    let mut lexer = Lexer::new(pieces.next()?.unwrap_or_default(), 1);
    lexer.expect("num_ranks")?;
    let ranks = lexer.number("the number of ranks", "", RANKS_MAX)? as u32;
    let mut all = Ranks {
        collected: Collected::new(ranks, Place::Line(1), budget)?,
        early: BTreeMap::new(),
        next: 0,
    };
    // A piece has one block and the text before it.
    all.read(&mut lexer)?;
    // Each piece has a lexer of its own, so lines are counted on.
    let mut line = lexer.line();
    while let Some(piece) = pieces.next()? {
        let mut lexer = Lexer::new(piece, line);
        all.read(&mut lexer)?;
        line = lexer.line();
    }
    if all.next < ranks {
        return Err(missing(line, all.next));
    }
    all.collected.finish(Place::Line(line))
}

/// Bytes at the beginning of a file that are examined before anything else.
const HEAD: u64 = 1 << 16;

/// Refuses another format by its first word, before a piece is read: a file without braces is one
/// piece as long as the file.
fn check_head(head: &[u8]) -> Read<()> {
    let mut lexer = Lexer::new(head, 1);
    let first = lexer.peek();
    // The head may cut its last word off. Such a word is checked when its piece is read, unless it
    // is no beginning of `num_ranks` in any case.
    let is_whole = !lexer.is_at_end();
    let is_full = head.len() as u64 == HEAD;
    match first {
        Some(word) if is_whole || is_full && !b"num_ranks".starts_with(word.text) => {
            lexer.expect("num_ranks").map(drop)
        }
        _ => Ok(()),
    }
}

/// The ranks of a text while they are read.
struct Ranks<'b> {
    collected: Collected<'b>,
    /// Ranks that came before their turn: the graph takes ranks in ascending order.
    early: BTreeMap<u32, RankBuilder>,
    next: u32,
}

impl Ranks<'_> {
    /// Reads the blocks in a piece.
    fn read(&mut self, lexer: &mut Lexer<'_>) -> Read<()> {
        let ranks = self.collected.ranks;
        while let Some(word) = lexer.peek() {
            lexer.expect("rank")?;
            let number = lexer.number("the number of a rank", "", u64::from(u32::MAX))? as u32;
            if number >= ranks {
                let what = format!("there is no rank {number} of {ranks}");
                return Err(ImportError::new(word.place(), what, "correct `num_ranks`"));
            }
            if number < self.next || self.early.contains_key(&number) {
                let what = format!("rank {number} stands here a second time");
                let remedy = "put all of its operations between one pair of braces";
                return Err(ImportError::new(word.place(), what, remedy));
            }
            let rank = Block::read(lexer, number, &mut self.collected)?;
            self.early.insert(number, rank);
            while let Some(rank) = self.early.remove(&self.next) {
                self.collected.builder.add(rank, lexer.place())?;
                self.next += 1;
            }
        }
        Ok(())
    }
}

fn missing(line: usize, rank: u32) -> ImportError {
    let what = format!("there is no block of rank {rank}");
    ImportError::new(
        Place::Line(line),
        what,
        format!("add `rank {rank} {{ }}`, or correct `num_ranks`"),
    )
}

/// The operations of one rank while they are read.
struct Block<'l, 't> {
    lexer: &'l mut Lexer<'t>,
    rank: RankBuilder,
    number: u32,
    labels: Labels<'t>,
    /// Waits as labels: the operation, the one that it waits for, and true if it waits for its
    /// start alone. Labels may be defined after their use.
    waits: Vec<(Token<'t>, Token<'t>, bool)>,
}

impl<'l, 't> Block<'l, 't> {
    /// Reads a rank's operations between braces.
    fn read(
        lexer: &'l mut Lexer<'t>,
        number: u32,
        collected: &mut Collected<'_>,
    ) -> Read<RankBuilder> {
        lexer.expect("{")?;
        let mut block = Block {
            lexer,
            rank: RankBuilder::default(),
            number,
            labels: Labels::new(),
            waits: Vec::new(),
        };
        loop {
            let token = block.lexer.need("an operation or `}`")?;
            if token.is("}") {
                break;
            }
            block.statement(token, collected)?;
        }
        block.resolve()
    }

    /// Reads an operation with or without a label, or a wait.
    fn statement(&mut self, token: Token<'t>, collected: &mut Collected<'_>) -> Read<()> {
        if ["send", "recv", "calc"].iter().any(|word| token.is(word)) {
            self.operation(token, collected)?;
            return Ok(());
        }
        let next = self.lexer.need("`:` or `requires`")?;
        if next.is(":") {
            let word = self.lexer.need("an operation")?;
            let place = self.operation(word, collected)?;
            if self.labels.insert(token.text, place).is_some() {
                let what = format!("the label `{}` stands here a second time", token.shown());
                let remedy = format!(
                    "give the operations of rank {} labels of their own",
                    self.number
                );
                return Err(ImportError::new(token.place(), what, remedy));
            }
            return Ok(());
        }
        if !next.is("requires") && !next.is("irequires") {
            let what = format!("`{}` begins no operation", token.shown());
            let remedy = "write `send`, `recv`, `calc`, a label with `:`, or `requires`";
            return Err(ImportError::new(token.place(), what, remedy));
        }
        let other = self.lexer.need("a label")?;
        if ["{", "}", ":"].iter().any(|mark| other.is(mark)) {
            let what = format!("`{}` stands where a label is expected", other.shown());
            return Err(ImportError::new(other.place(), what, "write a label"));
        }
        // The second label may stand further on, so waits are resolved at the end of the rank.
        self.waits.push((token, other, next.is("irequires")));
        Ok(())
    }

    /// Reads an operation that begins with `word`, and returns its place.
    fn operation(&mut self, word: Token<'t>, collected: &mut Collected<'_>) -> Read<u32> {
        if word.is("calc") {
            let ns = self.lexer.number("a time in nanoseconds", "", TIME_MAX)?;
            let options = self.options(word.line)?;
            let time = Time::from_ns(ns);
            return Ok(self.rank.add(Operation::Compute { time }, options.cpu));
        }
        if !word.is("send") && !word.is("recv") {
            let what = format!("`{}` is no operation", word.shown());
            return Err(ImportError::new(
                word.place(),
                what,
                "write `send`, `recv` or `calc`",
            ));
        }
        let bytes = self.lexer.number("a size in bytes", "b", MESSAGE_MAX)?;
        self.lexer
            .expect(if word.is("send") { "to" } else { "from" })?;
        let peer = self.number_or_any("a rank")?;
        let options = self.options(word.line)?;
        collected.other_nics += u64::from(options.nic > 0);
        if word.is("send") {
            let tag = options.tag.unwrap_or(Operation::ANY);
            let Some(peer) = peer.filter(|_| options.tag.is_some()) else {
                let what = "a send names its peer and its tag, and -1 is none";
                return Err(ImportError::new(
                    word.place(),
                    what,
                    "write a rank and a tag",
                ));
            };
            return Ok(collected.send(&mut self.rank, peer, bytes, tag, options.cpu));
        }
        // A receive from any rank names no peer that could be wrong.
        if let Some(peer) = peer.filter(|&peer| peer >= collected.ranks) {
            let what = format!("there is no rank {peer} of {}", collected.ranks);
            return Err(ImportError::new(word.place(), what, "correct the rank"));
        }
        let tag = options.tag;
        Ok(self
            .rank
            .add(Operation::Receive { peer, bytes, tag }, options.cpu))
    }

    /// Reads a number of 32 bits; `None` for -1, which means any. 2^32 - 1 is -1 as `txt2bin`
    /// stores it.
    fn number_or_any(&mut self, what: &str) -> Read<Option<u32>> {
        let token = self.lexer.need(what)?;
        if token.is("-1") {
            return Ok(None);
        }
        let number = parse(token.text).and_then(|number| u32::try_from(number).ok());
        match number {
            Some(u32::MAX) => Ok(None),
            Some(number) => Ok(Some(number)),
            None => {
                let found = format!("`{}` is not {what}", token.shown());
                let remedy = "write a whole number of 32 bits, or -1 for any";
                Err(ImportError::new(token.place(), found, remedy))
            }
        }
    }

    /// Reads the options behind an operation, which end with its line. Tag, CPU and NIC are 0 if
    /// they are left out.
    fn options(&mut self, line: usize) -> Read<Options> {
        let mut options = Options {
            tag: Some(0),
            cpu: 0,
            nic: 0,
        };
        // No mark stands between operations: options end with the line.
        while let Some(token) = self.lexer.peek().filter(|token| token.line == line) {
            // The graph numbers the streams of a rank with 16 bits.
            let most = u64::from(u16::MAX) - 1;
            if token.is("tag") {
                self.lexer.next();
                options.tag = self.number_or_any("a tag")?;
            } else if token.is("cpu") {
                self.lexer.next();
                options.cpu = self.lexer.number("the number of a cpu", "", most)? as u32;
            } else if token.is("nic") {
                self.lexer.next();
                options.nic = self.lexer.number("the number of a NIC", "", most)? as u32;
            } else {
                break;
            }
        }
        Ok(options)
    }

    /// Turns the labels of waits into operations.
    fn resolve(self) -> Read<RankBuilder> {
        let Block {
            mut rank,
            labels,
            waits,
            number,
            ..
        } = self;
        let find = |label: Token<'t>| {
            labels.get(label.text).copied().ok_or_else(|| {
                let what = format!("rank {number} has no operation `{}`", label.shown());
                ImportError::new(label.place(), what, "correct the label")
            })
        };
        for (operation, other, on_start) in waits {
            let [operation, other] = [find(operation)?, find(other)?];
            if on_start {
                rank.after_start(operation, other);
            } else {
                rank.after(operation, other);
            }
        }
        Ok(rank)
    }
}

/// Options behind an operation. A tag `None` means any.
struct Options {
    tag: Option<u32>,
    cpu: u32,
    nic: u32,
}
