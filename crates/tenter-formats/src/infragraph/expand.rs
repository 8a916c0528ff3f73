//! Devices with their components, and edges with their ends expanded.

use std::cell::Cell;
use std::collections::BTreeMap;

use tenter_language::notation::diagnostics::quote;
use tenter_language::units::suggestion;

use super::index;
use super::parts::{Device, Kind, Read, Scheme};
use crate::error::{ImportError, Place};

/// A component's position in an instance: for each device on the path, the component's place in the
/// device's list, and the index among its copies.
pub(super) type Path = Vec<(u32, u32)>;

/// Most edges in a file, and most components at one end of an edge.
const EDGES_MAX: usize = 1 << 20;
/// Most components at the ends of all edges together.
const ENDS_MAX: usize = 1 << 24;
/// Most levels at which devices may be nested.
const DEPTH_MAX: usize = 16;

/// Numbers of `xpu`s and `nic`s in a device, with those in nested devices.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) xpus: u64,
    pub(super) nics: u64,
}

/// All devices by name, with counts that their expansion needs.
pub(super) struct Devices<'d> {
    by_name: &'d BTreeMap<String, Device>,
    /// A component's place in its device's list, by both names.
    places: BTreeMap<(&'d str, &'d str), u32>,
    counts: BTreeMap<&'d str, Counts>,
    /// Number of components that the ends so far stand for.
    spent: Cell<usize>,
}

/// Counts for all edges that have been expanded.
#[derive(Default)]
pub(super) struct Edges {
    written: usize,
    /// Edges with `one2one` whose ends have different lengths.
    pub(super) uneven: u64,
}

fn wrong(at: Place, what: String, remedy: &str) -> ImportError {
    ImportError::new(at, what, remedy)
}

impl Edges {
    /// Pairs the components of two ends.
    pub(super) fn pairs<T: Clone + PartialEq>(
        &mut self,
        scheme: Scheme,
        [a, b]: [&[T]; 2],
        at: Place,
    ) -> Read<Vec<(T, T)>> {
        let count = match scheme {
            Scheme::OneToOne => a.len().min(b.len()),
            Scheme::ManyToMany => a.len().saturating_mul(b.len()),
        };
        self.written = self.written.saturating_add(count);
        if self.written > EDGES_MAX {
            let what = "there are more than 1048576 edges".to_owned();
            return Err(wrong(at, what, "give fewer, or smaller slices"));
        }
        let pair = |(a, b): (&T, &T)| (a.clone(), b.clone());
        let mut pairs: Vec<(T, T)> = match scheme {
            Scheme::OneToOne => a.iter().zip(b).map(pair).collect(),
            Scheme::ManyToMany => a
                .iter()
                .flat_map(|a| b.iter().map(move |b| (a.clone(), b.clone())))
                .collect(),
        };
        self.uneven += u64::from(scheme == Scheme::OneToOne && a.len() != b.len());
        // An edge from a set to itself pairs each component with itself, too, which is no cable.
        pairs.retain(|(a, b)| a != b);
        Ok(pairs)
    }
}

