//! Process groups and their ranks, as recordings describe them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::{ImportError, Wrong};
use crate::imported::Source;
use crate::json_text;
use crate::trace::{Groups, NAME_RANKS};

/// A process group's description in a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Members {
    pub(crate) name: String,
    /// A list such as `[0, 1, ...]`, whose end may have been cut.
    pub(crate) list: String,
    /// First rank, if the call names it.
    pub(crate) start: Option<u64>,
    /// Distance between neighbouring ranks; negative if it differs between them.
    pub(crate) stride: Option<i64>,
    /// Number of ranks, if the call names it.
    pub(crate) size: Option<u64>,
}

/// Process groups that a rank knows, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessGroups {
    by_name: BTreeMap<String, Vec<u32>>,
    /// Common name for each further name. Older traces name groups by addresses, which differ
    /// between ranks.
    plain: BTreeMap<String, String>,
    /// Group numbers that were resolved before: calls repeat few descriptions.
    known: BTreeMap<Members, u32>,
}

impl ProcessGroups {
    /// Reads groups from a file `{"NAME": [RANK, …]}`, if one is given.
    ///
    /// # Errors
    /// A file with other content.
    pub(crate) fn given(file: Option<Source<'_>>) -> Result<ProcessGroups, ImportError> {
        let mut groups = ProcessGroups::default();
        let Some(file) = file else {
            return Ok(groups);
        };
        let read: Result<BTreeMap<String, Vec<u32>>, _> = serde_json::from_slice(file.bytes);
        groups.by_name = read.map_err(|error| {
            let what = format!("this is no file of groups ({error})");
            let remedy = "write {\"NAME\": [RANK, …]}";
            ImportError::new(json_text::place(&error), what, remedy).in_file(file.name)
        })?;
        Ok(groups)
    }

    /// Stores a group's ranks; an empty list means all ranks.
    pub(crate) fn set(&mut self, name: &str, ranks: Vec<u32>) {
        self.by_name.insert(name.to_owned(), ranks);
    }

    /// Counts the ranks that the group lists; `None` if it is unknown or stands for all.
    pub(crate) fn size(&self, name: &str) -> Option<u32> {
        let ranks = self.by_name.get(name)?;
        Some(ranks.len() as u32).filter(|&size| size > 0)
    }

    /// Adds `other` as a further name for the group `name`.
    pub(crate) fn name_again(&mut self, name: &str, other: &str) {
        if let Some(ranks) = self.by_name.get(name).cloned() {
            self.set(other, ranks);
            self.plain.insert(other.to_owned(), name.to_owned());
        }
    }

