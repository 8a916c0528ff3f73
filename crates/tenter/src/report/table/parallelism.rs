//! Text that trainings and inferences share: time sums, and bytes by parallelism.

use std::fmt::Write;

use tenter_language::units::Time;

use crate::report::text_table::{TextColumn, TextTable};

/// Formats a time in seconds; from 0.1 s on with at least four significant digits.
pub(super) fn seconds(time: Time) -> String {
    let seconds = time.as_ns() / 1e9;
    let decimals = match seconds {
        _ if seconds >= 1.0 => 3,
        _ if seconds >= 0.1 => 4,
        _ => 6,
    };
    format!("{seconds:.decimals$}")
}

/// Appends further parts to a sum of times, without those that took no time.
pub(super) fn add_parts(text: &mut String, parts: &[(&str, Time)]) {
    for (name, time) in parts {
        if !time.is_zero() {
            let _ = write!(text, " + {name} {}", seconds(*time));
        }
    }
}

/// Tabulates bytes within scale-up domains and over the network, for each parallelism that sends
/// any.
pub(super) fn by_parallelism(rows: &[(&str, u64, u64)]) -> TextTable {
    let mut table = TextTable::new(vec![
        TextColumn::name("parallelism"),
        TextColumn::number("scale-up", "GB"),
        TextColumn::number("network", "GB"),
    ]);
    let gb = |bytes: u64| format!("{:.3}", bytes as f64 / 1e9);
    for &(name, within, network) in rows {
        if within + network > 0 {
            table.push(vec![name.to_owned(), gb(within), gb(network)]);
        }
    }
    table
}
