//! `tenter study`: list, show and run published studies.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tenter_record::{Control, FlowRow, Progress, SampleRow, Sink, SinkError, Summary};
use tenter_report::{
    ANSWERS_FILE, TrialFolder, peak_rss_bytes, read_counts, read_rows, take_folder, write_whole,
};
use tenter_scenario::Loaded;
use tenter_sim::{Driver, Interference, Outcome, Simulation, SimulationError};
use tenter_study::{
    Answers, Extent, STUDIES, Study, StudyAnswer, StudyError, StudyTexts, Trial, Variant, select,
};

use crate::arguments::{OutputFormat, Study as Arguments, StudyCommand, StudyRun};
use crate::failure::{Failure, print, say};
use crate::interference;
use crate::progress::{Watched, on_interrupt};
use crate::run::{self, INTERRUPTED};
use crate::study_table;
use crate::threads;

pub(crate) fn study(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        StudyCommand::List => list(),
        StudyCommand::Show { name } => show(name),
        StudyCommand::Run(arguments) => run(arguments),
    }
}

fn list() -> Result<ExitCode, Failure> {
    let studies: Result<Vec<Study>, StudyError> = STUDIES.iter().map(Study::embedded).collect();
    print(&study_table::list(
        &studies.map_err(|error| broken(&error))?,
    ));
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str) -> Result<ExitCode, Failure> {
    for study in read(&[name.to_owned()])? {
        print(&study_table::show(&study));
    }
    Ok(ExitCode::SUCCESS)
}

fn run(arguments: &StudyRun) -> Result<ExitCode, Failure> {
    let mut studies = read(&arguments.names)?;
    if let Some(most) = arguments.seeds {
        for seeds in studies.iter_mut().filter_map(|study| study.seeds.as_mut()) {
            seeds.runs = seeds.runs.min(most as usize);
            seeds.quick_runs = seeds.quick_runs.min(most as usize);
        }
    }
    for study in &mut studies {
        let kept = study.keep_variants(&arguments.variants);
        kept.map_err(|error| Failure::input(error.to_string()))?;
        if arguments.quick && study.has(Extent::Quick) && !study.has_variants(Extent::Quick) {
            let names = arguments.variants.join("`, `");
            let message = format!(
                "{}: `{names}` has no quick form; leave out --quick",
                study.name
            );
            return Err(Failure::input(message));
        }
    }
    let runner = Runner {
        arguments,
        extent: if arguments.quick {
            Extent::Quick
        } else {
            Extent::Full
        },
        interrupted: on_interrupt(),
    };
    let _lock = match &arguments.output {
        Some(folder) => begin(folder)?,
        None => None,
    };
    let mut answers = Answers::default();
    let mut text = String::new();
    for study in &studies {
        let started = Instant::now();
        let Some(answer) = runner.answer(study)? else {
            say("error: stopped by the user; no study is judged by a part of its trials\n");
            return Ok(ExitCode::from(INTERRUPTED));
        };
        let wall_s = started.elapsed().as_secs_f64();
        text.push_str(&study_table::answer(study, &answer, runner.extent, wall_s));
        answers.studies.push(answer);
    }
    let json = serde_json::to_string_pretty(&answers)
        .map_err(|error| Failure::other(error.to_string()))?
        + "\n";
    print(match arguments.format {
        OutputFormat::Table => &text,
        OutputFormat::Json => &json,
        OutputFormat::Csv => {
            text = study_table::csv(&answers);
            &text
        }
    });
    if let Some(folder) = &arguments.output {
        let file = write(folder, &json)?;
        if arguments.format == OutputFormat::Table {
            print(&format!("answers  {}\n", file.display()));
        }
    }
    Ok(if answers.hold() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// The studies of these names or groups.
fn read(names: &[String]) -> Result<Vec<Study>, Failure> {
    let texts = select(names).map_err(|error| Failure::input(error.to_string()))?;
    let read = |texts: &StudyTexts<'_>| Study::embedded(texts).map_err(|error| broken(&error));
    texts.into_iter().map(read).collect()
}

/// A study that is part of the program does not hold: the program is at fault, not its user.
fn broken(error: &StudyError) -> Failure {
    Failure::other(error.to_string())
}

/// Takes a folder for this run, and removes the answers of an older one, which a run that is
/// stopped must not leave behind.
fn begin(folder: &Path) -> Result<Option<File>, Failure> {
    let lock = take_folder(folder).map_err(|error| Failure::of_trial(&error))?;
    let file = folder.join(ANSWERS_FILE);
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::input(format!(
            "cannot remove {}: {error}; choose another folder with -o",
            file.display()
        ))),
        _ => Ok(lock),
    }
}

fn write(folder: &Path, json: &str) -> Result<PathBuf, Failure> {
    let file = folder.join(ANSWERS_FILE);
    write_whole(&file, json).map_err(|error| Failure::other(error.to_string()))?;
    Ok(file)
}

/// How the trials of a command are run.
struct Runner<'a> {
    arguments: &'a StudyRun,
    extent: Extent,
    interrupted: Arc<AtomicBool>,
}

