//! A scenario: what is written, before anything is resolved.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tenter_formats::Content;
use tenter_report::{CONFIG_FILE, OWN_FILE_REMEDY, below, open_own};
use tenter_scenario::{
    Format, Input, MAX_SOURCE_BYTES, Overlay, Preset, load_overlaid, load_typed, spec, text_of,
};
use tenter_study::equipment_text;
use tenter_units::Bytes;

use tenter_units::Budget;

use crate::budget::run_budget;
use crate::{Error, Plan};

/// A fabric, its hosts and its jobs, as written in YAML, JSON or TOML, with settings that replace
/// some of what is written.
///
/// Nothing is checked before [`Scenario::resolve`], which tells all problems at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What problems call it.
    name: String,
    source: Source,
    /// The folder in which files that it names are found.
    folder: Option<PathBuf>,
    /// Whether these files are those of a trial folder alone: no path leads elsewhere.
    is_of_trial: bool,
    /// Keys that lie over the text, one after the other, and what problems call them.
    overlay: Vec<(String, String)>,
    settings: Vec<String>,
    seed: Option<u64>,
}

/// What a scenario is made of.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    Text(String, Format),
    Typed(Box<spec::Scenario>),
}

impl Scenario {
    /// Reads a file: TOML or JSON by its name, YAML otherwise.
    ///
    /// # Errors
    /// When the file cannot be read, is too long, or is not UTF-8.
    pub fn read(file: impl AsRef<Path>) -> Result<Scenario, Error> {
        let file = file.as_ref();
        let name = file.display().to_string();
        let (text, format) = (read_text(file)?, Format::of_name(&name));
        Ok(Scenario {
            folder: Some(file.with_file_name("")),
            ..Scenario::parse(&name, text, format)
        })
    }

    /// Reads the configuration of the trial in a folder, which may come from a stranger: what it
    /// names is read from that folder alone, and no link in it is followed.
    ///
    /// # Errors
    /// When the file cannot be read, is a link or too long, or is not UTF-8.
    pub fn of_trial(folder: impl AsRef<Path>) -> Result<Scenario, Error> {
        let folder = folder.as_ref();
        let file = folder.join(CONFIG_FILE);
        let read = || at_most(open_own(&file)?, MAX_SOURCE_BYTES as u64);
        let bytes = read().map_err(|error| unreadable(&file, &error))?;
        let name = file.display().to_string();
        let text = text_of(&bytes, &name)?.to_owned();
        Ok(Scenario {
            folder: Some(folder.to_owned()),
            is_of_trial: true,
            ..Scenario::parse(&name, text, Format::Yaml)
        })
    }

