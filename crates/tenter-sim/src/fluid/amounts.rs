//! Rates, amounts and weights as integers.

use tenter_language::units::{Rate, Time};

/// Fraction bits of a rate in bits per second.
const FRACTION: u32 = 13;
/// One byte in [`Amount`] units: rate units times picoseconds.
pub(crate) const BYTE: u128 = 8_000_000_000_000 << FRACTION;

/// A rate in units of 2⁻¹³ bits per second, at most 2⁵¹ bits per second. Line rates are exact in
/// this unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowRate(u64);

impl FlowRate {
    /// No limit: above the rate that any line has.
    pub const UNLIMITED: FlowRate = FlowRate(u64::MAX);

    pub(crate) const fn of_units(units: u64) -> FlowRate {
        FlowRate(units)
    }

    pub(crate) const fn units(self) -> u64 {
        self.0
    }

    /// Converts a line rate. Rates beyond the range become the highest finite one.
    #[must_use]
    pub fn of_line(rate: Rate) -> FlowRate {
        let units = u128::from(rate.bits_per_second()) << FRACTION;
        // The highest value stands for no limit, which no line has.
        FlowRate(u64::try_from(units).unwrap_or(u64::MAX - 1))
    }

    /// Returns the rate that carries `bytes` in `time`, rounded down. A `time` of zero means no
    /// limit.
    #[must_use]
    pub fn of_bytes(bytes: u64, time: Time) -> FlowRate {
        let scaled = u128::from(bytes) * BYTE;
        let units = scaled.checked_div(u128::from(time.ps()));
        let units = units.and_then(|units| u64::try_from(units).ok());
        units.map_or(FlowRate::UNLIMITED, FlowRate)
    }

    /// Converts to bits per second.
    #[must_use]
    pub fn bits_per_second(self) -> f64 {
        self.0 as f64 / f64::from(1 << FRACTION)
    }
}

/// Bytes with a fraction. The unit is what the lowest rate carries in one picosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(u128);

impl Amount {
    /// Returns the amount that whole bytes make.
    #[must_use]
    pub const fn of_bytes(bytes: u64) -> Amount {
        Amount(bytes as u128 * BYTE)
    }

    /// Returns the whole bytes, rounded down.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        (self.0 / BYTE) as u64
    }

    /// Adds what `rate` carries in `time`.
    pub(crate) fn plus(self, rate: FlowRate, time: Time) -> Amount {
        Amount(self.0 + u128::from(rate.0) * u128::from(time.ps()))
    }

    pub(crate) fn and(self, other: Amount) -> Amount {
        Amount(self.0 + other.0)
    }

    /// Subtracts another amount; 0 if that is larger.
    pub(crate) fn less(self, other: Amount) -> Amount {
        Amount(self.0.saturating_sub(other.0))
    }

    /// Returns the transmission time at `rate`, rounded up to a picosecond, or `None` if it never
    /// ends. Rates are rounded down, so a remainder below a thousandth of a picosecond's worth is
    /// ignored: it would otherwise cost a whole one.
    #[must_use]
    pub(crate) fn time_at(self, rate: FlowRate) -> Option<Time> {
        if rate.0 == 0 {
            return (self.0 == 0).then_some(Time::ZERO);
        }
        let left = self.0.saturating_sub(u128::from(rate.0 >> 10));
        let time = u64::try_from(left.div_ceil(u128::from(rate.0))).ok();
        time.map(Time::from_ps)
    }
}

/// The part of a flow that a link carries, in units of 2⁻²⁰: the link is loaded with this part of
/// the flow's rate. A value above the whole means that the link is also occupied between the flow's
/// bytes, by gaps or cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u32);

impl Weight {
    /// The link carries the whole flow.
    pub const WHOLE: Weight = Weight(1 << 20);

    /// The link carries nothing of the flow.
    pub(crate) const NONE: Weight = Weight(0);

    /// Returns `parts` / `whole`, rounded to the nearest unit. The result is at least one unit, so
    /// that a flow never loads a link with nothing.
    #[must_use]
    pub fn of(parts: u64, whole: u64) -> Weight {
        let scaled = u128::from(parts) * u128::from(Weight::WHOLE.0);
        let rounded = (scaled + u128::from(whole / 2)).checked_div(u128::from(whole));
        let units = rounded.and_then(|units| u32::try_from(units).ok());
        Weight(units.unwrap_or(u32::MAX).max(1))
    }

    /// Converts to a fraction; 1.0 is the whole flow.
    #[must_use]
    pub(crate) fn share(self) -> f64 {
        f64::from(self.0) / f64::from(Weight::WHOLE.0)
    }

    /// Multiplies by `count`, the number of links in a bundle.
    #[must_use]
    pub(crate) fn many(self, count: u32) -> Weight {
        Weight(self.0.saturating_mul(count))
    }

    /// Returns the part `other` within the part `self`.
    #[must_use]
    pub(crate) fn times(self, other: Weight) -> Weight {
        // The product of two values in 2⁻²⁰ is in 2⁻⁴⁰.
        Weight::of(u64::from(self.0) * u64::from(other.0), 1 << 40)
    }

    /// Adds another part of the same flow.
    #[must_use]
    pub(crate) fn plus(self, other: Weight) -> Weight {
        Weight(self.0.saturating_add(other.0))
    }

    /// Returns the weight in units of 2⁻²⁰.
    #[must_use]
    pub(crate) const fn units(self) -> u128 {
        self.0 as u128
    }
}

/// Total load that flows put on a link, in units of 2⁻³³ bits per second: rate units times weight
/// units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Load(pub(crate) u128);

impl Load {
    /// Returns the load that fills a link with this rate.
    pub(crate) const fn of_capacity(rate: FlowRate) -> Load {
        Load(rate.0 as u128 * Weight::WHOLE.units())
    }

    /// Returns the rate at which one whole flow makes this load, rounded down.
    pub(crate) const fn whole_rate(self) -> FlowRate {
        FlowRate((self.0 / Weight::WHOLE.units()) as u64)
    }

    pub(crate) const fn of(rate: FlowRate, weight: Weight) -> Load {
        Load(rate.0 as u128 * weight.units())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_take_their_time_to_a_picosecond() {
        // 400 Gbit/s are 20 ps a byte.
        let rate = FlowRate::of_line(Rate::from_gbps(400));
        assert_eq!(
            Amount::of_bytes(1_000).time_at(rate),
            Some(Time::from_ps(20_000))
        );
        let hour = 3_600_000_000_000_000;
        assert_eq!(
            Amount::of_bytes(hour / 20).time_at(rate),
            Some(Time::from_ps(hour))
        );
        assert_eq!(Amount::of_bytes(1).time_at(FlowRate::default()), None);
        assert_eq!(
            Amount::default().time_at(FlowRate::default()),
            Some(Time::ZERO)
        );
    }

    #[test]
    fn weights_are_parts() {
        assert_eq!(Weight::of(32, 32), Weight::WHOLE);
        let spread = Weight::of(1, 32).times(Weight::of(1, 32));
        assert_eq!(spread, Weight::of(1, 1_024));
        assert_eq!(Weight::of(1, 2).plus(Weight::of(1, 2)), Weight::WHOLE);
        assert!((Weight::of(1, 3).share() - 1.0 / 3.0).abs() < 1e-6);
    }
}
