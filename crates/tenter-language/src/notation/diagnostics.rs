//! Problems with a scenario, each with its place and a remedy, and their presentation.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::ops::Range;
use std::rc::Rc;

use crate::notation::tree::{Node, Value};

pub use crate::notation::location::{Location, Source};
pub use crate::notation::quote::{printable, quote};

/// Most problems that are kept for a scenario. With a hundred, a user fixes some before the rest
/// matters.
const PROBLEMS_MAX: usize = 100;
/// Most characters that are shown from a source line.
const LINE_WIDTH: usize = 100;
/// Most characters of help beside the carets; longer help gets its own line.
const LABEL_WIDTH: usize = 64;

/// An error or a warning, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The problem in one sentence without a full stop.
    pub message: String,
    /// The remedy: what to write instead.
    pub help: Option<String>,
    /// The value's path in the scenario (`fabric.switch.ecn`); empty if the problem was recorded
    /// without one.
    pub path: String,
    /// The place as `file:line:column`, with columns in characters from 1, or the file's name
    /// alone.
    pub place: String,
    /// The bytes concerned in the source; `None` if something is missing altogether.
    pub span: Option<Range<usize>>,
    /// Lines and columns of `span`.
    pub position: Option<Position>,
    location: Option<Location>,
}

impl Problem {
    /// Returns the message, followed by a colon and the help.
    pub fn on_one_line(&self) -> String {
        match &self.help {
            Some(help) => format!("{}: {help}", self.message),
            None => self.message.clone(),
        }
    }
}

/// A range in a text in editors' coordinates: lines and columns from 1, columns in characters, the
/// end behind the last character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file's name, or `--set`.
    pub source: String,
    /// Line and column at the first character.
    pub start: (usize, usize),
    /// Line and column behind the last character.
    pub end: (usize, usize),
}

/// All problems with a scenario, in text order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    problems: Vec<Problem>,
    /// Set if more problems occurred than are kept.
    incomplete: bool,
    /// The texts from which excerpts are shown.
    sources: Vec<Source>,
}

impl Diagnostics {
    /// Makes a single problem for the whole input, before there is any text to point into.
    pub fn of_input(source_name: &str, message: String, help: &str) -> Diagnostics {
        let sources = vec![Source {
            name: source_name.to_owned(),
            text: String::new(),
        }];
        let problems = Problems::default();
        problems.push(None, message, Some(help.to_owned()));
        problems.into_diagnostics(sources)
    }

    /// Returns every problem in text order; never empty in an error.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns true if there is no problem.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Joins the problems on one line, for errors that usually have a single one.
    pub fn on_one_line(&self) -> String {
        let problems: Vec<String> = self.problems.iter().map(Problem::on_one_line).collect();
        problems.join("; ")
    }

    /// Renames places for which `name` returns another name, such as those in texts that the
    /// program wrote.
    #[must_use]
    pub fn with_places(mut self, name: impl Fn(&str) -> Option<String>) -> Diagnostics {
        for problem in &mut self.problems {
            if let Some(name) = name(&problem.place) {
                problem.place = name;
            }
        }
        self
    }

    /// Formats the problems as errors for people: message, place, source line, carets and remedy.
    pub fn render(&self) -> String {
        self.render_as("error")
    }

    /// Formats like [`Diagnostics::render`], under another heading such as `warning`.
    pub fn render_as(&self, heading: &str) -> String {
        let mut out = String::new();
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            self.render_problem(&mut out, heading, problem);
        }
        if self.incomplete {
            let _ = writeln!(
                out,
                "
{heading}: there are more; fix these first"
            );
        }
        out
    }

    fn render_problem(&self, out: &mut String, heading: &str, problem: &Problem) {
        let _ = writeln!(out, "{heading}: {}", problem.message);
        let Some(location) = problem.location else {
            let _ = writeln!(out, "  --> {}", problem.place);
            if let Some(help) = &problem.help {
                let _ = writeln!(out, "   = help: {help}");
            }
            return;
        };
        let text = &self.sources[location.source].text;
        let (line_number, line) = line_at(text, location.start);
        let gutter = line_number.to_string().len() + 1;
        let excerpt = excerpt(text, line, location);
        let _ = writeln!(out, "{:gutter$}--> {}", "", problem.place);
        let _ = writeln!(out, "{:gutter$} |", "");
        let _ = writeln!(out, "{line_number:>gutter$} | {}", excerpt.line);
        let _ = write!(out, "{:gutter$} | {:2$}", "", "", excerpt.before);
        let _ = write!(out, "{}", "^".repeat(excerpt.carets));
        match &problem.help {
            Some(help) if help.chars().count() <= LABEL_WIDTH => {
                let _ = writeln!(out, " {help}");
            }
            Some(help) => {
                let _ = writeln!(out, "\n{:gutter$} = help: {help}", "");
            }
            None => out.push('\n'),
        }
    }
}

