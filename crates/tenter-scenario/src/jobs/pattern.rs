//! The `pattern` of a job: steps of a parallel application.

use std::sync::Arc;

use tenter_engine::Draws;
use tenter_workload::collective::CollectiveKind;
use tenter_workload::pattern::{
    Amg, Amr, CommunicationMatrix, DatabasePod, Gtc, Matrix, Milc, MiniDft, Nekbone, PatternKind,
    PatternSchedule,
};
use tenter_workload::{CollectiveRun, Compute, Job};

use crate::collectives::Entry;
use crate::hosts::HostNames;
use crate::impairments::read_chance;
use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{Key, KeyTable, key};
use tenter_formats::matrix;
use tenter_notation::decode::{Field, Section, split_remedy};
use tenter_notation::diagnostics::Location;
use tenter_notation::tree::Node;

pub(super) const PATTERN: KeyTable = KeyTable {
    title: "`jobs[].pattern`",
    keys: &[
        key(
            "kind",
            "`mini-dft`, `milc`, `nekbone`, `amg`, `amr`, `gtc`, `database-pod` or `matrix`",
            Required,
            "Which application; the keys that it has beside these are below",
        ),
        key(
            "steps",
            "count",
            Depends("`4`; none in the background"),
            "How often the ranks compute and then communicate; takes the place of `iterations`",
        ),
        key(
            "compute_spread",
            "time",
            Default("0ns"),
            "Computing takes up to this much less or more, drawn for each time; no more than `compute`",
        ),
    ],
};

const fn compute(default: &'static str) -> Key {
    key(
        "compute",
        "time",
        Default(default),
        "What all ranks compute before each step",
    )
    .from("assumed")
}

const fn grid(default: &'static str) -> Key {
    key("grid", "a word, or `auto`", Default("auto"), default)
}

const DOT: Key = key(
    "reduce",
    "size",
    Default("8B"),
    "The buffer of each all-reduce",
)
.from("one number of double precision");

const MINI_DFT: KeyTable = KeyTable {
    title: "`jobs[].pattern` with `kind: mini-dft`",
    keys: &[
        compute("200us"),
        key(
            "rows",
            "count, or `auto`",
            Default("auto"),
            "Rows of ranks, a divisor of their number; `auto` is the most even one, with rows longer than columns",
        ),
        key(
            "block",
            "size",
            Default("64KiB"),
            "From a rank to each other of its row, and of its column",
        )
        .from("a grid of 128³ complex numbers on 64 ranks"),
        key(
            "reduce",
            "size",
            Default("8KiB"),
            "The buffer of the all-reduce",
        )
        .from("assumed"),
    ],
};

const MILC: KeyTable = KeyTable {
    title: "`jobs[].pattern` with `kind: milc`",
    keys: &[
        compute("150us"),
        grid("Ranks along each of four dimensions, such as `4x4x2x2`; `auto` is as even as may be"),
        key(
            "face",
            "size",
            Default("384KiB"),
            "To each of the eight neighbours, for the sites of one colour",
        )
        .from("16⁴ sites in each rank: 16³/2 vectors of 48 bytes in four layers"),
        DOT,
    ],
};

const NEKBONE: KeyTable = KeyTable {
    title: "`jobs[].pattern` with `kind: nekbone`",
    keys: &[
        compute("100us"),
        grid("Ranks along each of three dimensions, such as `4x4x4`; `auto` is as even as may be"),
        key(
            "face",
            "size",
            Default("42632B"),
            "To a neighbour behind a face",
        )
        .from("8³ elements of order nine in each rank: 73² points of 8 bytes"),
        key(
            "edge",
            "size",
            Default("584B"),
            "To a neighbour behind an edge",
        )
        .from("73 points"),
        key(
            "corner",
            "size",
            Default("8B"),
            "To a neighbour behind a corner",
        )
        .from("one point"),
        DOT,
    ],
};

