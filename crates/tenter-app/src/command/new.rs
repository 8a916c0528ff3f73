//! `tenter new`: writes a first scenario.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};

use serde_json::json;
use tenter::resolve::Preset;

use crate::command::arguments::{New, TextFormat};
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print};
use crate::command::source::FIRST_JOBS;

pub(crate) fn new(arguments: &New) -> Result<ExitCode, Failure> {
    let name = &arguments.fabric;
    let preset = Preset::of_name(name)
        .map_err(|help| Failure::input(format!("there is no preset `{name}`; {help}")))?;
    let file = arguments.file.display();
    let text = format!(
        "# Run it:            tenter run {file}\n\
         # What it means:     tenter explain {file}\n\
         # Every key of it:   docs/scenario.md, or the editor with `tenter schema`\n\
         \n\
         {}\n\
         # One job over all NICs; ranks: [host0, host1] would name some.\n\
         {FIRST_JOBS}",
        preset.text.trim_end()
    );
    // `create_new` makes the test and the creation one step, so that no file is overwritten.
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&arguments.file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    made.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::input(format!(
            "{file} exists and is not overwritten; name another file"
        )),
        ErrorKind::NotFound => Failure::input(format!(
            "cannot write {file}: there is no such folder; make it, or name another file"
        )),
        _ => Failure::other(format!("cannot write {file}: {error}; check the path")),
    })?;
    match arguments.format {
        TextFormat::Text => print(&format!("{file} is written; `tenter run {file}` runs it\n")),
        TextFormat::Json => print(&format!("{:#}\n", json!({"scenario": arguments.file}))),
    }
    Ok(ExitCode::SUCCESS)
}
