//! Rows of an answer: what to read from which cells, and what was published.

use std::collections::{BTreeMap, BTreeSet};

use tenter_language::config::{Named, Written};
use tenter_language::units::{Bytes, suggestion};

use super::cells::{NamedAxis, SweepCell, values_at};
use super::checks;
use super::keys::{QuickKeys, ReadingKeys, Sharing, SweepKeys, is_axis, plain};
use super::published::{Lookup, filled};
use super::table::Published;
use crate::studies::against::Against;
use crate::studies::error::StudyError;
use crate::studies::gate::{Gate, Origin};
use crate::studies::read::{Read, Word};
use crate::studies::value::Value;

/// A row: a value to read from one or several cells, beside the published value.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    /// Case name, the first column in tables.
    pub case: String,
    /// Bar name within the case, if the case has several.
    pub bar: Option<String>,
    /// Metric name, which ends with the unit.
    pub metric: String,
    /// Index into the description's readings.
    pub reading: usize,
    /// Index into [`Sweep::reads`](super::Sweep::reads).
    pub(super) read: usize,
    /// Comparison formula, with the cells whose values it takes, by index.
    pub(super) against: Option<(Against, Vec<usize>)>,
    /// Condition on the seeds that count, with the place of the shared-uplink count in
    /// [`Sweep::reads`](super::Sweep::reads).
    pub(super) condition: Option<(usize, Sharing)>,
    /// Judged cell, by index; `None` for information only.
    pub judged: Option<usize>,
    /// Cells that have a row in the answer, by index, ascending.
    pub shown: Vec<usize>,
    /// Published value; `None` if there is none.
    pub published: Option<Value>,
    /// Tells the source's rows from expectations that the project added.
    pub origin: Origin,
    /// Lower and upper end, both inside.
    pub band: Option<[f64; 2]>,
    /// Consequence of a value outside the band.
    pub gate: Gate,
    /// Reason for this band and this gate.
    pub reason: String,
    /// True if the quick form has the row.
    pub(super) quick: bool,
    /// True if trials that differ from the published experiment are judged: those in a quick form,
    /// or with a scenario that the user changed.
    pub quick_judged: bool,
    /// True if the answer adds the seeds' count and range to the row's statistic.
    pub(super) counts_values: bool,
}

impl SweepRow {
    /// Returns the cells with which the row is compared, by index.
    pub fn others(&self) -> &[usize] {
        self.against.as_ref().map_or(&[], |(_, others)| others)
    }

    /// Drops band and gate if no cell is judged.
    fn only_judged(self) -> SweepRow {
        match self.judged {
            Some(_) => self,
            None => SweepRow {
                band: None,
                gate: Gate::Info,
                ..self
            },
        }
    }
}

/// Reason why rows are invalid: an error in the description or in a table.
pub(super) enum Wrong {
    Description(String),
    Table(StudyError),
}

impl From<String> for Wrong {
    fn from(what: String) -> Wrong {
        Wrong::Description(what)
    }
}

impl From<StudyError> for Wrong {
    fn from(error: StudyError) -> Wrong {
        Wrong::Table(error)
    }
}

