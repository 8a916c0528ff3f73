//! A matrix as one word in a scenario: `0 1 65536; 1 0 128`.

use std::fmt::Write as _;
use std::sync::Arc;

use tenter_language::config::{Reader, Shape, Value, Written};

use super::CommunicationMatrix;

/// Upper limit for rank numbers. A dense matrix over 4,096 ranks already has all pairs that a table
/// holds.
const RANKS_MAX: u32 = 1 << 20;
/// Most bytes in a send.
const BYTES_MAX: u64 = 1 << 50;
/// Most sends in a matrix, counted before those between the same ranks are added up.
const SENDS_MAX: usize = 1 << 24;

/// A matrix that is written out in the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sends(pub Arc<CommunicationMatrix>);

impl Sends {
    /// Reads the sends in a word.
    ///
    /// # Errors
    /// The first send that cannot be read: what is wrong with it, and a remedy.
    fn of_word(word: &str) -> Result<Sends, (String, String)> {
        let (mut ranks, mut sends) = (0, Vec::new());
        for (number, text) in (1..).zip(word.split(';')) {
            let wrong = |what: &str| format!("cannot be read: send {number}: {what}");
            let (src, dst, bytes) =
                one_send(text).map_err(|(what, remedy)| (wrong(&what), remedy))?;
            ranks = ranks.max(src + 1).max(dst + 1);
            if bytes > 0 && src != dst {
                sends.push((src, dst, bytes));
            }
            if sends.len() > SENDS_MAX {
                let what = wrong(&format!("there are more than {SENDS_MAX} sends"));
                return Err((what, "add those between the same ranks up".to_owned()));
            }
        }
        Ok(Sends(Arc::new(CommunicationMatrix::of(ranks, sends))))
    }
}

/// Reads source, destination and bytes.
fn one_send(text: &str) -> Result<(u32, u32, u64), (String, String)> {
    let words = text.split(|c: char| c == ',' || c.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let &[src, dst, bytes] = words.as_slice() else {
        let fields = if words.len() == 1 { "field" } else { "fields" };
        let what = format!(
            "has {} {fields}, not source, destination and bytes",
            words.len()
        );
        let help = "write them with commas or spaces between them";
        return Err((what, help.to_owned()));
    };
    let bytes_read = bytes.parse().ok().filter(|bytes| *bytes <= BYTES_MAX);
    let bytes_read = bytes_read.ok_or_else(|| {
        let help = "write a whole number of bytes, 2^50 at most";
        (format!("`{bytes}` is no number of bytes"), help.to_owned())
    });
    Ok((rank(src)?, rank(dst)?, bytes_read?))
}

fn rank(word: &str) -> Result<u32, (String, String)> {
    let found = word.parse().ok().filter(|rank| *rank < RANKS_MAX);
    found.ok_or_else(|| {
        let help = format!("ranks go from 0 to {}", RANKS_MAX - 1);
        (format!("`{word}` is no rank"), help)
    })
}

impl Value for Sends {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Text
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Sends> {
        let word = reader.text(key, usize::MAX)?;
        match Sends::of_word(&word) {
            Ok(sends) => Some(sends),
            Err((what, remedy)) => {
                reader.refuse(key, &what, &remedy);
                None
            }
        }
    }

    fn written(&self) -> Written {
        let mut word = String::new();
        for (src, dst, bytes) in self.0.iter() {
            let separator = if word.is_empty() { "" } else { "; " };
            let _ = write!(word, "{separator}{src} {dst} {bytes}");
        }
        Written::Text(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        let sends = Sends::of_word("0 2 5; 2,1,7;0 2 1").expect("it is well-formed");
        assert_eq!(sends.0.total(), 13);
        let word = "0 2 6; 2 1 7";
        assert_eq!(sends.written(), Written::Text(word.to_owned()));
        assert_eq!(Sends::of_word(word), Ok(sends));
    }

    #[test]
    fn wrong_words_are_refused_with_their_number() {
        for (word, expected) in [
            ("0 1 2; 0 1", "send 2: has 2 fields"),
            ("0 -1 2", "send 1: `-1` is no rank"),
            ("0 1 1e3", "`1e3` is no number of bytes"),
            ("1048576 1 1", "`1048576` is no rank"),
        ] {
            let (what, _) = Sends::of_word(word).expect_err("it is wrong");
            assert!(what.contains(expected), "{what}");
        }
    }
}
