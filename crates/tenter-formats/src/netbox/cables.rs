//! Cables with the devices and interfaces at their ends.

use std::collections::{BTreeMap, BTreeSet};

use tenter_language::notation::diagnostics::quote;
use tenter_language::units::{Budget, Rate, Time};

use super::devices::Devices;
use super::interfaces::Interfaces;
use super::table::{Row, Table};
use crate::error::{ImportError, Place};
use crate::fabric::{Cable, End, FabricReading, FabricText, Graph, PS_PER_METRE, given, natural};
use crate::imported::Source;
use crate::limits;

type Read<T> = Result<T, ImportError>;

/// Files that an import reads; only the first is needed.
#[derive(Clone, Copy)]
pub struct Files<'a> {
    /// Cable list, which gives the fabric its nodes and links.
    pub cables: Source<'a>,
    /// The list of devices with their roles.
    pub devices: Option<Source<'a>>,
    /// The list of interfaces with their types.
    pub interfaces: Option<Source<'a>>,
}

/// Reads the cables of a fabric.
///
/// # Errors
/// The first line that violates the format, and cables that make no fabric.
pub fn read(files: Files<'_>, reading: &FabricReading, budget: &Budget) -> Read<FabricText> {
    let further = [files.devices, files.interfaces].into_iter().flatten();
    let all = further.map(|file| file.bytes.len()).sum::<usize>();
    limits::text(all + files.cables.bytes.len(), budget)?;
    let devices = Devices::read(files.devices, reading)?;
    let interfaces = Interfaces::read(files.interfaces)?;
    let read = || {
        let table = Table::read(files.cables)?;
        let mut cables = Cables::default();
        cables.read(&table)?;
        cables.fabric(&devices, &interfaces, reading, budget)
    };
    read().map_err(|error| error.in_file(files.cables.name))
}

/// Columns for one end of a cable.
struct Side {
    device: usize,
    interface: usize,
    /// Column for the kind of the end, if there is one.
    kind: Option<usize>,
}

impl Side {
    /// Finds the columns for side `letter`, in any of the forms that `NetBox` has.
    fn find(table: &Table, letter: &str) -> Read<Side> {
        let names = |forms: &[&str]| -> Vec<String> {
            forms.iter().map(|form| form.replace('@', letter)).collect()
        };
        let find = |forms: &[&str]| {
            let names = names(forms);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let numbers = format!("termination_{letter}_id");
            let remedy = if table.find(&[&numbers]).is_some() {
                "this export has numbers in place of names: export the current view of the list of \
                 cables, with the columns Device A, Termination A, Device B and Termination B"
            } else {
                "name the columns as NetBox does: Device A, Termination A, Device B, Termination B, or \
                 side_a_device, side_a_name, side_b_device, side_b_name"
            };
            table.need(&names, remedy)
        };
        let kind = format!("side_{letter}_type");
        Ok(Side {
            device: find(&["device_@", "side_@_device", "side_@"])?,
            interface: find(&["termination_@", "side_@_name", "interface_@"])?,
            kind: table.find(&[&kind]),
        })
    }
}

/// An interface: device name and interface name.
type Port = (String, String);

/// A cable, as its line has it.
struct Line {
    ends: [Port; 2],
    rate: Option<Rate>,
    delay: Option<Time>,
    at: Place,
}

#[derive(Default)]
/// All cables that count, with notes for the user.
struct Cables {
    lines: Vec<Line>,
    notes: Vec<String>,
}

fn wrong(at: Place, what: impl Into<String>, remedy: &str) -> ImportError {
    ImportError::new(at, what, remedy)
}

