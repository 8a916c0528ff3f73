//! A collective whose algorithm comes from a file, or from several files by size.

use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};

use tenter_language::config::{Reader, Shape, Value, Words, Written, component};
use tenter_language::units::{Bytes, Time};

use super::checked::Program;
use super::notation;
use super::parts::ProgramCollective;
use super::transfers::{Listed, Table};
use crate::closed_form::IdealSwitch;
use crate::collective::limits::CHUNKS;
use crate::collective::member::{CollectiveMember, Factor};
use crate::{Destination, QueuePairScope, Schedule, WorkloadError};

/// Longest accepted path in bytes.
const PATH_MAX: usize = 4_096;
/// Longest text in Tenter's notation, in bytes.
const TEXT_MAX: usize = 64 << 20;
/// Most slices into which a size is cut.
const ROUNDS_MAX: u64 = 1 << 20;

component! {
    /// An algorithm from a file: an XML of MSCCL, a JSON plan of MSCCL++, or a text in Tenter's
    /// own notation. It is checked on symbols before it runs.
    pub struct AlgorithmFiles as "`jobs[].collectives[].algorithm`", derive(Clone, Debug, PartialEq) {
        /// The file; its path counts from the folder of the scenario. It runs at all sizes.
        file: Option<String> = absent "this, `files` or `programs`", in PATH_MAX;
        /// Several files, of which the first runs that is meant for the size.
        files: Option<Vec<String>> = absent "this, `file` or `programs`", in PATH_MAX;
        /// Algorithms in Tenter's notation, as files hold them.
        programs: Option<Programs> = absent "this, `file` or `files`";
        /// The most bytes of a chunk that the steps carry at once. The thread blocks run all of
        /// their steps again for each further slice; `none`: chunks are not sliced.
        slice: Option<Bytes> = "none", in CHUNKS;
        check has_programs;
    }
}

/// By default there is no algorithm; reading one without an algorithm is refused.
impl Default for AlgorithmFiles {
    fn default() -> AlgorithmFiles {
        AlgorithmFiles {
            file: None,
            files: None,
            programs: None,
            slice: None,
        }
    }
}

/// Refuses a mapping without algorithms, and files that differ in collective or rank count. File
/// contents have been put into `programs` by now.
fn has_programs(own: &AlgorithmFiles, reader: &mut dyn Reader) -> bool {
    let count = own.programs.as_ref().map_or(0, |of| of.0.len());
    if count == 0 {
        let remedy = "add for example `file: algorithm.xml`";
        reader.refuse_all("lacks `file`, `files` or `programs`", remedy);
        return false;
    }
    let mut refuse = |differs: bool, what: &str, remedy: &str| {
        if differs {
            reader.refuse("programs", what, remedy);
        }
        differs
    };
    let first = own.list().next();
    let differs = |of: fn(&Program) -> u32| {
        let own_of = first.map(|first| of(first));
        own.list().any(|other| Some(of(other)) != own_of)
    };
    let what = "are of different collectives";
    let collectives = refuse(
        differs(|of| of.collective() as u32),
        what,
        "name files of one collective",
    );
    let what = "are for different numbers of ranks";
    let ranks = refuse(
        differs(Program::ranks),
        what,
        "name files for the ranks of the job",
    );
    !collectives && !ranks
}

/// Algorithms for one collective, for different sizes.
#[derive(Clone, Debug)]
pub struct Programs(pub Vec<Arc<Program>>);

/// Compares pointers first: graphs compare the algorithms of all their collectives, which are
/// mostly shared.
impl PartialEq for Programs {
    fn eq(&self, other: &Programs) -> bool {
        let alike =
            |(one, other): (&Arc<Program>, &Arc<Program>)| Arc::ptr_eq(one, other) || one == other;
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(alike)
    }
}

impl Value for Programs {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::List(Box::new(Shape::Text))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Programs> {
        let (mut programs, mut complete) = (Vec::new(), true);
        let is_list = reader.list(key, &mut |item| {
            let text = item.text("", TEXT_MAX);
            match text.map(|text| notation::read(&text)) {
                Some(Ok(program)) => programs.push(Arc::new(program)),
                Some(Err(error)) => {
                    let what = format!("cannot be: line {}: ", error.line);
                    let place = error
                        .error
                        .at
                        .map_or_else(String::new, |at| format!("{at}: "));
                    let what = format!("{what}{place}{}", error.error.what);
                    item.refuse("", &what, &error.error.remedy);
                    complete = false;
                }
                None => complete = false,
            }
        });
        (is_list && complete).then_some(Programs(programs))
    }

    fn written(&self) -> Written {
        let text = |program: &Arc<Program>| Written::Text(notation::write(program, ';'));
        Written::List(self.0.iter().map(text).collect())
    }
}

/// Static descriptions by collective, for algorithms from files.
static MEMBERS: LazyLock<Vec<(ProgramCollective, CollectiveMember)>> = LazyLock::new(|| {
    let member = |&collective: &ProgramCollective| {
        let busbw = match collective {
            ProgramCollective::AllReduce => Factor::TwiceAllButOwn,
            ProgramCollective::Broadcast | ProgramCollective::Reduce => Factor::One,
            ProgramCollective::AllGather
            | ProgramCollective::ReduceScatter
            | ProgramCollective::AllToAll => Factor::AllButOwn,
        };
        let member = CollectiveMember {
            collective: collective.word(),
            algorithm: "file",
            summary: "ranks do what a file says step by step",
            model_page: "docs/formats/msccl.md",
            ranks_max: u32::MAX,
            busbw,
        };
        (collective, member)
    };
    ProgramCollective::ALL.iter().map(member).collect()
});