/// Makes the rows for all readings.
pub(super) struct Rows<'a> {
    pub(super) keys: &'a SweepKeys,
    pub(super) axes: &'a [NamedAxis<'a>],
    /// Variant names, by the index that cells have.
    pub(super) variants: Vec<&'a str>,
    pub(super) points: &'a [Vec<String>],
    pub(super) cells: &'a [SweepCell],
    pub(super) lookup: &'a Lookup<'a>,
    pub(super) made: Vec<SweepRow>,
    pub(super) reads: Vec<Read>,
    /// Table rows that some reading uses, as table name and row index.
    used: BTreeSet<(String, usize)>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        keys: &'a SweepKeys,
        axes: &'a [NamedAxis<'a>],
        variants: Vec<&'a str>,
        points: &'a [Vec<String>],
        cells: &'a [SweepCell],
        lookup: &'a Lookup<'a>,
    ) -> Rows<'a> {
        Rows {
            keys,
            axes,
            variants,
            points,
            cells,
            lookup,
            made: Vec::new(),
            reads: Vec::new(),
            used: BTreeSet::new(),
        }
    }

    /// Makes all rows, reading by reading, and checks that no table row was forgotten.
    pub(super) fn make(&mut self) -> Result<(), Wrong> {
        let keys = self.keys;
        self.check_judge()?;
        for (index, reading) in keys.readings.iter().enumerate() {
            let in_reading = |what| format!("the reading `{}`: {what}", called(reading));
            checks::check_reading(reading).map_err(in_reading)?;
            let before = self.made.len();
            if reading.each_row {
                self.each_row(index, reading)?;
            } else if reading.case.is_empty() {
                self.each_cell(index, reading)?;
            } else {
                self.single(index, reading)?;
            }
            // A reading without a row would judge nothing, and the command would end well.
            if self.made.len() == before {
                let what = "it has no row: see `published.rows`, `left_out`, `at` and `variants`";
                return Err(in_reading(what.to_owned()).into());
            }
        }
        self.check_all_rows_are_read()
    }

    /// Checks that the description's own `judge` names a cell, and that a reading asks for it.
    fn check_judge(&self) -> Result<(), String> {
        let name = self.keys.judge.as_str();
        if ["", "none"].contains(&name) {
            return Ok(());
        }
        if self.keys.readings.iter().all(checks::is_of_cells) {
            return Err(
                "`judge` judges readings with `case` or `each_row`, and there is none; name the variant in `judge` of a reading"
                    .to_owned(),
            );
        }
        let cells = self.cells.iter().map(|cell| cell.name.as_str());
        let mut known = self.variants.iter().copied().chain(cells.clone());
        if known.any(|known| known == name) {
            return Ok(());
        }
        let help = suggestion(name, cells);
        Err(format!(
            "`judge` names `{name}`, which there is not; {help}"
        ))
    }

    /// Makes a row for each variant at each point, for a reading without `case`.
    fn each_cell(&mut self, index: usize, reading: &ReadingKeys) -> Result<(), Wrong> {
        let read = read(reading, &|text| Ok(text.to_owned()))?;
        // Equal queries of two readings of a sweep have columns of their own.
        let read = if self.keys.published.is_some() {
            self.place(read)
        } else {
            self.reads.push(read);
            self.reads.len() - 1
        };
        let against = against(reading)?;
        let mut others = against.iter().flat_map(Against::variants);
        let divisor = others.next().cloned();
        let is_judged = self.judged_variants(reading)?;
        let (of_points, of_variants) = self.at(reading)?;
        for (place, cell) in self.cells.iter().enumerate() {
            let name = self.variants[cell.variant];
            // A study has no bar for the variant to which the others are compared; a sweep shows
            // its ratio, 1.
            let is_own = divisor.as_deref() == Some(name) && self.keys.published.is_some();
            if is_own || !of_points[cell.point] || !of_variants[cell.variant] {
                continue;
            }
            let found = self.row_of_cell(reading, cell)?;
            let own = match &reading.row {
                None => self.expected(reading, cell),
                Some(_) => found.unwrap_or_else(|| Published::nothing(&reading.name)),
            };
            let bar = Some(cell.bar.clone());
            let mut row = self.row(index, read, own, cell.case.clone(), bar);
            row.metric = if reading.row.is_some() || self.keys.published.is_some() {
                row.metric
            } else {
                reading.metric()
            };
            row.against = self.set_against(reading, Some(cell.point))?;
            row.judged = is_judged[cell.variant].then_some(place);
            row.shown = vec![place];
            row.counts_values = self.keys.published.is_some();
            self.made.push(row.only_judged());
        }
        let mut of_reading = self.made.iter().filter(|row| row.reading == index);
        let is_judged = of_reading.any(|row| row.judged.is_some());
        if ["", "none"].contains(&reading.judge.as_str()) || is_judged {
            return Ok(());
        }
        Err(Wrong::Description(format!(
            "the reading `{}` has no row for `{}`, which it judges; see `variants`, `at` and `against`",
            called(reading),
            reading.judge
        )))
    }

    /// Tells for each variant whether the cells of a reading without `case` are judged: all of them
    /// are unless the reading names one variant, or `none`.
    fn judged_variants(&self, reading: &ReadingKeys) -> Result<Vec<bool>, Wrong> {
        let name = reading.judge.as_str();
        let is_it = |variant: &&str| name.is_empty() || *variant == name;
        let judged: Vec<bool> = self.variants.iter().map(is_it).collect();
        if name != "none" && !judged.contains(&true) {
            return Err(self.unknown_variant(reading, name));
        }
        Ok(judged)
    }

    fn unknown_variant(&self, reading: &ReadingKeys, name: &str) -> Wrong {
        let known = self.variants.iter().copied();
        let help = suggestion(name, known.filter(|name| !name.is_empty()));
        Wrong::Description(format!(
            "the reading `{}` is of the variant `{name}`, which there is not; {help}",
            called(reading)
        ))
    }

    /// Returns what the description itself says of a cell; the first entry of `published` that fits
    /// counts, else the reading's band.
    fn expected(&self, reading: &ReadingKeys, cell: &SweepCell) -> Published {
        let point = || self.axes.iter().zip(&self.points[cell.point]);
        let is_here = |(path, value): &(String, Written)| {
            let mut here = point().filter(|(axis, _)| is_axis(axis.name, path));
            here.any(|(_, here)| *here == value.to_string())
        };
        let row = reading.published.iter().find(|row| {
            let of_variant = row.variant.is_empty() || row.variant == self.variants[cell.variant];
            of_variant && row.at.0.iter().all(is_here)
        });
        let Some(row) = row else {
            let expected = Published::expected(&reading.name, reading.band());
            let is_own = self.keys.published.is_none();
            let origin = if is_own { Origin::Own } else { expected.origin };
            return Published { origin, ..expected };
        };
        let band = row.band();
        Published {
            value: row.number().map(Value::Number),
            band,
            gate: if band.is_none() { Gate::Info } else { row.gate },
            ..Published::nothing(&reading.name)
        }
    }

    /// Returns the points and the variants at which the reading has rows, by its keys `at` and
    /// `variants`: a flag for each.
    fn at(&self, reading: &ReadingKeys) -> Result<(Vec<bool>, Vec<bool>), Wrong> {
        let mut of_points = vec![true; self.points.len()];
        for (axis, values) in &reading.at.0 {
            let place = self.axes.iter().position(|of| is_axis(of.name, axis));
            let place = place.ok_or_else(|| {
                let help = suggestion(axis, self.axes.iter().map(|of| of.name));
                format!(
                    "the reading `{}` is at the axis `{axis}`, which there is not; {help}",
                    called(reading)
                )
            })?;
            let known = values_at(self.points, place);
            let is_known =
                |value: &Written| plain(value).is_some_and(|value| known.contains(value));
            if let Some(unknown) = values.iter().find(|value| !is_known(value)) {
                return Err(Wrong::Description(format!(
                    "the reading `{}` is at `{axis}: {unknown}`, which no point has",
                    called(reading)
                )));
            }
            for (is_at, point) in of_points.iter_mut().zip(self.points) {
                let here = point[place].trim_matches('"');
                *is_at &= values.iter().any(|value| plain(value) == Some(here));
            }
        }
        let unknown = |of: &&String| self.variants.iter().all(|name| name != of);
        if let Some(of) = reading.variants.iter().find(unknown) {
            return Err(self.unknown_variant(reading, of));
        }
        let named = &reading.variants;
        let is_named = |name: &&str| named.is_empty() || named.iter().any(|of| of == name);
        Ok((of_points, self.variants.iter().map(is_named).collect()))
    }

    /// Returns the cell's published row, if the reading has `row`. Names in braces stand for the
    /// cell's variant and axis values.
    fn row_of_cell(
        &mut self,
        reading: &ReadingKeys,
        cell: &SweepCell,
    ) -> Result<Option<Published>, Wrong> {
        let Some(row) = &reading.row else {
            return Ok(None);
        };
        let values = self.axes.iter().zip(&self.points[cell.point]);
        let mut names: BTreeMap<&str, &str> = values
            .map(|(axis, value)| {
                let row = axis.value(value).map_or(value, |bundle| &bundle.row);
                (axis.name, row.as_str())
            })
            .collect();
        // Inserted last: an axis that is called `variant` does not hide the variant.
        names.insert("variant", self.variants[cell.variant]);
        let row = values_of(row, &|text| filled(text, &names));
        self.found(reading, &row?, true)
    }

    /// Returns what the tables say about the row with the values `row`, and marks it as used. With
    /// `may_lack`, a row that no table has is no error.
    fn found(
        &mut self,
        reading: &ReadingKeys,
        row: &[(String, String)],
        may_lack: bool,
    ) -> Result<Option<Published>, Wrong> {
        let lookup = self.lookup;
        let found = lookup.find(reading, row, may_lack)?;
        let Some((table, at)) = found else {
            return Ok(None);
        };
        // Rows that were found are marked; in the end no row may be left without a reading.
        self.used.insert((table.name.clone(), at));
        let value = Some(reading.value.as_str()).filter(|name| !name.is_empty());
        let (of_study, band) = lookup.columns(reading);
        Ok(Some(table.published(at, value, of_study, band)?))
    }

    /// Makes the single row that a reading with `case` has, with or without a published row.
    fn single(&mut self, index: usize, reading: &ReadingKeys) -> Result<(), Wrong> {
        let read = read(reading, &|text| Ok(text.to_owned()))?;
        let read = self.place(read);
        let own = match &reading.row {
            Some(row) => {
                let row = values_of(row, &|text| Ok(text.to_owned()))?;
                self.found(reading, &row, false)?
            }
            None => None,
        };
        let own = own.unwrap_or_else(|| Published::expected(&reading.name, reading.band()));
        let mut row = self.row(index, read, own, reading.case.clone(), bar(reading));
        row.against = self.set_against(reading, None)?;
        (row.judged, row.shown) = self.judged(reading, None)?;
        self.made.push(row.only_judged());
        Ok(())
    }

    /// Makes a row for each row in the study's table, for a reading with `each_row`.
    fn each_row(&mut self, index: usize, reading: &ReadingKeys) -> Result<(), Wrong> {
        let no_table = || "`each_row` needs `published`, the table with the rows".to_owned();
        let lookup = self.lookup;
        let table = lookup.own().ok_or_else(no_table)?;
        let row = reading.row.as_ref();
        let row = row.map(|row| values_of(row, &|text| Ok(text.to_owned())));
        let row = row.transpose()?.unwrap_or_default();
        for at in lookup.rows(table, &row)? {
            let cells = table.cells(at);
            let fill = |text: &str| filled(text, &cells);
            if lookup.is_left_out(&cells)? {
                continue;
            }
            let read = read(reading, &fill)?;
            let read = self.place(read);
            let value = Some(reading.value.as_str()).filter(|name| !name.is_empty());
            let (of_study, band) = lookup.columns(reading);
            // A table may have only descriptions of what was run: then nothing can be judged.
            let own = if reading.judge == "none" && !table.has_value(value, of_study) {
                Published::nothing(&reading.name)
            } else {
                table.published(at, value, of_study, band)?
            };
            let case = size_or(fill(&reading.case)?);
            let mut row = self.row(index, read, own, case, bar(reading));
            row.against = self.set_against(reading, None)?;
            row.quick = lookup.is_quick(&cells)?;
            // If table rows define the points, a row belongs to the cells at its point.
            let values = lookup.point(&cells)?;
            let point = values.and_then(|values| self.points.iter().position(|of| *of == values));
            (row.judged, row.shown) = self.judged(reading, point)?;
            self.made.push(row.only_judged());
        }
        Ok(())
    }

    /// Returns the judged cell and the cells to show, by index, the latter ascending: those at
    /// `point`, or of the whole sweep.
    fn judged(
        &self,
        reading: &ReadingKeys,
        point: Option<usize>,
    ) -> Result<(Option<usize>, Vec<usize>), Wrong> {
        let is_here = |cell: &usize| point.is_none_or(|point| self.cells[*cell].point == point);
        let here: Vec<usize> = (0..self.cells.len()).filter(is_here).collect();
        let name = match reading.judge.as_str() {
            "" => self.keys.judge.as_str(),
            name => name,
        };
        let judged = match name {
            "none" => None,
            "" => match *here {
                [only] => Some(only),
                _ => {
                    return Err(Wrong::Description(format!(
                        "the reading `{}` is of {} cells, and none is judged; name one in `judge`, or write `judge: none`",
                        called(reading),
                        here.len()
                    )));
                }
            },
            name => Some(self.cell(reading, name, point)?),
        };
        let shown = reading.shown.iter();
        let shown = shown.map(|name| self.cell(reading, name, point));
        let mut shown = shown.collect::<Result<Vec<usize>, Wrong>>()?;
        shown.sort_unstable();
        if shown.is_empty() {
            shown = here;
        }
        if let Some(judged) = judged.filter(|judged| !shown.contains(judged)) {
            return Err(Wrong::Description(format!(
                "`{}` would never be judged: `shown` has {} and not the judged variant `{}`",
                reading.case,
                reading.shown.join(", "),
                self.cells[judged].name
            )));
        }
        Ok((judged, shown))
    }

    /// Returns the reading's comparison with the cells that it names, at a point or in the whole
    /// sweep.
    fn set_against(
        &self,
        reading: &ReadingKeys,
        point: Option<usize>,
    ) -> Result<Option<(Against, Vec<usize>)>, Wrong> {
        let Some(against) = against(reading)? else {
            return Ok(None);
        };
        let others = against.variants().iter();
        let others = others.map(|name| self.cell(reading, name, point));
        let others = others.collect::<Result<_, Wrong>>()?;
        Ok(Some((against, others)))
    }

    /// Returns the index of the cell that `name` means: the variant's cell at `point`, or else the
    /// cell with that name.
    ///
    /// # Errors
    /// Fails if neither exists.
    fn cell(
        &self,
        reading: &ReadingKeys,
        name: &str,
        point: Option<usize>,
    ) -> Result<usize, Wrong> {
        // A variant at the row's own point comes first; the name of a cell reaches across points.
        let at_point =
            |cell: &SweepCell| point == Some(cell.point) && self.variants[cell.variant] == name;
        let cells = self.cells.iter();
        let found = cells.clone().position(at_point);
        let mut named = cells.clone().filter(|cell| cell.name == name);
        // Plain axes give all cells of a variant one name.
        if found.is_none() && named.clone().count() > 1 {
            return Err(Wrong::Description(format!(
                "the reading `{}` has `case`, and `{name}` is run at {} points; leave `case` out",
                called(reading),
                named.count()
            )));
        }
        let at = |name: &str| cells.clone().position(|cell| cell.name == name);
        let found = found.or_else(|| at(&named.next()?.name));
        if let Some(point) = point.filter(|_| found.is_none() && self.variants.contains(&name)) {
            return Err(Wrong::Description(format!(
                "the reading `{}` judges or compares with `{name}`, which is not run at {}; see `only`",
                called(reading),
                self.points[point].join(", ")
            )));
        }
        found.ok_or_else(|| {
            let known = self
                .variants
                .iter()
                .copied()
                .filter(|name| !name.is_empty());
            // Suggestions are names that would have been accepted here.
            let known: Vec<&str> = match point {
                Some(_) => known.collect(),
                None => cells.map(|cell| cell.name.as_str()).collect(),
            };
            let help = suggestion(name, known.into_iter());
            Wrong::Description(format!(
                "the reading `{}` names the variant `{name}`, which there is not; {help}",
                called(reading)
            ))
        })
    }

    /// Makes a row for reading `index` from what was published; no cell shows it yet.
    fn row(
        &mut self,
        index: usize,
        read: usize,
        own: Published,
        case: String,
        bar: Option<String>,
    ) -> SweepRow {
        let reading = &self.keys.readings[index];
        let condition = reading
            .seeds
            .map(|sharing| (self.place(Read::word(Word::SharedUplinks)), sharing));
        // A quick form with other settings is another experiment: published values are not judged
        // unless the description says so, while the project's own expectations stay judged.
        let differs = |quick: &QuickKeys| !quick.set.0.is_empty() && !quick.judged;
        let is_other = self.keys.quick.as_ref().is_some_and(differs)
            && own.origin == Origin::Published
            && own.gate != Gate::Info;
        SweepRow {
            case,
            bar,
            metric: own.metric,
            reading: index,
            read,
            against: None,
            condition,
            judged: None,
            shown: Vec::new(),
            published: own.value,
            origin: own.origin,
            band: own.band,
            gate: own.gate,
            reason: own.reason,
            quick: true,
            quick_judged: reading.quick_judged.unwrap_or(!is_other),
            counts_values: true,
        }
    }

    /// Returns a reading's index and adds the reading if it is new: equal readings are made once.
    fn place(&mut self, read: Read) -> usize {
        let known = self.reads.iter().position(|of| *of == read);
        known.unwrap_or_else(|| {
            self.reads.push(read);
            self.reads.len() - 1
        })
    }

    /// Checks that readings with `row` and without `case` use every row in their tables. A misspelt
    /// case or variant would leave a published row unjudged without a word.
    fn check_all_rows_are_read(&self) -> Result<(), Wrong> {
        let by_cell = |reading: &&ReadingKeys| reading.case.is_empty() && reading.row.is_some();
        for reading in self.keys.readings.iter().filter(by_cell) {
            for table in self.lookup.tables(reading) {
                let mut of_study = self.lookup.rows(table, &[])?.into_iter();
                let unread = of_study.find(|at| !self.used.contains(&(table.name.clone(), *at)));
                if let Some(at) = unread {
                    let message = "no reading is compared with this row of the study";
                    return Err(table.wrong(Some(at), message).into());
                }
            }
        }
        Ok(())
    }
}

