//! Reading a scenario from a file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use tenter_scenario::{Format, Loaded, MAX_SOURCE_BYTES, Preset, load_beside, text_of};

use crate::arguments::Scenario;
use crate::failure::{Failure, say};

/// The text of a scenario file, to be resolved once or several times.
pub(crate) struct Source {
    name: String,
    text: String,
}

impl Source {
    /// Reads a file.
    pub(crate) fn open(file: &Path) -> Result<Source, Failure> {
        Ok(Source {
            name: file.display().to_string(),
            text: text(file)?,
        })
    }

    /// Overrides and resolves it.
    pub(crate) fn load(&self, overrides: &[String], seed: Option<u64>) -> Result<Loaded, Failure> {
        let format = Format::of_name(&self.name);
        let files = |name: &str| beside(Path::new(&self.name), name);
        load_beside(&self.text, &self.name, format, overrides, seed, &files)
            .map_err(|problems| Failure::input(problems.render()))
    }
}

/// The longest file that a scenario names, in bytes.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// The text of a file that a scenario names, its path counting from the scenario's folder; or what
/// to do where it cannot be read.
fn beside(scenario: &Path, name: &str) -> Result<String, String> {
    let path = scenario.with_file_name(name);
    let bytes = bytes(&path, MAX_FILE_BYTES).map_err(|error| {
        let shown = path.display();
        format!("{error}: `{shown}`; paths count from the folder of the scenario")
    })?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!(
            "it has more than {MAX_FILE_BYTES} bytes; add sends up"
        ));
    }
    String::from_utf8(bytes).map_err(|_| "save it with UTF-8 encoding".to_owned())
}

/// Reads, overrides and resolves a scenario; prints its warnings.
pub(crate) fn read(scenario: &Scenario) -> Result<Loaded, Failure> {
    let source = Source::open(&scenario.file)?;
    let loaded = source.load(&scenario.overrides, scenario.seed)?;
    say(&loaded.warnings.render_as("warning"));
    Ok(loaded)
}

/// The text of a scenario file.
pub(crate) fn text(file: &Path) -> Result<String, Failure> {
    let bytes = bytes(file, MAX_SOURCE_BYTES as u64).map_err(|error| unreadable(file, &error))?;
    let text = text_of(&bytes, &file.display().to_string())
        .map_err(|problems| Failure::input(problems.render()))?;
    Ok(text.to_owned())
}

/// The file's bytes, or as many as it may have and one more: a device may have no end.
fn bytes(file: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(file)?;
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    let name = file.display();
    let remedy = if file.is_dir() {
        "it is a folder; name a scenario file in it".to_owned()
    } else if error.kind() == std::io::ErrorKind::NotFound {
        match file.to_str().filter(|name| Preset::of_name(name).is_ok()) {
            Some(name) => format!(
                "`{name}` is a preset, a fabric without jobs: `tenter presets show {name}` prints it, to be saved as a scenario with `jobs:`, and `tenter bench --fabric {name}` runs a benchmark on it"
            ),
            None => "check the path; `scenarios/quickstart.yaml` is a good first one".to_owned(),
        }
    } else {
        format!("{error}; check the path and its permissions")
    };
    Failure::input(format!("cannot read {name}: {remedy}"))
}
