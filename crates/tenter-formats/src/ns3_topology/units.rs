//! Rates and times in ns-3's notation.

use tenter_language::units::{Rate, Time};

use crate::decimal;

/// Units for ns-3's `DataRate`, in bits per second. Units that count bytes are eight times as
/// large.
const RATES: [(&str, u64); 9] = [
    ("", 1),
    ("b", 1),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
];

/// Units for ns-3's `Time`, as decimal places in picoseconds. A bare number is in seconds.
const TIMES: [(&str, usize); 6] = [
    ("", 12),
    ("s", 12),
    ("ms", 9),
    ("us", 6),
    ("ns", 3),
    ("ps", 0),
];

/// Splits a word into number and unit.
fn parts(word: &str) -> (&str, &str) {
    let end = word.find(|character: char| !character.is_ascii_digit() && character != '.');
    word.split_at(end.unwrap_or(word.len()))
}

/// Parses a rate exactly: `400Gbps`, `25000000000.0`. `None` for anything else, and for parts of a
/// bit.
pub(super) fn rate(word: &str) -> Option<Rate> {
    let (number, unit) = parts(word);
    let bits = unit
        .strip_suffix("bps")
        .or_else(|| unit.strip_suffix("b/s"));
    let bytes = unit
        .strip_suffix("Bps")
        .or_else(|| unit.strip_suffix("B/s"));
    let bare = unit.is_empty().then_some("");
    let of_bits = bits.or(bare).map(|prefix| (prefix, 1));
    let (prefix, factor) = of_bits.or(bytes.map(|prefix| (prefix, 8)))?;
    let (_, worth) = RATES.iter().find(|(known, _)| *known == prefix)?;
    decimal::times(number, worth * factor).map(Rate::from_bits_per_second)
}

/// Parses a time: `1000ns`, `0.0005ms`. The flag is true if digits below a picosecond were cut.
pub(super) fn time(word: &str) -> Option<(Time, bool)> {
    let (number, unit) = parts(word);
    let (_, places) = TIMES.iter().find(|(known, _)| *known == unit)?;
    decimal::time(number, *places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_times_are_exact() {
        let bits = |word: &str| rate(word).map(Rate::bits_per_second);
        for (word, expected) in [
            ("400Gbps", 400_000_000_000),
            ("25000000000.0", 25_000_000_000),
            ("2.5Gb/s", 2_500_000_000),
            ("1GBps", 8_000_000_000),
            ("1Kibps", 1_024),
            ("7bps", 7),
        ] {
            assert_eq!(bits(word), Some(expected), "{word}");
        }
        for word in ["", "Gbps", "1e9", "0.5bps", "4Gpbs", "1.2.3Gbps", "-1Gbps"] {
            assert_eq!(bits(word), None, "{word}");
        }
        let ps = |word: &str| time(word).map(|(time, cut)| (time.ps(), cut));
        assert_eq!(ps("0.0005ms"), Some((500_000, false)));
        assert_eq!(ps("1000ns"), Some((1_000_000, false)));
        assert_eq!(ps("0.00000001"), Some((10_000, false)));
        assert_eq!(ps("1.0005ns"), Some((1_000, true)));
        assert_eq!(ps("1h"), None);
    }
}
