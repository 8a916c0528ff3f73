//! Axes: from values to places in a drawing, and the values that are written beside them.

use super::text::Unit;

/// One axis of a drawing.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// Values at both ends.
    pub(super) domain: (f64, f64),
    /// Places of both ends in the drawing.
    pub(super) range: (f64, f64),
    /// Whether equal distances are equal factors.
    pub(super) log: bool,
    /// The unit of the numbers beside the axis.
    pub(super) unit: Unit,
    /// Values to write beside the axis with their texts, which name their units; empty if the axis
    /// chooses round numbers.
    pub(super) own: Vec<(f64, String)>,
}

impl Scale {
    /// A linear axis from 0, that ends with a round number at or above `max`.
    pub(super) fn from_zero(max: f64, unit: Unit, range: (f64, f64)) -> Scale {
        let max = if max > 0.0 { max } else { unit.factor };
        let step = nice_step(max / unit.factor / 4.0) * unit.factor;
        Scale {
            domain: (0.0, (max / step).ceil() * step),
            range,
            log: false,
            unit,
            own: Vec::new(),
        }
    }

    /// An axis over exactly these values: logarithmic where the last is over eight times the
    /// first.
    pub(super) fn over(min: f64, max: f64, unit: Unit, range: (f64, f64)) -> Scale {
        let log = min > 0.0 && max > 8.0 * min;
        let (min, max) = if log {
            (min / 1.05, max * 1.05)
        } else {
            let margin = ((max - min) * 0.03).max(max.abs() * 0.002).max(1e-9);
            ((min - margin).max(0.0), max + margin)
        };
        Scale {
            domain: (min, max),
            range,
            log,
            unit,
            own: Vec::new(),
        }
    }

    /// An axis over exactly this span of time.
    pub(super) fn span(from: f64, to: f64, range: (f64, f64)) -> Scale {
        Scale {
            domain: (from, if to > from { to } else { from + 1.0 }),
            range,
            log: false,
            unit: Unit::time(to),
            own: Vec::new(),
        }
    }

    /// The place of a value in the drawing.
    pub(super) fn place(&self, value: f64) -> f64 {
        let ((d0, d1), (r0, r1)) = (self.domain, self.range);
        let share = if self.log {
            (value.max(d0) / d0).ln() / (d1 / d0).ln()
        } else {
            (value - d0) / (d1 - d0)
        };
        r0 + share.clamp(0.0, 1.0) * (r1 - r0)
    }
}

/// The least of 1, 2, 2.5 and 5 times a power of ten that is at least `step`.
fn nice_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    let found = factors
        .iter()
        .find(|&factor| factor * power >= step * 0.999_999);
    found.unwrap_or(&10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_round() {
        // 7.3 MiB: steps of 2 MiB, hence 8 MiB.
        let mib = f64::from(1 << 20);
        let scale = Scale::from_zero(7.3 * mib, Unit::bytes(7.3 * mib), (100.0, 0.0));
        assert_eq!(scale.domain, (0.0, 8.0 * mib));
        assert!((scale.place(2.0 * mib) - 75.0).abs() < 1e-9);
    }

    #[test]
    fn wide_spans_are_logarithmic() {
        let scale = Scale::over(1e5, 1e7, Unit::time(1e7), (0.0, 200.0));
        assert!(scale.log);
        // The middle of a decade pair is in the middle.
        assert!((scale.place(1e6) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn values_without_span_still_have_an_axis() {
        let scale = Scale::over(5.0, 5.0, Unit::of(""), (0.0, 1.0));
        assert!(scale.domain.0 < 5.0 && scale.domain.1 > 5.0);
        assert!(Scale::from_zero(0.0, Unit::of(""), (0.0, 1.0)).domain.1 > 0.0);
    }
}
