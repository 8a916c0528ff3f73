//! Gate and origin of published rows.

use serde::{Deserialize, Serialize};

/// Consequence of a measured value outside its band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gate {
    /// A miss fails the study: exit code 1.
    Required,
    /// A miss is shown and does not fail the study: no model is known that reaches the value.
    Open,
    /// The value is shown and never judged.
    Info,
}

impl Gate {
    /// Returns the gate as tables write it.
    pub fn word(self) -> &'static str {
        match self {
            Gate::Required => "required",
            Gate::Open => "open",
            Gate::Info => "info",
        }
    }

    /// Returns the gate for a reader, with `own band` added if the band is the project's
    /// expectation.
    pub fn words(self, origin: Origin) -> String {
        match origin {
            Origin::Published => self.word().to_owned(),
            Origin::Own => format!("{}, own band", self.word()),
        }
    }
}

/// Author who fixed a row's band and gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Value, band and gate were fixed together, when the published values were collected.
    #[default]
    Published,
    /// The project added the row: the band is its own expectation, and so is the value if the
    /// source prints none.
    Own,
}

impl Origin {
    /// Returns the origin as tables write it.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Published => "published",
            Origin::Own => "own",
        }
    }
}