impl Runner<'_> {
    /// Runs all variants of a study; `None` when the user has stopped it.
    fn answer(&self, study: &Study) -> Result<Option<StudyAnswer>, Failure> {
        let mut trials = Vec::new();
        if !study.has(self.extent) {
            return Ok(Some(study.judge(self.extent, &trials)));
        }
        for variant in &study.variants {
            let loaded = study.trials(variant, self.extent);
            let mut of_variant = Vec::new();
            for loaded in loaded.map_err(|error| broken(&error))? {
                of_variant.push(self.trial(study, variant, &loaded)?);
                if self.interrupted.load(Ordering::Relaxed) {
                    return Ok(None);
                }
            }
            trials.push(of_variant);
        }
        Ok(Some(study.judge(self.extent, &trials)))
    }

    /// Runs a variant with one seed and writes its trial folder, if folders are wanted.
    fn trial(&self, study: &Study, variant: &Variant, loaded: &Loaded) -> Result<Trial, Failure> {
        let mut title = format!("{} {}", study.name, variant.name);
        if study.seeds.is_some() {
            let _ = write!(title, ", seed {}", loaded.plan.seed);
        }
        if let Some(kept) = self.kept(study, variant, loaded, &title) {
            return Ok(kept);
        }
        let failed = |error: &dyn std::error::Error| Failure::other(format!("{title}: {error}"));
        let started = Instant::now();
        let options = threads::options(self.arguments.threads);
        let mut records = Records {
            folder: self.folder(study, variant, loaded)?,
            flows: study.needs_flows().then(Vec::new),
        };
        let mut sink =
            Watched::new(&mut records, &loaded.plan, Arc::clone(&self.interrupted)).titled(&title);
        let outcome = if loaded.plan.queue_changes.is_none() {
            simulate(Simulation::new(&loaded.plan, options), started, &mut sink)
        } else {
            let recording = Simulation::recording(&loaded.plan, options);
            simulate(recording, started, &mut sink)
        };
        drop(sink);
        let mut outcome = outcome.map_err(|error| failed(&error))?;
        if loaded.plan.baseline {
            let (plan, interrupted) = (&loaded.plan, &self.interrupted);
            interference::add(
                plan,
                Interference::Alone,
                options,
                interrupted,
                &mut outcome,
            )?;
        }
        let flows = records.finish(&outcome)?;
        report(&title, &outcome.summary);
        Ok(study.thinned(Trial::new(&loaded.plan, outcome, flows)))
    }

    /// The trial of an earlier run that was stopped, if it is the same; its tables are read.
    fn kept(
        &self,
        study: &Study,
        variant: &Variant,
        loaded: &Loaded,
        title: &str,
    ) -> Option<Trial> {
        let path = self.path(study, variant, loaded)?;
        let summary = run::finished(&path, loaded)?;
        let counts = read_counts(&path).ok()?;
        let flows = if study.needs_flows() {
            read_rows(&path).ok()?
        } else {
            Vec::new()
        };
        run::say_kept(title, &path);
        report(title, &summary);
        Some(study.thinned(Trial::of(&loaded.plan, summary, counts, flows)))
    }

    /// Where a trial is kept, if folders are wanted.
    fn path(&self, study: &Study, variant: &Variant, loaded: &Loaded) -> Option<PathBuf> {
        let output = self.arguments.output.as_ref()?;
        let mut path = output.join(&study.name).join(&variant.name);
        if study.seeds.is_some() {
            path.push(format!("seed-{}", loaded.plan.seed));
        }
        Some(path)
    }

    fn folder(
        &self,
        study: &Study,
        variant: &Variant,
        loaded: &Loaded,
    ) -> Result<Option<TrialFolder>, Failure> {
        let Some(path) = self.path(study, variant, loaded) else {
            return Ok(None);
        };
        let (names, identity) = (run::names(&loaded.plan), run::identity(&loaded.plan));
        let folder = TrialFolder::create(&path, &loaded.effective, names, identity);
        let folder = folder.map_err(|error| Failure::of_trial(&error))?;
        let kept = folder.keep_beside(&loaded.beside);
        kept.map_err(|error| Failure::other(error.to_string()))?;
        Ok(Some(folder))
    }
}

/// Runs a simulation that was set up since `started`, and notes how long both took.
fn simulate<D: Driver>(
    built: Result<Simulation<D>, SimulationError>,
    started: Instant,
    sink: &mut impl Sink,
) -> Result<Outcome, SimulationError> {
    let mut simulation = built?;
    let set_up_s = started.elapsed().as_secs_f64();
    let running = Instant::now();
    let mut outcome = simulation.run(sink)?;
    let engine = &mut outcome.summary.engine;
    engine.set_up_s = set_up_s;
    engine.wall_s = running.elapsed().as_secs_f64();
    engine.peak_rss_bytes = peak_rss_bytes();
    Ok(outcome)
}

/// What a reader of the comparison must know of a trial.
fn report(title: &str, summary: &Summary) {
    for warning in &summary.warnings {
        say(&format!("warning: {title}: {warning}\n"));
    }
    let jobs = summary.jobs.iter();
    let failures = jobs.filter_map(|job| job.job.failure.as_ref());
    // What stopped it says more than what each job was waiting for.
    if let Some(reason) = summary.stopped.iter().chain(failures).next() {
        say(&format!("error: {title} was not completed: {reason}\n"));
    }
}

/// What is kept of a trial while it runs.
struct Records {
    /// Its folder, if one is wanted.
    folder: Option<TrialFolder>,
    /// Its flows, if the study reads them.
    flows: Option<Vec<FlowRow>>,
}

impl Records {
    fn finish(self, outcome: &Outcome) -> Result<Vec<FlowRow>, Failure> {
        if let Some(folder) = self.folder {
            let finished = folder.finish(&outcome.summary, &outcome.counts);
            finished.map_err(|error| Failure::other(error.to_string()))?;
        }
        Ok(self.flows.unwrap_or_default())
    }
}

impl Sink for Records {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        if let Some(flows) = &mut self.flows {
            flows.extend_from_slice(rows);
        }
        self.folder
            .as_mut()
            .map_or(Ok(()), |folder| folder.flows(rows))
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        self.folder
            .as_mut()
            .map_or(Ok(()), |folder| folder.samples(rows))
    }

    fn progress(&mut self, _: &Progress) -> Result<Control, SinkError> {
        Ok(Control::Continue)
    }
}
