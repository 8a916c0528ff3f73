//! A study of several fabrics in several cases: one variant and one reading of each metric for each
//! pair of them. A further fabric is one more entry.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::number_query::NumberQuery;
use crate::reading::{Against, PortName, Reading, Statistic};
use crate::reading_of_row::ReadingOfRow;
use crate::variant::Variant;

/// Fabrics, cases and metrics of a study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Matrix {
    /// The tables in which rows are looked for; that of the study where none is named. A pair and
    /// metric without a row is shown for information.
    #[serde(default)]
    tables: Vec<String>,
    /// Whether rows are looked for at all; without, all is shown for information.
    #[serde(default = "yes")]
    judged: bool,
    cases: Vec<Case>,
    fabrics: Vec<Fabric>,
    metrics: Vec<Metric>,
}

/// Something that is done to every fabric.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// Its part in the names of variants.
    name: String,
    /// What it is called.
    label: String,
    /// What rows call it, if not by its name.
    row: Option<String>,
    /// Changes of the scenario.
    #[serde(default)]
    set: Vec<String>,
    /// Whether a quick run has it.
    #[serde(default = "yes")]
    quick: bool,
}

/// A fabric, or other way to run the cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fabric {
    /// Its part in the names of variants, and what rows call it.
    name: String,
    /// What it is called.
    label: String,
    /// What it stands for, in a line.
    about: String,
    /// Changes of the scenario.
    #[serde(default)]
    set: Vec<String>,
    /// The cases that it is run in, by their names; all where it is missing.
    cases: Option<Vec<String>>,
    /// Whether a quick run has it.
    #[serde(default = "yes")]
    quick: bool,
}

/// What is read of each variant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metric {
    /// What rows call it.
    #[serde(rename = "metric")]
    name: String,
    reading: Reading,
    /// What is asked of the tables of a trial, where the reading is `query`.
    query: Option<NumberQuery>,
    #[serde(default)]
    statistic: Statistic,
    /// The job that it is read of, where it is read of one and that is not the first.
    job: Option<String>,
    /// The port that it is read at, where it is read at one.
    port: Option<PortName>,
    /// The fabric whose value in the same case and with the same seed it is divided by, and which
    /// has no bar itself.
    over: Option<String>,
    /// The fabric from whose value in the same case and with the same seed the change is told, in
    /// percent, and which has no bar itself.
    change_from: Option<String>,
    /// From when until when, in us, where what is accepted is read.
    window_us: Option<[u64; 2]>,
    /// The cases that it is read in, by their names; all where it is missing.
    cases: Option<Vec<String>>,
    /// The fabrics that it is read of, by their names; all where it is missing.
    fabrics: Option<Vec<String>>,
}

impl Metric {
    fn is_in(&self, case: &Case) -> bool {
        let cases = self.cases.as_ref();
        cases.is_none_or(|cases| cases.contains(&case.name))
    }

    fn is_of(&self, fabric: &Fabric) -> bool {
        let other = self.over.as_ref().or(self.change_from.as_ref());
        let fabrics = self.fabrics.as_ref();
        other != Some(&fabric.name) && fabrics.is_none_or(|names| names.contains(&fabric.name))
    }
}

fn yes() -> bool {
    true
}

impl Matrix {
    /// Adds its variants and readings before those that are listed.
    ///
    /// # Errors
    /// Names of cases and fabrics that are not listed.
    pub(crate) fn expand(
        &self,
        variants: &mut Vec<Variant>,
        readings: &mut Vec<ReadingOfRow>,
    ) -> Result<(), String> {
        self.check()?;
        let mut own = Vec::new();
        for case in &self.cases {
            own.extend(self.run_in(case).map(|fabric| variant(fabric, case)));
        }
        variants.splice(0..0, own);
        let mut own = Vec::new();
        for metric in &self.metrics {
            for case in self.cases.iter().filter(|case| metric.is_in(case)) {
                let fabrics = self.run_in(case).filter(|fabric| metric.is_of(fabric));
                own.extend(fabrics.map(|fabric| self.reading(metric, fabric, case)));
            }
        }
        readings.splice(0..0, own);
        Ok(())
    }

    /// The tables whose rows must all be read, for a misspelt name would leave one out.
    pub(crate) fn tables(&self) -> &[String] {
        &self.tables
    }

    fn check(&self) -> Result<(), String> {
        let fabrics = self.fabrics.iter();
        let fabrics = fabrics.map(|of| ("fabric", &of.name, &of.cases));
        let metrics = self.metrics.iter();
        let metrics = metrics.map(|of| ("metric", &of.name, &of.cases));
        for (what, of, cases) in fabrics.chain(metrics) {
            for name in cases.iter().flatten() {
                if self.cases.iter().all(|case| case.name != *name) {
                    return Err(format!(
                        "the {what} `{of}` names the case `{name}`, which is not listed"
                    ));
                }
            }
        }
        for metric in &self.metrics {
            let others = metric.over.iter().chain(&metric.change_from);
            for name in metric.fabrics.iter().flatten().chain(others) {
                if self.fabrics.iter().all(|fabric| fabric.name != *name) {
                    return Err(format!(
                        "the metric `{}` names the fabric `{name}`, which is not listed",
                        metric.name
                    ));
                }
            }
        }
        Ok(())
    }

    /// The fabrics that are run in a case.
    fn run_in<'a>(&'a self, case: &'a Case) -> impl Iterator<Item = &'a Fabric> {
        let runs = |fabric: &&Fabric| {
            let cases = fabric.cases.as_ref();
            cases.is_none_or(|cases| cases.contains(&case.name))
        };
        self.fabrics.iter().filter(runs)
    }

    fn reading(&self, metric: &Metric, fabric: &Fabric, case: &Case) -> ReadingOfRow {
        let variant = variant_name(&fabric.name, case);
        let row = [
            ("case", case.row.as_ref().unwrap_or(&case.name)),
            ("fabric", &fabric.name),
            ("metric", &metric.name),
        ];
        let row = row.map(|(column, value)| (column.to_owned(), value.clone()));
        ReadingOfRow {
            tables: self.tables.clone(),
            row: if self.judged {
                BTreeMap::from(row)
            } else {
                BTreeMap::new()
            },
            metric: Some(metric.name.clone()),
            case: case.label.clone(),
            bar: Some(fabric.label.clone()),
            reading: metric.reading,
            query: metric.query.clone(),
            against: metric
                .over
                .as_ref()
                .map(|over| Against::RatioTo(variant_name(over, case)))
                .or_else(|| {
                    let from = metric.change_from.as_ref();
                    from.map(|from| Against::ChangeFrom(variant_name(from, case)))
                }),
            leaf: None,
            job: metric.job.clone(),
            port: metric.port.clone(),
            constants: BTreeMap::new(),
            window_us: metric.window_us,
            statistic: metric.statistic,
            shown: Some(vec![variant.clone()]),
            variant,
            seeds: None,
            value: None,
            band: ["band_low", "band_high"].map(str::to_owned),
            quick_judged: None,
        }
    }
}

fn variant_name(fabric: &str, case: &Case) -> String {
    format!("{fabric}-{}", case.name)
}

fn variant(fabric: &Fabric, case: &Case) -> Variant {
    Variant {
        left_out: false,
        name: variant_name(&fabric.name, case),
        about: format!("{}, {}", case.label, fabric.about),
        set: case.set.iter().chain(&fabric.set).cloned().collect(),
        quick: case.quick && fabric.quick,
        calibrations: Vec::new(),
    }
}
