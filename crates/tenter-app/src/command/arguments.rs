//! Command-line arguments.

mod bench;
mod calibrate_fidelity;
mod common;
mod export;
mod import;
#[cfg(target_os = "linux")]
mod lab;
mod study;
mod sweep;
mod trials;
mod ui;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use tenter::{Interference, Plan};

pub(crate) use bench::{Bench, RankOrder, Ranks};
pub(crate) use calibrate_fidelity::CalibrateFidelity;
pub(crate) use common::{
    Allowance, Fidelity, MORE_MEMORY, MORE_TIME, OutputFormat, QueryAllowance, Scenario,
    TextFormat, Threads,
};
pub(crate) use export::{Export, ExportCommand, ExportFabric, ExportOperations};
pub(crate) use import::{
    Import, ImportCommand, ImportFabric, ImportFormat, ImportOperations, ImportSonic,
};
#[cfg(target_os = "linux")]
pub(crate) use lab::{Agent, Lab, LabCollect, LabCommand, LabCounters, LabRun, LabTwin};
pub(crate) use study::{Study, StudyCommand, StudyRun};
pub(crate) use sweep::{Sweep, SweepCommand, SweepOf, SweepWorker};
pub(crate) use trials::{Trials, TrialsCommand, TrialsList, WorkspaceFolder};
pub(crate) use ui::Ui;

/// The end of `tenter --help`; docs/exit-codes.md has more.
const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    done, and the answer is no: a job was not completed, or a required
       row of a study does not match
  2    the input is at fault: scenario, option, file or folder
  3    something else is: a full disk, a defect of Tenter
  130  interrupted";

