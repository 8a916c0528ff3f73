//! Runs a published study, or one in a user's folder, as a sweep.

use std::path::{Path, PathBuf};

use crate::resolve::Format;
use crate::studies::{Study, StudyTexts, equipment_text, select};

use crate::sweep::published_beside;
use crate::{Error, Scenario, SweepRun, read_text};

/// A study with the scenario that it varies.
#[derive(Clone, Debug)]
#[must_use]
pub struct StudyRun {
    /// The study's description; its sweep may be [narrowed](crate::studies::Sweep::quick).
    pub study: Study,
    base: Scenario,
}

/// File name for the description in a study's folder.
const DESCRIPTION: &str = "study.yaml";

impl StudyRun {
    /// Returns the published study `name`, for instance `methodology/jct-2`.
    ///
    /// # Errors
    /// When there is no such study, or `name` is a group of several.
    pub fn of_name(name: &str) -> Result<StudyRun, Error> {
        let texts = select([name]).map_err(|error| Error::Asked(error.to_string()))?;
        match texts.as_slice() {
            [texts] => StudyRun::embedded(texts),
            _ => Err(Error::Asked(format!(
                "`{name}` is a group of studies; name one of them"
            ))),
        }
    }

    /// Makes a study from texts that are built into the program.
    ///
    /// # Errors
    /// When the study is invalid, which tests exclude.
    pub fn embedded(texts: &StudyTexts<'_>) -> Result<StudyRun, Error> {
        Ok(StudyRun::new(Study::embedded(texts)?, texts.folder))
    }

    fn new(study: Study, folder: &str) -> StudyRun {
        let name = format!("{folder}/scenario.yaml");
        let base = Scenario::parse(&name, study.scenario.clone(), Format::Yaml);
        StudyRun { study, base }
    }

    /// Reads a study from a user's folder: `study.yaml`, `scenario.yaml`, tables with published
    /// values as `NAME.csv`, equipment files that the scenario names, and an optional `README.md`.
    /// The program's own tables and equipment stand in for missing ones.
    ///
    /// # Errors
    /// When a file is missing or cannot be read, or the study is invalid.
    pub fn of_folder(folder: impl AsRef<Path>) -> Result<StudyRun, Error> {
        let folder = folder.as_ref();
        // `.` and `..` have no name, but the study needs one: that of the folder they stand for.
        let whole = folder.canonicalize();
        let whole = whole.as_deref().unwrap_or(folder);
        let name = whole.file_name().unwrap_or(folder.as_os_str());
        let name = name.to_string_lossy();
        let place = folder.to_string_lossy();
        let place = place.trim_end_matches('/');
        let text = |file: &str| read_text(&folder.join(file));
        let (description, scenario) = (text(DESCRIPTION)?, text("scenario.yaml")?);
        let readme = text("README.md").unwrap_or_default();
        let texts = StudyTexts {
            name: &name,
            folder: place,
            readme: &readme,
            description: &description,
            scenario: &scenario,
        };
        let equipment = |path: &str| {
            let own = read_text(&folder.join(path)).ok();
            own.or_else(|| equipment_text(path).map(str::to_owned))
        };
        let study = Study::read(&texts, &|name| published_beside(folder, name), equipment)?;
        let StudyRun { study, base } = StudyRun::new(study, place);
        let base = base.beside(folder);
        Ok(StudyRun { study, base })
    }

    /// True if `folder` has a study's description.
    pub fn is_folder(folder: impl AsRef<Path>) -> bool {
        folder.as_ref().join(DESCRIPTION).is_file()
    }

    /// Makes a run for the study, which keeps no ledger. With a `folder`, each trial lies in
    /// `FOLDER/STUDY/VARIANT`, or in `seed-N` below that if the study names seeds; finished trials
    /// from an earlier, stopped run are not run again. A published study cannot be made smaller, so
    /// no trial is refused for the memory it takes.
    pub fn run(&self, folder: Option<PathBuf>) -> SweepRun {
        let run = SweepRun::new(self.study.sweep.clone(), self.base.clone());
        run.force(true).without_ledger(folder)
    }
}
