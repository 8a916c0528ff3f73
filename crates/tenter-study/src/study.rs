//! A study, ready to run: its description, its published rows and its scenario.

use tenter_plan::Plan;
use tenter_record::Row as _;
use tenter_record::{Digest, Notes};
use tenter_scenario::{Format, Loaded, load_beside};
use tenter_units::{Budget, Limits};

use crate::answer::{AnswerVariant, CaseAnswer, StudyAnswer};
use crate::description::Description;
use crate::drawing::{Chart, Drawing};
use crate::equipment::Equipment;
use crate::error::StudyError;
use crate::gate::{Gate, Origin};
use crate::pauses::Pauses;
use crate::power;
use crate::published;
use crate::reading::{Against, Reading};
use crate::reading_of_row::ReadingOfRow;
use crate::readings::ReadingRow;
use crate::registry::{StudyTexts, equipment_text, published_table};
use crate::seeds::Seeds;
use crate::sizes::{self, Sizes};
use crate::trial::Trial;
use crate::unknown::UnknownVariant;
use crate::variant::{Extent, Variant};

/// A published study.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its name, `<group>/<study>`.
    pub name: String,
    /// What it is about, in a line.
    pub title: String,
    /// Public title of the source, and where in it.
    pub source: String,
    /// The page on what the source says, what is assumed and what misses.
    pub readme: String,
    /// The ways in which the scenario is run.
    pub variants: Vec<Variant>,
    /// Which seeds are run; that of the scenario where this is missing.
    pub seeds: Option<Seeds>,
    /// What is compared with what.
    pub comparison: Comparison,
    /// What a quick run has otherwise, as `--set` has it.
    pub quick_set: Vec<String>,
    /// What a report draws of it.
    pub charts: Vec<Chart>,
    /// What it draws of single trials.
    pub drawings: Vec<Drawing>,
    /// Whether a study by readings has a quick form.
    quick: bool,
    scenario: String,
    /// What the scenario inherits.
    equipment: Equipment,
    /// Its folder, as messages call it.
    folder: String,
}

/// What a study compares.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// Columns of the table of collectives, size by size.
    Sizes(Sizes),
    /// Readings of trials, row by row.
    Readings(Vec<ReadingRow>),
}

impl Comparison {
    /// Other settings are another experiment than the published one: a quick form that has some
    /// judges no published value, unless its reading says so.
    fn judge_no_published_quickly(&mut self) {
        let rows = match self {
            Comparison::Sizes(sizes) => &mut sizes.beside,
            Comparison::Readings(rows) => rows,
        };
        for row in rows {
            if row.origin == Origin::Published && row.gate != Gate::Info {
                row.quick_judged.get_or_insert(false);
            }
        }
    }
}

impl Study {
    /// A study that is part of the program, with the tables and the equipment that are.
    ///
    /// # Errors
    /// Those of [`Study::read`]; none for the studies of the program, which its tests read.
    pub fn embedded(texts: &StudyTexts<'_>) -> Result<Study, StudyError> {
        Study::read(texts, published_table, |path| {
            equipment_text(path).map(str::to_owned)
        })
    }

