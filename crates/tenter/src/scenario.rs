//! Scenarios as they are written, before anything is resolved.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::report::{CONFIG_FILE, OWN_FILE_REMEDY, below, open_own};
use crate::resolve::{
    Format, Input, MAX_SOURCE_BYTES, Overlay, Preset, load_overlaid, load_typed, spec, text_of,
};
use crate::studies::equipment_text;
use serde::Serialize;
use tenter_formats::Content;
use tenter_language::units::Bytes;

use tenter_language::units::Budget;

use crate::budget::run_budget;
use crate::{Error, Plan};

/// A fabric, its hosts and its jobs, as written in YAML, JSON or TOML, with settings that replace
/// parts.
///
/// Nothing is checked before [`Scenario::resolve`], which reports all problems at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name in messages: the file's path, or a given one.
    name: String,
    source: Source,
    /// Folder in which files that the scenario names are found; `None` if it cannot name any.
    folder: Option<PathBuf>,
    /// True if the folder is an untrusted trial folder: files are read from it alone, and links are
    /// refused.
    is_of_trial: bool,
    /// Overlays, applied in order: the name in messages, and the YAML.
    overlay: Vec<(String, String)>,
    settings: Vec<String>,
    seed: Option<u64>,
}

/// Form in which the scenario was given.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    Text(String, Format),
    Typed(Box<spec::Scenario>),
}

impl Scenario {
    /// Reads a file: TOML or JSON by its extension, YAML otherwise.
    ///
    /// # Errors
    /// When the file cannot be read, has more than 8 MiB, or is not UTF-8.
    pub fn read(file: impl AsRef<Path>) -> Result<Scenario, Error> {
        let file = file.as_ref();
        let name = file.display().to_string();
        let (text, format) = (read_text(file)?, Format::of_name(&name));
        Ok(Scenario {
            // For a bare file name this is the empty path, which is the working folder.
            folder: Some(file.with_file_name("")),
            ..Scenario::parse(&name, text, format)
        })
    }

    /// Reads a trial folder's configuration, which may come from a stranger: files that it names
    /// are read from that folder alone, and links are not followed.
    ///
    /// # Errors
    /// When the file cannot be read, is a link, has more than 8 MiB, or is not UTF-8.
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

