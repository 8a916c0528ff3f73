//! Values as they are written, independent from the notation.

use std::fmt;

/// A value as a scenario writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A word, number or quantity, without quotes.
    Word(String),
    /// Any text, which notations quote.
    Text(String),
    /// A list with its items.
    List(Vec<Written>),
    /// A mapping, in the order in which it is written.
    Map(Vec<(String, Written)>),
}

impl Written {
    /// Returns the word that the value is, or that the key `tag` has if the value is a mapping.
    pub fn choice(&self, tag: &str) -> Option<&str> {
        match self {
            Written::Word(word) | Written::Text(word) => Some(word),
            Written::List(_) => None,
            Written::Map(keys) => {
                let own = keys.iter().find(|(key, _)| key == tag);
                own.and_then(|(_, value)| value.choice(tag))
            }
        }
    }

    /// Makes a value that is a word.
    pub fn word(word: impl Into<String>) -> Written {
        Written::Word(word.into())
    }

    /// Makes a mapping from `keys`.
    pub fn mapping(keys: Vec<(&'static str, Written)>) -> Written {
        let keys = keys.into_iter();
        Written::Map(keys.map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

/// Prints the value as YAML on one line.
impl fmt::Display for Written {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Written::Word(word) => out.write_str(word),
            Written::Text(text) => write!(out, "{text:?}"),
            Written::List(items) => {
                out.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(out, "{comma}{item}")?;
                }
                out.write_str("]")
            }
            Written::Map(keys) => {
                out.write_str("{")?;
                for (index, (key, value)) in keys.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    out.write_str(comma)?;
                    // Quotes keys with other characters: paths have brackets, which would end a
                    // plain key.
                    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
                    if key.bytes().all(plain) {
                        write!(out, "{key}: {value}")?;
                    } else {
                        write!(out, "{key:?}: {value}")?;
                    }
                }
                out.write_str("}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Written;

    #[test]
    fn all_is_written_on_one_line() {
        let list = Written::List(vec![Written::word("1us"), Written::Text("a b".to_owned())]);
        let map = Written::mapping(vec![("a", list), ("b", Written::word("none"))]);
        assert_eq!(map.to_string(), "{a: [1us, \"a b\"], b: none}");
    }
}