    /// Its text, where it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.source {
            Source::Text(text, _) => Some(text),
            Source::Typed(_) => None,
        }
    }

    /// Reads YAML or JSON from a stream, for instance standard input; `name` is what problems call
    /// it. Files that it names are found in the working folder.
    ///
    /// # Errors
    /// When the stream cannot be read, is too long, or is not UTF-8.
    pub fn read_from(name: &str, stream: impl Read) -> Result<Scenario, Error> {
        let bytes = at_most(stream, MAX_SOURCE_BYTES as u64).map_err(|error| {
            let remedy = format!("{error}; pipe a scenario into it");
            Error::Unreadable {
                path: PathBuf::from(name),
                remedy,
            }
        })?;
        let text = text_of(&bytes, name)?.to_owned();
        Ok(Scenario {
            folder: Some(PathBuf::new()),
            ..Scenario::parse(name, text, Format::Yaml)
        })
    }

    /// A scenario in YAML, of which JSON is a part.
    pub fn from_yaml(text: impl Into<String>) -> Scenario {
        Scenario::parse("scenario", text.into(), Format::Yaml)
    }

    /// A scenario in TOML.
    pub fn from_toml(text: impl Into<String>) -> Scenario {
        Scenario::parse("scenario", text.into(), Format::Toml)
    }

    /// A scenario made of values, for instance by `serde_json::json!`.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn from_value(value: &impl Serialize) -> Result<Scenario, Error> {
        let text = serde_json::to_string_pretty(value);
        let text = text.map_err(|error| Error::Asked(format!("the scenario: {error}")))?;
        Ok(Scenario::parse("scenario", text, Format::Json))
    }

    /// The fabric and the hosts of a preset; it has no jobs.
    ///
    /// # Errors
    /// When there is no such preset.
    pub fn preset(name: &str) -> Result<Scenario, Error> {
        let preset = Preset::of_name(name)
            .map_err(|help| Error::Asked(format!("there is no preset `{name}`; {help}")))?;
        Ok(Scenario::parse(name, preset.text.to_owned(), Format::Yaml))
    }

    /// A text in any of the formats; `name` is what problems call it.
    pub fn parse(name: &str, text: String, format: Format) -> Scenario {
        Scenario::of_source(name, Source::Text(text, format))
    }

    fn of_source(name: &str, source: Source) -> Scenario {
        Scenario {
            name: name.to_owned(),
            source,
            folder: None,
            is_of_trial: false,
            overlay: Vec::new(),
            settings: Vec::new(),
            seed: None,
        }
    }

    /// Finds the files that the scenario names in a folder; by default a text has none, and a file
    /// has that in which it lies.
    #[must_use]
    pub fn beside(mut self, folder: impl Into<PathBuf>) -> Scenario {
        self.folder = Some(folder.into());
        self
    }

    /// Lays YAML over the scenario: each of its keys replaces the scenario's, or that of an earlier
    /// call, whole. `name` is what problems call it.
    #[must_use]
    pub fn with_keys(mut self, name: &str, yaml: impl Into<String>) -> Scenario {
        self.overlay.push((name.to_owned(), yaml.into()));
        self
    }

    /// Sets one key, for instance `fabric.load_balancing` or `jobs[0].iterations`; the last one
    /// counts. The value is read as YAML: `ecmp`, `400Gbps`, `[0, 8]`, `{kind: ecmp}`. The word
    /// `default` takes the key out.
    #[must_use]
    pub fn set(self, path: &str, value: impl Display) -> Scenario {
        self.with_setting(format!("{path}={value}"))
    }

    /// The same, written as `--set` has it: `PATH=VALUE`.
    #[must_use]
    pub fn with_setting(mut self, setting: impl Into<String>) -> Scenario {
        let setting = setting.into();
        // A seed that was given before would win otherwise.
        if let Some(("seed", _)) = setting.split_once('=').map(|(path, to)| (path.trim(), to)) {
            self.seed = None;
        }
        self.settings.push(setting);
        self
    }

    /// Replaces the scenario's seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Scenario {
        self.seed = Some(seed);
        self
    }

    /// What messages call it: the path of its file, or the name it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fills in every default and checks everything, with the memory that the machine has free.
    ///
    /// # Errors
    /// Every problem of the scenario and its settings, together.
    pub fn resolve(&self) -> Result<Plan, Error> {
        self.resolve_within(&run_budget())
    }

    /// The same within a budget: what is read and built is taken from it before.
    ///
    /// # Errors
    /// Every problem of the scenario and its settings, together, or what it would take more of than
    /// the budget has.
    pub fn resolve_within(&self, budget: &Budget) -> Result<Plan, Error> {
        let (name, overlay, settings) = (&self.name, self.overlays(), &self.settings);
        let files = |named: &str| self.file(named);
        let input = self.source.input();
        let loaded = load_overlaid(input, name, &overlay, settings, self.seed, &files, budget)?;
        Ok(Plan::new(loaded, budget)?)
    }

    /// The scenario as a typed value, with its settings and the files that it names: what it leaves
    /// out is filled in, and its sections are not put together yet.
    ///
    /// # Errors
    /// Every problem of single sections, together.
    pub fn typed(&self) -> Result<spec::Scenario, Error> {
        let files = |named: &str| self.file(named);
        // As a setting, so that what takes its default from the seed has it, too.
        let seed = self.seed.map(|seed| format!("seed={seed}"));
        let settings: Vec<String> = self.settings.iter().cloned().chain(seed).collect();
        let (input, overlay) = (self.source.input(), self.overlays());
        let budget = run_budget();
        Ok(load_typed(
            input, &self.name, &overlay, &settings, &files, &budget,
        )?)
    }

    fn overlays(&self) -> Vec<Overlay<'_>> {
        let overlay = self.overlay.iter();
        overlay
            .map(|(source_name, text)| Overlay { source_name, text })
            .collect()
    }

    /// Opens a file that the scenario names, or says what to do where it cannot be read. Scenarios
    /// of studies are begun with elsewhere, so the equipment of the program stands in for files
    /// that are not there.
    fn file(&self, named: &str) -> Result<Content<'static>, String> {
        let found = match &self.folder {
            Some(folder) if self.is_of_trial => within(folder, named),
            Some(folder) => beside(folder, named),
            None => Err("write what it holds into the scenario".to_owned()),
        };
        found.or_else(|remedy| {
            let text = equipment_text(named).ok_or(remedy)?;
            Ok(text.as_bytes().into())
        })
    }
}

