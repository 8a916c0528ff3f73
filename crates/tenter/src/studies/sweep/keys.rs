//! Keys of a sweep's description, and their checks.

use super::chart_keys::ChartKeys;
use super::limits::{SAMPLES_MAX, WORDS};
use tenter_language::config::{Named, Reader, Written, choice, component};
use tenter_results::Statistic;

use crate::studies::gate::Gate;
use crate::studies::read::Word;

component! {
    /// A sweep: a scenario, what is varied, and what is read of its trials. A study is a sweep
    /// whose readings are held against a table of published values.
    pub struct SweepKeys as "the sweep", derive(Clone, Debug, PartialEq) {
        /// What the sweep is called; also the name of its folder.
        name: String = "\"\"", in 200;
        /// What it is about, in a sentence.
        description: String = "\"\"", in WORDS;
        /// What a study compares, in a line.
        title: String = "\"\"", in WORDS;
        /// Public title of the source of a study, and the place in it.
        source: String = "\"\"", in WORDS;
        /// The scenario that is varied: a file, whose path counts from this one, or `preset:NAME`.
        scenario: String, in WORDS;
        /// The table with published values, which a study has.
        published: Option<TableKeys> = "none";
        /// The variant that the gates of rows with `case` or `each_row` judge, where a reading
        /// names no other.
        judge: String = "\"\"", in 200;
        /// Keys of switches, NICs and hosts that the scenario of a study sets in place of its
        /// equipment, each with the reason.
        varies: Named<String> = "{}", in WORDS;
        /// Settings of all trials: a path of the scenario and its value; `default` removes a key.
        set: Named<Written> = "{}";
        /// The quick form of a study; `none` where it has none.
        quick: Option<QuickKeys> = "{}";
        /// Rows of the published table that are not run.
        left_out: Vec<LeftOutKeys> = "[]";
        /// Named bundles of settings that are compared with each other. Among the settings may
        /// stand `about`, `label`, `quick`, `only` and `fitted_to`.
        variants: Named<Named<Written>> = "{}";
        /// Paths of the scenario, and the values that each of them takes: a list, or a range
        /// `{from, to}` with a `step`, a `factor` or a `count`; designs that draw need none of
        /// them. With `scale: log` draws and counts are even in the logarithm. An axis whose values
        /// are named bundles of settings has any name.
        axes: Named<Written> = "{}";
        /// How values of several axes are combined: every combination, the first ones together and
        /// the second ones together, as many draws as `samples` says, or as the columns of the
        /// published rows say that the axes are called after.
        design: Design = "grid";
        /// Points of a `random` or `latin-hypercube` design.
        samples: u32 = "0", in 0..=SAMPLES_MAX;
        /// Seed of the draws of these designs.
        design_seed: u64 = "1", in 0..=u64::MAX;
        /// Seeds of each point: how many, from the scenario's own seed on, or a list of seeds; or a
        /// mapping from `placement`, `hashing` and `arrivals` to that, which holds the others; or
        /// `runs` and conditions on the paths that hashes give.
        seeds: Written = "1";
        /// What is read of each trial; the completion time of each job where none is given.
        readings: Vec<ReadingKeys> = "[]";
        /// Pictures of the page; where none is named, all are drawn that say something.
        charts: Vec<ChartKeys> = "[]";
        /// Drawings of records of single trials.
        drawings: Written = "[]";
        /// What is kept of each trial beside its readings: its summary in the ledger, or also its
        /// folder with all tables.
        keep: Keep = "summary";
        check design_has_samples;
    }
}

component! {
    /// Which rows of which table a study is about.
    pub struct TableKeys as "`published`", derive(Clone, Debug, PartialEq) {
        /// The table: the name of its file without `.csv`.
        table: String, in 200;
        /// Columns, and the values that a row must have in them.
        rows: Named<Written> = "{}";
        /// The column with the published values, which gives the metric its name, in a table
        /// without a column `metric`.
        value: String = "published", in 200;
        /// The columns with the lower and the upper end of the band.
        band: Vec<String> = "[band_low, band_high]", in 200;
        check band_has_two_columns;
    }
}

component! {
    /// The quick form of a study.
    pub struct QuickKeys as "`quick`", derive(Clone, Debug, PartialEq) {
        /// Settings of all trials, after all others.
        set: Named<Written> = "{}";
        /// Columns, and the values that published rows of the quick form have in them.
        rows: Named<Vec<Written>> = "{}";
        /// Whether published values are judged although the quick form has other settings.
        judged: bool = "false";
    }
}

component! {
    /// Published rows that are not run.
    pub struct LeftOutKeys as "`left_out[]`", derive(Clone, Debug, PartialEq) {
        /// Columns, and the values of these rows in them.
        rows: Named<Vec<Written>>;
        /// Why.
        because: String, in WORDS;
    }
}