impl<'d> Devices<'d> {
    /// Takes the devices of a document, and counts their components.
    pub(super) fn of(devices: &'d BTreeMap<String, Device>) -> Read<Devices<'d>> {
        let mut all = Devices {
            by_name: devices,
            places: BTreeMap::new(),
            counts: BTreeMap::new(),
            spent: Cell::new(0),
        };
        for (name, device) in devices {
            all.count(name, 0)?;
            for (place, component) in (0..).zip(&device.components) {
                let key = (name.as_str(), component.name.as_str());
                all.places.entry(key).or_insert(place);
            }
        }
        Ok(all)
    }

    /// Counts `xpu`s and `nic`s in a device. `depth` is its nesting so far.
    fn count(&mut self, name: &'d str, depth: usize) -> Read<Counts> {
        if let Some(known) = self.counts.get(name) {
            return Ok(*known);
        }
        let devices = self.by_name;
        let Some(device) = devices.get(name) else {
            return Ok(Counts::default());
        };
        // A device's counts are stored only after those within, so they do not stop a circle.
        if depth > DEPTH_MAX {
            let what = format!(
                "the device {} is in itself, or nested too deeply",
                quote(name)
            );
            return Err(wrong(
                device.at,
                what,
                "take it out of the devices that it has",
            ));
        }
        let mut counts = Counts::default();
        for component in &device.components {
            let within = match component.kind {
                Kind::Xpu => Counts { xpus: 1, nics: 0 },
                Kind::Nic => Counts { xpus: 0, nics: 1 },
                Kind::Device => self.count(&component.name, depth + 1)?,
                _ => Counts::default(),
            };
            let times = |each: u64| each.saturating_mul(component.count.into());
            counts.xpus = counts.xpus.saturating_add(times(within.xpus));
            counts.nics = counts.nics.saturating_add(times(within.nics));
        }
        self.counts.insert(name, counts);
        Ok(counts)
    }

    /// Returns the numbers of `xpu`s and `nic`s in a device.
    pub(super) fn counts(&self, name: &str) -> Counts {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// Returns a device by its name.
    pub(super) fn get(&self, name: &str, at: Place) -> Read<&'d Device> {
        self.by_name.get(name).ok_or_else(|| {
            let names = self.by_name.keys().map(String::as_str);
            let what = format!("there is no device {}", quote(name));
            wrong(at, what, &suggestion(name, names))
        })
    }

    /// Counts components that an end stands for, and bounds their total.
    pub(super) fn spend(&self, components: usize, at: Place) -> Read<()> {
        let spent = self.spent.get().saturating_add(components);
        self.spent.set(spent);
        if spent > ENDS_MAX {
            let what = "the ends of edges stand for more than 16777216 components".to_owned();
            return Err(wrong(at, what, "give fewer edges, or smaller slices"));
        }
        Ok(())
    }

    /// Expands names with slices into components: `nic[0:2]`, `cx5[0].port`.
    pub(super) fn paths(&self, device: &str, text: &str, at: Place) -> Read<Vec<Path>> {
        let (mut of, mut paths) = (device, vec![Path::new()]);
        let mut elements = text.split('.').peekable();
        // The text may begin with the name of the device itself.
        self.get(of, at)?;
        let is_component = |name| self.places.contains_key(&(device, name));
        let mut element = elements.next();
        if let Some(first) = element.map(index::name)
            && first == of
            && !is_component(first)
            && elements.peek().is_some()
        {
            element = elements.next();
        }
        while let Some(word) = element {
            let (name, device) = (index::name(word), self.get(of, at)?);
            let place = self.places.get(&(of, name)).copied();
            let component = place.and_then(|place| device.components.get(place as usize));
            let Some((place, component)) = place.zip(component) else {
                let names = device.components.iter().map(|known| known.name.as_str());
                let what = format!("{} has no component {}", quote(of), quote(name));
                return Err(wrong(at, what, &suggestion(name, names)));
            };
            let found = index::indexes(word, component.count, at)?;
            // Charged before the lists are built: a few bytes of slices may expand to millions.
            self.spend(paths.len().saturating_mul(found.len()), at)?;
            if paths.len().saturating_mul(found.len()) > EDGES_MAX {
                let what = format!("{} stands for more than 1048576 components", quote(text));
                return Err(wrong(at, what, "give a smaller slice"));
            }
            let longer = |path: &Path| {
                let path = path.clone();
                found.iter().map(move |&index| {
                    let mut path = path.clone();
                    path.push((place, index));
                    path
                })
            };
            paths = paths.iter().flat_map(longer).collect();
            of = name;
            element = elements.next();
            if element.is_some() && component.kind != Kind::Device {
                let what = format!("{} is no device with components of its own", quote(name));
                return Err(wrong(at, what, "name a component of a device"));
            }
        }
        Ok(paths)
    }

    /// Returns the kind of the component at `path`, and its name for people: `nic3`, `cx5-0/port1`.
    pub(super) fn describe(&self, device: &str, path: &Path) -> (Kind, String) {
        let (mut of, mut kind, mut shown) = (device, Kind::Custom, String::new());
        for &(place, index) in path {
            let device = self.by_name.get(of);
            let Some(component) = device.and_then(|of| of.components.get(place as usize)) else {
                break;
            };
            if !shown.is_empty() {
                shown.push('/');
            }
            shown.push_str(&numbered(&component.name, index));
            (of, kind) = (&component.name, component.kind);
        }
        (kind, shown)
    }
}

/// Appends a number to a name, with a hyphen if the name ends in a digit.
pub(super) fn numbered(name: &str, number: u32) -> String {
    let ends_so = name.ends_with(|last: char| last.is_ascii_digit());
    // Number 2 of `leaf1` becomes `leaf1-2`, and is not mistaken for `leaf12`.
    let between = if ends_so { "-" } else { "" };
    format!("{name}{between}{number}")
}