impl Source {
    fn input(&self) -> Input<'_> {
        match self {
            Source::Text(text, format) => Input::Text(text, *format),
            Source::Typed(typed) => Input::Typed(typed),
        }
    }
}

/// A typed scenario of any size; problems point into the YAML that it is written as.
impl From<spec::Scenario> for Scenario {
    fn from(typed: spec::Scenario) -> Scenario {
        let name = match typed.name.as_str() {
            "" => "scenario".to_owned(),
            name => name.to_owned(),
        };
        Scenario::of_source(&name, Source::Typed(Box::new(typed)))
    }
}

/// The same of a copy.
impl From<&spec::Scenario> for Scenario {
    fn from(typed: &spec::Scenario) -> Scenario {
        Scenario::from(typed.clone())
    }
}

/// The text of a file of at most 8 MiB.
///
/// # Errors
/// When it cannot be read, is longer, or is not UTF-8.
pub fn read_text(file: &Path) -> Result<String, Error> {
    let bytes = bytes(file, MAX_SOURCE_BYTES as u64).map_err(|error| unreadable(file, &error))?;
    Ok(text_of(&bytes, &file.display().to_string())?.to_owned())
}

/// Opens a file that a scenario names, its path counting from the scenario's folder; or what
/// to do where it cannot be read.
fn beside(folder: &Path, name: &str) -> Result<Content<'static>, String> {
    let path = folder.join(name);
    open_named(&path).map_err(|error| {
        let shown = path.display();
        format!("{error}: `{shown}`; paths count from the folder of the scenario")
    })
}

/// Opens a file in the folder of a trial that its configuration names.
fn within(folder: &Path, name: &str) -> Result<Content<'static>, String> {
    let open = || -> std::io::Result<Content<'static>> {
        let file = open_own(&below(folder, Path::new(name))?)?;
        let length = file.metadata()?.len();
        Ok(Content::new(file, length))
    };
    open().map_err(|error| format!("{error}: `{name}`"))
}

/// Opens a file that was named, or says why it cannot be read.
pub(crate) fn open_named(path: &Path) -> Result<Content<'static>, String> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (found, file) = opened.map_err(|error| error.to_string())?;
    // Files of the system itself have bytes, and say that they have none.
    if found.is_file() && found.len() > 0 {
        return Ok(Content::new(file, found.len()));
    }
    // A pipe has no places, and a device may have no end.
    let bytes = at_most(file, PIPED_MAX).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > PIPED_MAX {
        let most = Bytes::new(PIPED_MAX);
        return Err(format!(
            "it is no file on a disk, and has more than {most}; write it to one"
        ));
    }
    Ok(bytes.into())
}

/// The most bytes of a pipe or a device, which are held in memory.
const PIPED_MAX: u64 = 256 << 20;

/// The file's bytes, or as many as it may have and one more: a device may have no end.
fn bytes(file: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    at_most(File::open(file)?, limit)
}

fn at_most(stream: impl Read, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    let remedy = if file.is_dir() {
        "it is a folder; name a scenario file in it".to_owned()
    } else if error.kind() == std::io::ErrorKind::NotFound {
        "check the path; `tenter new` writes a first scenario".to_owned()
    } else if error.kind() == std::io::ErrorKind::InvalidInput {
        format!("{error}; {OWN_FILE_REMEDY}")
    } else {
        format!("{error}; check the path and its permissions")
    };
    Error::Unreadable {
        path: file.to_owned(),
        remedy,
    }
}
