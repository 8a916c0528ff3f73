//! Communicators of traces, by name.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::Wrong;
use crate::limits::MEMBERS_MAX;

/// Remedy if nothing tells the ranks of a group.
pub(crate) const NAME_RANKS: &str =
    "give the files of all ranks, or a file of their groups with `groups`";
const ALL_FILES: &str = "give the files of all ranks";

/// Communicators by name. Guess: one without a name, or with the name `0` and no ranks, has all
/// ranks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    names: BTreeMap<String, u32>,
    /// Numbers of communicators with known ranks, by name and ranks.
    of_ranks: BTreeMap<(String, Vec<u32>), u32>,
    list: Vec<Group>,
    /// Numbers of communicators rotated to begin with a root, by original number and root's place.
    rooted: BTreeMap<(u32, u64), u32>,
    /// Ranks in all communicators together.
    members: usize,
}

#[derive(Clone, Debug)]
/// A communicator, known or not.
struct Group {
    name: String,
    /// Ranks in order; an empty list means all, `None` that they are unknown.
    ranks: Option<Vec<u32>>,
    /// True if it differs from communicators with other names and the same ranks.
    is_own: bool,
}

impl Groups {
    /// Returns the number of the communicator `name`, and adds it if it is new.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.list.push(Group {
            name: name.to_owned(),
            ranks: None,
            is_own: false,
        });
        self.names.insert(name.to_owned(), number);
        number
    }

    /// Returns the number of the communicator with this name and these ranks. It is distinct from
    /// others with the same ranks.
    ///
    /// # Errors
    /// More ranks in all communicators than [`MEMBERS_MAX`]: a few words in a file can name a long
    /// range.
    pub(crate) fn of_ranks(&mut self, name: &str, ranks: Vec<u32>) -> Result<u32, Wrong> {
        let key = (name.to_owned(), ranks);
        if let Some(number) = self.of_ranks.get(&key) {
            return Ok(*number);
        }
        self.keep(key.1.len())?;
        let number = self.list.len() as u32;
        self.list.push(Group {
            name: key.0.clone(),
            ranks: Some(key.1.clone()),
            is_own: true,
        });
        self.of_ranks.insert(key, number);
        Ok(number)
    }

    /// Counts the ranks of a further communicator.
    ///
    /// # Errors
    /// More ranks in all communicators than [`MEMBERS_MAX`].
    pub(crate) fn keep(&mut self, ranks: usize) -> Result<(), Wrong> {
        self.members = self.members.saturating_add(ranks);
        if self.members <= MEMBERS_MAX {
            return Ok(());
        }
        let what =
            format!("the communicators up to here have more than {MEMBERS_MAX} ranks together");
        Err(Wrong::new(
            what,
            "give a part of it, with fewer communicators",
        ))
    }

    /// Returns a communicator's number when it is rotated to begin with the rank at `place`; `None`
    /// if it has no such place.
    ///
    /// # Errors
    /// Errors from [`Groups::of_ranks`].
    pub(crate) fn rooted(
        &mut self,
        number: u32,
        place: u64,
        all: u32,
    ) -> Result<Option<u32>, Wrong> {
        if place == 0 {
            return Ok(Some(number));
        }
        if let Some(known) = self.rooted.get(&(number, place)) {
            return Ok(Some(*known));
        }
        let place_of = usize::try_from(place).ok();
        let Some(place_of) = place_of.filter(|&of| of < self.size_of(number, all) as usize) else {
            return Ok(None);
        };
        let Ok(mut ranks) = self.ranks_of(number, all) else {
            return Ok(None);
        };
        ranks.rotate_left(place_of);
        let name = self.list[number as usize].name.clone();
        let found = self.of_ranks(&name, ranks)?;
        self.rooted.insert((number, place), found);
        Ok(Some(found))
    }

    /// Returns true if the communicator's ranks have been counted.
    pub(crate) fn is_kept(&self, number: u32) -> bool {
        self.list[number as usize].is_own
    }

    /// Returns a tag that separates the communicator from others with the same ranks; 0 if nothing
    /// does.
    pub(crate) fn tag(&self, number: u32) -> u32 {
        if self.list[number as usize].is_own {
            number + 1
        } else {
            0
        }
    }

    /// Returns the number of ranks in a communicator, for a job with `all` ranks.
    pub(crate) fn size_of(&self, number: u32, all: u32) -> u32 {
        let ranks = &self.list[number as usize].ranks;
        ranks
            .as_ref()
            .filter(|ranks| !ranks.is_empty())
            .map_or(all, |ranks| ranks.len() as u32)
    }

    /// Sets the ranks of a communicator; an empty list means all.
    pub(crate) fn set(&mut self, name: &str, ranks: Vec<u32>) {
        let number = self.number(name);
        self.list[number as usize].ranks = Some(ranks);
    }

    /// Returns the ranks of a communicator in order, for a job with `all` ranks.
    ///
    /// # Errors
    /// A communicator whose ranks are unknown.
    pub(crate) fn ranks_of(&self, number: u32, all: u32) -> Result<Vec<u32>, Wrong> {
        let group = &self.list[number as usize];
        match &group.ranks {
            Some(ranks) if !ranks.is_empty() => Ok(ranks.clone()),
            Some(_) => Ok((0..all).collect()),
            None if group.name.is_empty() || group.name == "0" => Ok((0..all).collect()),
            None => {
                let name = &group.name;
                let what = format!("nothing says which ranks communicator `{name}` has");
                Err(Wrong::new(what, NAME_RANKS))
            }
        }
    }

    /// Reads a JSON object that maps names to lists of ranks. The error is a sentence.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let of = value
            .as_object()
            .ok_or("it is no JSON object of names and lists of ranks")?;
        for (name, list) in of {
            let ranks = list
                .as_array()
                .and_then(|list| list.iter().map(rank).collect());
            let ranks =
                ranks.ok_or_else(|| format!("communicator `{name}` is no list of ranks"))?;
            self.set(name, ranks);
        }
        Ok(())
    }

    /// Reads `PyTorch`'s note on process groups: a text that contains a JSON list. Any other text
    /// is ignored.
    pub(crate) fn read_process_groups(&mut self, text: &str) {
        let from_to = text.find("[{").zip(text.rfind("}]"));
        let Some(list) = from_to.and_then(|(from, to)| text.get(from..to + 2)) else {
            return;
        };
        // Some versions escape the quotes once more.
        let plain = list.replace("\\\"", "\"");
        let read = [list, &plain]
            .into_iter()
            .find_map(|text| serde_json::from_str(text).ok());
        let Some(Value::Array(groups)) = read else {
            return;
        };
        for group in groups {
            let ranks = group["ranks"].as_array();
            let ranks = ranks.and_then(|list| list.iter().map(rank).collect());
            if let (Some(name), Some(ranks)) = (group["pg_name"].as_str(), ranks) {
                self.set(name, ranks);
            }
        }
    }
}

