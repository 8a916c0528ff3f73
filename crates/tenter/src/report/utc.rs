//! Date and time in a manifest.

use std::time::{SystemTime, UNIX_EPOCH};

/// Formats an instant by RFC 3339 in UTC, to the second: `2026-11-20T09:30:00Z`. Times before 1970
/// are formatted as 1970.
pub(crate) fn rfc_3339(instant: SystemTime) -> String {
    let since = instant
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let (year, month, day) = civil_date(since / 86_400);
    let (hour, minute, second) = (since / 3_600 % 24, since / 60 % 60, since % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Returns year, month and day for a day counted from 1970-01-01, in the Gregorian calendar.
///
/// Years start in March, so the leap day is the last day of its year, and repeat in cycles of 400
/// years (146,097 days).
fn civil_date(days_since_1970: u64) -> (u64, u64, u64) {
    /// Days from 0000-03-01 to 1970-01-01.
    const DAYS_TO_1970: u64 = 719_468;
    let days = days_since_1970 + DAYS_TO_1970;
    let (cycle, day_of_cycle) = (days / 146_097, days % 146_097);
    // One leap day every 4 years, but not every 100, except every 400.
    let leap_days = day_of_cycle / 1_460 - day_of_cycle / 36_524 + day_of_cycle / 146_096;
    let year_of_cycle = (day_of_cycle - leap_days) / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    // The five months from March to July have 153 days together, and so have those from August to
    // December.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = 400 * cycle + year_of_cycle + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn known_instants() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_000_000_000, "2001-09-09T01:46:40Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (4_102_444_800, "2100-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), // 2100 has no leap day: the day after 28 February
        ];
        for (seconds, expected) in cases {
            assert_eq!(
                rfc_3339(UNIX_EPOCH + Duration::from_secs(seconds)),
                expected
            );
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut last = civil_date(0);
        for day in 1..200_000 {
            let date = civil_date(day);
            let next_day = (last.0, last.1, last.2 + 1);
            let next_month = (last.0, last.1 + 1, 1);
            let next_year = (last.0 + 1, 1, 1);
            let month_ends = last.2 >= 28;
            assert!(
                date == next_day
                    || (month_ends && date == next_month)
                    || ((last.1, last.2) == (12, 31) && date == next_year),
                "{last:?} then {date:?}"
            );
            last = date;
        }
    }
}