component! {
    /// What is read of each trial.
    pub struct ReadingKeys as "`readings[]`", derive(Clone, Debug, PartialEq) {
        /// What it is called, for instance `slowest job`; the metric of a row without a published
        /// value.
        name: String = "\"\"", in 200;
        /// What is asked of the tables of a trial, for instance `p99(flows.fct_ns) where job_name =
        /// train`: one number.
        query: String = "\"\"", in 4096;
        /// What is read that no table has, in place of a query.
        of: Option<Word> = "none";
        /// The leaf of `qps-per-uplink` and `qp-equivalents-per-uplink`.
        leaf: String = "\"\"", in 200;
        /// From when until when messages count for `accepted-gbps` and `accepted-percent`, in us.
        window_us: Vec<u64> = "[]", in 0..=u64::MAX;
        /// Constants of the power profile in place of its own, for readings of power.
        constants: Named<u64> = "{}", in 0..=u64::MAX;
        /// What is made of the values of several seeds.
        statistic: Statistic = "median";
        /// Whether the query is asked of the rows of all seeds together.
        pooled: bool = "false";
        /// Whether only trials that came to their end have a value.
        completed: bool = "false";
        /// Whether there is no value where one seed has none.
        every_seed: bool = "false";
        /// Which seeds count: those in which a background job shares an uplink of a leaf with a
        /// measured job, or those in which none does.
        seeds: Option<Sharing> = "none";
        /// The variant that the value is divided by, seed by seed, at the same point; or a mapping
        /// for other comparisons.
        against: Option<Written> = "none";
        /// Which values are better, for the winner among variants.
        better: Better = "less";
        /// Lower and upper end of the values that are expected, for instance `[0.9, 1.1]`: a sweep
        /// with a value outside ends with exit code 1. Of a published row: the columns with them.
        band: Option<Vec<Written>> = "none";
        /// What was published, or is expected, of single variants and points.
        published: Vec<PublishedKeys> = "[]";
        /// Name of a single row, or with `each_row` of each; `{column}` stands for the value of a
        /// column. Without it the reading has a row for each variant at each point.
        case: String = "\"\"", in 200;
        /// The bar within the case.
        bar: String = "\"\"", in 200;
        /// Columns and values of the published row; `{variant}` and the name of an axis in braces
        /// stand for those of the trial, and a row that is not there is shown for information.
        row: Option<Named<Written>> = "none";
        /// Whether there is a row for each row of the published table; `{column}` in the query
        /// stands for the value of a column.
        each_row: bool = "false";
        /// The tables that may have the row, of which the first counts.
        tables: Vec<String> = "[]", in 200;
        /// The column with the published value, if it is not that of the study.
        value: String = "\"\"", in 200;
        /// The variant that is judged; `none` for information. Without `case` and `each_row`, all
        /// are judged where none is named.
        judge: String = "\"\"", in 200;
        /// The variants that have a row; all without it.
        shown: Vec<String> = "[]", in 200;
        /// Axes, and the values at which the reading has rows.
        at: Named<Vec<Written>> = "{}";
        /// The variants of which it has rows.
        variants: Vec<String> = "[]", in 200;
        /// `false` if the quick form is another experiment than the published one.
        quick_judged: Option<bool> = "none";
        check band_has_two_ends;
    }
}

/// Condition on the luck of the hash in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// A measured job and a background job use at least one leaf uplink together.
    SharesAnUplink,
    /// No leaf uplink is used by a measured job and a background job.
    SharesNoUplink,
}
choice!(Sharing {
    "shares-an-uplink" => SharesAnUplink,
    "shares-no-uplink" => SharesNoUplink,
});

component! {
    /// What was published of a variant at a point.
    pub struct PublishedKeys as "`readings[].published[]`", derive(Clone, Debug, PartialEq) {
        /// The variant; all of them where none is named.
        variant: String = "\"\"", in 200;
        /// Axes and the values that they have there, as the axes list them; any where none is
        /// named.
        at: Named<Written> = "{}";
        /// The value, in the unit of the reading.
        value: Written;
        /// Lower and upper end of the values that match it.
        band: Option<Vec<Written>> = "none";
        /// What a value outside means: exit code 1, a miss that is shown, or nothing.
        gate: Gate = "required";
        check value_is_a_number;
    }
}
choice!(Gate { "required" => Required, "open" => Open, "info" => Info });

/// Rule by which several axes' values are combined to points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Combines every value with every other.
    Grid,
    /// Combines the first values, the second values, and so on.
    Zip,
    /// Draws each value by itself.
    Random,
    /// Cuts each axis into as many parts as there are samples and uses each part once.
    LatinHypercube,
    /// Takes the points from columns in the published table.
    Rows,
}
choice!(Design {
    "grid" => Grid,
    "zip" => Zip,
    "random" => Random,
    "latin-hypercube" => LatinHypercube,
    "rows" => Rows,
});