    /// Reads a study; `table` gives the text of a published table by its name, and `equipment` that
    /// of the equipment by the path that the scenario names.
    ///
    /// # Errors
    /// When the description or the published table does not hold, or the two do not fit.
    pub fn read<'t>(
        texts: &StudyTexts<'_>,
        table: impl Fn(&str) -> Option<&'t str>,
        equipment: impl Fn(&str) -> Option<String>,
    ) -> Result<Study, StudyError> {
        let wrong = |message: String| StudyError::Description {
            folder: texts.folder.to_owned(),
            message,
        };
        let mut description: Description =
            toml::from_str(texts.description).map_err(|error| wrong(error.to_string()))?;
        if let Some(matrix) = &description.matrix {
            let (variants, readings) = (&mut description.variants, &mut description.readings);
            matrix.expand(variants, readings).map_err(wrong)?;
        }
        let name = &description.published.table;
        let rows = table(name).ok_or_else(|| {
            wrong(format!(
                "there is no table `{name}`; put it beside as `{name}.csv`"
            ))
        })?;
        if let Some(grid) = &description.grid {
            let records = published::Records::read(rows, &description.published)?;
            let (variants, readings) = (&mut description.variants, &mut description.readings);
            let rows: Vec<_> = records.rows().collect();
            grid.expand(&rows, variants, readings).map_err(wrong)?;
        }
        check(&description).map_err(wrong)?;
        let source = scenario_file(texts.folder);
        let equipment = Equipment::read(texts.scenario, &source, &description.varies, equipment);
        let equipment = equipment.map_err(wrong)?;
        let mut comparison = match (&description.scenario, &description.judged) {
            (Some(scenario), Some(judged)) => {
                let cases = published::read(rows, &description, judged)?;
                let sizes = Sizes::new(&description, scenario, judged, cases);
                let mut sizes = sizes.map_err(wrong)?;
                sizes.beside = published::read_readings(table, &description)?;
                Comparison::Sizes(sizes)
            }
            (None, None) if description.metrics.is_empty() => {
                Comparison::Readings(published::read_readings(table, &description)?)
            }
            _ => {
                let message = "give `metrics`, `scenario` and `judged`, or `readings`";
                return Err(wrong(message.to_owned()));
            }
        };
        if !description.quick_set.is_empty() {
            comparison.judge_no_published_quickly();
        }
        Ok(Study {
            name: texts.name.to_owned(),
            folder: texts.folder.to_owned(),
            title: description.title,
            source: description.source,
            readme: texts.readme.to_owned(),
            variants: description.variants,
            seeds: description.seeds,
            quick_set: description.quick_set,
            quick: description.quick,
            charts: description.charts,
            drawings: description.drawings,
            comparison,
            scenario: texts.scenario.to_owned(),
            equipment,
        })
    }

    /// The variant of that name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// Leaves out all variants but these: they are not run, and what is read from them, or beside
    /// them, has no row. An empty list leaves out none.
    ///
    /// # Errors
    /// When one of the names is not that of a variant.
    pub fn keep_variants(&mut self, names: &[String]) -> Result<(), UnknownVariant> {
        if let Some(given) = names.iter().find(|name| self.variant(name).is_none()) {
            let known = self.variants.iter().map(|variant| variant.name.clone());
            return Err(UnknownVariant {
                study: self.name.clone(),
                given: given.clone(),
                known: known.collect(),
            });
        }
        for variant in &mut self.variants {
            variant.left_out = !names.is_empty() && !names.contains(&variant.name);
        }
        Ok(())
    }

    /// Whether any variant that is not left out is run in such an extent.
    pub fn has_variants(&self, extent: Extent) -> bool {
        self.variants.iter().any(|variant| variant.is_run(extent))
    }

    /// The variants that are not left out.
    pub fn kept_variants(&self) -> impl Iterator<Item = &Variant> {
        self.variants.iter().filter(|variant| !variant.left_out)
    }

    /// Whether there is anything to run.
    pub fn has(&self, extent: Extent) -> bool {
        match &self.comparison {
            Comparison::Sizes(sizes) => sizes.cases(extent == Extent::Quick).next().is_some(),
            Comparison::Readings(rows) => {
                let seeds = self.seeds.as_ref();
                let quick = self.quick && seeds.is_none_or(|seeds| seeds.quick_runs > 0);
                !rows.is_empty() && (quick || extent == Extent::Full)
            }
        }
    }

    /// Whether its readings need the flows of a trial.
    pub fn needs_flows(&self) -> bool {
        self.reads(|row| {
            row.is_of_flows() || row.reading.is_of_completion_times() || row.reading.is_of_window()
        })
    }

    /// A trial without what no reading looks at: flows take far more room than their times.
    #[must_use]
    pub fn thinned(&self, mut trial: Trial) -> Trial {
        if !self.reads(ReadingRow::is_of_flows) {
            trial.flows = Vec::new();
        }
        trial
    }

    fn reads(&self, is_such: impl Fn(&ReadingRow) -> bool) -> bool {
        self.readings().iter().any(is_such)
    }

    /// Its readings; in a study by sizes those beside the sizes.
    pub fn readings(&self) -> &[ReadingRow] {
        match &self.comparison {
            Comparison::Sizes(sizes) => &sizes.beside,
            Comparison::Readings(rows) => rows,
        }
    }

    /// The scenario of a variant with its changes and the sizes of the cases, resolved, once for
    /// each seed that is run; with the seed of the scenario where the study names none. Each of
    /// them may take what `limits` say.
    ///
    /// # Errors
    /// When the scenario does not hold, is not one job with one iteration, or would take more than
    /// `limits` allow.
    pub fn trials(
        &self,
        variant: &Variant,
        extent: Extent,
        limits: Limits,
    ) -> Result<Vec<Loaded>, StudyError> {
        if !variant.is_run(extent) {
            return Ok(Vec::new());
        }
        let Some(seeds) = &self.seeds else {
            return Ok(vec![self.trial(variant, extent, None, limits)?]);
        };
        let runs = match extent {
            Extent::Full => seeds.runs,
            Extent::Quick => seeds.quick_runs,
        };
        let mut trials = Vec::new();
        for seed in 1..=seeds.looked_at {
            if trials.len() == runs {
                break;
            }
            let judge = seeds.by.as_deref().and_then(|name| self.variant(name));
            let loaded = self.trial(judge.unwrap_or(variant), extent, Some(seed), limits)?;
            let meets = seeds.meets(&loaded.plan);
            if !meets.map_err(|error| self.wrong(variant, error.to_string()))? {
                continue;
            }
            trials.push(match judge {
                Some(judge) if judge != variant => {
                    self.trial(variant, extent, Some(seed), limits)?
                }
                _ => loaded,
            });
        }
        Ok(trials)
    }

    /// One of the trials of a variant, and how many there are: they differ in their seeds alone.
    /// `None` where the variant is not run.
    ///
    /// # Errors
    /// As [`Study::trials`].
    pub fn example(
        &self,
        variant: &Variant,
        extent: Extent,
        limits: Limits,
    ) -> Result<Option<(Loaded, usize)>, StudyError> {
        if !self.has(extent) || !variant.is_run(extent) {
            return Ok(None);
        }
        let runs = self.seeds.as_ref().map_or(1, |seeds| match extent {
            Extent::Full => seeds.runs,
            Extent::Quick => seeds.quick_runs,
        });
        let seed = self.seeds.as_ref().map(|_| 1);
        Ok(Some((self.trial(variant, extent, seed, limits)?, runs)))
    }

    fn trial(
        &self,
        variant: &Variant,
        extent: Extent,
        seed: Option<u64>,
        limits: Limits,
    ) -> Result<Loaded, StudyError> {
        let wrong = |message: String| self.wrong(variant, message);
        let calibrations = variant.calibrations.iter().map(|fitted| &fitted.set);
        let mut changes: Vec<String> = variant.set.iter().chain(calibrations).cloned().collect();
        if extent == Extent::Quick {
            changes.extend(self.quick_set.iter().cloned());
        }
        if let Comparison::Sizes(sizes) = &self.comparison {
            let cases = sizes.cases(extent == Extent::Quick);
            let names: Vec<String> = cases.map(published::Case::name).collect();
            changes.push(format!("{}=[{}]", sizes.path, names.join(", ")));
        }
        let source = scenario_file(&self.folder);
        let (text, budget) = (&self.scenario, Budget::new(limits));
        let files = |name: &str| self.equipment.open(name);
        let loaded = load_beside(text, &source, Format::Yaml, &changes, seed, &files, &budget)
            .map_err(|problems| wrong(format!("\n{}", problems.render())))?;
        self.check_plan(variant, &loaded.plan).map_err(wrong)?;
        Ok(loaded)
    }

    fn check_plan(&self, variant: &Variant, plan: &Plan) -> Result<(), String> {
        let rows = match (&self.comparison, plan.jobs.as_slice()) {
            (Comparison::Sizes(sizes), [job]) if job.iterations == 1 => &sizes.beside,
            (Comparison::Sizes(_), _) => {
                return Err(
                    "a study by sizes compares one job with one iteration; leave out the others"
                        .to_owned(),
                );
            }
            (Comparison::Readings(rows), _) => rows,
        };
        let mut shown = rows.iter().filter(|row| row.shown.contains(&variant.name));
        match shown.find(|row| !row.fits(plan)) {
            Some(row) => Err(format!(
                "it has no leaf or job for the reading `{}`",
                row.case
            )),
            None => Ok(()),
        }
    }

    fn wrong(&self, variant: &Variant, message: String) -> StudyError {
        StudyError::Scenario {
            folder: self.folder.clone(),
            variant: variant.name.clone(),
            message,
        }
    }

    /// Compares trials with what was published: those of each variant, in the order of
    /// [`variants`](Study::variants); a variant without any has measured nothing. A form without
    /// anything to run has no rows, so that nothing in it can miss.
    pub fn judge(&self, extent: Extent, trials: &[Vec<Trial>]) -> StudyAnswer {
        let cases = match &self.comparison {
            _ if !self.has(extent) => Vec::new(),
            Comparison::Sizes(sizes) => {
                let mut cases = sizes.judge(extent == Extent::Quick, &self.variants, trials);
                cases.extend(self.read_all(&sizes.beside, extent, trials));
                cases
            }
            Comparison::Readings(rows) => self.read_all(rows, extent, trials),
        };
        let with_trials = || self.variants.iter().zip(trials);
        let pauses =
            with_trials().filter_map(|(variant, trials)| Pauses::of(&variant.name, trials));
        let run = with_trials().filter(|(_, trials)| !trials.is_empty());
        let variants = run.map(|(variant, trials)| AnswerVariant {
            name: variant.name.clone(),
            about: variant.about.clone(),
            trials: trials.len(),
            seeds: match &self.seeds {
                Some(_) => trials.iter().map(|trial| trial.seed).collect(),
                None => Vec::new(),
            },
            notes: Notes::of_all(trials.iter().map(|trial| &trial.summary.notes)).0,
        });
        let left_out = self.variants.iter().filter(|variant| variant.left_out);
        StudyAnswer {
            study: self.name.clone(),
            title: self.title.clone(),
            source: self.source.clone(),
            quick: extent == Extent::Quick,
            variants: variants.collect(),
            left_out: left_out.map(|variant| variant.name.clone()).collect(),
            digest: digest(trials).to_hex(),
            cases,
            pauses: pauses.collect(),
            charts: self.charts.clone(),
            drawings: self.drawings.clone(),
        }
    }

    /// Each reading of each variant that is shown for it and run.
    fn read_all(
        &self,
        rows: &[ReadingRow],
        extent: Extent,
        trials: &[Vec<Trial>],
    ) -> Vec<CaseAnswer> {
        let place = |name: &String| self.variants.iter().position(|of| of.name == *name);
        let is_run = |name: &String| {
            self.variant(name)
                .is_some_and(|variant| variant.is_run(extent))
        };
        let of = |name: &String| {
            let trials = place(name).and_then(|at| trials.get(at));
            trials.map_or(&[][..], Vec::as_slice)
        };
        let mut answers = Vec::new();
        for row in rows {
            let others = row.against.as_ref().map_or(&[][..], Against::variants);
            if !others.iter().all(is_run) {
                continue;
            }
            let shown = self.variants.iter().map(|variant| &variant.name);
            for name in shown.filter(|name| row.shown.contains(name) && is_run(name)) {
                let others: Vec<&[Trial]> = others.iter().map(of).collect();
                answers.push(row.judge(name, extent, of(name), &others));
            }
        }
        answers
    }
}

