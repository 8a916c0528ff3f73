//! Devices that are hosts, and devices that are switches.

use std::collections::BTreeMap;

use tenter_notation::diagnostics::quote;

use super::table::Table;
use crate::error::{ImportError, Place};
use crate::fabric::{FabricReading, Selection};
use crate::imported::Source;

/// Parts of roles and names of switches, and of hosts.
const SWITCH: &str = "*leaf*,*spine*,*tor*,*switch*,*core*,*agg*,*router*";
const HOST: &str = "*server*,*host*,*gpu*,*node*,*compute*,*dgx*,*hgx*,*worker*,*storage*";

/// What tells hosts from switches.
pub(super) struct Devices {
    hosts: Selection,
    switches: Selection,
    roles: BTreeMap<String, String>,
}

impl Devices {
    pub(super) fn read(
        source: Option<Source<'_>>,
        reading: &FabricReading,
    ) -> Result<Devices, ImportError> {
        let of = |text: &Option<String>| Selection::of(text.as_deref().unwrap_or_default());
        let mut devices = Devices {
            hosts: of(&reading.hosts),
            switches: of(&reading.switches),
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

    /// Whether a device is a host: as the command says it of its name or its role, or else by the
    /// words in its role, or else by those in its name.
    pub(super) fn is_host(&self, device: &str, at: Place) -> Result<bool, ImportError> {
        let role = self.roles.get(device).map_or("", String::as_str);
        let (switch, host) = (Selection::of(SWITCH), Selection::of(HOST));
        let said = |of: &Selection| of.has(device) || of.has(role);
        for (hosts, switches) in [
            (said(&self.hosts), said(&self.switches)),
            (host.has(role), switch.has(role)),
            (host.has(device), switch.has(device)),
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