impl AlgorithmFiles {
    /// Wraps a single algorithm, which runs at all sizes.
    pub fn of(program: Program) -> AlgorithmFiles {
        AlgorithmFiles {
            programs: Some(Programs(vec![Arc::new(program)])),
            ..AlgorithmFiles::default()
        }
    }

    /// Returns the algorithms in the order in which they are tried.
    pub(crate) fn list(&self) -> impl Iterator<Item = &Arc<Program>> {
        self.programs.iter().flat_map(|of| &of.0)
    }

    /// Returns the collective that all algorithms carry out.
    pub(crate) fn collective(&self) -> Option<ProgramCollective> {
        self.list().next().map(|of| of.collective())
    }

    pub(in crate::collective) fn member(&self) -> &'static CollectiveMember {
        let own = self.collective();
        let found = MEMBERS.iter().find(|(of, _)| Some(*of) == own);
        // The first member stands in for a missing algorithm, which has been refused earlier.
        &found.unwrap_or(&MEMBERS[0]).1
    }

    /// Returns the algorithm for a size.
    fn choose(&self, ranks: u32, size_bytes: u64) -> Result<&Program, WorkloadError> {
        let collective = self.member().to_string();
        let mut list = self.list();
        let chosen = match (list.next(), list.next()) {
            (Some(only), None) => Some(only),
            _ => self.list().find(|of| of.sizes().contains(&size_bytes)),
        };
        let Some(chosen) = chosen else {
            return Err(WorkloadError::NoProgramForSize {
                collective,
                size_bytes,
                known: self.ranges(),
            });
        };
        if chosen.ranks() != ranks {
            return Err(WorkloadError::ProgramRanks {
                collective,
                ranks,
                found: chosen.ranks(),
            });
        }
        Ok(chosen)
    }

    /// Returns the first size in the range without an algorithm. A single algorithm runs at all
    /// sizes.
    pub(crate) fn gap(&self, sizes: RangeInclusive<u64>) -> Option<u64> {
        if self.list().count() < 2 {
            return None;
        }
        let mut size = *sizes.start();
        while size <= *sizes.end() {
            let fits = self.list().find(|of| of.sizes().contains(&size));
            let Some(fits) = fits else {
                return Some(size);
            };
            // The next size that this algorithm does not cover; none if it covers the largest.
            size = fits.sizes().end().checked_add(1)?;
        }
        None
    }

    /// Returns true if there is an algorithm for this rank count and size.
    pub(crate) fn suits(&self, ranks: u32, size_bytes: u64) -> bool {
        self.choose(ranks, size_bytes).is_ok()
    }

    /// Returns the size ranges of all algorithms in words.
    pub(crate) fn ranges(&self) -> String {
        let range = |of: &Arc<Program>| {
            let (least, most) = (of.sizes().start(), of.sizes().end());
            format!("{least} to {most}")
        };
        self.list().map(range).collect::<Vec<_>>().join(", ")
    }

    /// Returns how many rounds the steps run, one per slice of a chunk.
    fn rounds(&self, program: &Program, size_bytes: u64) -> u64 {
        let chunk = size_bytes.div_ceil(u64::from(program.parts().chunks));
        self.slice
            .map_or(1, |slice| chunk.div_ceil(slice.count()).max(1))
    }

    fn table(&self, program: &Program, size_bytes: u64) -> Result<Table, WorkloadError> {
        let rounds = self.rounds(program, size_bytes);
        let table = u32::try_from(rounds)
            .ok()
            .filter(|_| rounds <= ROUNDS_MAX)
            .and_then(|rounds| Table::new(program, size_bytes, rounds));
        table.ok_or_else(|| WorkloadError::TooManySlices {
            collective: self.member().to_string(),
            size_bytes,
        })
    }

    pub(in crate::collective) fn schedule(
        &self,
        ranks: u32,
        size_bytes: u64,
    ) -> Result<Box<dyn Schedule>, WorkloadError> {
        let chosen = self.choose(ranks, size_bytes)?;
        let table = self.table(chosen, size_bytes)?;
        let mut others: [Vec<(u32, Destination)>; 2] = Default::default();
        // Collectives with different sizes share queue pairs, so each must know the destinations of
        // all.
        for other in self.list().filter(|of| ***of != *chosen) {
            if other.ranks() != ranks {
                continue;
            }
            let other = Table::new(other, 1, 1);
            for (scope, others) in [QueuePairScope::RankPair, QueuePairScope::Chunk]
                .into_iter()
                .zip(&mut others)
            {
                others.extend(other.iter().flat_map(|table| table.destinations(scope)));
                others.sort_unstable();
                others.dedup();
            }
        }
        Ok(Box::new(Listed { table, others }))
    }

    /// Takes the longest chain of hops, each c(x) + L, or the busiest port's time plus L.
    pub(in crate::collective) fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        let table = self
            .choose(switch.ranks, switch.size_bytes)
            .and_then(|program| self.table(program, switch.size_bytes));
        let Ok(table) = table else {
            return Time::ZERO;
        };
        let hop = |start: Time, bytes| start.saturating_add(switch.hop(bytes));
        let (chain, port) = table.bounds(hop);
        chain.max((switch.port_time)(port).saturating_add(switch.latency))
    }

    /// Returns a length if the transfer count depends on the size: the slice length, or a maximal
    /// value if the size chooses among several algorithms.
    pub(in crate::collective) fn chunk_bytes(&self) -> Option<u64> {
        let several = (self.list().count() > 1).then_some(u64::MAX);
        self.slice.map(Bytes::count).or(several)
    }

    /// Returns the most transfers that one rank sends another in one round.
    pub(in crate::collective) fn more_of_a_way(&self) -> u64 {
        let steps = self.list().map(|of| of.steps().count() as u64).max();
        steps.unwrap_or(0)
    }
}
