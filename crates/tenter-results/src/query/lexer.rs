//! A query's tokens: words, numbers and signs.

use tenter_language::units::{Bytes, Rate, Time};

/// Longest query that is accepted, in bytes.
pub(super) const LENGTH_MAX: usize = 4_096;

/// A query's token, with the bytes at which it begins and ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A name, possibly with dots in it.
    Word(String),
    /// A text between single quotes.
    Text(String),
    /// A number with its unit, which may be empty.
    Number(f64, &'static str),
    Sign(&'static str),
    End,
}

/// Longer signs come first, because shorter ones are their beginnings.
const SIGNS: [&str; 14] = [
    "!=", "<=", ">=", "=", "<", ">", "~", "(", ")", ",", "+", "-", "*", "/",
];

/// Splits a query into tokens, the last of which is its end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, (usize, String)> {
    if text.len() > LENGTH_MAX {
        let what = format!(
            "the query has {} bytes; {LENGTH_MAX} are the most",
            text.len()
        );
        return Err((0, what));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = if first == '\'' {
            let end = rest[1..].find('\'').ok_or_else(|| {
                let what = "a text begins here and does not end; write a quote behind it";
                (at, what.to_owned())
            })?;
            // `end` counts from behind the first quote, so it is the text's last byte.
            (TokenKind::Text(rest[1..=end].to_owned()), end + 2)
        } else if first.is_ascii_digit() {
            let length = number_length(rest);
            (number(&rest[..length]).map_err(|what| (at, what))?, length)
        } else if first.is_alphabetic() || first == '_' {
            // Names of jobs may have dots and hyphens, so a minus needs a blank before it.
            let length = length_of(rest, |c| c.is_alphanumeric() || "_.-".contains(c));
            (TokenKind::Word(rest[..length].to_owned()), length)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (TokenKind::Sign(sign), sign.len())
        } else {
            return Err((at, format!("`{first}` means nothing here")));
        };
        let end = at + length;
        tokens.push(Token { at, end, kind });
        at = end;
    }
    tokens.push(Token {
        at,
        end: at,
        kind: TokenKind::End,
    });
    Ok(tokens)
}

fn length_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// Returns a number's length with its exponent and unit.
fn number_length(text: &str) -> usize {
    // Texts have either of the two signs for micro.
    let belongs = |c: char| c.is_ascii_alphanumeric() || ".%µμ".contains(c);
    let length = length_of(text, belongs);
    let (number, rest) = text.split_at(length);
    // `1e-3` is one number, but `1e3-3` is a difference.
    let digits = number.strip_suffix(['e', 'E']);
    let is_mantissa = digits.is_some_and(|digits| digits.parse::<f64>().is_ok());
    let sign = rest.strip_prefix(['-', '+']).filter(|_| is_mantissa);
    let exponent = sign.map_or(0, |digits| length_of(digits, |c| c.is_ascii_digit()));
    if exponent == 0 {
        return length;
    }
    length + 1 + exponent
}

/// Reads a number, and converts one with a unit to the columns' unit.
fn number(text: &str) -> Result<TokenKind, String> {
    let plain = text.parse::<f64>().ok().filter(|value| value.is_finite());
    let time = || text.parse::<Time>().ok().map(|of| (of.as_ns(), "ns"));
    let size = || {
        text.parse::<Bytes>()
            .ok()
            .map(|of| (of.count() as f64, "bytes"))
    };
    let rate = || {
        let rate = text.parse::<Rate>().ok()?;
        Some((rate.as_gbps(), "Gbit/s (10⁹)"))
    };
    let percent = || Some((text.strip_suffix('%')?.parse().ok()?, "%"));
    let found = plain.map(|value| (value, ""));
    let found = found
        .or_else(time)
        .or_else(size)
        .or_else(rate)
        .or_else(percent);
    let (value, unit) = found.ok_or_else(|| {
        format!("`{text}` is no number; write `5`, or with a unit `10us`, `1MiB` or `400Gbps`")
    })?;
    Ok(TokenKind::Number(value, unit))
}