impl std::fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render())
    }
}

impl std::error::Error for Diagnostics {}

/// A source line prepared for printing, with the position for its carets.
struct Excerpt {
    line: String,
    before: usize,
    carets: usize,
}

/// Returns the number (from 1) and the byte range of the line with byte `at`.
fn line_at(text: &str, at: usize) -> (usize, Range<usize>) {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline);
    let number = text[..start].bytes().filter(|&byte| byte == b'\n').count() + 1;
    (number, start..end)
}

/// Prepares the part of a line around a location: tabs become four blanks, control characters `·`,
/// and long lines are cut with `…`.
fn excerpt(text: &str, line: Range<usize>, location: Location) -> Excerpt {
    // A location over several lines is marked in its first line only.
    let end = location
        .end
        .clamp(location.start, line.end.max(location.start));
    let head: String = printable(&text[line.start..location.start]);
    // The `\r` of a Windows line end would be printed as `·`.
    let marked: String = printable(text[location.start..end].trim_end_matches('\r'));
    let tail: String = printable(text[end..line.end.max(end)].trim_end());
    let head_length = head.chars().count();
    // If the line is too long, a quarter of the width is kept before the carets.
    let cut = if head_length + marked.chars().count() + tail.chars().count() > LINE_WIDTH {
        head_length.saturating_sub(LINE_WIDTH / 4)
    } else {
        0
    };
    let mut shown = String::new();
    if cut > 0 {
        shown.push('…');
    }
    shown.extend(head.chars().skip(cut));
    let before = shown.chars().count();
    let room = LINE_WIDTH - before.min(LINE_WIDTH);
    let rest: String = marked.chars().chain(tail.chars()).take(room).collect();
    let complete = rest.chars().count() == marked.chars().count() + tail.chars().count();
    shown.push_str(&rest);
    if !complete {
        shown.push('…');
    }
    Excerpt {
        line: shown,
        before,
        // An empty range gets a caret, too, and a long one ends where the line is cut.
        carets: marked.chars().count().clamp(1, room.max(1)),
    }
}

/// Collects problems while a scenario is read.
#[derive(Debug, Default)]
pub struct Problems {
    // A `RefCell`, because sections and fields share the collection while they are nested.
    found: RefCell<Vec<Found>>,
    incomplete: Cell<bool>,
    /// The scenario as it was written, if known: it gives paths their places.
    root: RefCell<Option<Rc<Node>>>,
    /// Number of the first source that fills in what the others leave out, if there are any.
    filling_from: Cell<Option<usize>>,
}

/// A path in a scenario, at which problems can be reported.
#[derive(Clone, Debug)]
pub struct Path<'p> {
    problems: &'p Problems,
    text: String,
}

impl<'p> Path<'p> {
    /// Makes the path that `text` spells, such as `jobs[0].gap`.
    pub fn new(problems: &'p Problems, text: impl Into<String>) -> Path<'p> {
        Path {
            problems,
            text: text.into(),
        }
    }

    /// Returns the path to a key in the mapping at this path.
    #[must_use]
    pub fn key(&self, name: &str) -> Path<'p> {
        Path::new(self.problems, format!("{}.{name}", self.text))
    }