/// The scenario in a folder, as messages call it.
fn scenario_file(folder: &str) -> String {
    format!("{folder}/scenario.yaml")
}

/// What the types of the description do not say.
fn check(description: &Description) -> Result<(), String> {
    sizes::metrics(&description.metrics)?;
    sizes::metrics(&description.unpublished)?;
    let mut names: Vec<&str> = Vec::new();
    for variant in &description.variants {
        let name = variant.name.as_str();
        // Names become folders, columns of tables and words on a command line.
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!(
                "call the variant `{name}` by lower-case letters, digits and hyphens"
            ));
        }
        if names.contains(&name) {
            return Err(format!("two variants are called `{name}`"));
        }
        names.push(name);
    }
    let judged = description.judged.iter().map(|judged| &judged.variant);
    let read = description.readings.iter();
    let read = read.flat_map(|row| {
        let others = row.against.iter().flat_map(Against::variants);
        row.shown
            .iter()
            .flatten()
            .chain([&row.variant])
            .chain(others)
    });
    let by = description
        .seeds
        .iter()
        .filter_map(|seeds| seeds.by.as_ref());
    for variant in judged.chain(read).chain(by) {
        if !names.contains(&variant.as_str()) {
            return Err(format!("the judged variant `{variant}` is not listed"));
        }
    }
    description.readings.iter().try_for_each(check_reading)?;
    description
        .drawings
        .iter()
        .try_for_each(|drawing| check_drawing(drawing, &names))
}

