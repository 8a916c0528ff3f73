//! YAML input: the parser's events become a tree with places.
//!
//! The tree is built from the parser's events instead of by its own loader, because duplicate keys,
//! aliases, tags and deep nesting must be refused, with their place, while the text is being read.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::notation::diagnostics::{Location, Problems, quote};
use crate::notation::tree::{DEPTH_MAX, Entry, Node, VALUES_MAX, Value};

/// Reads a YAML document (JSON is YAML) from `text[offset..]`, where `text` is source number
/// `source`.
///
/// Returns `None` if the text is not YAML, nests too deeply or is too large. Other problems go to
/// `problems`, and reading goes on.
pub fn parse(text: &str, source: usize, offset: usize, problems: &Problems) -> Option<Node> {
    parse_as("YAML", text, source, offset, problems)
}

/// Reads like [`parse`]; messages call the text by `notation`, the name that its author uses for
/// it.
pub fn parse_as(
    notation: &str,
    text: &str,
    source: usize,
    offset: usize,
    problems: &Problems,
) -> Option<Node> {
    let part = &text[offset..];
    let offsets = ByteOffsets::of(part, source, offset);
    let mut builder = Builder {
        problems,
        offsets,
        open: Vec::new(),
        root: None,
        documents: 0,
        values: 0,
    };
    for event in Parser::new_from_str(part) {
        match event {
            Ok((event, span)) => builder.take(event, span)?,
            Err(error) => {
                let at = builder.offsets.point(error.marker().index());
                let message = format!("this is not valid {notation}: {}", error.info());
                problems.push(Some(at), message, Some(remedy(error.info()).to_owned()));
                return None;
            }
        }
    }
    // An empty text is an empty value, not an error of the notation.
    Some(builder.root.unwrap_or_else(|| Node::plain("")))
}

/// Returns the remedy for a text that the parser rejects.
fn remedy(reason: &str) -> &'static str {
    if reason.contains("unprintable") {
        "take the character out: a scenario is plain text"
    } else if reason.contains("tab") {
        "indent with spaces"
    } else if reason.contains("recursion") {
        "a scenario needs no more than seven levels"
    } else {
        "check brackets, quotes and indentation up to here"
    }
}

/// Converts the parser's character positions to byte positions in the source.
struct ByteOffsets {
    /// Number of the source text.
    source: usize,
    /// Byte in the source at which parsing began.
    base: usize,
    /// Bytes in the part that is parsed.
    length: usize,
    /// Byte offset for each character; empty if every character is one byte.
    of_character: Vec<u32>,
}

impl ByteOffsets {
    fn of(text: &str, source: usize, base: usize) -> ByteOffsets {
        let of_character = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(index, _)| index as u32).collect()
        };
        ByteOffsets {
            source,
            base,
            length: text.len(),
            of_character,
        }
    }

    fn byte(&self, character: usize) -> usize {
        let within = if self.of_character.is_empty() {
            character.min(self.length)
        } else {
            self.of_character
                .get(character)
                .map_or(self.length, |&byte| byte as usize)
        };
        self.base + within
    }

    fn point(&self, character: usize) -> Location {
        let at = self.byte(character);
        Location {
            source: self.source,
            start: at,
            end: at,
        }
    }

    fn stretch(&self, span: Span) -> Location {
        let start = self.byte(span.start.index());
        let end = self.byte(span.end.index()).max(start);
        Location {
            source: self.source,
            start,
            end,
        }
    }
}

/// A list or mapping whose end has not been read yet.
enum Open {
    List {
        at: Location,
        items: Vec<Node>,
    },
    Map {
        at: Location,
        entries: Vec<Entry>,
        /// Each key so far, with its line.
        seen: BTreeMap<String, usize>,
        /// The key whose value comes next.
        key: Option<PendingKey>,
    },
}

/// A key whose value has not been read yet.
enum PendingKey {
    /// A key to keep, and its place.
    Fresh(String, Location),
    /// A key that was refused; its value is read and dropped.
    Refused,
}

struct Builder<'p> {
    problems: &'p Problems,
    offsets: ByteOffsets,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
    values: usize,
}