    /// Returns the path to an item in the list at this path.
    #[must_use]
    pub fn item(&self, index: usize) -> Path<'p> {
        Path::new(self.problems, format!("{}[{index}]", self.text))
    }

    /// Reports a problem with the value at this path.
    pub fn problem(&self, what: &str, help: impl Into<String>) {
        self.problems.push_at(&self.text, what, help);
    }

    /// Reports `path: message`, for something that shows at this value.
    pub fn say(&self, message: &str, help: Option<String>) {
        let message = format!("{}: {message}", self.text);
        self.problems.push(self.at(), message, help);
    }

    /// Returns the value's place, as [`Problems::place`] does.
    pub(crate) fn at(&self) -> Option<Location> {
        self.problems.place(&self.text)
    }

    /// Returns the list to which problems are reported.
    pub fn problems(&self) -> &'p Problems {
        self.problems
    }
}

/// A problem as it was recorded.
#[derive(Debug)]
struct Found {
    at: Option<Location>,
    message: String,
    help: Option<String>,
    path: String,
}

impl Problems {
    /// Records a problem at a place.
    pub fn push(&self, at: Option<Location>, message: String, help: Option<String>) {
        self.add(at, "", message, help);
    }

    fn add(&self, at: Option<Location>, path: &str, message: String, help: Option<String>) {
        let mut found = self.found.borrow_mut();
        if found.len() < PROBLEMS_MAX {
            found.push(Found {
                at,
                message,
                help,
                path: path.to_owned(),
            });
        } else {
            self.incomplete.set(true);
        }
    }

    /// Declares that sources from number `source` on fill in what earlier ones leave out.
    pub fn fill_in_from(&self, source: usize) {
        self.filling_from.set(Some(source));
    }

    /// Ranks a place when two keys say the same thing: the higher rank wins. A later override wins
    /// over an earlier one; among sources that fill in, the first wins, and all lose to the others.
    pub(crate) fn rank(&self, at: Option<Location>) -> (bool, usize) {
        let source = at.map_or(0, |at| at.source);
        match self.filling_from.get() {
            Some(from) if source >= from => (false, usize::MAX - source),
            _ => (true, source),
        }
    }

    /// Sets the scenario whose paths locate problems.
    pub fn know(&self, root: &Rc<Node>) {
        *self.root.borrow_mut() = Some(Rc::clone(root));
    }

    /// Reports a problem with the value at `path`, written or not.
    pub fn push_at(&self, path: &str, what: &str, help: impl Into<String>) {
        let message = format!("{} {what}", quote(path));
        self.add(self.place(path), path, message, Some(help.into()));
    }

    /// Reports a problem that shows at the value at `path`; `message` names the value itself.
    pub fn note(&self, path: &str, message: impl Into<String>, help: &str) {
        self.add(
            self.place(path),
            path,
            message.into(),
            Some(help.to_owned()),
        );
    }

    /// Returns the place of the value at `path` (`jobs[0].gap`), or of the last part of the path
    /// that was written.
    pub fn place(&self, path: &str) -> Option<Location> {
        self.find(path).0
    }

    /// Returns the place of the value at `path`; `None` if it was not written.
    pub fn written(&self, path: &str) -> Option<Location> {
        let (at, is_written) = self.find(path);
        at.filter(|_| is_written)
    }

    /// Returns true if there is a value at `path`, from any source.
    pub(crate) fn is_written(&self, path: &str) -> bool {
        self.find(path).1
    }

