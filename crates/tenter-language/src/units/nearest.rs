//! Suggestions for a misspelt word.

/// Longest word, in bytes, that is compared: edit distance takes quadratic time, and longer words
/// are no misspelt keys.
const WORD_MAX: usize = 64;

/// Returns the word in `known` that is nearest to `word`; `None` if all are far from it.
///
/// Letter case does not count, nor whether parts are separated by `_`, `-` or a blank. A third of
/// the known word's letters may be wrong, and at least one.
pub fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let word = word.trim();
    if word.is_empty() || word.len() > WORD_MAX {
        return None;
    }
    let spelled = |word: &str| word.to_ascii_lowercase().replace(['_', ' '], "-");
    let slips = |known: &str| strsim::damerau_levenshtein(&spelled(word), &spelled(known));
    // Of equally near words the first in alphabetical order wins, whatever the order of `known`.
    let known = known.into_iter().map(|known| (slips(known), known));
    known
        .min()
        .filter(|(slips, known)| *slips <= (known.len() / 3).max(1))
        .map(|(_, known)| known)
}

/// Returns "did you mean …?" if a known word is near `word`, and otherwise the list of known words.
pub fn suggestion<'w>(word: &str, known: impl Iterator<Item = &'w str> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("choose from {}", known.collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["all-to-all", "all-reduce", "incast"];

    #[test]
    fn spelling_case_and_separators_are_forgiven() {
        for (word, near) in [
            ("alltoall", "all-to-all"),
            ("ALL_REDUCE", "all-reduce"),
            ("incats", "incast"),
        ] {
            assert_eq!(nearest(word, KNOWN), Some(near));
            let text = suggestion(word, KNOWN.into_iter());
            assert_eq!(text, format!("did you mean `{near}`?"));
        }
    }

    #[test]
    fn far_words_are_left_alone() {
        for word in ["gather", "", &"a".repeat(65)] {
            assert_eq!(nearest(word, KNOWN), None);
        }
        let text = suggestion("gather", KNOWN.into_iter());
        assert_eq!(text, "choose from all-to-all, all-reduce, incast");
    }
}