    /// Returns the text; `None` for a typed scenario.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.source {
            Source::Text(text, _) => Some(text),
            Source::Typed(_) => None,
        }
    }

    /// Reads YAML or JSON from a stream, for instance standard input; messages call it `name`.
    /// Files that it names are found in the working folder.
    ///
    /// # Errors
    /// When the stream cannot be read, has more than 8 MiB, or is not UTF-8.
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

    /// Makes a scenario from YAML; JSON is a subset.
    pub fn from_yaml(text: impl Into<String>) -> Scenario {
        Scenario::parse("scenario", text.into(), Format::Yaml)
    }

    /// Makes a scenario from TOML.
    pub fn from_toml(text: impl Into<String>) -> Scenario {
        Scenario::parse("scenario", text.into(), Format::Toml)
    }

    /// Makes a scenario from any serialisable value, for instance from `serde_json::json!`.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn from_value(value: &impl Serialize) -> Result<Scenario, Error> {
        let text = serde_json::to_string_pretty(value);
        let text = text.map_err(|error| Error::Asked(format!("the scenario: {error}")))?;
        Ok(Scenario::parse("scenario", text, Format::Json))
    }

    /// Returns the fabric and hosts in the preset `name`, without jobs.
    ///
    /// # Errors
    /// When no preset has that name; the message suggests one.
    pub fn preset(name: &str) -> Result<Scenario, Error> {
        let preset = Preset::of_name(name)
            .map_err(|help| Error::Asked(format!("there is no preset `{name}`; {help}")))?;
        Ok(Scenario::parse(name, preset.text.to_owned(), Format::Yaml))
    }

    /// Makes a scenario from `text` in the given format; messages call it `name`.
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

    /// Sets the folder in which files that the scenario names are found. By default a text has
    /// none, and a file has the folder in which it lies.
    #[must_use]
    pub fn beside(mut self, folder: impl Into<PathBuf>) -> Scenario {
        self.folder = Some(folder.into());
        self
    }

    /// Lays YAML over the scenario: each top-level key replaces the scenario's key, or an earlier
    /// call's, as a whole. Messages call the text `name`.
    #[must_use]
    pub fn with_keys(mut self, name: &str, yaml: impl Into<String>) -> Scenario {
        self.overlay.push((name.to_owned(), yaml.into()));
        self
    }

    /// Sets one key, for instance `fabric.load_balancing` or `jobs[0].iterations`; a later setting
    /// wins. The value is read as YAML: `ecmp`, `400Gbps`, `[0, 8]`, `{kind: ecmp}`. The word
    /// `default` removes the key.
    #[must_use]
    pub fn set(self, path: &str, value: impl Display) -> Scenario {
        self.with_setting(format!("{path}={value}"))
    }

    /// Sets one key, written as for `--set`: `PATH=VALUE`.
    #[must_use]
    pub fn with_setting(mut self, setting: impl Into<String>) -> Scenario {
        let setting = setting.into();
        // `seed()` takes precedence over settings, so it must not survive a later setting of the
        // same key.
        if let Some(("seed", _)) = setting.split_once('=').map(|(path, to)| (path.trim(), to)) {
            self.seed = None;
        }
        self.settings.push(setting);
        self
    }

    /// Replaces the scenario's seed; takes precedence over earlier settings.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Scenario {
        self.seed = Some(seed);
        self
    }

    /// Name in messages: the file's path, or the given name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fills in every default and checks everything, with all the memory that the machine has free.
    ///
    /// # Errors
    /// Every problem of scenario and settings, together.
    pub fn resolve(&self) -> Result<Plan, Error> {
        self.resolve_within(&run_budget())
    }

    /// Resolves within `budget`: bytes to read and memory to fill are taken from it beforehand.
    ///
    /// # Errors
    /// Every problem of scenario and settings, together; or the resource that `budget` lacks.
    pub fn resolve_within(&self, budget: &Budget) -> Result<Plan, Error> {
        let (name, overlay, settings) = (&self.name, self.overlays(), &self.settings);
        let files = |named: &str| self.file(named);
        let input = self.source.input();
        let loaded = load_overlaid(input, name, &overlay, settings, self.seed, &files, budget)?;
        Ok(Plan::new(loaded, budget)?)
    }

    /// Returns the scenario as a typed value, with its settings and files. Defaults within sections
    /// are filled in, but sections are not checked against each other.
    ///
    /// # Errors
    /// Every problem within single sections, together.
    pub fn typed(&self) -> Result<spec::Scenario, Error> {
        let files = |named: &str| self.file(named);
        // A seed must be there while sections are read: other seeds take their default from it.
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

    /// Opens a file that the scenario names; an error says what to do. A study's scenario may be
    /// started outside the repository, so equipment files that are built into the program stand in
    /// for missing ones.
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

/// Takes a typed scenario, whatever its size; problems refer to its YAML form.
impl From<spec::Scenario> for Scenario {
    fn from(typed: spec::Scenario) -> Scenario {
        let name = match typed.name.as_str() {
            "" => "scenario".to_owned(),
            name => name.to_owned(),
        };
        Scenario::of_source(&name, Source::Typed(Box::new(typed)))
    }
}

/// Copies a typed scenario.
impl From<&spec::Scenario> for Scenario {
    fn from(typed: &spec::Scenario) -> Scenario {
        Scenario::from(typed.clone())
    }
}

/// Reads a text file of at most 8 MiB.
///
/// # Errors
/// When the file cannot be read, is longer, or is not UTF-8.
pub fn read_text(file: &Path) -> Result<String, Error> {
    let bytes = bytes(file, MAX_SOURCE_BYTES as u64).map_err(|error| unreadable(file, &error))?;
    Ok(text_of(&bytes, &file.display().to_string())?.to_owned())
}

/// Opens `name`, which a scenario names, relative to the scenario's folder; an error says what to
/// do.
fn beside(folder: &Path, name: &str) -> Result<Content<'static>, String> {
    let path = folder.join(name);
    open_named(&path).map_err(|error| {
        let shown = path.display();
        format!("{error}: `{shown}`; paths count from the folder of the scenario")
    })
}

/// Opens `name` in a trial folder, refusing links and paths that lead outside.
fn within(folder: &Path, name: &str) -> Result<Content<'static>, String> {
    let open = || -> std::io::Result<Content<'static>> {
        let file = open_own(&below(folder, Path::new(name))?)?;
        let length = file.metadata()?.len();
        Ok(Content::new(file, length))
    };
    open().map_err(|error| format!("{error}: `{name}`"))
}

/// Opens a file that a person has named; an error says why it cannot be read.
pub(crate) fn open_named(path: &Path) -> Result<Content<'static>, String> {
    // The metadata are those of the open file: the path may lead elsewhere a moment later.
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (found, file) = opened.map_err(|error| error.to_string())?;
    // Files of `/proc` and the like report length 0 but have content: they are read like a pipe.
    if found.is_file() && found.len() > 0 {
        return Ok(Content::new(file, found.len()));
    }
    // A pipe cannot seek, and a device may have no end: hold a limited number of bytes in memory.
    let bytes = at_most(file, PIPED_MAX).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > PIPED_MAX {
        let most = Bytes::new(PIPED_MAX);
        return Err(format!(
            "it is no file on a disk, and has more than {most}; write it to one"
        ));
    }
    Ok(bytes.into())
}

/// Most bytes that are read from a pipe or a device, since they are held in memory.
const PIPED_MAX: u64 = 256 << 20;

/// Reads at most `limit` bytes and one more, by which callers see that the file is too long.
fn bytes(file: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    at_most(File::open(file)?, limit)
}

fn at_most(stream: impl Read, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The one byte more tells callers that the stream is too long, however long it is.
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
