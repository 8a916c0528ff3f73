//! Line rates, and the exact time that a byte takes at one.

use num_integer::gcd;

use crate::units::Time;
use crate::units::dimensions::{RATE, SIZE, TIME};
use crate::units::parse::read_and_print;

read_and_print!(Rate, bits_per_second, RATE, [&TIME, &SIZE]);

/// A line rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Makes a rate from bits per second.
    pub const fn from_bits_per_second(bits: u64) -> Rate {
        Rate(bits)
    }
    /// Makes a rate from gigabits (10⁹ bits) per second.
    pub const fn from_gbps(gbps: u64) -> Rate {
        Rate(gbps * 1_000_000_000)
    }
    /// Returns the rate in bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }
    /// Returns Gbit/s, with 10⁹ bits each.
    pub fn as_gbps(self) -> f64 {
        self.bits_per_second() as f64 / 1e9
    }

    /// Returns bytes per second, as a float for tables only.
    pub fn bytes_per_second(self) -> f64 {
        self.0 as f64 / 8.0
    }
    /// Returns the time that `bits` bits take, rounded up to a picosecond; [`Time::MAX`] if it does
    /// not fit, and for a rate of zero.
    pub fn time_of_bits(self, bits: u128) -> Time {
        let ps = bits.checked_mul(1_000_000_000_000);
        // `max` only avoids a division by zero: the last line gives a rate of zero its result.
        let ps = ps.map(|scaled| scaled.div_ceil(u128::from(self.0.max(1))));
        let ps = ps.and_then(|ps| u64::try_from(ps).ok());
        Time::from_ps(ps.filter(|_| self.0 > 0).unwrap_or(u64::MAX))
    }
    /// Returns the time that one byte takes on the wire at this rate.
    ///
    /// `parts_per_million` is the sender's clock offset: at +100 the sender is 0.01 % faster than
    /// nominal.
    ///
    /// # Panics
    /// If the rate is zero or the offset is −1,000,000 or less; scenarios are checked for both
    /// beforehand.
    pub fn serialisation(self, parts_per_million: i32) -> SerialisationTime {
        assert!(self.0 > 0, "a rate of zero sends nothing");
        let speed = 1_000_000 + i64::from(parts_per_million);
        assert!(speed > 0, "a clock cannot run backwards");
        // ps per byte = 8·10¹² / (rate · speed / 10⁶), reduced.
        let ps = 8_000_000_000_000_000_000_u64;
        let bits = u128::from(self.0) * speed as u128;
        // A 64-bit path, because division by a 128-bit number takes several times as long.
        if let Ok(bits) = u64::try_from(bits) {
            let divisor = gcd(ps, bits);
            let (numerator, denominator) = (ps / divisor, bits / divisor);
            if u128::from(numerator) <= LONGEST_PER_BYTE
                && let Ok(denominator) = u32::try_from(denominator)
            {
                return SerialisationTime {
                    numerator,
                    denominator,
                };
            }
        }
        // An unreduced fraction has the same convergents, so no 128-bit divisor is computed.
        SerialisationTime::from_fraction(u128::from(ps), bits)
    }
}

/// Picoseconds per byte as an exact fraction.
///
/// A port that sends frames back to back carries the remainder from one frame into the next, so a
/// link that is always busy never drifts from its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SerialisationTime {
    /// Picoseconds for `denominator` bytes, at most `LONGEST_PER_BYTE`.
    numerator: u64,
    denominator: u32,
}

/// Largest numerator. It leaves 14 bits for a frame's bytes, so their product fits 64 bits.
const LONGEST_PER_BYTE: u128 = (u64::MAX >> 14) as u128;

impl SerialisationTime {
    /// Returns the fraction itself if it fits, and otherwise the last convergent of its continued
    /// fraction that does.
    ///
    /// Only an odd clock offset with a very slow rate, or one that is no multiple of 1 kbit/s, is
    /// rounded. A convergent p/q errs by less than 1/(q · next q), which is at most 2⁻³² relative:
    /// far below any oscillator's tolerance.
    fn from_fraction(numerator: u128, denominator: u128) -> SerialisationTime {
        let (mut last, mut before) = ((1_u128, 0_u128), (0_u128, 1_u128));
        let (mut dividend, mut divisor) = (numerator, denominator);
        while divisor > 0 {
            let quotient = dividend / divisor;
            (dividend, divisor) = (divisor, dividend % divisor);
            let next = (
                // What saturates is beyond both limits, so the loop ends with the convergent before
                // it.
                quotient.saturating_mul(last.0).saturating_add(before.0),
                quotient.saturating_mul(last.1).saturating_add(before.1),
            );
            if next.0 > LONGEST_PER_BYTE || next.1 > u128::from(u32::MAX) {
                break;
            }
            (last, before) = (next, last);
        }
        if last.1 == 0 {
            // Slower than one bit in 140 s. No port sends at such a rate, so the longest time
            // represents it.
            last = (LONGEST_PER_BYTE, 1);
        }
        SerialisationTime {
            numerator: last.0 as u64,
            denominator: last.1 as u32,
        }
    }

