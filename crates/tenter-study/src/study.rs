//! A study: a sweep with the page on its source, its scenario and its equipment.

use tenter_scenario::Format;

use crate::equipment::check_scenario;
use crate::error::StudyError;
use crate::registry::{StudyTexts, equipment_text, published_table};
use crate::sweep::{Sweep, SweepError};

/// A published study.
#[derive(Clone, Debug)]
pub struct Study {
    /// What is run and compared; its name is that of the study, `<group>/<study>`.
    pub sweep: Sweep,
    /// The page on what the source says, what is assumed and what misses.
    pub readme: String,
    /// The scenario that is varied.
    pub scenario: String,
}

impl Study {
    /// A study that is part of the program, with the tables and the equipment that are.
    ///
    /// # Errors
    /// Those of [`Study::read`]; none for the studies of the program, which its tests read.
    pub fn embedded(texts: &StudyTexts<'_>) -> Result<Study, StudyError> {
        let table = |name: &str| published_table(name).map(str::to_owned);
        let equipment = |path: &str| equipment_text(path).map(str::to_owned);
        Study::read(texts, &table, equipment)
    }

    /// Reads a study; `table` gives the text of a published table by its name, and `equipment` that
    /// of the equipment by the path that the scenario names.
    ///
    /// # Errors
    /// When the description or the published table does not hold, or the two do not fit.
    pub fn read(
        texts: &StudyTexts<'_>,
        table: &dyn Fn(&str) -> Option<String>,
        equipment: impl Fn(&str) -> Option<String>,
    ) -> Result<Study, StudyError> {
        let wrong = |message: String| StudyError::Description {
            folder: texts.folder.to_owned(),
            message,
        };
        let file = format!("{}/study.yaml", texts.folder);
        let sweep = Sweep::read_beside(texts.description, &file, Format::Yaml, table);
        let mut sweep = sweep.map_err(|error| match error {
            SweepError::Table(error) => error,
            SweepError::Description(problems) => wrong(format!("\n{}", problems.render())),
            SweepError::Wrong { what, .. } => wrong(what),
        })?;
        if !sweep.is_study() {
            let message = "it has no `published`, the table with what is compared; `tenter sweep` runs it without";
            return Err(wrong(message.to_owned()));
        }
        texts.name.clone_into(&mut sweep.keys.name);
        let source = format!("{}/scenario.yaml", texts.folder);
        let varies = sweep.keys.varies.0.iter().cloned().collect();
        check_scenario(texts.scenario, &source, &varies, equipment).map_err(wrong)?;
        Ok(Study {
            sweep,
            readme: texts.readme.to_owned(),
            scenario: texts.scenario.to_owned(),
        })
    }

    /// Its name, `<group>/<study>`.
    pub fn name(&self) -> &str {
        &self.sweep.keys.name
    }
}

#[cfg(test)]
mod tests;
