//! Probabilities, exact as they are written in decimal.

use std::fmt;
use std::str::FromStr;

use crate::config::parsed;

/// A probability: the fraction `parts` / 10^`power`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    parts: u64,
    power: u32,
}

impl Chance {
    /// Returns the probability in units of 2⁻⁶⁴, rounded down; 1 becomes 2⁶⁴ − 1.
    pub fn probability(self) -> u64 {
        // 10³⁹ does not fit 128 bits; a chance with that divisor is below 2⁻⁶⁴.
        let Some(divisor) = 10_u128.checked_pow(self.power) else {
            return 0;
        };
        u64::try_from((u128::from(self.parts) << 64) / divisor).unwrap_or(u64::MAX)
    }
}

/// Reads a decimal, with or without an exponent.
impl FromStr for Chance {
    type Err = ();

    fn from_str(word: &str) -> Result<Chance, ()> {
        let (decimal, exponent) = word.split_once(['e', 'E']).unwrap_or((word, "0"));
        let (whole, decimals) = decimal.split_once('.').unwrap_or((decimal, ""));
        let digits = format!("{whole}{decimals}");
        // Up to 17 digits fit a `u64`; the limits also bound what a hostile text can cost.
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !plain || whole.is_empty() || digits.len() > 17 || exponent.len() > 3 {
            return Err(());
        }
        let parts: u64 = digits.parse().map_err(|_| ())?;
        let exponent: i32 = exponent.parse().map_err(|_| ())?;
        if parts == 0 {
            return Ok(Chance { parts, power: 0 });
        }
        let power = i32::try_from(decimals.len()).map_err(|_| ())? - exponent;
        // A negative power means a multiple of ten, which exceeds 1.
        let power = u32::try_from(power).map_err(|_| ())?;
        let is_share = 10_u128
            .checked_pow(power)
            .is_none_or(|all| u128::from(parts) <= all);
        is_share.then_some(Chance { parts, power }).ok_or(())
    }
}

impl fmt::Display for Chance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.power {
            0 => write!(out, "{}", self.parts),
            power => write!(out, "{}e-{power}", self.parts),
        }
    }
}

parsed!(Chance {
    "0 to 1",
    "cannot be",
    "write a probability from 0 to 1, for example `0.001` or `1e-6`"
});
