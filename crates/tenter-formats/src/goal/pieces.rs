//! Cuts a GOAL text behind each closing brace, so that one rank at a time is in memory.

use std::io::Read;

use tenter_language::units::Budget;

use crate::content::{Content, Stream, unreadable};
use crate::error::{ImportError, Place};

/// The syntax around the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Text,
    /// Behind a slash, which may begin a comment.
    Slash,
    LineComment,
    Comment,
    /// Behind an asterisk, which may end a comment.
    Asterisk,
}

/// The pieces of a text. Each ends with the brace that closes a block; the last one ends with the
/// text.
pub(super) struct Pieces<'b, R> {
    stream: Stream<R>,
    budget: &'b Budget,
    piece: Vec<u8>,
}

impl<'b, R: Read> Pieces<'b, R> {
    pub(super) fn new(stream: Stream<R>, budget: &'b Budget) -> Pieces<'b, R> {
        Pieces {
            stream,
            budget,
            piece: Vec::new(),
        }
    }

    /// Returns the next piece; `None` at the end.
    ///
    /// # Errors
    /// A file that cannot be read or is no text, and a piece that is longer than
    /// [`Content::WHOLE_MAX`] or the budget allows.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, ImportError> {
        self.piece.clear();
        let begin = self.stream.at();
        let mut within = Within::Text;
        loop {
            let at = self.stream.at();
            if at - begin > Content::WHOLE_MAX {
                let what = format!("no block ends in {} bytes", Content::WHOLE_MAX);
                let remedy = "give a GOAL text, in which each rank ends with `}`";
                return Err(ImportError::new(Place::Byte(begin as usize), what, remedy));
            }
            // Checked before each further chunk, because nothing announces the length of a piece.
            let allowed = self.budget.may_take(self.piece.len() as u64);
            allowed.map_err(|over| ImportError::of(Place::Byte(begin as usize), over))?;
            let chunk = self.stream.chunk();
            let chunk = chunk.map_err(|error| unreadable(at, &error))?;
            if chunk.is_empty() {
                break;
            }
            let (length, is_whole) = scan(chunk, &mut within);
            self.piece.extend_from_slice(&chunk[..length]);
            self.stream.consume(length);
            if is_whole {
                break;
            }
        }
        if let Err(error) = std::str::from_utf8(&self.piece) {
            return Err(ImportError::new(
                Place::Byte(begin as usize + error.valid_up_to()),
                "this is neither a text nor a binary GOAL file",
                "give a file that begins with `num_ranks`, or one that `txt2bin` has written",
            ));
        }
        Ok((!self.piece.is_empty()).then_some(&self.piece))
    }
}

/// Returns how many bytes of `chunk` belong to the current piece, and true if it ends with them.
/// `within` carries the syntax over from chunk to chunk.
fn scan(chunk: &[u8], within: &mut Within) -> (usize, bool) {
    let mut at = 0;
    while let Some(&byte) = chunk.get(at) {
        let rest = &chunk[at..];
        // The next byte that may change anything: the search skips all others at the speed of
        // `memchr`.
        let next = match within {
            Within::Text => memchr::memchr2(b'}', b'/', rest),
            Within::LineComment => memchr::memchr(b'\n', rest),
            Within::Comment => memchr::memchr(b'*', rest),
            Within::Slash | Within::Asterisk => None,
        };
        *within = match (*within, byte) {
            (Within::Slash, b'/') => Within::LineComment,
            (Within::Slash, b'*') => Within::Comment,
            // No comment begins here: the byte is examined again as text.
            (Within::Slash, _) => {
                *within = Within::Text;
                continue;
            }
            (Within::Asterisk, b'/') => Within::Text,
            (Within::Asterisk, b'*') => Within::Asterisk,
            (Within::Asterisk, _) => Within::Comment,
            (inside, _) => {
                let Some(next) = next else {
                    return (chunk.len(), false);
                };
                at += next;
                match inside {
                    Within::Text if chunk[at] == b'}' => return (at + 1, true),
                    Within::Text => Within::Slash,
                    Within::LineComment => Within::Text,
                    _ => Within::Asterisk,
                }
            }
        };
        at += 1;
    }
    (chunk.len(), false)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// Returns the pieces of a text that is read `at_once` bytes at a time.
    fn pieces(text: &str, at_once: usize) -> Vec<String> {
        let reader = BufReader::with_capacity(at_once, text.as_bytes());
        let budget = Budget::unlimited();
        let mut pieces = Pieces::new(Stream::new(reader), &budget);
        let mut found = Vec::new();
        while let Some(piece) = pieces.next().expect("it is a text") {
            found.push(String::from_utf8_lossy(piece).into_owned());
        }
        found
    }

    #[test]
    fn a_text_is_cut_behind_braces_outside_of_comments() {
        let cases: [(&str, &[&str]); 7] = [
            ("a { b } c { d } \n", &["a { b }", " c { d }", " \n"]),
            ("// a } b\n}", &["// a } b\n}"]),
            ("/* } **/ } /*/ } */ }", &["/* } **/ }", " /*/ } */ }"]),
            ("/}/ }// }", &["/}", "/ }", "// }"]),
            ("/é}/**/}", &["/é}", "/**/}"]),
            ("/* }", &["/* }"]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            for at_once in 1..10 {
                assert_eq!(pieces(text, at_once), expected, "{at_once}");
            }
        }
    }

    #[test]
    fn what_is_no_text_is_refused_at_its_byte() {
        let reader = BufReader::with_capacity(3, b"rank { } \xFF }".as_slice());
        let budget = Budget::unlimited();
        let mut pieces = Pieces::new(Stream::new(reader), &budget);
        assert_eq!(pieces.next(), Ok(Some(b"rank { }".as_slice())));
        let error = pieces.next().expect_err("it is no text");
        assert_eq!(error.place, Place::Byte(9));
    }
}
