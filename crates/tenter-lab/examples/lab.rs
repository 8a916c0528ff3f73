//! The commands of a lab without the rest of `tenter`: for trying this crate alone.

#![expect(clippy::print_stderr, reason = "it is a command")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_lab::{AgentOptions, Calibration, Constants, LabFile, LabRun, Observed};
use tenter_units::Rate;

struct Shown;

impl Observed for Shown {
    fn collective(&mut self, ended: u32, of: u32) -> bool {
        eprintln!("{ended} of {of}");
        true
    }

    fn problem(&mut self, what: &str) {
        eprintln!("{what}");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [
            "agent",
            "--listen",
            listen,
            "--secret-file",
            secret,
            "--lab",
            lab,
        ] => {
            let options = AgentOptions {
                listen: listen.parse()?,
                secret_file: PathBuf::from(secret),
                lab: PathBuf::from(lab),
                user: "nobody".to_owned(),
                max_rate: Rate::from_gbps(400),
                max_time: Duration::from_secs(600),
            };
            tenter_lab::start(&options, |address| eprintln!("{address}"))?;
        }
        ["up", lab] => {
            let lab = LabFile::read(Path::new(lab))?;
            let state = tenter_lab::up(&lab, &std::env::current_exe()?)?;
            eprintln!(
                "{} namespaces, {} agents",
                state.namespaces.len(),
                state.agents.len()
            );
        }
        ["down", name] => eprintln!("{} namespaces removed", tenter_lab::down(name)?),
        ["run", lab, scenario, folder, settings @ ..] => {
            let lab = LabFile::read(Path::new(lab))?;
            let settings: Vec<String> = settings.iter().map(|&of| of.to_owned()).collect();
            let trial = tenter_lab::load(&lab, &PathBuf::from(scenario), &settings)?;
            let options = LabRun {
                folder: PathBuf::from(folder),
                command: arguments.clone(),
            };
            let outcome = tenter_lab::run(&trial, &options, &mut Shown)?;
            let text = serde_json::to_string_pretty(&outcome.summary)?;
            eprintln!("{text}");
        }
        ["twin", lab, scenario, folder, fit] => {
            let lab = LabFile::read(Path::new(lab))?;
            let trial = tenter_lab::load(&lab, &PathBuf::from(scenario), &[])?;
            let options = LabRun {
                folder: PathBuf::from(folder),
                command: arguments.clone(),
            };
            let constants = match *fit {
                "fit" => Constants::Fit,
                "stated" => Constants::Stated,
                file => Constants::Known(Calibration::read(Path::new(file))?),
            };
            let twin = tenter_lab::twin(&trial, constants, &options, &mut Shown)?;
            eprintln!("{}", tenter_lab::twin_text(&twin));
        }
        _ => return Err("agent | up LAB | down NAME | run LAB SCENARIO FOLDER".into()),
    }
    Ok(())
}
