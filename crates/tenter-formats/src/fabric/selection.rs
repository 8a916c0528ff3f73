//! Device selection by name patterns, and a natural order for names.

use std::cmp::Ordering;

/// Patterns for names: `*` matches any characters, and commas separate patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection(Vec<String>);

impl Selection {
    /// Parses a list of patterns.
    pub(crate) fn of(text: &str) -> Selection {
        let patterns = text.split(',').map(|pattern| pattern.trim().to_lowercase());
        Selection(patterns.filter(|pattern| !pattern.is_empty()).collect())
    }

    /// Returns true if a pattern matches `name`, regardless of case.
    pub(crate) fn has(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.0.iter().any(|pattern| matches(pattern, &name))
    }
}

/// Returns true if `pattern` matches the whole name.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    // Parts between asterisks match at the first place where they occur; only the last one must end
    // the name, so each part is kept until the next shows that it is not the last.
    let mut last = None;
    for part in parts {
        if let Some(between) = last.replace(part) {
            let Some(at) = str::find(rest, between) else {
                return false;
            };
            rest = &rest[at + between.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

/// Orders names as people do: `leaf9` before `leaf10`.
pub(crate) fn natural(a: &str, b: &str) -> Ordering {
    let (mut one, mut other) = (a, b);
    while !one.is_empty() && !other.is_empty() {
        let (first, second) = (digits(one), digits(other));
        if first.is_empty() || second.is_empty() {
            let of = |text: &str| text.chars().next().map(|first| (first, first.len_utf8()));
            let (Some((x, width)), Some((y, length))) = (of(one), of(other)) else {
                break;
            };
            if x != y {
                return x.cmp(&y);
            }
            (one, other) = (&one[width..], &other[length..]);
            continue;
        }
        // Without leading zeros a longer number is a larger one, however many digits it has.
        let bare = |text: &str| text.trim_start_matches('0').to_owned();
        let (x, y) = (bare(first), bare(second));
        let order = x.len().cmp(&y.len()).then_with(|| x.cmp(&y));
        if order.is_ne() {
            return order;
        }
        (one, other) = (&one[first.len()..], &other[second.len()..]);
    }
    // Names that differ in leading zeros alone are equal so far; their texts decide, so that the
    // order is total.
    one.len().cmp(&other.len()).then_with(|| a.cmp(b))
}

/// Returns the digits at the beginning of a text.
fn digits(text: &str) -> &str {
    let end = text.find(|character: char| !character.is_ascii_digit());
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_are_any_characters() {
        let found = Selection::of("gpu-*, *.node, a*b*c");
        for name in ["gpu-", "GPU-17", "x.node", "abc", "a1b2bc"] {
            assert!(found.has(name), "{name}");
        }
        for name in ["xgpu-1", "node", "abcd", "acb", ""] {
            assert!(!found.has(name), "{name}");
        }
        assert!(!Selection::of("").has("anything"));
        assert!(Selection::of("*").has("anything"));
    }

    #[test]
    fn numbers_in_names_count() {
        let mut names = vec!["leaf10", "leaf9", "leaf", "a/2", "a/10/1", "leaf09"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            ["a/2", "a/10/1", "leaf", "leaf09", "leaf9", "leaf10"]
        );
    }
}
