//! Studies: a sweep with the page on its source and its scenario.

use crate::resolve::Format;

use crate::studies::equipment::check_scenario;
use crate::studies::error::StudyError;
use crate::studies::registry::{StudyTexts, equipment_text, published_table};
use crate::studies::sweep::{Sweep, SweepError, TableText};

/// A published study, read and checked.
#[derive(Clone, Debug)]
pub struct Study {
    /// The sweep that is run and compared; its name is the study's, `<group>/<study>`.
    pub sweep: Sweep,
    /// The page `README.md`: the source's statements, the assumptions, and the known misses.
    pub readme: String,
    /// Text of the scenario that the variants change.
    pub scenario: String,
}

impl Study {
    /// Reads an embedded study, with embedded tables and equipment.
    ///
    /// # Errors
    /// Returns the errors that [`Study::read`] returns; tests read every embedded study, so there
    /// are none.
    pub fn embedded(texts: &StudyTexts<'_>) -> Result<Study, StudyError> {
        let table = |name: &str| Ok(published_table(name).map(str::to_owned));
        let equipment = |path: &str| equipment_text(path).map(str::to_owned);
        Study::read(texts, &table, equipment)
    }

    /// Reads a study. `table` returns a published table's text by the table's name; `equipment`
    /// returns an equipment file's text by the path that the scenario uses.
    ///
    /// # Errors
    /// Fails if the description, the scenario or a table is invalid, if they do not fit together,
    /// or if the description has no published table.
    pub fn read(
        texts: &StudyTexts<'_>,
        table: &TableText<'_>,
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
        if sweep.keys.scenario != "scenario.yaml" {
            let message = "`scenario` of a study is `scenario.yaml`, which stands beside it";
            return Err(wrong(message.to_owned()));
        }
        // A study is known by its folder, whatever name the description gives.
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

    /// Returns the study's name, `<group>/<study>`.
    pub fn name(&self) -> &str {
        &self.sweep.keys.name
    }
}

#[cfg(test)]
mod tests;
