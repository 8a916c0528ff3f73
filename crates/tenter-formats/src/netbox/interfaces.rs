//! Rates of interfaces from their types.

use std::collections::BTreeMap;

use tenter_language::units::Rate;

use super::table::Table;
use crate::decimal;
use crate::error::ImportError;
use crate::imported::Source;

/// Rate of each interface by device and name, as far as its speed or its type tells.
pub(super) struct Interfaces(BTreeMap<(String, String), Rate>);

impl Interfaces {
    /// Reads the interface list, if one is given.
    pub(super) fn read(source: Option<Source<'_>>) -> Result<Interfaces, ImportError> {
        let mut rates = BTreeMap::new();
        let Some(source) = source else {
            return Ok(Interfaces(rates));
        };
        let table = Table::read(source).map_err(|error| error.in_file(source.name))?;
        let remedy =
            "give the list of interfaces as NetBox exports it, with `device`, `name` and `type`";
        let need = |names: &[&str]| {
            table
                .need(names, remedy)
                .map_err(|error| error.in_file(source.name))
        };
        let (device, name) = (need(&["device"])?, need(&["name"])?);
        let kind = table.find(&["type"]);
        let speed = table.find(&["speed", "speed_(kbps)"]);
        for row in &table.rows {
            let kbps = row.cell(speed).parse::<u64>().ok();
            // The configured speed takes precedence: the type is only what the port can do.
            let told = kbps
                .filter(|kbps| *kbps > 0)
                .and_then(|kbps| kbps.checked_mul(1_000));
            let told = told
                .map(Rate::from_bits_per_second)
                .or_else(|| rate(row.cell(kind)));
            if let Some(told) = told {
                let of = (
                    row.cell(Some(device)).to_owned(),
                    row.cell(Some(name)).to_owned(),
                );
                rates.insert(of, told);
            }
        }
        Ok(Interfaces(rates))
    }

    pub(super) fn rate(&self, device: &str, name: &str) -> Option<Rate> {
        self.0.get(&(device.to_owned(), name.to_owned())).copied()
    }
}

/// Reads the rate from a type of Ethernet interface: `400gbase-x-qsfpdd`, `QSFP-DD (400GE)`.
pub(super) fn rate(kind: &str) -> Option<Rate> {
    let kind = kind.to_lowercase();
    let mut rest = kind.as_str();
    while let Some(start) = rest.find(|first: char| first.is_ascii_digit()) {
        let from = &rest[start..];
        let end = from.find(|next: char| !next.is_ascii_digit() && next != '.');
        let (number, behind) = from.split_at(end.unwrap_or(from.len()));
        // The first match counts: `base` alone, as in `1000base-t`, is in Mbit/s and comes last.
        let units = [
            ("tbase", 1_000_000),
            ("te", 1_000_000),
            ("gbase", 1_000),
            ("ge", 1_000),
            ("base", 1),
        ];
        let unit = units.iter().find(|(unit, _)| behind.starts_with(unit));
        if let Some((_, mbps)) = unit {
            return decimal::times(number, mbps * 1_000_000).map(Rate::from_bits_per_second);
        }
        rest = behind;
    }
    None
}