/// Simulator and test bench for AI and HPC network fabrics.
#[derive(Debug, Parser)]
#[command(name = "tenter", version = tenter::version(), after_help = EXIT_CODES)]
#[command(disable_help_subcommand = false, max_term_width = 80)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Arguments {
    /// Returns true if a program reads standard output: failures are then printed there as a
    /// document, too.
    pub(crate) fn wants_json(&self) -> bool {
        let text = |format: TextFormat| format == TextFormat::Json;
        let output = |format: OutputFormat| format == OutputFormat::Json;
        match &self.command {
            Some(Command::Run(run)) => output(run.format),
            Some(Command::Bench(bench)) => text(bench.format),
            Some(Command::Presets(presets)) => match &presets.command {
                None => text(presets.format),
                Some(PresetsCommand::List { format } | PresetsCommand::Show { format, .. }) => {
                    text(*format)
                }
            },
            Some(Command::New(new)) => text(new.format),
            Some(Command::Validate(validate)) => text(validate.format),
            Some(Command::Explain(explain)) => text(explain.format),
            Some(Command::Import(import)) => import.wants_json(),
            Some(Command::Export(export)) => text(export.format()),
            Some(Command::Study(study)) => match &study.command {
                StudyCommand::List { format }
                | StudyCommand::Show { format, .. }
                | StudyCommand::Copy { format, .. } => text(*format),
                StudyCommand::Run(run) => output(run.format),
            },
            Some(Command::Sweep(Sweep {
                command: Some(SweepCommand::Worker(worker)),
                ..
            })) => output(worker.format),
            Some(Command::Sweep(sweep)) => output(sweep.run.format),
            Some(Command::Compare(compare)) => output(compare.format),
            Some(Command::Query(asked)) => output(asked.format),
            Some(Command::CalibrateFidelity(of)) => output(of.format),
            Some(Command::Report(report)) => text(report.format),
            Some(Command::Trials(trials)) => trials.wants_json(),
            #[cfg(target_os = "linux")]
            Some(Command::Lab(lab)) => match &lab.command {
                LabCommand::Run(run) | LabCommand::Calibrate(run) => output(run.format),
                LabCommand::Twin(twin) => output(twin.run.format),
                LabCommand::Up { .. }
                | LabCommand::Down { .. }
                | LabCommand::Plan { .. }
                | LabCommand::Counters(_)
                | LabCommand::Collect(_) => false,
            },
            Some(Command::Ui(_)) => false,
            #[cfg(target_os = "linux")]
            Some(Command::Agent(_)) => false,
            None
            | Some(
                Command::Schema
                | Command::RunOrders
                | Command::Completions { .. }
                | Command::Man { .. }
                | Command::Licenses,
            ) => false,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one trial of a scenario: print its summary, write its trial folder
    Run(Run),
    /// Run a collective over sizes and print the table of nccl-tests: same letters, same columns
    Bench(Box<Bench>),
    /// List the presets of `--fabric`, or print one
    Presets(Presets),
    /// Write a first scenario, to change and run
    New(New),
    /// Check a scenario and print all of its errors at once
    Validate(Validate),
    /// Print the meaning of a scenario, the cost of a run and the parts to build it
    Explain(Explain),
    /// Turn workloads and configurations of other systems into those of Tenter
    Import(Import),
    /// Write the workload of a job in the format of another system
    Export(Export),
    /// Print the JSON Schema of scenarios, for completion and checks in editors
    Schema,
    /// Reproduce published results, side by side with the published values
    Study(Study),
    /// Run a scenario over variants, axes and seeds, and compare the results
    Sweep(Sweep),
    /// Put trials, folders of seeds or sweeps side by side, or a trial beside a log of nccl-tests
    Compare(Compare),
    /// Ask the tables of trials, for instance `p99(flows.fct_ns) by job_name`
    Query(Asked),
    /// Run scenarios with packets and at flow level, and print how far flow level is off
    CalibrateFidelity(CalibrateFidelity),
    /// Write one or more trials as a single HTML file with plots
    Report(Report),
    /// List, show, tag, annotate and remove the trials of a workspace
    Trials(Trials),
    /// Run scenarios on real hosts, or on a fabric of network namespaces, and beside the simulation
    #[cfg(target_os = "linux")]
    Lab(Lab),
    /// Be a host of a lab: wait for a coordinator, and send what its scenarios say
    #[cfg(target_os = "linux")]
    Agent(Box<Agent>),
    /// Open the workspace in a browser: configure, run, watch, compare and keep trials
    Ui(Ui),
    /// Run the trials that another `tenter` orders on standard input
    #[command(hide = true)]
    RunOrders,
    /// Print the completions of a shell for this command, for its start-up file
    Completions {
        /// Shell that the script is for
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a folder
    Man {
        /// The folder; created if it is missing
        folder: PathBuf,
    },
    /// Print the licences of third-party crates in this program
    Licenses,
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// Folder for the trial; replaces an existing trial; by default a new one under `trials/`
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Number of seeds to run, counting up from the scenario's (or `--seed`); prints mean, 95 %
    /// confidence interval, worst and best of each job and size
    #[arg(long, value_name = "N", conflicts_with = "watch")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) seeds: Option<u32>,
    /// Print the life of the packets between two hosts (`flow=host0-host9`) or at a port
    /// (`port=leaf0:8`)
    #[arg(long, value_name = "flow=A-B|port=NODE:PORT")]
    pub(crate) watch: Option<String>,
    /// Most events that `--watch` prints
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) watch_limit: usize,
    /// Also write `trace.json` into the trial folder, which ui.perfetto.dev opens: jobs, chunks by
    /// rank, queues and pauses; at most 200,000 chunks
    #[arg(long, conflicts_with = "seeds")]
    pub(crate) perfetto: bool,
    /// Also print ideal ratios: each time over that of the same transfers on a full mesh of links
    /// at port speed
    #[arg(long, conflicts_with = "seeds")]
    pub(crate) ideal: bool,
    /// Also run each measured job alone on the same fabric: its slowdown beside the others
    #[arg(long)]
    pub(crate) baseline: bool,
    /// Also run each measured job alone, and with each other job: the matrix of slowdowns
    #[arg(long)]
    pub(crate) interference: bool,
    /// Run even if the estimate of the memory exceeds the available memory
    #[arg(long)]
    pub(crate) force: bool,
}

impl Run {
    /// Returns the interference runs that flags ask for; `None` leaves it to the scenario.
    pub(crate) fn asked_interference(&self) -> Option<Interference> {
        if self.interference {
            Some(Interference::Pairs)
        } else if self.baseline {
            Some(Interference::Alone)
        } else {
            None
        }
    }

    /// Returns the name for a new folder under `trials/`: the scenario's, or its file's.
    pub(crate) fn folder_name(&self, plan: &Plan) -> String {
        match plan.name() {
            "" => {
                let stem = self.scenario.file.file_stem();
                stem.unwrap_or_default().to_string_lossy().into_owned()
            }
            name => name.to_owned(),
        }
    }
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Presets {
    #[command(subcommand)]
    pub(crate) command: Option<PresetsCommand>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PresetsCommand {
    /// List the presets
    List {
        /// Format of standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
    /// Print a preset: a scenario without jobs
    Show {
        /// Name of the preset, for instance `rail-64`
        name: String,
        /// Format of standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    #[command(flatten)]
    pub(crate) allowance: Allowance,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    #[command(flatten)]
    pub(crate) allowance: Allowance,
    /// Threads, as in 2,4,8: tell how much faster each number would be than one thread, where each
    /// has a core; the beginning of the trial is run for it, on one thread
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Vec<u16>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// File to write; an existing file is not overwritten
    #[arg(value_name = "FILE", default_value = "scenario.yaml")]
    pub(crate) file: PathBuf,
    /// Begin with a preset in place of a leaf-spine fabric of 64 NICs
    #[arg(long, value_name = "PRESET", default_value = "leaf-spine-64")]
    pub(crate) fabric: String,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Asked {
    /// Trial folders, or folders of seeds, and behind them the query: statistics of columns of the
    /// data dictionary, with `by` and `where`
    #[arg(required = true, num_args = 2.., value_names = ["TRIAL", "QUERY"])]
    pub(crate) words: Vec<PathBuf>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    pub(crate) allowance: Allowance,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Folders of trials, of seeds (`tenter run --seeds`) or of sweeps; differences are against the
    /// first, and of one sweep against its first variant
    #[arg(required = true, value_name = "FOLDER")]
    pub(crate) trials: Vec<PathBuf>,
    /// A file of measurements to stand beside the trials: a log of nccl-tests, its text or its
    /// JSON; JSON of perftest; or CSV with sizes and times or bandwidths; may be given several
    /// times
    #[arg(long, value_name = "FILE", alias = "nccl-tests")]
    pub(crate) measured: Vec<PathBuf>,
    /// The collective of files that do not name it, for instance `all_reduce`
    #[arg(long, value_name = "NAME", requires = "measured")]
    pub(crate) collective: Option<String>,
    /// Compares what the trials answer to a query, as `tenter query` takes it, in place of their
    /// completion times
    #[arg(long, value_name = "QUERY", conflicts_with = "measured")]
    pub(crate) query: Option<String>,
    /// Greater values of the query are better; smaller ones are by default
    #[arg(long, requires = "query")]
    pub(crate) more_is_better: bool,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    pub(crate) allowance: QueryAllowance,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folders of trials and of seeds, as `tenter run` leaves them, of sweeps, or of studies, as
    /// `tenter study run -o` leaves them
    #[arg(required = true, value_name = "FOLDER")]
    pub(crate) folders: Vec<PathBuf>,
    /// File to write; replaces an existing one; opens in any browser, without a network
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// A file of measurements to stand beside the trials, as in `tenter compare`; may be given
    /// several times
    #[arg(long, value_name = "FILE")]
    pub(crate) measured: Vec<PathBuf>,
    /// The collective of files that do not name it, for instance `all_reduce`
    #[arg(long, value_name = "NAME", requires = "measured")]
    pub(crate) collective: Option<String>,
    #[command(flatten)]
    pub(crate) allowance: Allowance,
    /// Write the report even if it takes more memory than is available
    #[arg(long)]
    pub(crate) force: bool,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}