/// Data that is kept from each trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Keeps the summary and the readings, in the ledger.
    Summary,
    /// Keeps the trial folder with all tables as well.
    Tables,
}
choice!(Keep { "summary" => Summary, "tables" => Tables });

/// Direction in which a reading's values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Smaller values are better, as with times.
    Less,
    /// Larger values are better, as with bandwidths.
    More,
}
choice!(Better { "less" => Less, "more" => More });

impl SweepKeys {
    /// Returns the axis names as written, mostly paths of the scenario.
    pub(super) fn axis_paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.axes.0.iter().map(|(path, _)| path.as_str())
    }

    /// Returns short axis names: the last part of each path, `size` for
    /// `jobs[0].collectives[0].size`, or the whole path if two end alike.
    pub(super) fn axis_names(&self) -> Vec<&str> {
        let short = |path: &'_ str| path.rsplit_once('.').map_or(0, |(head, _)| head.len() + 1);
        // A short name that two axes share would not tell them apart, so both keep the whole path.
        let name = |path| {
            let last = |of: &str| of[short(of)..].to_owned();
            let alike = self
                .axis_paths()
                .filter(|other| last(other) == last(path))
                .count();
            if alike > 1 {
                path
            } else {
                &path[short(path)..]
            }
        };
        self.axis_paths().map(name).collect()
    }
}

impl ReadingKeys {
    /// Returns the band's ends, if the band has numbers.
    pub fn band(&self) -> Option<[f64; 2]> {
        ends(self.band.as_deref()?)
    }

    /// Returns the columns with the band's ends, if the band names columns.
    pub(super) fn columns(&self) -> Option<[&str; 2]> {
        match self.band.as_deref()? {
            [low, high] => Some([plain(low)?, plain(high)?]),
            _ => None,
        }
    }
}

impl PublishedKeys {
    /// Returns the band's ends, if there is a band.
    pub(super) fn band(&self) -> Option<[f64; 2]> {
        ends(self.band.as_deref()?)
    }

    /// Returns the published value as a number.
    pub(super) fn number(&self) -> Option<f64> {
        number(&self.value)
    }
}

/// Returns true if `name` means the axis `path`: the whole path, or its last part.
pub(super) fn is_axis(path: &str, name: &str) -> bool {
    path == name || path.rsplit_once('.').is_some_and(|(_, last)| last == name)
}

/// Returns a value that is one word or text; `None` for lists and mappings.
pub(super) fn plain(value: &Written) -> Option<&str> {
    match value {
        Written::Word(text) | Written::Text(text) => Some(text),
        Written::List(_) | Written::Map(_) => None,
    }
}

/// Returns two finite numbers in ascending order; `None` for anything else.
fn ends(band: &[Written]) -> Option<[f64; 2]> {
    let ends = band.iter().map(number);
    match ends.collect::<Option<Vec<f64>>>()?.as_slice() {
        &[low, high] if low <= high => Some([low, high]),
        _ => None,
    }
}

/// Reads a finite number that stands as a plain word; a quoted text is no number.
pub(super) fn number(value: &Written) -> Option<f64> {
    let Written::Word(word) = value else {
        return None;
    };
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

fn band_has_two_ends(reading: &ReadingKeys, reader: &mut dyn Reader) -> bool {
    let has_row = reading.row.is_some() || reading.each_row;
    let of_columns = || has_row && reading.columns().is_some();
    let holds = reading.band.is_none() || reading.band().is_some() || of_columns();
    is_band(holds, reader)
}

fn band_has_two_columns(table: &TableKeys, reader: &mut dyn Reader) -> bool {
    let holds = table.band.len() == 2;
    if !holds {
        let help = "name the columns with its ends: `[band_low, band_high]`";
        reader.refuse("band", "has not two columns", help);
    }
    holds
}

fn is_band(holds: bool, reader: &mut dyn Reader) -> bool {
    if !holds {
        reader.refuse("band", "is no band", "write two numbers: `[0.9, 1.1]`");
    }
    holds
}

fn value_is_a_number(row: &PublishedKeys, reader: &mut dyn Reader) -> bool {
    if row.number().is_none() {
        reader.refuse(
            "value",
            "is no number",
            "write it in the unit of the column",
        );
        return false;
    }
    is_band(row.band.is_none() || row.band().is_some(), reader)
}

fn design_has_samples(sweep: &SweepKeys, reader: &mut dyn Reader) -> bool {
    let drawn = matches!(sweep.design, Design::Random | Design::LatinHypercube);
    if drawn && sweep.samples == 0 {
        reader.refuse(
            "samples",
            "is 0, and the design draws as many points as it says",
            "write for example `samples: 100`",
        );
        return false;
    }
    if !drawn && sweep.samples > 0 {
        reader.refuse(
            "samples",
            "means nothing in this design, whose points follow from the axes",
            "leave it out, or choose `design: latin-hypercube`",
        );
        return false;
    }
    true
}