    /// Returns the rate in bit/s, rounded down.
    pub fn bits_per_second(self) -> u64 {
        let bits = 8_000_000_000_000 * u128::from(self.denominator);
        (bits / u128::from(self.numerator)) as u64
    }

    /// Returns the wire time for `bytes` and the remainder (in 1/denominator ps) to carry into the
    /// next frame if that follows without a gap.
    ///
    /// `bytes` may be up to 16,000. `carried` is the previous frame's remainder, or zero after a
    /// gap.
    #[inline]
    pub fn of(self, bytes: u32, carried: u32) -> (Time, u32) {
        // At most usual rates a byte takes whole picoseconds, so no division is needed.
        if self.denominator == 1 {
            return (Time::from_ps(u64::from(bytes) * self.numerator), 0);
        }
        let total = u64::from(bytes) * self.numerator + u64::from(carried);
        let denominator = u64::from(self.denominator);
        (
            Time::from_ps(total / denominator),
            (total % denominator) as u32,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_at_400g_is_exact() {
        // 8·10¹² ps·bit/B / 400·10⁹ bit/s = 20 ps/B; 4178 B · 20 = 83,560 ps.
        let wire = Rate::from_gbps(400).serialisation(0);
        assert_eq!(wire.of(4178, 0), (Time::from_ps(83_560), 0));
        // 8·10¹² / 1.6·10¹² = 5 ps/B.
        assert_eq!(
            Rate::from_gbps(1600).serialisation(0).of(64, 0),
            (Time::from_ps(320), 0)
        );
    }

    #[test]
    fn bits_take_whole_picoseconds() {
        // 1,000 bits at 300G are 3,333⅓ ps.
        let rate = Rate::from_gbps(300);
        assert_eq!(rate.time_of_bits(1_000), Time::from_ps(3_334));
        assert_eq!(rate.time_of_bits(u128::MAX), Time::MAX);
        assert_eq!(Rate::default().time_of_bits(1), Time::MAX);
    }

    #[test]
    fn back_to_back_frames_never_drift() {
        // 300G is 80/3 ps/B; at +37 ppm the sender is faster: 80/3 · 10⁶/1,000,037 ps/B.
        let wire = Rate::from_gbps(300).serialisation(37);
        let (mut carried, mut sum) = (0, Time::ZERO);
        for _ in 0..1_000_000 {
            let (time, rest) = wire.of(4178, carried);
            carried = rest;
            sum += time;
        }
        let exact = 4178_u128 * 1_000_000 * 80 * 1_000_000 / (3 * 1_000_037);
        assert!(
            u128::from(sum.ps()).abs_diff(exact) <= 1,
            "{sum} against {exact} ps"
        );
        // 4178 · 26.6657 ps is no whole number: without the carry every frame would lose its
        // fraction.
        let (alone, rest) = wire.of(4178, 0);
        assert!(rest > 0 && alone * 1_000_000 < sum);
    }

    #[test]
    fn odd_rates_are_close_and_whole_ones_exact() {
        for (bits, ppm) in [
            (999_999_937, 99),
            (1_000, 37),
            (123, -500),
            (u64::MAX, 1),
            (10_000_019, -3),
        ] {
            let wire = Rate::from_bits_per_second(bits).serialisation(ppm);
            let exact = 8e12 / (bits as f64 * (1.0 + f64::from(ppm) / 1e6));
            let got = wire.numerator as f64 / f64::from(wire.denominator);
            assert!(
                (got / exact - 1.0).abs() < 1e-9,
                "{bits} {ppm}: {got} against {exact}"
            );
        }
    }

    #[test]
    fn small_fractions_are_those_of_continued_fractions() {
        let ps = 8_000_000_000_000_000_000;
        for bits in [1, 9_600, 999_999_937, 25_781_250_000, 400_000_000_000] {
            for parts_per_million in [-100, -7, 0, 1, 100] {
                let rate = Rate::from_bits_per_second(bits);
                let speed = (1_000_000 + i128::from(parts_per_million)).unsigned_abs();
                let all = u128::from(bits) * speed;
                assert_eq!(
                    rate.serialisation(parts_per_million),
                    SerialisationTime::from_fraction(ps, all),
                    "{rate}, {parts_per_million} ppm"
                );
            }
        }
    }
}