const AMG: KeyTable = KeyTable {
    title: "`jobs[].pattern` with `kind: amg`",
    keys: &[
        compute("300us"),
        grid("Ranks along each of three dimensions, such as `4x4x4`; `auto` is as even as may be"),
        key(
            "points",
            "count",
            Default("64"),
            "Points of 8 bytes along an edge of a rank's block on the finest level",
        )
        .from("assumed"),
        key(
            "least_points",
            "count",
            Default("16"),
            "A rank that would have fewer on a coarser level hands them to another",
        )
        .from("assumed"),
        DOT,
    ],
};

const AMR: KeyTable = KeyTable {
    title: "`jobs[].pattern` with `kind: amr`",
    keys: &[
        compute("200us"),
        key(
            "partners",
            "count",
            Default("12"),
            "Partners of a rank, on average; an even number",
        )
        .from("assumed"),
        key(
            "least",
            "size",
            Default("16KiB"),
            "What a pair exchanges at least, each way",
        )
        .from("assumed"),
        key("most", "size", Default("4MiB"), "And at most").from("assumed"),
        key(
            "regrid",
            "0 to 1",
            Default("0.25"),
            "The share of pairs that is drawn anew before each step but the first",
        )
        .from("assumed"),
        DOT,
    ],
};

const GTC: KeyTable = KeyTable {
    title: "`jobs[].pattern` with `kind: gtc`",
    keys: &[
        compute("500us"),
        key(
            "domains",
            "count, or `auto`",
            Default("auto"),
            "Toroidal domains, a divisor of the ranks; `auto` is the greatest one up to 64",
        ),
        key(
            "charge",
            "size",
            Default("256KiB"),
            "What the ranks of a domain add up",
        )
        .from("assumed"),
        key(
            "field",
            "size",
            Default("64KiB"),
            "From a rank to the same one of each domain beside: the field at the border",
        )
        .from("assumed"),
        key(
            "particles",
            "size",
            Default("1MiB"),
            "From a rank to the same one of each domain beside: what has crossed the border",
        )
        .from("assumed"),
    ],
};

const DATABASE_POD: KeyTable = KeyTable {
    title: "`jobs[].pattern` with `kind: database-pod`",
    keys: &[
        compute("0ns"),
        key(
            "rack",
            "count",
            Default("16"),
            "Ranks of a rack, which follow each other",
        )
        .from("assumed"),
        key(
            "transfers",
            "count",
            Default("32"),
            "Transfers that a rank sends in a step, on average over all racks",
        )
        .from("assumed"),
        key("transfer", "size", Default("64KiB"), "The size of each").from("assumed"),
    ],
};

const MATRIX: KeyTable = KeyTable {
    title: "`jobs[].pattern` with `kind: matrix`",
    keys: &[
        compute("0ns"),
        key(
            "file",
            "text",
            Depends("this or `sends`"),
            "A communication matrix, `.csv`, `.mtx` or `.txt`; its path counts from the folder of the scenario",
        ),
        key(
            "sends",
            "text",
            Depends("this or `file`"),
            "Source, destination and bytes of each send, with semicolons between: `0 1 65536; 1 0 128`",
        ),
    ],
};

/// The kinds and their tables, for the schema.
pub(crate) const KINDS: [(&str, &KeyTable); 8] = [
    ("mini-dft", &MINI_DFT),
    ("milc", &MILC),
    ("nekbone", &NEKBONE),
    ("amg", &AMG),
    ("amr", &AMR),
    ("gtc", &GTC),
    ("database-pod", &DATABASE_POD),
    ("matrix", &MATRIX),
];

/// Keys of a job that its pattern says instead.
const REFUSED: [&str; 1] = ["iterations"];
/// Other things that a job may run.
const OTHERS: [&str; 3] = ["collectives", "flows", "workload"];
const USUAL_STEPS: u32 = 4;
/// More steps than anyone simulates packet by packet.
const STEPS_MAX: u64 = 1_000_000;
/// Steps that differ are stored each by itself.
const CHANGING_STEPS_MAX: u64 = 100;
/// No message of a step is larger.
const SIZE_MAX: u64 = 1 << 40;
const COUNT_MAX: u64 = 1 << 20;

