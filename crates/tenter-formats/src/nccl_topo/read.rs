//! Conversion of a server into a scenario's `endpoint`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use tenter_language::notation::diagnostics::quote;
use tenter_language::units::{Budget, Rate};

use super::devices::{Devices, NICS_MAX, pcie};
use super::nvlink::{Domain, domain};
use crate::error::{ImportError, Place};
use crate::fabric::{FabricReading, FabricText, Server};
use crate::imported::Source;
use crate::limits;
use crate::{words, xml_text};

type Read<T> = Result<T, ImportError>;

/// Most elements in a file, and most GPUs in a server.
const ELEMENTS_MAX: u32 = 1 << 18;
const GPUS_MAX: usize = 1_024;

/// Reads a file.
///
/// # Errors
/// A text that is no XML, or a file that is no server, with its line.
pub fn read(source: Source<'_>, reading: &FabricReading, budget: &Budget) -> Read<FabricText> {
    let allowed = limits::text(source.bytes.len(), budget);
    let text = allowed.and_then(|()| words::text(source.bytes));
    let server = text.and_then(|text| server(text, reading));
    server.map_err(|error| error.in_file(source.name))
}

fn wrong(at: Place, what: impl Into<String>, remedy: &str) -> ImportError {
    ImportError::new(at, what, remedy)
}

/// Reads a server's file, and writes the sections for it.
fn server(text: &str, reading: &FabricReading) -> Read<FabricText> {
    let document = xml_text::parsed(text, ELEMENTS_MAX)?;
    let root = document.root_element();
    let at = Place::Line(document.text_pos_at(root.range().start).row as usize);
    if root.has_tag_name("graphs") {
        let what = "this is a graph file of NCCL (`NCCL_GRAPH_FILE`), which has the rings and trees \
                    of its channels, and no links";
        let remedy = "give the topology file of the server, which `NCCL_TOPO_DUMP_FILE` writes; list \
                      `ranks` of a job in the order of a ring to have that order";
        return Err(wrong(at, what, remedy));
    }
    if !root.has_tag_name("system") {
        let what = format!("the root is {}", quote(root.tag_name().name()));
        let remedy =
            "give a topology file, whose root is `system`: `NCCL_TOPO_DUMP_FILE` writes one";
        return Err(wrong(at, what, remedy));
    }
    let devices = Devices::of(root);
    if devices.gpus.is_empty() || devices.gpus.len() > GPUS_MAX {
        let what = format!("there are {} GPUs in it", devices.gpus.len());
        let remedy = "give a file with 1 to 1024 GPUs: classes `0x03…`, or elements `gpu`; \
                      `NCCL_TOPO_DUMP_FILE` writes them all";
        return Err(wrong(at, what, remedy));
    }
    if devices.nics.len() > NICS_MAX {
        let what = format!("there are more than {NICS_MAX} NICs in it");
        return Err(wrong(at, what, "give the file of one server"));
    }
    let mut notes = Vec::new();
    let nics = cabled(&devices, &mut notes);
    let yaml = sections(&devices, &nics, reading, at, &mut notes)?;
    Ok(FabricText { yaml, notes })
}

/// Returns the NICs that are nearest to a GPU, in GPU order: hosts and rails follow it.
fn cabled(devices: &Devices<'_>, notes: &mut Vec<String>) -> Vec<usize> {
    let nearest = devices.nearest();
    let (mut order, mut known): (Vec<usize>, BTreeSet<usize>) = (Vec::new(), BTreeSet::new());
    for &place in nearest.iter().flatten() {
        if known.insert(place) {
            order.push(place);
        }
    }
    let name = |place: &usize| devices.nics[*place].name.as_str();
    // GPUs with the same nearest NICs are named together in one note.
    let mut groups: Vec<(Vec<String>, &[usize])> = Vec::new();
    let mut group_of: BTreeMap<&[usize], usize> = BTreeMap::new();
    for (gpu, places) in nearest.iter().enumerate() {
        let next = groups.len();
        let group = *group_of.entry(places).or_insert(next);
        if group == next {
            groups.push((Vec::new(), places));
        }
        groups[group].0.push(gpu.to_string());
    }
    let near = groups.iter().filter(|(_, places)| !places.is_empty());
    let near = near.map(|(gpus, places)| {
        let names: Vec<&str> = places.iter().map(name).collect();
        format!("{} of GPU {}", names.join(", "), gpus.join(", "))
    });
    let near: Vec<String> = near.collect();
    if !near.is_empty() {
        notes.push(format!("the nearest NICs are {}", near.join("; ")));
    }
    // A NIC that no GPU is nearest to carries no rail, so it has no place in the order.
    let far = (0..devices.nics.len()).filter(|place| !known.contains(place));
    let far: Vec<&str> = far.map(|place| devices.nics[place].name.as_str()).collect();
    if !far.is_empty() {
        notes.push(format!(
            "{} are nearest to no GPU, and are left out",
            far.join(", ")
        ));
    }
    if devices.others > 0 {
        let others = devices.others;
        notes.push(format!(
            "{others} device(s) without a class of GPUs or NICs are left out"
        ));
    }
    order
}

