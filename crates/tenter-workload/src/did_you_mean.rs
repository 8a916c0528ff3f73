//! The known name a person most likely meant.

/// The one of `known` nearest to `given`, or none when all are far from it.
///
/// Case, `_` and blanks do not count. Near means at most one edit per three characters, so that no
/// word is "corrected" into one it has nothing to do with.
pub(crate) fn closest(
    given: &str,
    known: impl IntoIterator<Item = &'static str>,
) -> Option<&'static str> {
    let given = normalised(given);
    known
        .into_iter()
        .map(|name| (edit_distance(&given, &normalised(name)), name))
        .filter(|&(distance, name)| distance <= name.len().max(given.len()) / 3)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

fn normalised(name: &str) -> Vec<char> {
    name.trim()
        .chars()
        .map(|c| {
            if c == '_' || c == ' ' {
                '-'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}

/// Levenshtein's distance: insertions, deletions and replacements from one to the other.
fn edit_distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["all-to-all", "all-reduce", "incast"];

    #[test]
    fn spelling_case_and_separators_are_forgiven() {
        assert_eq!(closest("alltoall", KNOWN), Some("all-to-all"));
        assert_eq!(closest("ALL_REDUCE", KNOWN), Some("all-reduce"));
        assert_eq!(closest("incats", KNOWN), Some("incast"));
    }

    #[test]
    fn far_words_are_left_alone() {
        assert_eq!(closest("gather", KNOWN), None);
        assert_eq!(closest("", KNOWN), None);
    }

    #[test]
    fn distance_counts_edits() {
        let chars = |s: &str| s.chars().collect::<Vec<_>>();
        // kitten → sitten → sittin → sitting.
        assert_eq!(edit_distance(&chars("kitten"), &chars("sitting")), 3);
        assert_eq!(edit_distance(&chars(""), &chars("abc")), 3);
    }
}