/// A pattern whose ranks are not known yet.
pub(super) struct PatternDraft {
    kind: PatternKind,
    steps: u32,
    compute: Compute,
    at: Option<Location>,
}

/// Refuses what a job with a pattern does not have.
pub(super) fn refuse_keys(section: &mut Section<'_>) {
    for name in REFUSED.into_iter().chain(OTHERS) {
        if section.has(name)
            && let Some(field) = section.take(name)
        {
            let help =
                "leave it out: a pattern says by itself what is sent, and in how many `steps`";
            field.problem("has no effect beside `pattern`", help.to_owned());
        }
    }
}

/// Leaves these out of the effective configuration.
pub(super) fn leave_out(section: &mut Section<'_>) {
    for name in REFUSED.into_iter().chain(OTHERS) {
        section.drop_key(name);
    }
}

/// Reads the mapping of a job of that name; `seed` is that of the scenario.
pub(super) fn read(
    field: Field<'_>,
    of_job: (u64, &str),
    background: bool,
) -> (Option<PatternDraft>, Node) {
    let at = field.at;
    let mut section = field.section(&PATTERN);
    let Some((name, draws)) = read_member(&mut section, of_job) else {
        return (None, section.finish());
    };
    let kind = read_kind(&mut section, name, draws);
    let compute = crate::collectives::read_compute(&mut section);
    let changes = kind.as_ref().is_some_and(PatternKind::changes);
    let steps = read_steps(&mut section, changes, background);
    let node = section.finish();
    let draft = || {
        Some(PatternDraft {
            kind: kind?,
            steps: steps?,
            compute: compute?,
            at,
        })
    };
    (draft(), node)
}

/// Reads the mapping as who sends how much to whom: nothing is said of steps then, nor of how they
/// differ.
pub(super) fn read_without_steps(
    field: Field<'_>,
    of_job: (u64, &str),
) -> (Option<PatternKind>, Node) {
    let mut section = field.section(&PATTERN);
    let Some((name, draws)) = read_member(&mut section, of_job) else {
        return (None, section.finish());
    };
    let of_steps = ["steps", "compute", "compute_spread"].into_iter();
    let of_steps = of_steps.chain((name == "amr").then_some("regrid"));
    for key in of_steps.clone() {
        if section.has(key)
            && let Some(field) = section.take(key)
        {
            let help = "leave it out: flows arrive by themselves, as in the first step";
            field.problem("has no effect in a workload of flows", help.to_owned());
        }
    }
    let kind = read_kind(&mut section, name, draws);
    of_steps.for_each(|key| section.drop_key(key));
    (kind, section.finish())
}

/// Which member it is, whose keys are read next, and where what it draws comes from.
fn read_member(
    section: &mut Section<'_>,
    (seed, job): (u64, &str),
) -> Option<(&'static str, Draws)> {
    let choices = KINDS.map(|kind| (kind.0, kind));
    let Some((name, table)) = section.choice("kind", &choices) else {
        for (_, table) in KINDS {
            section.skip(table);
        }
        section.take("steps");
        section.take("compute_spread");
        return None;
    };
    section.extend(table);
    Some((name, Draws::new(seed, job, "pattern")))
}

/// How many steps there are; a list that is repeated for as long as others run has one, unless its
/// steps differ.
fn read_steps(section: &mut Section<'_>, changes: bool, background: bool) -> Option<u32> {
    if background && !changes {
        if section.has("steps")
            && let Some(field) = section.take("steps")
        {
            let help = "leave it out: the step is repeated for as long as other jobs run";
            field.problem("has no effect in the background", help.to_owned());
        }
        section.drop_key("steps");
        return Some(1);
    }
    if !section.has("steps") {
        section.put("steps", Node::plain(USUAL_STEPS.to_string()));
        return Some(USUAL_STEPS);
    }
    let most = if changes {
        CHANGING_STEPS_MAX
    } else {
        STEPS_MAX
    };
    section.integer("steps", 1..=most)
}