/// Shape for groups that tile the ranks: `size` ranks at distance `stride`, in blocks beside each
/// other. From one rank's group it gives all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Regular {
    stride: u32,
    size: u32,
}

impl Regular {
    /// Derives the shape from the group of rank `recorded`, in a job with `all` ranks.
    ///
    /// # Errors
    /// A group that does not tile the ranks.
    pub(crate) fn of(ranks: &[u32], recorded: u32, all: u32) -> Result<Regular, Wrong> {
        let irregular = || {
            let what = format!(
                "the group of rank {recorded} has no counterpart of other ranks among {all}"
            );
            Wrong::new(what, ALL_FILES)
        };
        let size = ranks.len() as u32;
        // A group of one rank fits any stride.
        let stride = match ranks {
            [] => return Err(irregular()),
            [_] => Some(1),
            [first, next, ..] => next.checked_sub(*first).filter(|&stride| stride > 0),
        };
        let stride = stride.ok_or_else(irregular)?;
        let block = stride.checked_mul(size).ok_or_else(irregular)?;
        if !all.is_multiple_of(block) {
            return Err(irregular());
        }
        let regular = Regular { stride, size };
        // The recorded rank may lie beyond the ranks of the job.
        let first = regular.first(recorded);
        let expected = (0..size).map(|place| first.checked_add(stride * place));
        if ranks.iter().map(|&rank| Some(rank)).eq(expected) {
            Ok(regular)
        } else {
            Err(irregular())
        }
    }

    /// Returns the first rank in the group of `rank`.
    pub(crate) fn first(self, rank: u32) -> u32 {
        // [`Regular::of`] has checked that this does not overflow.
        let block = self.stride * self.size;
        rank / block * block + rank % self.stride
    }

    /// Returns the ranks of the group that begins with `first`.
    ///
    /// # Errors
    /// Ranks beyond the job.
    pub(crate) fn ranks(self, first: u32, all: u32) -> Result<Vec<u32>, Wrong> {
        let last = u64::from(first) + u64::from(self.stride) * u64::from(self.size - 1);
        if last >= u64::from(all) {
            let what = format!("its group has rank {last}, and there are {all} ranks");
            return Err(Wrong::new(what, "give more `ranks`"));
        }
        Ok((0..self.size)
            .map(|place| first + self.stride * place)
            .collect())
    }
}

fn rank(value: &Value) -> Option<u32> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u32::try_from(number).ok()
}
