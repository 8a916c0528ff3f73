//! The unit in which a table, a column or a picture has its times.

use tenter_language::units::Time;

use crate::report::numbers::decimals_for;

/// A unit of time, from nanoseconds to seconds. The times of one column share the unit in which the
/// greatest of them is a readable number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeUnit {
    pub(crate) name: &'static str,
    /// Duration of the unit, in ns.
    pub(crate) ns: f64,
}

const fn unit(name: &'static str, ns: f64) -> TimeUnit {
    TimeUnit { name, ns }
}

const NS: TimeUnit = unit("ns", 1.0);
const MS: TimeUnit = unit("ms", 1e6);
const LONGER: [TimeUnit; 3] = [unit("s", 1e9), MS, unit("µs", 1e3)];

impl TimeUnit {
    /// Returns the unit for times of which the greatest takes `ns` nanoseconds.
    pub(crate) fn of_ns(ns: f64) -> TimeUnit {
        // Without a time above 0 any unit would do.
        if ns == 0.0 {
            return MS;
        }
        let found = LONGER.into_iter().find(|unit| ns.abs() >= unit.ns);
        found.unwrap_or(NS)
    }

    /// Returns the unit for `times` in nanoseconds.
    pub(crate) fn of_all_ns(times: impl IntoIterator<Item = f64>) -> TimeUnit {
        TimeUnit::of_ns(times.into_iter().fold(0.0, |most, ns| ns.abs().max(most)))
    }

    /// Returns the unit for `times`.
    pub(crate) fn of(times: impl IntoIterator<Item = Option<Time>>) -> TimeUnit {
        TimeUnit::of_all_ns(times.into_iter().flatten().map(Time::as_ns))
    }

    /// Formats a time in this unit, with four significant digits and no unit behind it.
    pub(crate) fn number(self, ns: f64) -> String {
        let value = ns / self.ns;
        format!("{value:.*}", decimals_for(value, 4))
    }

    /// Formats a time in this unit, or nothing for a missing one.
    pub(crate) fn text(self, time: Option<Time>) -> String {
        let text = |time: Time| self.number(time.as_ns());
        time.map(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_time_chooses_the_unit() {
        let names = [0.0, 999.0, 1e3, 1e6 - 1.0, 1e6, 2e9].map(|ns| TimeUnit::of_ns(ns).name);
        assert_eq!(names, ["ms", "ns", "µs", "µs", "ms", "s"]);
        let unit = TimeUnit::of([None, Some(Time::from_ns(5)), Some(Time::from_us(12))]);
        assert_eq!((unit.name, unit.text(None)), ("µs", String::new()));
        assert_eq!(unit.text(Some(Time::from_ns(5))), "0.005000");
        assert_eq!(unit.text(Some(Time::from_us(12))), "12.00");
    }
}
