//! Descriptions of a key's valid values, for the reference.

use std::borrow::Cow;
use std::fmt::Display;

use crate::units::Time;

use crate::config::Shape;

impl Shape {
    /// Returns the description that the reference shows.
    pub(crate) fn text(self) -> Cow<'static, str> {
        match self {
            Shape::Time { least, most } => {
                // Very large bounds only guard the arithmetic and tell a reader nothing.
                let most = (most < Time::from_us(1_000_000)).then_some(most);
                bounded("time", (!least.is_zero()).then_some(least), most)
            }
            Shape::Rate { .. } => Cow::Borrowed("rate"),
            Shape::Bytes { least, most } => {
                let least = (least.count() > 1).then_some(least);
                bounded("size", least, (most.count() <= 1 << 31).then_some(most))
            }
            Shape::Share => Cow::Borrowed("0 to 1, up to six decimals"),
            Shape::Either(one, other) => {
                let words = match *one {
                    // Commas only: the other value follows behind the `or`.
                    Shape::Choice(words) => Cow::Owned(quoted(words).join(", ")),
                    Shape::Flag => Cow::Borrowed("`true`, `false`"),
                    one => one.text(),
                };
                Cow::Owned(format!("{words} or {}", other.text()))
            }
            Shape::OrWord(shape, word) if matches!(*shape, Shape::Either(..)) => {
                Cow::Owned(format!("`{word}`, {}", shape.text()))
            }
            Shape::OrWord(shape, word) => {
                let text = shape.text();
                // A description with a comma of its own needs one before the `or`.
                let comma = if text.contains(',') { "," } else { "" };
                Cow::Owned(format!("{text}{comma} or `{word}`"))
            }
            Shape::Integer { least, most } if least == most => Cow::Owned(format!("`{least}`")),
            // An upper bound that only the type sets tells a reader nothing.
            Shape::Integer { least, most } if most >= u64::from(u32::MAX) => {
                Cow::Owned(format!("whole number, {least} or more"))
            }
            Shape::Integer { least, most } => Cow::Owned(format!("{least} to {most}")),
            Shape::Percent { least, most } => Cow::Owned(format!("percent, {least} to {most}")),
            Shape::Parsed(words) => Cow::Borrowed(words),
            Shape::Text => Cow::Borrowed("text"),
            Shape::Any => Cow::Borrowed("value"),
            Shape::Named(_) => Cow::Borrowed("mapping of names"),
            Shape::Mapping(_) | Shape::Variants(_) | Shape::Led(..) => Cow::Borrowed("mapping"),
            Shape::List(shape) => match *shape {
                Shape::Mapping(_) | Shape::Variants(_) | Shape::Led(..) => Cow::Borrowed("list"),
                Shape::Bytes { .. } => Cow::Borrowed("list of sizes"),
                Shape::Integer { .. } => Cow::Borrowed("list of whole numbers"),
                Shape::Text => Cow::Borrowed("list of texts"),
                Shape::Any => Cow::Borrowed("list of values"),
                Shape::Choice(words) => Cow::Owned(format!("list of {}", listed(words))),
                other => Cow::Owned(format!("list of [{}]", other.text())),
            },
            Shape::Flag => Cow::Borrowed("`true` or `false`"),
            Shape::Choice(words) => Cow::Owned(listed(words)),
            Shape::Words(words) => Cow::Owned(format!("list of {}", quoted(words).join(", "))),
        }
    }
}

/// Describes a quantity with those bounds that matter to a reader.
fn bounded<T: Display>(what: &str, least: Option<T>, most: Option<T>) -> Cow<'static, str> {
    Cow::Owned(match (least, most) {
        (None, None) => what.to_owned(),
        (Some(least), None) => format!("{what}, {least} or more"),
        (None, Some(most)) => format!("{what}, at most {most}"),
        (Some(least), Some(most)) => format!("{what}, {least} to {most}"),
    })
}

/// Lists words as "`a`, `b` or `c`".
fn listed(words: &[&str]) -> String {
    match quoted(words).as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

fn quoted(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| format!("`{word}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_listed_as_in_a_sentence() {
        assert_eq!(Shape::Choice(&["a"]).text(), "`a`");
        assert_eq!(Shape::Choice(&["a", "b"]).text(), "`a` or `b`");
        assert_eq!(Shape::Choice(&["a", "b", "c"]).text(), "`a`, `b` or `c`");
        assert_eq!(Shape::Integer { least: 1, most: 7 }.text(), "1 to 7");
    }
}