/// Returns the number of NPUs at each NIC; 1 if they do not divide evenly.
fn share(gpus: usize, nics: usize, notes: &mut Vec<String>) -> u32 {
    if nics > 0 && gpus.is_multiple_of(nics) && gpus / nics <= 64 {
        return (gpus / nics) as u32;
    }
    if nics > 0 {
        notes.push(format!(
            "{gpus} GPUs have {nics} NICs, and Tenter has a NIC for one NPU or for several: each \
             NIC has one NPU"
        ));
    } else {
        // Guess: servers have a NIC for each GPU as a rule.
        notes.push("there is no NIC in it, so each GPU has one".to_owned());
    }
    1
}

/// Returns the scale-up domain of the server.
fn scale_up(devices: &Devices<'_>, npus_per_nic: u32, notes: &mut Vec<String>) -> Option<Server> {
    let gpus = devices.gpus.len() as u32;
    let server = |npus_per_host, rate| Server {
        npus_per_nic,
        npus_per_host,
        rate,
        latency: None,
    };
    let found = match domain(&devices.gpus) {
        // Guess: today's servers join all of their GPUs.
        Domain::Unknown if gpus > 1 => {
            let what = "no NVLinks are in it, which NCCL finds when it starts: the scale-up domain \
                        has all GPUs and the usual rate";
            notes.push(what.to_owned());
            Some(server(gpus, None))
        }
        Domain::Blocks(size, rate) if size.is_multiple_of(npus_per_nic) => {
            if rate.is_none() {
                let what = "nothing tells the rate of NVLink of these GPUs, so it is the usual one";
                notes.push(what.to_owned());
            }
            Some(server(size, rate))
        }
        _ => None,
    };
    if found.is_none() && gpus > 1 {
        // NPUs that share a NIC need a domain in common: over PCIe here, at a rate that the user
        // gives.
        if npus_per_nic > 1 {
            let what = "NVLinks do not join all GPUs of a NIC, so they share data over PCIe: \
                        give its rate as `endpoint.host.scale_up.rate`";
            notes.push(what.to_owned());
            return Some(server(gpus, None));
        }
        notes.push(
            "NVLinks join no equal blocks of GPUs, so there is no scale-up domain".to_owned(),
        );
    }
    found
}

/// Writes `endpoint:`, and `fabric:` if the user asks for a number of servers. Leaf i of that
/// fabric has NIC i of each server; with as many spines as servers it is non-blocking. All NICs
/// have the rate of the slowest, since a scenario has one for all.
fn sections(
    devices: &Devices<'_>,
    nics: &[usize],
    reading: &FabricReading,
    at: Place,
    notes: &mut Vec<String>,
) -> Read<String> {
    let npus = share(devices.gpus.len(), nics.len(), notes);
    let speeds = nics.iter().map(|nic| devices.nics[*nic].speed);
    let speeds: Option<Vec<u64>> = speeds.collect();
    let told = speeds.and_then(|speeds| speeds.into_iter().min());
    let told = told.and_then(|mbps| mbps.checked_mul(1_000_000));
    let rate = told.map(Rate::from_bits_per_second).or(reading.rate);
    let mut yaml = String::from("# A server of a topology file of NCCL.\n");
    if let Some(servers) = reading.servers {
        let Some(rate) = rate else {
            let what = "nothing tells the rate of the NICs";
            return Err(wrong(at, what, "give it: `--set rate=400Gbps`"));
        };
        let of_server = if nics.is_empty() {
            devices.gpus.len()
        } else {
            nics.len()
        };
        let _ = write!(
            yaml,
            "fabric:\n  kind: rail\n  servers: {servers}\n  nics_per_server: {of_server}\n  spines: \
             {servers}\n  host_rate: {rate}\n  uplink_rate: {rate}\n"
        );
    } else if let Some(rate) = rate {
        notes.push(format!(
            "NICs have {rate}: give it as `host_rate` of the fabric"
        ));
    }
    let mut own = String::new();
    if let Some(server) = scale_up(devices, npus, notes) {
        server.write(&mut own);
    }
    let slots = nics.iter().map(|nic| pcie(devices.nics[*nic].element));
    let slots: Option<Vec<(u8, u8)>> = slots.collect();
    let slots = slots.unwrap_or_default();
    if let Some((generation, lanes)) = slots
        .iter()
        .min_by_key(|(speed, lanes)| (1_u32 << speed) * u32::from(*lanes))
    {
        let _ = write!(
            own,
            "  nic:\n    pcie: {{generation: {generation}, lanes: {lanes}}}\n"
        );
        if slots.iter().any(|slot| *slot != (*generation, *lanes)) {
            notes.push("all NICs have the slot of the slowest".to_owned());
        }
    } else if !nics.is_empty() {
        notes.push("nothing tells the PCIe slots of the NICs".to_owned());
    }
    let mut elements: Vec<_> = nics
        .iter()
        .map(|nic| devices.nics[*nic].element.id().get())
        .collect();
    elements.sort_unstable();
    elements.dedup();
    if elements.len() < nics.len() {
        notes
            .push("ports of one NIC share a slot in the server, and have one each here".to_owned());
    }
    if !own.is_empty() {
        let _ = write!(yaml, "endpoint:\n{own}");
    }
    Ok(yaml)
}