fn read_kind(section: &mut Section<'_>, name: &str, draws: Draws) -> Option<PatternKind> {
    let size = |section: &mut Section<'_>, key| section.take(key)?.size(&(1..=SIZE_MAX));
    Some(match name {
        "mini-dft" => read_mini_dft(section)?,
        "milc" => {
            let (grid, reduce) = (read_grid(section, 4), size(section, "reduce"));
            let face = size(section, "face");
            PatternKind::Milc(Milc {
                grid: grid?,
                face_bytes: face?,
                reduce_bytes: reduce?,
            })
        }
        "nekbone" => {
            let (grid, reduce) = (read_grid(section, 3), size(section, "reduce"));
            let [face, edge, corner] = ["face", "edge", "corner"].map(|key| size(section, key));
            PatternKind::Nekbone(Nekbone {
                grid: grid?,
                face_bytes: face?,
                edge_bytes: edge?,
                corner_bytes: corner?,
                reduce_bytes: reduce?,
            })
        }
        "amg" => {
            let (grid, reduce) = (read_grid(section, 3), size(section, "reduce"));
            // Their cube is a number of bytes.
            let points = section.integer("points", 1..=10_000);
            let least_points = section.integer("least_points", 1..=10_000);
            PatternKind::Amg(Amg {
                grid: grid?,
                points: points?,
                least_points: least_points?,
                reduce_bytes: reduce?,
            })
        }
        "amr" => read_amr(section, draws)?,
        "gtc" => {
            let domains = read_auto(section, "domains");
            let [charge, field, particles] =
                ["charge", "field", "particles"].map(|key| size(section, key));
            PatternKind::Gtc(Gtc {
                domains: domains?,
                charge_bytes: charge?,
                field_bytes: field?,
                particle_bytes: particles?,
            })
        }
        "matrix" => read_matrix(section)?,
        _ => {
            let rack = section.integer("rack", 1..=COUNT_MAX);
            let transfers = section.integer("transfers", 1..=COUNT_MAX);
            let transfer = size(section, "transfer");
            PatternKind::DatabasePod(DatabasePod {
                rack: rack?,
                transfers: transfers?,
                transfer_bytes: transfer?,
                draws,
            })
        }
    })
}

fn read_mini_dft(section: &mut Section<'_>) -> Option<PatternKind> {
    let rows = read_auto(section, "rows");
    let size = |section: &mut Section<'_>, key| section.take(key)?.size(&(1..=SIZE_MAX));
    let [block, reduce] = ["block", "reduce"].map(|key| size(section, key));
    Some(PatternKind::MiniDft(MiniDft {
        rows: rows?,
        block_bytes: block?,
        reduce_bytes: reduce?,
    }))
}

/// A matrix that is written out; a file has been by now.
fn read_matrix(section: &mut Section<'_>) -> Option<PatternKind> {
    section.drop_key("file");
    let Some(field) = section.take("sends") else {
        let help = "add `file: demand.csv`, or `sends: 0 1 65536; 1 0 65536`";
        section.problem("lacks `file` or `sends`", help.to_owned());
        return None;
    };
    match matrix::of_word(field.word().unwrap_or_default()) {
        Ok(found) => Some(PatternKind::Matrix(Matrix {
            matrix: Arc::new(CommunicationMatrix::of(found.ranks, found.sends)),
        })),
        Err(error) => {
            let what = format!("cannot be read: send {}: {}", error.line, error.what);
            field.problem(&what, error.remedy);
            None
        }
    }
}