fn check_reading(row: &ReadingOfRow) -> Result<(), String> {
    if let Some(Against::StraightLine { at, over, .. }) = &row.against
        && (at[0] == at[1] || *over == Some(0))
    {
        return Err(
            "a straight line needs two places that differ, and is divided by 1 or more".to_owned(),
        );
    }
    if let Some(shown) = row
        .shown
        .as_ref()
        .filter(|shown| !shown.contains(&row.variant))
    {
        return Err(format!(
            "`{}` would never be judged: `shown` has {} and not the judged variant `{}`",
            row.case,
            shown.join(", "),
            row.variant
        ));
    }
    if let Some(query) = &row.query {
        if query.table() == tenter_record::SampleRow::TABLE {
            return Err(format!(
                "`{}` asks the samples, which a study does not keep; ask another table",
                row.case
            ));
        }
        if row.job.is_some() || row.leaf.is_some() || row.port.is_some() {
            return Err(format!(
                "`{}` has a `query` beside a `job`, `leaf` or `port`, which means nothing to it; write it into the query, as in `where job_name = a`",
                row.case
            ));
        }
    }
    if (row.reading == Reading::Query) != row.query.is_some() {
        return Err(format!(
            "`{}` must have both `reading = \"query\"` and a `query`, or neither",
            row.case
        ));
    }
    power::check(&row.constants)?;
    if !row.constants.is_empty() && !row.reading.is_of_power() {
        return Err(format!(
            "`{}` has `constants`, which only a reading of power follows from",
            row.case
        ));
    }
    let ordered = row.window_us.is_none_or(|[from, to]| from < to);
    if row.window_us.is_some() != row.reading.is_of_window() || !ordered {
        return Err(format!(
            "`{}` needs `window_us = [from, to]` if it reads what is accepted, and none otherwise",
            row.case
        ));
    }
    Ok(())
}

