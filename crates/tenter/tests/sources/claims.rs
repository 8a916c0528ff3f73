//! `studies/claims.toml`: what the sources claim, in our words, and which rows hold each claim.

use serde::Deserialize;
use tenter::studies::CaseAnswer;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claims {
    /// Studies that hold nothing of a source, with what they are for.
    pub(crate) own: Vec<Own>,
    /// Judged rows that a constant of their variants was fitted to; rows of such variants that are
    /// not named are out of sample.
    pub(crate) fitted: Vec<Rows>,
    /// Settings that were chosen in sight of results.
    pub(crate) chosen: Vec<Chosen>,
    /// Why rows miss.
    #[serde(rename = "miss")]
    pub(crate) misses: Vec<Miss>,
    #[serde(rename = "source")]
    pub(crate) sources: Vec<Source>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Own {
    pub(crate) study: String,
    pub(crate) about: String,
}

/// A setting that no source gives, and that is no constant fitted to rows either.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    /// What rows are called that were obtained with it.
    pub(crate) name: String,
    /// What it is, and why.
    pub(crate) about: String,
    /// The rows.
    pub(crate) rows: Vec<Rows>,
    /// Only those of variants that have this text in a change of the scenario.
    pub(crate) set: Option<String>,
}

/// Rows that miss for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Miss {
    pub(crate) rows: Vec<Rows>,
    /// The cause in a line.
    pub(crate) because: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// Public title.
    pub(crate) title: String,
    /// Who has published it, and when.
    pub(crate) by: String,
    /// True for the five sources on fabrics and their tests, which are counted together.
    #[serde(default)]
    pub(crate) on_fabrics: bool,
    #[serde(rename = "claim")]
    pub(crate) claims: Vec<Claim>,
}

/// One claim: covered by rows, or not, and why not.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// Where in the source it stands.
    pub(crate) place: String,
    /// What it says, in our words.
    #[serde(rename = "claim")]
    pub(crate) says: String,
    #[serde(default)]
    pub(crate) rows: Vec<Rows>,
    /// Why no row holds it.
    pub(crate) not_covered: Option<String>,
}

/// Rows of a study: those that have one of the named values, and where nothing is named, all that
/// are judged.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rows {
    pub(crate) study: String,
    #[serde(default)]
    pub(crate) metric: Vec<String>,
    #[serde(default)]
    pub(crate) case: Vec<String>,
    #[serde(default)]
    pub(crate) bar: Vec<String>,
    #[serde(default)]
    pub(crate) variant: Vec<String>,
}

impl Claims {
    /// Reads the file; every claim has rows or a reason why it has none.
    pub(crate) fn read(text: &str) -> Claims {
        let claims: Claims = toml::from_str(text).unwrap_or_else(|error| panic!("{error}"));
        for claim in claims.all() {
            assert!(
                claim.rows.is_empty() == claim.not_covered.is_some(),
                "`{}` must have either `rows` or `not_covered`",
                claim.says
            );
        }
        claims
    }

    fn all(&self) -> impl Iterator<Item = &Claim> {
        self.sources.iter().flat_map(|source| &source.claims)
    }

    /// Whether the study holds nothing of a source.
    pub(crate) fn is_our_own(&self, study: &str) -> bool {
        self.own.iter().any(|own| own.study == study)
    }

    /// The cause of a row that misses.
    pub(crate) fn miss_of(&self, study: &str, row: &CaseAnswer) -> Option<&Miss> {
        let mut misses = self.misses.iter();
        misses.find(|miss| {
            let mut rows = miss.rows.iter();
            rows.any(|rows| rows.study == study && rows.has(row))
        })
    }

    /// Whether some claim is held by this row of a study.
    pub(crate) fn names(&self, study: &str, row: &CaseAnswer) -> bool {
        let mut rows = self.all().flat_map(|claim| &claim.rows);
        rows.any(|rows| rows.study == study && rows.has(row))
    }
}

impl Rows {
    /// Whether it is one of these rows.
    pub(crate) fn has(&self, row: &CaseAnswer) -> bool {
        let bar = row.bar.as_deref().unwrap_or_default();
        let named = [
            (&self.metric, row.metric.as_str()),
            (&self.case, &row.case),
            (&self.bar, bar),
            (&self.variant, &row.variant),
        ];
        let any = named.iter().any(|(names, _)| !names.is_empty());
        let fits = named
            .iter()
            .all(|(names, value)| names.is_empty() || names.iter().any(|name| name == value));
        fits && (any || row.band.is_some())
    }

    /// What is named, for a reader.
    pub(crate) fn label(&self) -> String {
        match self.words(&self.metric) {
            words if words.is_empty() => "judged rows".to_owned(),
            words => words,
        }
    }

    /// The same of those with one of several metrics.
    pub(crate) fn label_of(&self, metric: &str) -> String {
        self.words(&[metric.to_owned()])
    }

    fn words(&self, metrics: &[String]) -> String {
        let named = [metrics, &self.case, &self.bar, &self.variant];
        let words: Vec<String> = named
            .into_iter()
            .flatten()
            .map(|word| format!("`{word}`"))
            .collect();
        words.join(", ")
    }
}