    /// Returns the name under which all ranks know the group.
    pub(crate) fn plain_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.plain.get(name).map_or(name, String::as_str)
    }

    /// Stores the groups in a configuration: a list whose items have `pg_name` and `ranks`, or an
    /// object that maps names to objects with `ranks`. The ranks may be a list or a text.
    pub(crate) fn set_all(&mut self, config: &Value) {
        let listed = config.as_array().into_iter().flatten();
        let listed = listed.filter_map(|group| Some((group["pg_name"].as_str()?, group)));
        let named = config.as_object().into_iter().flatten();
        let named = named.map(|(name, group)| (name.as_str(), group));
        for (name, group) in listed.chain(named) {
            let ranks = match &group["ranks"] {
                Value::Array(list) => list.iter().map(|rank| whole(rank.as_u64()?)).collect(),
                Value::String(text) => numbers(text),
                _ => None,
            };
            if let Some(ranks) = ranks {
                self.set(name, ranks);
            }
        }
    }

    /// Returns a group's number in `groups`, for a job with `all` ranks. The user's file, `given`,
    /// takes precedence over the recording.
    ///
    /// # Errors
    /// A group whose ranks nothing tells.
    pub(crate) fn number(
        &mut self,
        members: &Members,
        given: &ProcessGroups,
        groups: &mut Groups,
        all: u32,
    ) -> Result<u32, Wrong> {
        if let Some(number) = self.known.get(members) {
            return Ok(*number);
        }
        let ranks = given
            .by_name
            .get(&members.name)
            .cloned()
            .or_else(|| self.ranks(members, all));
        let ranks = ranks.ok_or_else(|| {
            let what = format!("nothing says which ranks group `{}` has", members.name);
            Wrong::new(what, NAME_RANKS)
        })?;
        let name = self.plain_name(&members.name);
        // An empty list means all ranks, and the job may have more than the recording.
        let number = if ranks.is_empty() {
            groups.of_ranks(name, (0..all).collect())?
        } else {
            groups.of_ranks(name, ranks)?
        };
        self.known.insert(members.clone(), number);
        Ok(number)
    }

    /// Returns a group's ranks from the best source: the complete list, the group's definition, or
    /// guesses from stride and size. An empty list means all ranks.
    fn ranks(&self, members: &Members, all: u32) -> Option<Vec<u32>> {
        if let Some(list) = numbers(&members.list).filter(|list| !list.is_empty()) {
            return Some(list);
        }
        let named = self.by_name.get(&members.name);
        if let Some(ranks) = named.filter(|ranks| !ranks.is_empty()) {
            return Some(ranks.clone());
        }
        let size = members.size.and_then(whole);
        if members.stride.is_some_and(i64::is_negative) {
            return (size == Some(all)).then(Vec::new);
        }
        // Guess: a list that was cut shows the first ranks, and with them start and stride.
        let first = members.list.trim().trim_start_matches('[').split(',');
        let mut first = first.map_while(|rank| rank.trim().parse::<u64>().ok());
        let (one, two) = (first.next(), first.next());
        let start = members.start.or(one);
        let stride = members.stride.and_then(|stride| u64::try_from(stride).ok());
        let stride = stride.filter(|&stride| stride > 0);
        let stride = stride.or_else(|| two?.checked_sub(one?));
        if let (Some(start), Some(stride), Some(size)) = (start, stride, size)
            // Bounds the list: a few words in a file can name a group of any size.
            && size <= all.max(2)
        {
            let rank = |place| whole(start.checked_add(stride.checked_mul(place)?)?);
            return (0..u64::from(size)).map(rank).collect();
        }
        // Guess: the default group, one with an empty list, and any as large as the job have all
        // ranks.
        let is_world = named.is_some() || ["", "0"].contains(&members.name.as_str());
        let is_all = size.is_none() || size == Some(all);
        (is_all && (is_world || size == Some(all))).then(Vec::new)
    }
}

fn whole(number: u64) -> Option<u32> {
    u32::try_from(number).ok()
}

/// Parses a list such as `[0, 1]`; `None` if it contains anything but numbers.
fn numbers(list: &str) -> Option<Vec<u32>> {
    let inner = list.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    if inner.is_empty() {
        return Some(Vec::new());
    }
    let numbers = inner.split(',').map(|word| word.trim().parse().ok());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ranks(groups: &mut ProcessGroups, members: &Members) -> Result<Vec<u32>, Wrong> {
        let mut found = Groups::default();
        let given = ProcessGroups::default();
        let number = groups.number(members, &given, &mut found, 8)?;
        found.ranks_of(number, 8)
    }

    #[test]
    fn lists_that_were_cut_are_completed() {
        let mut groups = ProcessGroups::default();
        groups.set_all(&json!([{"pg_name": "7", "ranks": [1, 5]}, {"pg_name": "0", "ranks": []}]));
        groups.set_all(&json!({"9": {"ranks": "[2, 3]"}}));
        let of = |name: &str, list: &str, size| Members {
            name: name.to_owned(),
            list: list.to_owned(),
            size,
            ..Members::default()
        };
        let spread = Members {
            start: Some(1),
            stride: Some(2),
            ..of("3", "", Some(3))
        };
        for (members, expected) in [
            (of("7", "", None), vec![1, 5]),
            (of("9", "", Some(2)), vec![2, 3]),
            (of("4", "[4, 6]", Some(2)), vec![4, 6]),
            (of("4", "[0, 2, ...]", Some(4)), vec![0, 2, 4, 6]),
            (spread, vec![1, 3, 5]),
            (of("0", "", Some(8)), (0..8).collect()),
            (of("", "", None), (0..8).collect()),
        ] {
            assert_eq!(ranks(&mut groups, &members), Ok(expected), "{members:?}");
        }
        let irregular = Members {
            stride: Some(-1),
            ..of("4", "[0, 2, ...]", Some(4))
        };
        let unknown = ranks(&mut groups, &irregular);
        assert!(unknown.is_err_and(|error| error.what.contains("group `4`")));
        let unknown = ranks(&mut groups, &of("4", "", Some(2)));
        assert!(unknown.is_err_and(|error| error.what.contains("group `4`")));
    }
}
