//! Axes: their ends and their units.

use super::text::Unit;

/// One axis of a drawing.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// Values at the axis's two ends.
    pub(super) domain: (f64, f64),
    /// True for a logarithmic axis.
    pub(super) log: bool,
    /// Unit for the numbers beside the axis.
    pub(super) unit: Unit,
}

impl Scale {
    /// Makes a linear axis from 0 to a round number at or above `max`.
    pub(super) fn from_zero(max: f64, unit: Unit) -> Scale {
        let max = if max > 0.0 { max } else { unit.factor };
        let step = nice_step(max / unit.factor / 4.0) * unit.factor;
        Scale {
            domain: (0.0, (max / step).ceil() * step),
            log: false,
            unit,
        }
    }

    /// Makes an axis over these values with a small margin; it is logarithmic if `max` is more than
    /// eight times `min`.
    pub(super) fn over(min: f64, max: f64, unit: Unit) -> Scale {
        let log = min > 0.0 && max > 8.0 * min;
        let (min, max) = if log {
            (min / 1.05, max * 1.05)
        } else {
            let margin = ((max - min) * 0.03).max(max.abs() * 0.002).max(1e-9);
            ((min - margin).max(0.0), max + margin)
        };
        Scale {
            domain: (min, max),
            log,
            unit,
        }
    }

    /// Makes a time axis over exactly this span.
    pub(super) fn span(from: f64, to: f64) -> Scale {
        Scale {
            domain: (from, if to > from { to } else { from + 1.0 }),
            log: false,
            unit: Unit::time(to),
        }
    }
}

/// Returns the least number of the form 1, 2, 2.5 or 5 × 10ⁿ that is at least `step`.
fn nice_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    // Without the tolerance, rounding of the logarithm could skip an exact match.
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
        let scale = Scale::from_zero(7.3 * mib, Unit::bytes(7.3 * mib));
        assert_eq!(scale.domain, (0.0, 8.0 * mib));
    }

    #[test]
    fn wide_spans_are_logarithmic() {
        let scale = Scale::over(1e5, 1e7, Unit::time(1e7));
        assert!(scale.log);
    }

    #[test]
    fn values_without_span_still_have_an_axis() {
        let scale = Scale::over(5.0, 5.0, Unit::of(""));
        assert!(scale.domain.0 < 5.0 && scale.domain.1 > 5.0);
        assert!(Scale::from_zero(0.0, Unit::of("")).domain.1 > 0.0);
    }
}