/// Makes the value to read from a reading's keys; `fill` replaces the names in its query.
fn read(
    reading: &ReadingKeys,
    fill: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Read, String> {
    let Some(of) = reading.of else {
        let query = fill(&reading.query)?;
        let query = Read::query(&query, reading.pooled, reading.completed);
        return query.map_err(|what| format!("the reading `{}`: {what}", called(reading)));
    };
    Ok(Read::Word {
        of,
        leaf: (!reading.leaf.is_empty()).then(|| reading.leaf.clone()),
        window_us: match reading.window_us.as_slice() {
            [from, to] => Some([*from, *to]),
            _ => None,
        },
        constants: reading.constants.0.iter().cloned().collect(),
    })
}

/// Returns the name by which messages call a reading.
fn called(reading: &ReadingKeys) -> &str {
    if reading.name.is_empty() {
        &reading.case
    } else {
        &reading.name
    }
}

fn bar(reading: &ReadingKeys) -> Option<String> {
    (!reading.bar.is_empty()).then(|| reading.bar.clone())
}

/// Reads the key `against`, which names the comparison.
pub(super) fn against(reading: &ReadingKeys) -> Result<Option<Against>, String> {
    let Some(against) = &reading.against else {
        return Ok(None);
    };
    let read = Against::read(against).map(Some);
    read.map_err(|what| format!("`against` of the reading `{}`: {what}", called(reading)))
}

/// Writes a byte count in its largest unit (`1048576B` as `1MiB`); other names stay.
fn size_or(name: String) -> String {
    let is_bytes = name
        .strip_suffix('B')
        .is_some_and(|digits| digits.parse::<u64>().is_ok());
    let size = name.parse::<Bytes>().ok().filter(|_| is_bytes);
    size.map_or(name, |size| size.to_string())
}

/// Returns the columns in `row` with their values, in which `fill` replaces names.
fn values_of(
    row: &Named<Written>,
    fill: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Vec<(String, String)>, String> {
    let values = row.0.iter();
    let values = values.map(|(column, value)| {
        let text = plain(value).unwrap_or_default();
        Ok((column.clone(), fill(text)?))
    });
    values.collect()
}
