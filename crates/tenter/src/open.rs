//! Trials out of their folders.

use std::path::Path;

use tenter_report::{CONFIG_FILE, read_counts, read_rows, read_summary};

use crate::trial::Watched;
use crate::{Error, Scenario, Trial};

impl Trial {
    /// Reads a trial from its folder, with all of its tables.
    ///
    /// # Errors
    /// When a file is missing or damaged, or is of another version.
    pub fn open(folder: impl AsRef<Path>) -> Result<Trial, Error> {
        let folder = folder.as_ref();
        Ok(Trial {
            flows: read_rows(folder)?,
            samples: read_rows(folder)?,
            ..Trial::open_without_rows(folder)?
        })
    }

    /// The same without its flows and samples, which take most of the memory.
    ///
    /// # Errors
    /// As [`Trial::open`].
    pub fn open_without_rows(folder: impl AsRef<Path>) -> Result<Trial, Error> {
        let folder = folder.as_ref();
        let plan = Scenario::read(folder.join(CONFIG_FILE))?.resolve()?;
        Ok(Trial {
            plan,
            summary: read_summary(folder)?,
            counts: read_counts(folder)?,
            folder: Some(folder.to_owned()),
            flows: Vec::new(),
            samples: Vec::new(),
            watched: Watched::default(),
        })
    }
}