fn read_amr(section: &mut Section<'_>, draws: Draws) -> Option<PatternKind> {
    let sizes = 1..=SIZE_MAX;
    let partners_field = section.take("partners")?;
    let partners: Option<u32> = partners_field.integer(2..=COUNT_MAX);
    let least = section.take("least").and_then(|field| field.size(&sizes));
    let most_field = section.take("most")?;
    let most = most_field.size(&sizes);
    let regrid = section.take("regrid").and_then(|field| read_chance(&field));
    let reduce = section.take("reduce").and_then(|field| field.size(&sizes));
    if partners.is_some_and(|partners| partners % 2 == 1) {
        let what = format!("cannot be {}", partners_field.node.describe());
        let help = "give an even number: each rank chooses half of its partners";
        partners_field.problem(&what, help.to_owned());
        return None;
    }
    if least? > most? {
        let help = "swap the two, or raise `most`".to_owned();
        most_field.problem("is less than `least`", help);
        return None;
    }
    Some(PatternKind::Amr(Amr {
        partners: partners?,
        least_bytes: least?,
        most_bytes: most?,
        regrid: regrid?,
        reduce_bytes: reduce?,
        draws,
    }))
}

/// A count, or 0 for `auto`.
fn read_auto(section: &mut Section<'_>, key: &str) -> Option<u32> {
    let field = section.take(key)?;
    if field.word() == Some("auto") {
        return Some(0);
    }
    field.integer(1..=u64::from(u32::MAX))
}

/// The sides of a grid, or none for `auto`.
fn read_grid(section: &mut Section<'_>, dimensions: usize) -> Option<Vec<u32>> {
    let field = section.take("grid")?;
    let word = field.word().unwrap_or_default();
    if word == "auto" {
        return Some(Vec::new());
    }
    let sides: Option<Vec<u32>> = word.split('x').map(|side| side.parse().ok()).collect();
    let sides = sides.filter(|sides| sides.len() == dimensions && !sides.contains(&0));
    if sides.is_none() {
        let example = vec!["4"; dimensions].join("x");
        let help = format!("write {dimensions} sides, for example `{example}`, or `auto`");
        field.problem(&format!("cannot be {}", field.node.describe()), help);
    }
    sides
}

impl PatternDraft {
    /// Gives the job its steps, once its hosts are known, and the entry of each that differs.
    pub(super) fn bind(self, names: &HostNames<'_>, job: &mut Job) -> Option<Vec<Entry>> {
        let differing = if self.kind.changes() { self.steps } else { 1 };
        let mut entries = Vec::new();
        for step in 0..differing {
            let schedule = PatternSchedule::new(self.kind.clone(), job.ranks(), step);
            let schedule = match schedule {
                Ok(schedule) => schedule,
                Err(error) => {
                    let text = error.to_string();
                    let (message, help) = split_remedy(&text);
                    names.problem(self.at, message.to_owned(), help);
                    return None;
                }
            };
            let size_bytes = schedule.busiest_bytes();
            let kind = CollectiveKind::Pattern { schedule };
            entries.push(Entry {
                kind: kind.clone(),
                largest_bytes: size_bytes,
                at: self.at,
            });
            job.sequence.push(CollectiveRun {
                kind,
                size_bytes,
                drawn_from_bytes: None,
                compute: self.compute,
            });
        }
        job.iterations = self.steps / differing;
        if let Some(turns) = super::starts_too_late(job) {
            let message = format!("the last of {turns} steps is beyond the longest simulation");
            let help = "give fewer `steps`, or less to `compute`".to_owned();
            names.problem(self.at, message, Some(help));
            return None;
        }
        Some(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_states_the_defaults_of_the_members() {
        let draws = Draws::new(1, "job", "pattern");
        for (own, (name, _)) in PatternKind::defaults(draws).iter().zip(KINDS) {
            assert_eq!(own.member().algorithm, name);
            let text = format!(
                "fabric: {{kind: single-switch, hosts: 32}}\n\
                 jobs: [{{name: job, pattern: {{kind: {name}}}}}]\n"
            );
            let loaded = crate::load(&text, "x.yaml", crate::Format::Yaml, &[], Some(1));
            let plan = loaded.expect("defaults suit 32 ranks").plan;
            let pattern = plan.jobs[0].sequence[0].kind.pattern();
            assert_eq!(pattern.map(PatternSchedule::kind), Some(own));
            assert_eq!(plan.jobs[0].turns(), Some(4));
        }
    }
}
