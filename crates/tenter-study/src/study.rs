//! A study, ready to run: its description, its published cases and its scenario.

use tenter_record::{Cell, CollectiveRow, Digest, Names, Row, Summary};
use tenter_scenario::{Format, Loaded, load};
use tenter_units::Bytes;

use crate::answer::{CaseAnswer, StudyAnswer, Verdict};
use crate::description::{Description, Judged, Variant};
use crate::error::StudyError;
use crate::published::{self, Case, Gate};
use crate::registry::{StudyTexts, published_table};

/// How much of a study is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every published case.
    Full,
    /// The smaller cases, up to the size that the study states.
    Quick,
}

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
    /// What is compared; the judged metric is among them.
    pub metrics: Vec<Metric>,
    /// What the gates of the published rows judge.
    pub judged: Judged,
    /// The ways in which the scenario is run.
    pub variants: Vec<Variant>,
    /// The published rows.
    pub cases: Vec<Case>,
    scenario: String,
    sizes: String,
    quick_size_max: Bytes,
}

/// A published quantity and the column of a trial that answers it.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Name of the published column.
    pub name: String,
    cell: for<'a> fn(&'a CollectiveRow, &'a Names) -> Cell<'a>,
    /// Whether the trial has it in nanoseconds and the source in milliseconds.
    from_ns: bool,
}

impl Metric {
    /// The column of that name, or for `…_ms` the one in nanoseconds.
    fn find(name: &str) -> Option<Metric> {
        let column = |wanted: &str| {
            let columns = CollectiveRow::COLUMNS.iter();
            let mut found = columns.filter(|column| column.name == wanted);
            found.next()
        };
        let in_ns = || column(&format!("{}_ns", name.strip_suffix("_ms")?));
        let same = column(name);
        let from_ns = same.is_none();
        let column = same.or_else(in_ns)?;
        Some(Metric {
            name: name.to_owned(),
            cell: column.cell,
            from_ns,
        })
    }

    /// The value in the unit of the published column.
    fn measured(&self, row: &CollectiveRow) -> Option<f64> {
        let value = match (self.cell)(row, &Names::default()) {
            Cell::Float(value) => value,
            Cell::Integer(value) => value as f64,
            _ => return None,
        };
        // By way of whole picoseconds, so that the quotient prints with the digits of the time.
        Some(if self.from_ns {
            (value * 1e3).round() / 1e9
        } else {
            value
        })
    }
}

impl Study {
    /// A study that is part of the program, with the tables that are.
    ///
    /// # Errors
    /// Those of [`Study::read`]; none for the studies of the program, which its tests read.
    pub fn embedded(texts: &StudyTexts<'_>) -> Result<Study, StudyError> {
        Study::read(texts, published_table)
    }

