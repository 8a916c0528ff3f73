//! Numbers in cells and sentences.

use tenter_language::units::Time;

use crate::report::numbers::{decimals_for, grouped};

pub(super) fn count(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(super) fn counted(number: u64, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        count(number),
        if number == 1 { "" } else { "s" }
    )
}

/// Formats a missing value as a hyphen, since a zero would be a claim.
pub(super) fn optional<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

pub(super) fn milliseconds(time: Time, decimals: usize) -> String {
    format!("{:.decimals$}", time.as_ms())
}

/// Returns the decimals for a column in milliseconds: three, or the number with which its least
/// value shows three digits, but at most six (a nanosecond).
pub(super) fn decimals(times: impl IntoIterator<Item = Option<Time>>) -> usize {
    let least = times
        .into_iter()
        .flatten()
        .filter(|time| !time.is_zero())
        .min();
    least.map_or(3, |time| decimals_for(time.as_ms(), 3).clamp(3, 6))
}
