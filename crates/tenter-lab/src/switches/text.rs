//! Recognition of texts by their first characters.

use super::fault::Fault;
use super::snapshot::Snapshot;
use super::{gnmi, sonic};

/// Reads any supported text: tables or JSON from `SONiC`, JSON from `gnmic`.
///
/// # Errors
/// Returns the reason why the text is not understood, with its line if one is at fault.
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
