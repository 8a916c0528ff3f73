//! Texts of switches: which kind one is.

use super::fault::Fault;
use super::snapshot::Snapshot;
use super::{gnmi, sonic};

/// Reads a text of any kind that is known: tables or JSON of `SONiC`, JSON of `gnmic`.
pub(super) fn read(text: &str) -> Result<Snapshot, Fault> {
    let begins = text.trim_start();
    if begins.is_empty() {
        return Err(Fault {
            line: None,
            what: "there is nothing in it; run the command again".to_owned(),
        });
    }
    if !begins.starts_with(['{', '[']) {
        return sonic::tables(text);
    }
    if gnmi::is_gnmi(text) {
        return gnmi::read(text);
    }
    sonic::json(text)
}
