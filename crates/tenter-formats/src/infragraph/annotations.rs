//! Ranks in annotations, which order the hosts.

use std::collections::BTreeMap;

use tenter_language::notation::diagnostics::quote;

use super::expand::{Devices, Path};
use super::parts::{Kind, Rank, Read};
use crate::error::{ImportError, Place};

/// An annotated node: name and number of an instance, and a component if the node names one.
type Ranked = (String, u32, Option<Path>);

/// Ranks of annotated nodes, sorted by instance.
pub(super) struct Ranks(BTreeMap<Ranked, u64>);

/// Splits a node's name into names with indices: `host.0.xpu.1` or `host[0]xpu[1]`.
fn parts(node: &str, at: Place) -> Read<Vec<(&str, u32)>> {
    let wrong = || {
        let what = format!("{} is no node with a rank", quote(node));
        ImportError::new(at, what, "name one `xpu`: `host.0.xpu.1`")
    };
    let mut parts = Vec::new();
    let mut words = node
        .split(['.', '[', ']'])
        .map(str::trim)
        .filter(|word| !word.is_empty());
    while let Some(name) = words.next() {
        let index = words.next().and_then(|word| word.parse().ok());
        parts.push((name, index.ok_or_else(wrong)?));
    }
    if parts.is_empty() {
        Err(wrong())
    } else {
        Ok(parts)
    }
}

impl Ranks {
    /// Resolves a document's ranks. `device` returns an instance's device and count.
    pub(super) fn of(
        ranks: &[Rank],
        devices: &Devices<'_>,
        device: impl Fn(&str) -> Option<(String, u32)>,
    ) -> Read<Ranks> {
        let mut found = BTreeMap::new();
        for rank in ranks {
            let place = Ranks::place(rank, devices, &device);
            let place = place.map_err(|error| match &rank.file {
                Some(file) => error.in_file(file),
                None => error,
            });
            found.insert(place?, rank.value);
        }
        Ok(Ranks(found))
    }

    /// Resolves the node that has a rank.
    fn place(
        Rank { node, at, .. }: &Rank,
        devices: &Devices<'_>,
        device: impl Fn(&str) -> Option<(String, u32)>,
    ) -> Read<Ranked> {
        let parts = parts(node, *at)?;
        let (instance, number) = parts[0];
        let known = device(instance).filter(|(_, count)| number < *count);
        let Some((device, _)) = known else {
            let what = format!(
                "there is no instance {}",
                quote(&format!("{instance}.{number}"))
            );
            return Err(ImportError::new(*at, what, "name one of the instances"));
        };
        let words = parts[1..]
            .iter()
            .map(|(name, index)| format!("{name}[{index}]"));
        let component = words.collect::<Vec<String>>().join(".");
        let path = match component.as_str() {
            "" => None,
            component => devices.paths(&device, component, *at)?.pop(),
        };
        Ok((instance.to_owned(), number, path))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns an instance's ranks: those on its `xpu`s in order, or its own.
    pub(super) fn of_instance(
        &self,
        instance: &str,
        number: u32,
        devices: &Devices<'_>,
        device: &str,
    ) -> Vec<u64> {
        let from = (instance.to_owned(), number, None);
        // Keys begin with name and number, so an instance's ranks are one range.
        let own = self.0.range(from..);
        let own = own.take_while(|((name, of, _), _)| (name.as_str(), *of) == (instance, number));
        let is_npu = |path: &Option<Path>| {
            let kind = path.as_ref().map(|path| devices.describe(device, path).0);
            matches!(kind, None | Some(Kind::Xpu | Kind::Nic))
        };
        let own = own.filter(|((_, _, path), _)| is_npu(path));
        own.map(|(_, rank)| *rank).collect()
    }
}
