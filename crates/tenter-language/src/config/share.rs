//! Shares of one, exact to a millionth.

use std::fmt;
use std::str::FromStr;

/// A share from 0 to 1, in whole millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

impl Share {
    /// The whole in parts per million.
    pub const PARTS: u32 = 1_000_000;

    /// Makes a share from parts per million, at most the whole.
    pub const fn from_ppm(ppm: u32) -> Share {
        Share(if ppm < Share::PARTS {
            ppm
        } else {
            Share::PARTS
        })
    }

    /// Returns the share in parts per million.
    pub const fn ppm(self) -> u32 {
        self.0
    }
}

/// Error: the text is not a decimal from 0 to 1 with at most six decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoShare;

impl FromStr for Share {
    type Err = NoShare;

    fn from_str(text: &str) -> Result<Share, NoShare> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit());
            plain && (1..=6).contains(&text.len())
        };
        if !digits(whole) || !digits(decimals) {
            return Err(NoShare);
        }
        // Padded on the right to six decimals, the digits count millionths.
        let ppm = format!("{whole}{decimals:0<6}")
            .parse()
            .map_err(|_| NoShare)?;
        if ppm > Share::PARTS {
            return Err(NoShare);
        }
        Ok(Share(ppm))
    }
}

/// Prints the decimal without trailing zeros; it reads back as the same share.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, parts) = (self.0 / Share::PARTS, self.0 % Share::PARTS);
        let decimal = format!("{whole}.{parts:06}");
        f.write_str(decimal.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::{NoShare, Share};

    #[test]
    fn shares_are_read_exactly_and_written_shortly() {
        for (text, ppm, shown) in [
            ("0.875", 875_000, "0.875"),
            ("1", 1_000_000, "1"),
            ("1.000000", 1_000_000, "1"),
            ("0", 0, "0"),
            ("0.000001", 1, "0.000001"),
        ] {
            let share: Share = text.parse().expect("it is a share");
            assert_eq!((share.ppm(), share.to_string().as_str()), (ppm, shown));
        }
        for text in [
            "",
            ".5",
            "1.000001",
            "2",
            "0.0000001",
            "-0.1",
            "5 %",
            "1e-3",
            "0.",
            "٠",
        ] {
            assert_eq!(text.parse::<Share>(), Err(NoShare), "{text}");
        }
    }
}
