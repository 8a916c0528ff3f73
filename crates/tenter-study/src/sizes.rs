//! Studies by sizes: each published row is one size of a collective, each metric a column.

use tenter_record::{Cell, CollectiveRow, Names, Row};
use tenter_units::Bytes;

use crate::answer::{CaseAnswer, Spread, Verdict};
use crate::description::{Description, Judged, ScenarioUse};
use crate::gate::{Gate, Origin};
use crate::published::Case;
use crate::readings::{ReadingRow, middle};
use crate::registry::origin_of;
use crate::trial::Trial;
use crate::value::Value;
use crate::variant::Variant;

/// What is compared of the sizes of a collective.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// What is compared; the judged metric is among them.
    pub metrics: Vec<Metric>,
    /// What the gates of the published rows judge.
    pub judged: Judged,
    /// The published rows, and those that are run beside them for information.
    pub cases: Vec<Case>,
    /// Whose the rows are.
    pub origin: Origin,
    /// What is read of the trials beside the sizes.
    pub beside: Vec<ReadingRow>,
    /// Where in the scenario the sizes go, as `--set` has it.
    pub(crate) path: String,
    pub(crate) quick_size_max: Option<Bytes>,
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
    pub(crate) fn find(name: &str) -> Option<Metric> {
        let column = |wanted: &str| {
            let columns = CollectiveRow::COLUMNS.iter();
            let mut found = columns.filter(|column| column.name == wanted);
            found.next()
        };
        let in_ns = || column(&format!("{}_ns", name.strip_suffix("_ms")?));
        // The methodology's "ideal %" is what this project calls per cent of the line rate.
        let own = if name == "ideal_percent" {
            "line_rate_percent"
        } else {
            name
        };
        let same = column(own);
        let from_ns = same.is_none();
        let column = same.or_else(in_ns)?;
        Some(Metric {
            name: name.to_owned(),
            cell: column.cell,
            from_ns,
        })
    }

    /// The value in the unit of the published column.
    pub(crate) fn measured(&self, row: &CollectiveRow) -> Option<f64> {
        let value = (self.cell)(row, &Names::default()).number()?;
        // By way of whole picoseconds, so that the quotient prints with the digits of the time.
        Some(if self.from_ns {
            (value * 1e3).round() / 1e9
        } else {
            value
        })
    }
}

impl Sizes {
    /// Checks what the description says of them; the cases are as published.
    pub(crate) fn new(
        description: &Description,
        scenario: &ScenarioUse,
        judged: &Judged,
        mut cases: Vec<Case>,
    ) -> Result<Sizes, String> {
        let mut all = description.metrics.clone();
        all.extend_from_slice(&description.unpublished);
        let metrics = metrics(&all)?;
        if !description.metrics.contains(&judged.metric) {
            return Err(format!(
                "the judged metric `{}` is not listed",
                judged.metric
            ));
        }
        let size = |text: &String, key: &str| {
            let size = text.parse::<Bytes>();
            size.map_err(|error| format!("{key}: {error}"))
        };
        let quick = scenario.quick_size_max.as_ref();
        let quick = quick.map(|text| size(text, "quick_size_max")).transpose()?;
        if quick.is_some_and(|quick| cases.iter().all(|case| case.size > quick)) {
            return Err("no case is as small as quick_size_max; leave it out".to_owned());
        }
        for text in &scenario.further {
            cases.push(Case {
                size: size(text, "further")?,
                published: vec![None; metrics.len()],
                band: None,
                gate: Gate::Info,
                reason: "not published".to_owned(),
            });
        }
        cases.sort_by_key(|case| case.size);
        Ok(Sizes {
            metrics,
            judged: judged.clone(),
            cases,
            origin: origin_of(&description.published.table),
            beside: Vec::new(),
            path: scenario.sizes.clone(),
            quick_size_max: quick,
        })
    }

    /// The cases that a quick run has, or a full one.
    pub fn cases(&self, quick: bool) -> impl Iterator<Item = &Case> {
        let most = self.quick_size_max;
        let cases = self.cases.iter();
        cases.filter(move |case| !quick || most.is_some_and(|most| case.size <= most))
    }

    /// Metric by metric, case by case, variant by variant.
    pub(crate) fn judge(
        &self,
        quick: bool,
        variants: &[Variant],
        trials: &[Vec<Trial>],
    ) -> Vec<CaseAnswer> {
        let mut answers = Vec::new();
        for (position, metric) in self.metrics.iter().enumerate() {
            for case in self.cases(quick) {
                let kept = variants.iter().enumerate();
                for (index, variant) in kept.filter(|(_, variant)| !variant.left_out) {
                    let trials = trials.get(index).map_or(&[][..], Vec::as_slice);
                    answers.push(self.compare(case, position, metric, variant, trials));
                }
            }
        }
        answers
    }

    fn compare(
        &self,
        case: &Case,
        position: usize,
        metric: &Metric,
        variant: &Variant,
        trials: &[Trial],
    ) -> CaseAnswer {
        let judged = metric.name == self.judged.metric && variant.name == self.judged.variant;
        let (gate, band) = if judged {
            (case.gate, case.band)
        } else {
            (Gate::Info, None)
        };
        // A size that one seed has not completed has no median.
        let rows: Option<Vec<Value>> = trials
            .iter()
            .map(|trial| row_of(trial, case).and_then(|row| metric.measured(row)))
            .map(|value| value.map(Value::Number))
            .collect();
        let rows = rows.unwrap_or_default();
        let spread = Spread::of(&rows).filter(|_| trials.len() > 1);
        let (measured, statistic) = middle(rows, trials.len());
        CaseAnswer {
            case: case.name(),
            bar: None,
            metric: metric.name.clone(),
            variant: variant.name.clone(),
            published: case.published[position].map(Value::Number),
            origin: self.origin,
            verdict: Verdict::of(gate, band, measured.as_ref().and_then(Value::number)),
            measured,
            statistic,
            spread,
            band,
            gate,
        }
    }
}

/// The metrics of these names.
pub(crate) fn metrics(names: &[String]) -> Result<Vec<Metric>, String> {
    let found = names.iter().map(|name| {
        Metric::find(name)
            .ok_or_else(|| format!("the table of collectives has no column for `{name}`"))
    });
    found.collect()
}

/// The row of a case in a trial of one job.
fn row_of<'t>(trial: &'t Trial, case: &Case) -> Option<&'t CollectiveRow> {
    let jobs = trial.summary.jobs.iter();
    let mut rows = jobs.flat_map(|job| &job.collectives);
    rows.find(|row| row.size_bytes == case.size.count() && !row.warm_up && row.complete)
}
