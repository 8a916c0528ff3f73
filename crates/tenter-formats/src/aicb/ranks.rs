//! Operations for the ranks in each stage.

use std::collections::BTreeMap;

use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{CollectiveName, Communicator, Communicators, Operation, RankBuilder};
use tenter_workload::spec::{AicbSpec, GatheredSize};

use super::table::{self, Kind, Row, Section, Stage};
use crate::calls::Called;
use crate::error::{ImportError, Place};
use crate::grid::{Grid, Group};
use crate::imported::Imported;
use crate::limits::{self, DECLARED_MAX, repeated};
use crate::taken_graph::TakenGraph;

/// Reads a table.
///
/// # Errors
/// The first line that violates the format, groups that do not divide the ranks or contradict a
/// line, and ranks without lines.
pub fn read(text: &str, spec: &AicbSpec, budget: &Budget) -> Result<Imported, ImportError> {
    limits::text(text.len(), budget)?;
    let sections = table::read(text)?;
    let grid = grid(&sections, spec)?;
    check_sizes(&sections, grid)?;
    // A section that stands for several stages does not tell which of them sends.
    let sections_are_stages = sections.len() as u32 == grid.pipeline;
    let mut built = Built {
        spec,
        grid,
        sends: sections_are_stages && grid.pipeline > 1,
        builder: TakenGraph::new(grid.ranks, Place::Line(1), budget)?,
        communicators: Communicators::new(&spec.calls.algorithms),
        known: BTreeMap::new(),
        counted: BTreeMap::new(),
    };
    let ordered = ordered(&sections, grid.ranks)?;
    if spec.calls.ranks.is_none() {
        check_length(&ordered, &grid, text.len())?;
    }
    for rank in 0..grid.ranks {
        // Sections are sorted and disjoint, so bisection finds the one with this rank.
        let place = ordered.partition_point(|of| of.first <= rank);
        let found = place.checked_sub(1).and_then(|place| ordered.get(place));
        let Some(found) = found.filter(|of| rank < of.end) else {
            let what = format!("no section has rank {rank}");
            let remedy = "name the ranks of each stage above its lines";
            return Err(ImportError::new(Place::Line(1), what, remedy));
        };
        let of = built.rank(rank, &found.section.rows)?;
        built.builder.add(of, Place::Line(1))?;
    }
    built.finish()
}

/// A section with its first rank, and the one behind its last.
struct OfRanks<'s> {
    first: u32,
    end: u32,
    section: &'s Section,
}

/// Sorts the sections by their ranks. A single section is for all ranks, whatever it names.
fn ordered(sections: &[Section], ranks: u32) -> Result<Vec<OfRanks<'_>>, ImportError> {
    let is_one = sections.len() == 1;
    let mut ordered: Vec<OfRanks<'_>> = Vec::with_capacity(sections.len());
    for section in sections {
        let (first, end) = section.ranks.filter(|_| !is_one).unwrap_or((0, ranks));
        ordered.push(OfRanks {
            first,
            end,
            section,
        });
    }
    ordered.sort_by_key(|of| of.first);
    let twice = ordered.windows(2).find(|two| two[1].first < two[0].end);
    if let Some(two) = twice {
        let line = two.iter().flat_map(|of| &of.section.rows);
        let line = line.map(|row| row.line).max().unwrap_or(1);
        let what = format!("two sections have rank {}", two[1].first);
        let remedy = "put all lines of a rank into one section";
        return Err(ImportError::new(Place::Line(line), what, remedy));
    }
    Ok(ordered)
}

/// Refuses more operations than a file may declare by the ranks in its sections.
fn check_length(ordered: &[OfRanks<'_>], grid: &Grid, stored: usize) -> Result<(), ImportError> {
    let of = |of: &OfRanks<'_>| {
        let ranks = of.end.min(grid.ranks).saturating_sub(of.first);
        u64::from(ranks) * of.section.rows.len() as u64
    };
    let operations = ordered.iter().map(of).sum();
    repeated(operations, stored, grid.ranks, Place::Line(1))
}

/// Returns the size that the first collective names for this kind of group.
fn size_of(sections: &[Section], group: Group) -> Option<u32> {
    let rows = sections.iter().flat_map(|section| &section.rows);
    let of_group = rows
        .filter(|row| matches!(row.kind, Kind::Call(Called::Collective(_), of, _) if of == group));
    let mut sizes = of_group.filter_map(|row| row.size);
    sizes.next()
}

