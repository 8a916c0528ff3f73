//! What a published row decides, and whose it is.

use serde::{Deserialize, Serialize};

/// What follows when a measured value is outside its band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gate {
    /// The study fails.
    Required,
    /// The miss is shown; the study does not fail.
    Open,
    /// Nothing; the value is only shown.
    Info,
}

impl Gate {
    /// As it is written in tables.
    pub fn word(self) -> &'static str {
        match self {
            Gate::Required => "required",
            Gate::Open => "open",
            Gate::Info => "info",
        }
    }

    /// The same, with a mark where the band is an expectation of the project's own.
    pub fn words(self, origin: Origin) -> String {
        match origin {
            Origin::Published => self.word().to_owned(),
            Origin::Own => format!("{}, own band", self.word()),
        }
    }
}

/// Whose a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Its value, its band and its gate were fixed with the published values.
    #[default]
    Published,
    /// The project has added it: the band is an expectation of its own, and so is the value where
    /// the source prints none.
    Own,
}

impl Origin {
    /// As it is written in tables.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Published => "published",
            Origin::Own => "own",
        }
    }
}