impl Cables {
    /// Reads the cables, without those that join no two interfaces or are being removed.
    fn read(&mut self, table: &Table) -> Read<()> {
        let sides = [Side::find(table, "a")?, Side::find(table, "b")?];
        let (status, length) = (table.find(&["status"]), table.find(&["length"]));
        let (unit, rate) = (table.find(&["length_unit"]), table.find(&["rate"]));
        let (mut others, mut going, mut planned) = (0_u64, 0_u64, 0_u64);
        let mut used = BTreeSet::new();
        for row in &table.rows {
            let is_interface = |side: &Side| {
                let kind = row.cell(side.kind);
                // Guess: exports of the current view do not tell the kind of an end, so it is an
                // interface.
                kind.is_empty() || kind.trim_start_matches("dcim.") == "interface"
            };
            match row.cell(status).to_lowercase().as_str() {
                "decommissioning" => {
                    going += 1;
                    continue;
                }
                // Planned cables count: the fabric may not be built yet.
                "planned" => planned += 1,
                _ => {}
            }
            if !sides.iter().all(is_interface) {
                others += 1;
                continue;
            }
            let ends = [port(row, &sides[0])?, port(row, &sides[1])?];
            for end in &ends {
                // A port takes one cable: a second one is a duplicate or a breakout.
                if !used.insert(end.clone()) {
                    let what = format!(
                        "the interface {} of {} has two cables",
                        quote(&end.1),
                        quote(&end.0)
                    );
                    return Err(wrong(row.at, what, "keep one of them"));
                }
            }
            self.lines.push(Line {
                ends,
                rate: told_rate(row, rate)?,
                delay: delay(row, length, unit)?,
                at: row.at,
            });
        }
        for (count, what) in [
            (
                others,
                "cable(s) that do not join two interfaces are left out, those of patch panels too",
            ),
            (going, "cable(s) that are being decommissioned are left out"),
            (planned, "cable(s) are only planned"),
        ] {
            if count > 0 {
                self.notes.push(format!("{count} {what}"));
            }
        }
        Ok(())
    }

    /// Makes the fabric from the cables, whose rates may come from `interfaces`.
    fn fabric(
        self,
        devices: &Devices,
        interfaces: &Interfaces,
        reading: &FabricReading,
        budget: &Budget,
    ) -> Read<FabricText> {
        let mut is_host: BTreeMap<&str, bool> = BTreeMap::new();
        let mut places: Vec<(&Port, Place)> = Vec::new();
        for line in &self.lines {
            for end in &line.ends {
                if !is_host.contains_key(end.0.as_str()) {
                    is_host.insert(&end.0, devices.is_host(&end.0, line.at)?);
                }
                places.push((end, line.at));
            }
        }
        // The order of nodes, and so of ranks, is that of names and not that of the file.
        places.sort_by(|((a, p), _), ((b, q), _)| natural(a, b).then_with(|| natural(p, q)));
        let mut graph = Graph::default();
        let ends = nodes(&places, &is_host, &mut graph);
        let mut slower = 0_u64;
        for line in &self.lines {
            // Both ends must agree on a rate, so the slower interface decides.
            let rates = line
                .ends
                .each_ref()
                .map(|(device, name)| interfaces.rate(device, name));
            slower += u64::from(matches!(rates, [Some(a), Some(b)] if a != b));
            let told = line.rate.or(rates.into_iter().flatten().min());
            let both =
                [ends.get(&line.ends[0]), ends.get(&line.ends[1])].map(Option::<&End>::copied);
            let [Some(a), Some(b)] = both else { continue };
            let of_host = [a, b].iter().any(|end| matches!(end, End::Host(_)));
            let host_rate = reading.host_rate.filter(|_| of_host);
            let [(a_device, a_name), (b_device, b_name)] = &line.ends;
            let shown = format!(
                "the cable from {} to {}",
                quote(&format!("{a_device} {a_name}")),
                quote(&format!("{b_device} {b_name}"))
            );
            let rate = given(told, host_rate.or(reading.rate), &shown, line.at)?;
            graph.cable(Cable {
                ends: [a, b],
                rate,
                delay: line.delay.or(reading.delay),
                loss: "0".to_owned(),
                at: line.at,
            });
        }
        if slower > 0 {
            let what = "cable(s) join interfaces of different types, and have the lower rate";
            graph.notes.push(format!("{slower} {what}"));
        }
        // Notes on the file come before those on the fabric.
        graph.notes.splice(0..0, self.notes);
        let end = self.lines.last().map_or(Place::Line(1), |line| line.at);
        graph.finish("Cables of NetBox.", end, budget)
    }
}