/// Returns the expert-parallel group size.
fn experts(sections: &[Section], spec: &AicbSpec) -> Result<u32, ImportError> {
    if let Some(expert) = spec.expert.or(size_of(sections, Group::Expert)) {
        return Ok(expert);
    }
    let mut rows = sections.iter().flat_map(|section| &section.rows);
    let of_experts = rows.find(|row| {
        let Kind::Call(_, group, _) = row.kind else {
            return false;
        };
        matches!(
            group,
            Group::Expert | Group::DataOfExperts | Group::TensorOfExperts
        )
    });
    let Some(row) = of_experts else {
        return Ok(1);
    };
    let what = "nothing says how many ranks an expert-parallel group has";
    Err(ImportError::new(
        Place::Line(row.line),
        what,
        "give `expert`",
    ))
}

/// Derives the rank grid from group sizes.
fn grid(sections: &[Section], spec: &AicbSpec) -> Result<Grid, ImportError> {
    let tensor = spec.tensor.or(size_of(sections, Group::Tensor));
    // Guess: a kind of group that no line names has one rank.
    let tensor = tensor.unwrap_or(1);
    let expert = experts(sections, spec)?;
    let data = size_of(sections, Group::Data);
    let declared = sections.iter().filter_map(|section| section.ranks);
    let declared = declared.map(|(_, end)| end).max();
    // A group of all ranks tells their number, too.
    let declared = declared.or(size_of(sections, Group::All));
    let asked = spec.calls.ranks;
    // Guess: ranks that are left after dividing by tensor-parallel ranks and replicas are stages.
    let replicas = declared.filter(|_| asked.is_none()).zip(data);
    let stages = replicas.and_then(|(ranks, data)| ranks.checked_div(tensor.checked_mul(data)?));
    let pipeline = spec.pipeline.or(stages);
    let pipeline = pipeline.or(size_of(sections, Group::Pipeline));
    // Guess: without any size, each section is a stage.
    let pipeline = pipeline.unwrap_or(sections.len() as u32).max(1);
    let ranks = asked.or(declared).unwrap_or_else(|| {
        // Guess: without data-parallel groups, one expert-parallel group has all replicas.
        let replicas = data.unwrap_or(expert);
        tensor.saturating_mul(replicas).saturating_mul(pipeline)
    });
    let needed = tensor.saturating_mul(pipeline).saturating_mul(expert);
    if ranks < 2 || !ranks.is_multiple_of(needed) {
        let what = format!(
            "{ranks} ranks do not divide into {tensor} tensor-parallel, {expert} expert-parallel and {pipeline} pipeline-parallel ones"
        );
        let remedy = "give `ranks`, `tensor`, `expert` or `pipeline`";
        return Err(ImportError::new(Place::Line(1), what, remedy));
    }
    if asked.is_none() && ranks > DECLARED_MAX {
        let what = format!("the file is for {ranks} ranks");
        let remedy = "give `ranks`, if there are so many";
        return Err(ImportError::new(Place::Line(1), what, remedy));
    }
    Ok(Grid {
        tensor,
        expert,
        pipeline,
        ranks,
    })
}

/// Checks that all groups of a kind have one size. Tensor-parallel and expert-parallel sizes must
/// also fit the grid; `ranks` may change the others, which gives a note.
fn check_sizes(sections: &[Section], grid: Grid) -> Result<(), ImportError> {
    let rows = sections.iter().flat_map(|section| &section.rows);
    let mut first: BTreeMap<Group, (u32, usize)> = BTreeMap::new();
    for row in rows {
        let Kind::Call(Called::Collective(_), group, _) = row.kind else {
            continue;
        };
        let Some(size) = row.size else {
            continue;
        };
        let (known, line) = *first.entry(group).or_insert((size, row.line));
        let own = grid.size(0, group);
        let is_fixed = matches!(group, Group::Tensor | Group::Expert);
        let what = if size != known {
            format!("its group has {size} ranks, and {known} by line {line}")
        } else if is_fixed && size != own {
            format!("its group has {size} ranks, and {own} by the grid of all ranks")
        } else {
            continue;
        };
        let remedy = "give lines whose groups have one size each";
        return Err(ImportError::new(Place::Line(row.line), what, remedy));
    }
    Ok(())
}

/// The graph under construction, with the communicators so far.
struct Built<'s> {
    spec: &'s AicbSpec,
    grid: Grid,
    /// True if messages between stages are sent.
    sends: bool,
    builder: TakenGraph<'s>,
    communicators: Communicators<'s>,
    /// Communicators that ranks have used, by kind of group and first rank.
    known: BTreeMap<(Group, u32), Option<Communicator>>,
    counted: BTreeMap<&'static str, u64>,
}

const OTHER_SIZE: &str =
    "collectives have another group size than their lines say, since `ranks` changes it";