/// Kinds of dashes that tell lines of a colour apart, and so the variants of a port.
pub const DASHES: usize = 4;

fn check_drawing(drawing: &Drawing, variants: &[&str]) -> Result<(), String> {
    let title = &drawing.title;
    let mut lines = drawing.lines.iter().map(|line| &line.variant);
    if let Some(variant) = lines.find(|&variant| !variants.contains(&variant.as_str())) {
        return Err(format!(
            "the drawing `{title}` has the variant `{variant}`, which is not listed"
        ));
    }
    if drawing.shows.is_of_ports() && drawing.lines.len() > DASHES {
        return Err(format!(
            "the drawing `{title}` has more than {DASHES} variants for each port, which nobody could tell apart"
        ));
    }
    if drawing.shows.is_of_ports() == drawing.ports.is_empty() {
        return Err(format!(
            "the drawing `{title}` must name ports if it shows queues, and none otherwise"
        ));
    }
    Ok(())
}

/// One digest for all trials, which of them is which included.
fn digest(trials: &[Vec<Trial>]) -> Digest {
    let mut digest = Digest::new();
    let trials = (0..).zip(trials);
    for (position, trial) in trials.flat_map(|(at, of)| of.iter().map(move |trial| (at, trial))) {
        let mut record: Vec<u64> = vec![position];
        record.extend(trial.summary.engine.digest.bytes().map(u64::from));
        digest.add(&record);
    }
    digest
}

#[cfg(test)]
mod tests;