    /// Returns the place of the value at `path`, or of the last part of the path that was written,
    /// and true if the value was.
    fn find(&self, path: &str) -> (Option<Location>, bool) {
        let root = self.root.borrow();
        let Some(mut node) = root.as_deref() else {
            return (None, false);
        };
        // The last part of the path that exists is the best place for one that is missing.
        let mut at = node.at;
        for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
            match (&node.value, step.strip_suffix(']')) {
                (Value::List(items), Some(index)) => {
                    let Some(item) = index.parse().ok().and_then(|index: usize| items.get(index))
                    else {
                        return (at, false);
                    };
                    (node, at) = (item, item.at.or(at));
                }
                (Value::Map(entries), None) => {
                    let Some(entry) = entries.iter().find(|entry| entry.key == step) else {
                        return (at, false);
                    };
                    (node, at) = (&entry.node, entry.place());
                }
                _ => return (at, false),
            }
        }
        (at, true)
    }

    /// Returns true if no more problems are kept; readers of long lists then stop.
    pub(crate) fn is_full(&self) -> bool {
        self.found.borrow().len() >= PROBLEMS_MAX
    }

    /// Returns true if no problem was recorded.
    pub fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// Sorts the problems in text order and resolves their places; problems without a place come
    /// first. Without `sources` no problem may have a place.
    pub fn into_diagnostics(self, sources: Vec<Source>) -> Diagnostics {
        let mut found = self.found.into_inner();
        let whole = || {
            sources
                .first()
                .map_or_else(String::new, |source| source.name.clone())
        };
        // The sort is stable: problems at one place keep the order in which they were found.
        found.sort_by_key(|found| found.at.map(|at| (at.source, at.start)));
        let problems = found
            .into_iter()
            .map(|found| {
                let at = found.at;
                let location = at.map(|at| clamped(at, &sources[at.source].text));
                let position = location.map(|at| position(at, &sources[at.source]));
                let place = position.as_ref().map_or_else(whole, |of| {
                    format!("{}:{}:{}", of.source, of.start.0, of.start.1)
                });
                let span = location.map(|at| at.start..at.end);
                Problem {
                    message: found.message,
                    help: found.help,
                    path: found.path,
                    place,
                    span,
                    position,
                    location,
                }
            })
            .collect();
        Diagnostics {
            problems,
            incomplete: self.incomplete.get(),
            sources,
        }
    }
}

/// Moves a location onto character boundaries within its text, so that rendering can slice safely.
fn clamped(at: Location, text: &str) -> Location {
    let mut start = at.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = at.end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    Location {
        source: at.source,
        start,
        end,
    }
}

fn position(at: Location, source: &Source) -> Position {
    let place = |byte: usize| {
        let (number, line) = line_at(&source.text, byte);
        (number, source.text[line.start..byte].chars().count() + 1)
    };
    Position {
        source: source.name.clone(),
        start: place(at.start),
        end: place(at.end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, start: usize, end: usize, help: Option<&str>) -> String {
        let problems = Problems::default();
        let at = Location {
            source: 0,
            start,
            end,
        };
        problems.push(Some(at), "wrong".into(), help.map(str::to_owned));
        let sources = vec![Source {
            name: "s.yaml".into(),
            text: text.into(),
        }];
        problems.into_diagnostics(sources).render()
    }

    #[test]
    fn points_at_the_place() {
        let text = "fabric:\n  leafs: 8\n";
        let expected = "error: wrong\n  --> s.yaml:2:3\n   |\n 2 |   leafs: 8\n   |   ^^^^^ did you mean `leaves`?\n";
        assert_eq!(
            rendered(text, 10, 15, Some("did you mean `leaves`?")),
            expected
        );
    }

    #[test]
    fn counts_characters_and_expands_tabs() {
        // Two two-byte letters and a tab stand before the word: column 5, carets after 2 + 4 + 1
        // blanks.
        let text = "éé\t x";
        assert_eq!(
            rendered(text, 6, 7, None),
            "error: wrong\n  --> s.yaml:1:5\n   |\n 1 | éé     x\n   |        ^\n"
        );
    }

    #[test]
    fn cuts_long_lines() {
        let text = format!("{}here{}", "a".repeat(500), "b".repeat(500));
        let shown = rendered(&text, 500, 504, None);
        assert!(
            shown.contains("…aaaa") && shown.contains("herebbb"),
            "{shown}"
        );
        assert!(
            shown.lines().all(|line| line.chars().count() < 120),
            "{shown}"
        );
    }

    #[test]
    fn survives_locations_outside_the_text_and_inside_characters() {
        assert!(rendered("é", 1, 1, None).contains("s.yaml:1:1"));
        assert!(rendered("a\n", 90, 95, None).contains("s.yaml:2:1"));
        assert!(rendered("a\r\nb", 0, 4, None).contains(" | ^\n"));
    }

    #[test]
    fn shows_no_control_characters() {
        assert!(!rendered("a: \u{1b}[31m", 0, 1, None).contains('\u{1b}'));
        assert_eq!(quote("a\u{1b}b"), "`a·b`");
        assert_eq!(quote("a\u{202e}b"), "`a·b`");
    }
}