/// Stream for computing; collectives have one for each kind of group behind it.
const COMPUTE: u32 = 0;
/// Stream for messages between stages, behind those for collectives.
const MESSAGES: u32 = 100;

impl Built<'_> {
    fn count(&mut self, what: &'static str) {
        *self.counted.entry(what).or_default() += 1;
    }

    /// Makes a rank's operations: one line after the other.
    fn rank(&mut self, rank: u32, rows: &[Row]) -> Result<RankBuilder, ImportError> {
        self.communicators.begin_rank();
        let mut of = RankBuilder::default();
        let mut before: Option<u32> = None;
        for row in rows {
            let added = match row.kind {
                Kind::Compute => self.compute(&mut of, row.took),
                Kind::Call(Called::Collective(name), group, _) => {
                    self.collective(rank, &mut of, name, group, row)?
                }
                Kind::Call(called, _, stage) => {
                    self.message(rank, &mut of, called, stage, row.bytes)
                }
            };
            let Some(added) = added else {
                continue;
            };
            // Each line waits for the last one before it that was not left out.
            if let Some(before) = before.replace(added) {
                of.after(added, before);
            }
        }
        Ok(of)
    }

    fn compute(&mut self, of: &mut RankBuilder, took: Option<Time>) -> Option<u32> {
        let Some(time) = took else {
            self.count("lines compute and have no `_elapsed_time`, and take no time");
            return None;
        };
        Some(of.add(Operation::Compute { time }, COMPUTE))
    }

    /// Adds a collective; `None` if it takes no time, since it has one rank or no bytes.
    fn collective(
        &mut self,
        rank: u32,
        of: &mut RankBuilder,
        name: CollectiveName,
        group: Group,
        row: &Row,
    ) -> Result<Option<u32>, ImportError> {
        let wrong = |error| ImportError::of(Place::Line(row.line), error);
        let key = (group, self.grid.first(rank, group));
        let found = if let Some(known) = self.known.get(&key) {
            *known
        } else {
            let members = self.grid.members(rank, group);
            let collectives = self.builder.collectives();
            self.communicators.of(collectives, members).map_err(wrong)?
        };
        self.known.insert(key, found);
        let Some(communicator) = found else {
            self.count("collectives are of a rank alone and take no time");
            return Ok(None);
        };
        if row.size.is_some_and(|size| size != communicator.size()) {
            self.count(OTHER_SIZE);
        }
        let gathers = matches!(name, CollectiveName::AllGather | CollectiveName::Gather);
        let is_own = self.spec.all_gather_size == GatheredSize::Input || !gathers;
        // Lines have a rank's own bytes, except for gathers, for which AICB writes the whole
        // result.
        let bytes = if is_own {
            name.size_of_own(row.bytes, communicator.size())
        } else {
            row.bytes
        };
        if bytes == 0 {
            self.count("collectives of 0 bytes take no time");
            return Ok(None);
        }
        let collectives = self.builder.collectives();
        let added = self
            .communicators
            .add(collectives, rank, communicator, name, bytes);
        let (of_group, which) = added.map_err(wrong)?;
        let stream = 1 + group as u32;
        Ok(Some(of.add_collective(of_group, which, stream)))
    }

    /// Adds a message to or from the same place in a neighbouring stage.
    fn message(
        &mut self,
        rank: u32,
        of: &mut RankBuilder,
        called: Called,
        stage: Option<Stage>,
        bytes: u64,
    ) -> Option<u32> {
        // Stages are consecutive blocks of ranks, so this is the distance to the neighbour.
        let distance = self.grid.tensor * self.grid.data();
        let peer = match stage {
            Some(Stage::Next) => Some(rank + distance).filter(|&peer| peer < self.grid.ranks),
            Some(Stage::Previous) => rank.checked_sub(distance),
            None => None,
        };
        if !self.sends || stage.is_none() {
            self.count("messages between stages of the pipeline are left out: the file does not have the lines of every stage, or does not say which stage they are for");
            return None;
        }
        let Some(peer) = peer else {
            self.count("messages are to or from a stage that there is not, and are left out");
            return None;
        };
        let operation = if called == Called::Send {
            Operation::Send {
                peer,
                bytes,
                tag: 0,
            }
        } else {
            Operation::Receive {
                peer: Some(peer),
                bytes,
                tag: Some(0),
            }
        };
        Some(of.add(operation, MESSAGES))
    }

    fn finish(self) -> Result<Imported, ImportError> {
        let graph = self.builder.finish(Place::Line(1))?;
        let counted = self.counted.into_iter();
        let notes = counted.map(|(what, times)| format!("{times} {what}"));
        Ok(Imported {
            graph,
            notes: notes.collect(),
        })
    }
}
