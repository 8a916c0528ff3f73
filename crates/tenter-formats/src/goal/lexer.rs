//! Lexer for GOAL texts: words with their lines.

use crate::error::{ImportError, Place};

/// A word, a number, or one of the marks `{`, `}` and `:`, with its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) text: &'t [u8],
    pub(super) line: usize,
}

impl Token<'_> {
    pub(super) fn is(&self, word: &str) -> bool {
        self.text == word.as_bytes()
    }

    pub(super) fn place(&self) -> Place {
        Place::Line(self.line)
    }

    pub(super) fn shown(&self) -> String {
        const SHOWN_MAX: usize = 40;
        let text = String::from_utf8_lossy(self.text);
        match text.char_indices().nth(SHOWN_MAX) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.into_owned(),
        }
    }
}

const fn is_mark(byte: u8) -> bool {
    matches!(byte, b'{' | b'}' | b':')
}

/// True for each byte before which a word ends. Bytes above 127 belong to longer characters of
/// UTF-8, and end none.
const ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        ends[byte as usize] = byte.is_ascii_whitespace() || is_mark(byte) || byte == b'/';
        byte += 1;
    }
    ends
};

/// Splits a text into tokens, and skips white space and comments.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
    peeked: Option<Token<'t>>,
}

impl<'t> Lexer<'t> {
    /// Starts with `text`, whose first byte is on line `line` of its file.
    pub(super) fn new(text: &'t [u8], line: usize) -> Lexer<'t> {
        Lexer {
            text,
            at: 0,
            line,
            peeked: None,
        }
    }

    /// Returns the line of the next byte.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    pub(super) fn place(&self) -> Place {
        Place::Line(self.line)
    }

    /// Returns true if the last token reaches to the end of the text.
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub(super) fn peek(&mut self) -> Option<Token<'t>> {
        if self.peeked.is_none() {
            self.peeked = self.cut();
        }
        self.peeked
    }

    pub(super) fn next(&mut self) -> Option<Token<'t>> {
        match self.peeked.take() {
            Some(token) => Some(token),
            None => self.cut(),
        }
    }

    /// Returns the next token; `what` names it in the error at the end of the text.
    pub(super) fn need(&mut self, what: &str) -> Result<Token<'t>, ImportError> {
        self.next().ok_or_else(|| self.ends_early(what))
    }

    fn ends_early(&self, what: &str) -> ImportError {
        let found = format!("the file ends where {what} is expected");
        ImportError::new(self.place(), found, "give the whole file")
    }

    /// Returns the next token, which must be `word`.
    pub(super) fn expect(&mut self, word: &str) -> Result<Token<'t>, ImportError> {
        let token = self.next();
        let token = token.ok_or_else(|| self.ends_early(&format!("`{word}`")))?;
        if token.is(word) {
            return Ok(token);
        }
        let found = format!("`{}` stands where `{word}` is expected", token.shown());
        Err(ImportError::new(
            token.place(),
            found,
            format!("write `{word}`"),
        ))
    }

    /// Parses a whole number up to `most`, directly followed by `unit`.
    pub(super) fn number(&mut self, what: &str, unit: &str, most: u64) -> Result<u64, ImportError> {
        let token = self.need(what)?;
        let digits = token.text.strip_suffix(unit.as_bytes());
        let number = digits.and_then(parse).filter(|number| *number <= most);
        number.ok_or_else(|| {
            let found = format!("`{}` is not {what}", token.shown());
            let remedy = format!("write a whole number up to {most}, as in `7{unit}`");
            ImportError::new(token.place(), found, remedy)
        })
    }

    /// Skips white space and comments, and counts lines.
    fn skip(&mut self) {
        loop {
            match (self.text.get(self.at), self.text.get(self.at + 1)) {
                (Some(b'\n'), _) => {
                    self.line += 1;
                    self.at += 1;
                }
                (Some(byte), _) if byte.is_ascii_whitespace() => self.at += 1,
                (Some(b'/'), Some(b'/')) => {
                    let rest = &self.text[self.at..];
                    let end = rest.iter().position(|&byte| byte == b'\n');
                    self.at += end.unwrap_or(rest.len());
                }
                (Some(b'/'), Some(b'*')) => {
                    let rest = &self.text[self.at..];
                    let end = rest.windows(2).skip(2).position(|two| two == b"*/");
                    // The search begins behind `/*`, so `end` counts from there: the comment is
                    // four bytes longer.
                    let length = end.map_or(rest.len(), |end| end + 4);
                    let lines = rest[..length].iter().filter(|&&byte| byte == b'\n');
                    self.line += lines.count();
                    self.at += length;
                }
                _ => return,
            }
        }
    }

    /// Cuts the next token off; `None` at the end.
    fn cut(&mut self) -> Option<Token<'t>> {
        self.skip();
        let rest = &self.text[self.at..];
        let first = *rest.first()?;
        let length = if is_mark(first) {
            1
        } else {
            // A slash that begins no comment is a word by itself.
            let end = rest[1..].iter().position(|&byte| ENDS[usize::from(byte)]);
            end.map_or(rest.len(), |end| end + 1)
        };
        self.at += length;
        Some(Token {
            text: &rest[..length],
            line: self.line,
        })
    }
}

/// Parses a number that consists of digits alone.
pub(super) fn parse(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
