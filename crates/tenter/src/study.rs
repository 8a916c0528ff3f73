//! A published study, run trial by trial.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tenter_explain::cost_of;
use tenter_scenario::Loaded;
use tenter_study::{Extent, Study, StudyTexts, Variant, equipment_text, published_table, select};

use crate::budget::{machine_limits, run_budget};
use crate::{Error, Plan, Run, read_text, usual_threads};

/// A study and how it is run.
#[derive(Clone, Debug)]
#[must_use]
pub struct StudyRun {
    study: Study,
    pub(crate) extent: Extent,
    pub(crate) threads: u16,
    pub(crate) workers: usize,
    folder: Option<PathBuf>,
}

/// What a study is expected to take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StudyEstimate {
    /// How many trials it has.
    pub trials: usize,
    /// Their packet-hops.
    pub packet_hops: f64,
    /// Their wall time on one thread, in seconds.
    pub wall_s: f64,
}

/// The file that describes a study.
const DESCRIPTION: &str = "study.toml";

/// The tables of a folder, by their names.
fn tables(folder: &Path) -> Result<Vec<(String, String)>, Error> {
    let unreadable = |error: std::io::Error| Error::Unreadable {
        path: folder.to_owned(),
        remedy: format!("{error}; check the path and its permissions"),
    };
    let mut tables = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "csv") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            tables.push((name.into_owned(), read_text(&path)?));
        }
    }
    Ok(tables)
}

impl StudyRun {
    /// A run of the published study of that name, for instance `methodology/jct-2`.
    ///
    /// # Errors
    /// When there is no such study.
    pub fn of_name(name: &str) -> Result<StudyRun, Error> {
        let texts = select(&[name.to_owned()]).map_err(|error| Error::Asked(error.to_string()))?;
        match texts.as_slice() {
            [texts] => Ok(StudyRun::new(Study::embedded(texts)?)),
            _ => Err(Error::Asked(format!(
                "`{name}` is a group of studies; name one of them"
            ))),
        }
    }

    /// A run of the study in a folder of your own: `study.toml`, `scenario.yaml`, the tables of
    /// published values as `NAME.csv` and the equipment that the scenario names unless they are
    /// those of the program, and a `README.md` if you like.
    ///
    /// # Errors
    /// When a file is missing or cannot be read, or the study does not hold.
    pub fn of_folder(folder: impl AsRef<Path>) -> Result<StudyRun, Error> {
        let folder = folder.as_ref();
        // `.` and `..` have the names of the folders that they are.
        let whole = folder.canonicalize();
        let whole = whole.as_deref().unwrap_or(folder);
        let name = whole.file_name().unwrap_or(folder.as_os_str());
        let name = name.to_string_lossy();
        let place = folder.to_string_lossy();
        let text = |file: &str| read_text(&folder.join(file));
        let (description, scenario) = (text(DESCRIPTION)?, text("scenario.yaml")?);
        let readme = text("README.md").unwrap_or_default();
        let texts = StudyTexts {
            name: &name,
            folder: place.trim_end_matches('/'),
            readme: &readme,
            description: &description,
            scenario: &scenario,
        };
        let tables = tables(folder)?;
        let table = |name: &str| {
            let own = tables.iter().find(|(of, _)| of == name);
            let own = own.map(|(_, text)| text.as_str());
            own.or_else(|| published_table(name))
        };
        let equipment = |path: &str| {
            let own = read_text(&folder.join(path)).ok();
            own.or_else(|| equipment_text(path).map(str::to_owned))
        };
        Ok(StudyRun::new(Study::read(&texts, table, equipment)?))
    }

    /// Whether a folder has the description of a study.
    pub fn is_folder(folder: impl AsRef<Path>) -> bool {
        folder.as_ref().join(DESCRIPTION).is_file()
    }

    /// A run of all that a study has.
    pub fn new(study: Study) -> StudyRun {
        StudyRun {
            study,
            extent: Extent::Full,
            threads: usual_threads(),
            workers: 1,
            folder: None,
        }
    }

    /// Runs the study in full, or its quick form.
    pub fn extent(mut self, extent: Extent) -> StudyRun {
        self.extent = extent;
        self
    }

    /// Runs at most so many trials side by side, as far as memory has room for them; one unless
    /// told.
    pub fn workers(mut self, workers: usize) -> StudyRun {
        self.workers = workers.max(1);
        self
    }

    /// Uses at most so many threads for each trial, where they run one after the other.
    pub fn threads(mut self, threads: u16) -> StudyRun {
        self.threads = threads;
        self
    }

    /// Writes each trial to `FOLDER/STUDY/VARIANT`, or to `seed-N` below that where the study
    /// names seeds. Trials that lie there whole, from a run that was stopped, are not run again.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> StudyRun {
        self.folder = Some(folder.into());
        self
    }

    /// The study.
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// What the run is expected to take, without running it; trials that lie in its folder count.
    ///
    /// # Errors
    /// When a scenario of the study does not hold.
    pub fn estimate(&self) -> Result<StudyEstimate, Error> {
        let mut estimate = StudyEstimate::default();
        for variant in &self.study.variants {
            let Some((loaded, trials)) =
                self.study.example(variant, self.extent, machine_limits())?
            else {
                continue;
            };
            let cost = cost_of(&loaded.plan, &run_budget())?;
            estimate.trials += trials;
            estimate.packet_hops += cost.packet_hops * trials as f64;
            estimate.wall_s += cost.wall_s * trials as f64;
        }
        Ok(estimate)
    }

    /// The run of a variant with one seed. Studies are as large as they are: none is refused for
    /// the memory it takes.
    pub(crate) fn run(&self, variant: &Variant, loaded: Loaded) -> Result<Run, Error> {
        let mut title = format!("{} {}", self.study.name, variant.name);
        let seed = self.study.seeds.as_ref().map(|_| loaded.plan.seed);
        if let Some(seed) = seed {
            let _ = write!(title, ", seed {seed}");
        }
        let mut run = Run::new(&Plan::new(loaded, &run_budget())?)
            .title(title)
            .threads(self.threads)
            .force(true);
        if self.study.needs_flows() {
            run = run.keep_flows();
        }
        let Some(folder) = &self.folder else {
            return Ok(run);
        };
        let mut path = folder.join(&self.study.name).join(&variant.name);
        if let Some(seed) = seed {
            path.push(format!("seed-{seed}"));
        }
        Ok(run.folder(path).reuse())
    }
}