impl Builder<'_> {
    /// Handles the next event; `None` stops the reading.
    fn take(&mut self, event: Event<'_>, span: Span) -> Option<()> {
        let at = self.offsets.stretch(span);
        self.values += 1;
        // Events are counted, not values. A list or mapping has two events and most values a key
        // beside them, so twice the limit allows for both.
        if self.values > 2 * VALUES_MAX {
            let message = format!("the text has more than {VALUES_MAX} values");
            self.problem(
                at,
                message,
                "describe a smaller fabric, or build it by `kind`",
            );
            return None;
        }
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    let help = "keep one scenario per file, without `---` in between";
                    self.problem(at, "a second document begins here".into(), help);
                    return None;
                }
            }
            Event::Scalar(text, style, _, tag) => {
                self.refuse_tag(tag.is_some(), at);
                // Blocks of text after `|` or `>` count as quoted, too: they are never numbers or
                // null.
                let quoted = style != ScalarStyle::Plain;
                self.scalar(text.into_owned(), quoted, at, span.start.line());
            }
            Event::SequenceStart(_, tag) => {
                self.refuse_tag(tag.is_some(), at);
                self.enter(
                    Open::List {
                        at,
                        items: Vec::new(),
                    },
                    at,
                )?;
            }
            Event::MappingStart(_, tag) => {
                self.refuse_tag(tag.is_some(), at);
                let (entries, seen) = (Vec::new(), BTreeMap::new());
                self.enter(
                    Open::Map {
                        at,
                        entries,
                        seen,
                        key: None,
                    },
                    at,
                )?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(),
            // Nested aliases could make a short text expand without bound.
            Event::Alias(_) => {
                let help = "write the value out where it is used";
                self.problem(at, "YAML aliases are not supported".into(), help);
                return None;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Some(())
    }

    fn problem(&self, at: Location, message: String, help: &str) {
        self.problems.push(Some(at), message, Some(help.to_owned()));
    }

    fn refuse_tag(&self, tagged: bool, at: Location) {
        if tagged {
            self.problem(
                at,
                "YAML tags are not supported".into(),
                "leave the `!…` out",
            );
        }
    }

    fn enter(&mut self, open: Open, at: Location) -> Option<()> {
        // Later passes over the tree recurse, and must not exhaust the stack.
        if self.open.len() >= DEPTH_MAX {
            let message = format!("lists and mappings nest more than {DEPTH_MAX} deep");
            self.problem(at, message, "a scenario needs no more than seven levels");
            return None;
        }
        self.open.push(open);
        Some(())
    }

    fn leave(&mut self) {
        let node = match self.open.pop() {
            Some(Open::List { at, items }) => Node {
                at: Some(at),
                value: Value::List(items),
            },
            Some(Open::Map { at, entries, .. }) => Node {
                at: Some(at),
                value: Value::Map(entries),
            },
            None => return,
        };
        self.value(node);
    }

    fn scalar(&mut self, text: String, quoted: bool, at: Location, line: usize) {
        // In a mapping every other scalar is a key: the first without a pending one.
        let Some(Open::Map {
            seen,
            key: key @ None,
            ..
        }) = self.open.last_mut()
        else {
            self.value(Node {
                at: Some(at),
                value: Value::Scalar { text, quoted },
            });
            return;
        };
        if let Some(first) = seen.get(&text) {
            let message = format!("the key {} is given twice", quote(&text));
            let help = format!("keep one of them; the first is on line {first}");
            self.problems.push(Some(at), message, Some(help));
            *key = Some(PendingKey::Refused);
        } else {
            seen.insert(text.clone(), line);
            *key = Some(PendingKey::Fresh(text, at));
        }
    }

    /// Adds a finished value to the innermost open list or mapping.
    fn value(&mut self, node: Node) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, key, .. }) => match key.take() {
                Some(PendingKey::Fresh(key, key_at)) => {
                    entries.push(Entry {
                        key,
                        key_at: Some(key_at),
                        node,
                    });
                }
                Some(PendingKey::Refused) => {}
                None => {
                    let message = format!("{} cannot be a key", node.describe());
                    self.problems
                        .push(node.at, message, Some("keys are plain words".into()));
                    // The value that follows belongs to the refused key and must not become a key
                    // itself.
                    *key = Some(PendingKey::Refused);
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::diagnostics::Source;

    fn read(text: &str) -> (Option<Node>, String) {
        let problems = Problems::default();
        let node = parse(text, 0, 0, &problems);
        let sources = vec![Source {
            name: "s.yaml".into(),
            text: text.into(),
        }];
        (node, problems.into_diagnostics(sources).render())
    }

    #[test]
    fn keeps_places_in_bytes() {
        let (node, errors) = read("é: ü\nb: [1, \"2\"]\n");
        assert_eq!(errors, "");
        let Value::Map(entries) = node.unwrap().value else {
            panic!("a mapping")
        };
        // Each of the two letters is two bytes: `é: ü\n` is 7 bytes.
        assert_eq!(entries[0].node.at.unwrap().start, 4);
        assert_eq!(entries[1].key_at.unwrap().start, 7);
        let Value::List(items) = &entries[1].node.value else {
            panic!("a list")
        };
        assert_eq!(
            items[0].value,
            Value::Scalar {
                text: "1".into(),
                quoted: false
            }
        );
        assert_eq!(
            items[1].value,
            Value::Scalar {
                text: "2".into(),
                quoted: true
            }
        );
    }

    #[test]
    fn refuses_what_a_scenario_does_not_need() {
        for (text, expected) in [
            ("a: 1\na: 2\n", "the key `a` is given twice"),
            ("a: &x 1\nb: *x\n", "aliases are not supported"),
            ("a: !!str 1\n", "tags are not supported"),
            ("a: 1\n---\nb: 1\n", "a second document"),
            ("? [1]\n: 2\n", "a list cannot be a key"),
            ("a: [1\n", "not valid YAML"),
            ("a: \"x\n", "not valid YAML"),
        ] {
            let (_, errors) = read(text);
            assert!(errors.contains(expected), "{text}: {errors}");
        }
    }

    #[test]
    fn refuses_deep_nesting_quickly() {
        for opening in ["[", "{a: ", "- "] {
            let (node, errors) = read(&opening.repeat(200_000));
            assert!(node.is_none());
            assert!(
                errors.contains("nest more than 64") || errors.contains("not valid"),
                "{errors}"
            );
        }
    }
}