    /// Reads a study; `table` gives the text of a published table by its name.
    ///
    /// # Errors
    /// When the description or the published table does not hold, or the two do not fit.
    pub fn read<'t>(
        texts: &StudyTexts<'_>,
        table: impl Fn(&str) -> Option<&'t str>,
    ) -> Result<Study, StudyError> {
        let wrong = |message: String| StudyError::Description {
            study: texts.name.to_owned(),
            message,
        };
        let description: Description =
            toml::from_str(texts.description).map_err(|error| wrong(error.to_string()))?;
        check(&description).map_err(wrong)?;
        let metrics = metrics(&description.metrics).map_err(wrong)?;
        let quick_size_max = description.scenario.quick_size_max.parse::<Bytes>();
        let quick_size_max =
            quick_size_max.map_err(|error| wrong(format!("quick_size_max: {error}")))?;
        let name = &description.published.table;
        let rows = table(name).ok_or_else(|| wrong(format!("there is no table `{name}`")))?;
        let cases = published::read(rows, &description)?;
        Ok(Study {
            name: texts.name.to_owned(),
            title: description.title,
            source: description.source,
            readme: texts.readme.to_owned(),
            metrics,
            judged: description.judged,
            variants: description.variants,
            cases,
            scenario: texts.scenario.to_owned(),
            sizes: description.scenario.sizes,
            quick_size_max,
        })
    }

    /// The variant of that name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// The cases that are run.
    pub fn cases(&self, extent: Extent) -> impl Iterator<Item = &Case> {
        let quick = extent == Extent::Quick;
        let cases = self.cases.iter();
        cases.filter(move |case| !quick || case.size <= self.quick_size_max)
    }

    /// The scenario of a variant with its calibrations and the sizes of the cases, resolved.
    ///
    /// # Errors
    /// When the scenario does not hold, or is not one job with one iteration.
    pub fn trial(&self, variant: &Variant, extent: Extent) -> Result<Loaded, StudyError> {
        let wrong = |message: String| StudyError::Scenario {
            study: self.name.clone(),
            variant: variant.name.clone(),
            message,
        };
        let sizes: Vec<String> = self.cases(extent).map(Case::name).collect();
        let calibrations = variant.calibrations.iter();
        let mut changes: Vec<String> = calibrations.map(|fitted| fitted.set.clone()).collect();
        changes.push(format!("{}=[{}]", self.sizes, sizes.join(", ")));
        let source = format!("studies/{}/scenario.yaml", self.name);
        let loaded = load(&self.scenario, &source, Format::Yaml, &changes, None)
            .map_err(|problems| wrong(format!("\n{}", problems.render())))?;
        match loaded.plan.jobs.as_slice() {
            [job] if job.iterations == 1 => Ok(loaded),
            _ => Err(wrong(
                "a study compares one job with one iteration; leave out the others".to_owned(),
            )),
        }
    }

    /// Compares trials with what was published: one summary per variant, in the order of
    /// [`variants`](Study::variants); a variant without one has measured nothing.
    pub fn judge(&self, extent: Extent, trials: &[Summary]) -> StudyAnswer {
        let mut cases = Vec::new();
        for (position, metric) in self.metrics.iter().enumerate() {
            for case in self.cases(extent) {
                for (index, variant) in self.variants.iter().enumerate() {
                    let row = trials.get(index).and_then(|trial| row_of(trial, case));
                    let measured = row.and_then(|row| metric.measured(row));
                    let published = case.published[position];
                    cases.push(self.compare(case, metric, variant, published, measured));
                }
            }
        }
        StudyAnswer {
            study: self.name.clone(),
            digest: digest(trials).to_hex(),
            cases,
        }
    }

    fn compare(
        &self,
        case: &Case,
        metric: &Metric,
        variant: &Variant,
        published: Option<f64>,
        measured: Option<f64>,
    ) -> CaseAnswer {
        let judged = metric.name == self.judged.metric && variant.name == self.judged.variant;
        let (gate, band) = if judged {
            (case.gate, case.band)
        } else {
            (Gate::Info, None)
        };
        CaseAnswer {
            case: case.name(),
            metric: metric.name.clone(),
            variant: variant.name.clone(),
            published,
            measured,
            band,
            gate,
            verdict: Verdict::of(gate, band, measured),
        }
    }
}

/// What the types of the description do not say.
fn check(description: &Description) -> Result<(), String> {
    let Judged {
        metric, variant, ..
    } = &description.judged;
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
    if !names.contains(&variant.as_str()) {
        return Err(format!("the judged variant `{variant}` is not listed"));
    }
    if !description.metrics.contains(metric) {
        return Err(format!("the judged metric `{metric}` is not listed"));
    }
    Ok(())
}

fn metrics(names: &[String]) -> Result<Vec<Metric>, String> {
    let found = names.iter().map(|name| {
        Metric::find(name)
            .ok_or_else(|| format!("the table of collectives has no column for `{name}`"))
    });
    found.collect()
}

/// The row of a case in a trial of one job.
fn row_of<'t>(trial: &'t Summary, case: &Case) -> Option<&'t CollectiveRow> {
    let mut rows = trial.jobs.iter().flat_map(|job| &job.collectives);
    rows.find(|row| row.size_bytes == case.size.count() && !row.warm_up && row.complete)
}

/// One digest for all trials, which of them is which included.
fn digest(trials: &[Summary]) -> Digest {
    let mut digest = Digest::new();
    for (position, trial) in (0..).zip(trials) {
        let mut record: Vec<u64> = vec![position];
        record.extend(trial.engine.digest.bytes().map(u64::from));
        digest.add(&record);
    }
    digest
}

#[cfg(test)]
mod tests;