/// Adds a host for each interface of a host, and a switch for each other device, sorted by name.
fn nodes<'p>(
    places: &[(&'p Port, Place)],
    is_host: &BTreeMap<&str, bool>,
    graph: &mut Graph,
) -> BTreeMap<&'p Port, End> {
    let mut ends = BTreeMap::new();
    let of_device = |a: &(&Port, Place), b: &(&Port, Place)| a.0.0 == b.0.0;
    let hosts = places
        .chunk_by(of_device)
        .filter(|ports| is_host[ports[0].0.0.as_str()]);
    // The names of hosts have one form, so a single device with two interfaces changes all.
    let several = hosts.clone().any(|ports| ports.len() > 1);
    for &(port, at) in hosts.flatten() {
        let (device, interface) = port;
        let name = if several {
            format!("{device}/{interface}")
        } else {
            device.clone()
        };
        ends.insert(port, graph.host(name, at));
    }
    for ports in places
        .chunk_by(of_device)
        .filter(|ports| !is_host[ports[0].0.0.as_str()])
    {
        let switch = graph.switch(ports[0].0.0.clone(), ports[0].1);
        ends.extend(ports.iter().map(|(port, _)| (*port, switch)));
    }
    ends
}

/// Reads device and interface at an end.
fn port(row: &Row, side: &Side) -> Read<Port> {
    let (device, interface) = (row.cell(Some(side.device)), row.cell(Some(side.interface)));
    if device.is_empty() || interface.is_empty() {
        let what = "an end of the cable has no device or no interface";
        return Err(wrong(row.at, what, "name both, or leave the cable out"));
    }
    if interface.contains(',') {
        let what = format!("{} is several interfaces", quote(interface));
        return Err(wrong(
            row.at,
            what,
            "give each cable of a breakout a line of its own",
        ));
    }
    Ok((device.to_owned(), interface.to_owned()))
}

/// Reads the rate of a cable, if a column has it.
fn told_rate(row: &Row, column: Option<usize>) -> Read<Option<Rate>> {
    let cell = row.cell(column);
    if cell.is_empty() {
        return Ok(None);
    }
    let rate = cell.parse::<Rate>();
    rate.map(Some)
        .map_err(|error| ImportError::of(row.at, error))
}

/// Computes the delay of a cable from its length, if a column has it. Guess: a length without a
/// unit is in metres.
fn delay(row: &Row, length: Option<usize>, unit: Option<usize>) -> Read<Option<Time>> {
    let cell = row.cell(length);
    if cell.is_empty() {
        return Ok(None);
    }
    let (number, behind) = cell.split_once(' ').unwrap_or((cell, row.cell(unit)));
    let metres = match behind.trim().to_lowercase().as_str() {
        "m" | "meters" | "" => 1.0,
        "cm" | "centimeters" => 0.01,
        "km" | "kilometers" => 1_000.0,
        "ft" | "feet" => 0.3048,
        "in" | "inches" => 0.0254,
        "mi" | "miles" => 1_609.344,
        other => {
            let what = format!("{} is no unit of length", quote(other));
            return Err(wrong(row.at, what, "give m, cm, km, ft, in or mi"));
        }
    };
    let number: Option<f64> = number.parse().ok();
    let long = number.map(|number| number * metres);
    let Some(long) = long.filter(|long| (0.0..=200_000_000.0).contains(long)) else {
        let what = format!("{} is no length", quote(cell));
        return Err(wrong(row.at, what, "give a decimal number"));
    };
    let ps = (long * PS_PER_METRE as f64).round();
    Ok(Some(Time::from_ps(ps as u64)))
}
