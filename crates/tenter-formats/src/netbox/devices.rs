//! Distinction between hosts and switches.

use std::collections::BTreeMap;

use tenter_language::notation::diagnostics::quote;

use super::table::Table;
use crate::error::{ImportError, Place};
use crate::fabric::{FabricReading, Selection};
use crate::imported::Source;

/// Fallback patterns for roles and names of switches …
const SWITCH: &str = "*leaf*,*spine*,*switch*,*router*";
/// … and words that count only as a whole, since others contain them: `storage` has `tor`.
const SWITCH_WORDS: [&str; 3] = ["tor", "core", "agg"];
/// Fallback patterns for roles and names of hosts.
const HOST: &str = "*server*,*host*,*gpu*,*node*,*compute*,*dgx*,*hgx*,*worker*,*storage*";

/// The user's patterns, the fallback patterns, and the roles of devices.
pub(super) struct Devices {
    hosts: Selection,
    switches: Selection,
    /// Fallback patterns, for devices that no pattern of the user matches.
    usual_hosts: Selection,
    usual_switches: Selection,
    roles: BTreeMap<String, String>,
}

impl Devices {
    /// Takes the user's patterns, and the roles in a device list if one is given.
    pub(super) fn read(
        source: Option<Source<'_>>,
        reading: &FabricReading,
    ) -> Result<Devices, ImportError> {
        let of = |text: &Option<String>| Selection::of(text.as_deref().unwrap_or_default());
        let mut devices = Devices {
            hosts: of(&reading.hosts),
            switches: of(&reading.switches),
            usual_hosts: Selection::of(HOST),
            usual_switches: Selection::of(SWITCH),
            roles: BTreeMap::new(),
        };
        if let Some(source) = source {
            let table = Table::read(source).map_err(|error| error.in_file(source.name))?;
            let remedy = "give the list of devices as NetBox exports it, with `name` and `role`";
            let need = |names: &[&str]| {
                table
                    .need(names, remedy)
                    .map_err(|error| error.in_file(source.name))
            };
            let (name, role) = (need(&["name"])?, need(&["role", "device_role"])?);
            for row in &table.rows {
                let (name, role) = (row.cell(Some(name)), row.cell(Some(role)));
                devices.roles.insert(name.to_owned(), role.to_owned());
            }
        }
        Ok(devices)
    }

    /// Returns true for a host. The user's patterns for name or role come first. Without a match,
    /// words that are common for hosts or switches tell (a guess): those in the role, then those in
    /// the name. A device that matches patterns for both is a switch.
    pub(super) fn is_host(&self, device: &str, at: Place) -> Result<bool, ImportError> {
        let role = self.roles.get(device).map_or("", String::as_str);
        let host = |text: &str| self.usual_hosts.has(text);
        let switch = |text: &str| self.usual_switches.has(text) || has_switch_word(text);
        let said = |of: &Selection| of.has(device) || of.has(role);
        for (hosts, switches) in [
            (said(&self.hosts), said(&self.switches)),
            (host(role), switch(role)),
            (host(device), switch(device)),
        ] {
            if hosts || switches {
                return Ok(!switches);
            }
        }
        let what = format!(
            "nothing tells whether {} is a host or a switch",
            quote(device)
        );
        let remedy = "say which are, for example `--set 'hosts=gpu-*' --set 'switches=sw-*'`, or give \
                      the devices with their roles: `--set devices=devices.csv`";
        Err(ImportError::new(at, what, remedy))
    }
}

/// Returns true if a word in the text is that of a switch, perhaps with a number: `tor12-b`.
fn has_switch_word(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|letter: char| !letter.is_ascii_alphabetic());
    words.any(|word| SWITCH_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_within_words_are_no_switches() {
        let devices = Devices::read(None, &FabricReading::default()).expect("there is no file");
        for (name, is_host) in [
            ("storage-1", true),
            ("gpu-monitor", true),
            ("tor12-b", false),
            ("core1", false),
            ("leaf7", false),
        ] {
            assert_eq!(devices.is_host(name, Place::Line(1)), Ok(is_host), "{name}");
        }
        assert!(devices.is_host("score", Place::Line(1)).is_err());
    }
}
