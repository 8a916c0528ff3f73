//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tenter::{FabricFormat, Interference, Plan, usual_threads};

use crate::bench::{Letters, parse_size};

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
    /// Whether standard output is for a program: it then has a document for failures, too.
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
                StudyCommand::List { format } | StudyCommand::Show { format, .. } => text(*format),
                StudyCommand::Run(run) => output(run.format),
            },
            Some(Command::Sweep(Sweep {
                command: Some(SweepCommand::Worker(worker)),
                ..
            })) => output(worker.format),
            Some(Command::Sweep(sweep)) => output(sweep.run.format),
            Some(Command::Compare(compare)) => output(compare.format),
            Some(Command::Report(report)) => text(report.format),
            None
            | Some(
                Command::Schema
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
    /// Write one or more trials as a single HTML file with plots
    Report(Report),
    /// Print the completions of a shell for this command, for its start-up file
    Completions {
        /// The shell
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
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
    /// Threads to simulate on, at most one per switch, by default one per core up to 4; the results
    /// are the same for any number
    #[arg(long, value_name = "N", default_value_t = usual_threads(), hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
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
    /// What the flags ask for; otherwise the scenario says.
    pub(crate) fn asked_interference(&self) -> Option<Interference> {
        if self.interference {
            Some(Interference::Pairs)
        } else if self.baseline {
            Some(Interference::Alone)
        } else {
            None
        }
    }

    /// The name of a new folder under `trials/`: that of the scenario, or of its file.
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

/// The letters are those of nccl-tests.
#[derive(Debug, Args)]
#[command(after_help = BENCH_HELP)]
pub(crate) struct Bench {
    /// As the programs of nccl-tests are called
    #[arg(value_name = "COLLECTIVE", help = COLLECTIVE_HELP)]
    pub(crate) collective: String,
    /// The fabric: a preset (`tenter presets` lists them) or a scenario file, without its jobs
    #[arg(long, value_name = "PRESET|FILE", default_value = "rail-64")]
    pub(crate) fabric: String,
    #[command(flatten)]
    pub(crate) scan: Scan,
    /// Measured iterations of each size; with equal random streams they are all alike
    #[arg(short = 'n', long = "iters", value_name = "COUNT", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) iterations: u32,
    /// Warm-up iterations before them
    #[arg(
        short = 'w',
        long = "warmup_iters",
        value_name = "COUNT",
        default_value_t = 0
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) warm_up: u32,
    #[command(flatten)]
    pub(crate) ranks: Ranks,
    /// Element type, which decides how sizes are rounded
    #[arg(
        short = 'd',
        long = "datatype",
        value_name = "TYPE",
        default_value = "float"
    )]
    pub(crate) datatype: String,
    /// Reduction; it is only printed
    #[arg(short = 'o', long = "op", value_name = "OP", default_value = "sum")]
    pub(crate) reduction: String,
    /// Root, if the collective has one
    #[arg(short = 'r', long = "root", value_name = "RANK", default_value = "0")]
    #[arg(allow_hyphen_values = true)]
    pub(crate) root: String,
    /// Also write the JSON of nccl-tests to this file; if the file exists, a number is added to
    /// the name
    #[arg(short = 'J', long = "output_file", value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// What to print on standard output: the table, or the document of -J
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
    /// Algorithm, by its name in scenarios, or a file of MSCCL or MSCCL++
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) algorithm: Option<String>,
    /// Change a value of the fabric or the job, for instance `--set jobs[0].queue_pairs=4`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Seed of every random stream
    #[arg(long, value_name = "N", value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Folder for the trial; replaces an existing trial; by default a new one under `trials/`
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Threads to simulate on, at most one per switch, by default one per core up to 4; the results
    /// are the same for any number
    #[arg(long, value_name = "N", default_value_t = usual_threads(), hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
    /// Run even if the estimate of the memory exceeds the available memory
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) letters: Letters,
}

const COLLECTIVE_HELP: &str = "all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv, gather, scatter or hypercube";

const BENCH_HELP: &str = "\
Out of place and in place are one run: the network carries the same for both. `#wrong` is N/A: no
data are carried, only their sizes. Runs repeat exactly, so one iteration without warm-up is the
default. Letters of nccl-tests without a meaning here are refused with the reason.";

/// Which sizes.
#[derive(Debug, Args)]
pub(crate) struct Scan {
    /// First size; K, M and G are powers of 1024
    #[arg(
        short = 'b',
        long = "minbytes",
        value_name = "SIZE",
        default_value = "32M"
    )]
    #[arg(value_parser = parse_size)]
    pub(crate) min: u64,
    /// Last size
    #[arg(
        short = 'e',
        long = "maxbytes",
        value_name = "SIZE",
        default_value = "32M"
    )]
    #[arg(value_parser = parse_size)]
    pub(crate) max: u64,
    /// Factor from one size to the next
    #[arg(
        short = 'f',
        long = "stepfactor",
        value_name = "FACTOR",
        conflicts_with = "step"
    )]
    #[arg(value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) factor: Option<u64>,
    /// Step from one size to the next, without -f
    #[arg(
        short = 'i',
        long = "stepbytes",
        value_name = "SIZE",
        default_value = "1M"
    )]
    #[arg(value_parser = parse_size)]
    pub(crate) step: u64,
}

/// Which ranks take part: all NICs, or NODES × THREADS × GPUS of them.
#[derive(Debug, Args)]
pub(crate) struct Ranks {
    /// Nodes (one process each); 1 if -t or -g is given
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=4_194_304))]
    pub(crate) nodes: Option<u32>,
    /// Threads of each process
    #[arg(short = 't', long = "nthreads", value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) threads_per_node: Option<u32>,
    /// GPUs of each thread, each with a NIC
    #[arg(short = 'g', long = "ngpus", value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) gpus: Option<u32>,
    /// The order of the ranks: along the rails (the default on a rail fabric), or host by host
    #[arg(long, value_enum)]
    pub(crate) order: Option<RankOrder>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RankOrder {
    /// NIC 0 of every server, then NIC 1 of every server, …
    Rails,
    /// In the order of the fabric's hosts
    Hosts,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Presets {
    #[command(subcommand)]
    pub(crate) command: Option<PresetsCommand>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PresetsCommand {
    /// List the presets
    List {
        /// What to print on standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
    /// Print a preset: a scenario without jobs
    Show {
        /// Name of the preset, for instance `rail-64`
        name: String,
        /// What to print on standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// What to print on standard output
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
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

/// A scenario file and what is changed in it.
#[derive(Debug, Args)]
pub(crate) struct Scenario {
    /// Scenario file (YAML or JSON; TOML if it ends in .toml), `-` for standard input, or a preset
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Change a value of the scenario, for instance `--set fabric.spines=8`, or remove its key
    /// with `default` for the value; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Seed of every random stream, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = seed)]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub(crate) command: ImportCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Buffers, traffic classes, PFC and ECN from a `config_db.json`, as `fabric.switch`;
    /// standard error lists fields without a counterpart
    Sonic(ImportSonic),
    /// Operations of ranks in the format GOAL of `LogGOPSim` and ATLAHS, text or binary
    Goal(ImportOperations),
    /// Execution traces of Chakra, one file for each rank: the trace of one rank, or the part of
    /// the names before `.0.et`, `.1.et` and so on
    Chakra(ImportOperations),
    /// Layers of a model from a workload of `SimAI`, AICB or ASTRA-sim 1
    Simai(ImportOperations),
    /// Collectives of a model from a table of AICB (CSV)
    Aicb(ImportOperations),
    /// Kernels and collectives from traces of Kineto, the profiler of `PyTorch`: the trace of one
    /// rank, what the names of several begin with, or a name with `{rank}` in it
    Kineto(ImportOperations),
    /// Collectives from execution traces of `PyTorch` on the host
    PytorchEt(ImportOperations),
    /// Collectives and messages from dumps of the flight recorder of `PyTorch`, as JSON
    FlightRecorder(ImportOperations),
    /// Calls of NCCL from its log (`NCCL_DEBUG=INFO`, `NCCL_DEBUG_SUBSYS=INIT,COLL`)
    NcclLog(ImportOperations),
    /// Flows with their starts from a CSV table: source, destination, bytes, start, id, after,
    /// `after_received`
    FlowTable(ImportOperations),
    /// Flows from a connection matrix of htsim (`.cm`)
    Htsim(ImportOperations),
    /// Flows from a flow file of ns-3 HPCC or `SimAI`
    Ns3(ImportOperations),
    /// A fat tree of htsim (`.topo`), as `fabric` of a scenario
    Topo(ImportFabric),
    /// Links of a topology file of ns-3 HPCC, its descendants or `SimAI`, as `fabric` of a scenario
    Ns3Topology(ImportFabric),
    /// An infrastructure of `InfraGraph` 3, YAML or JSON, as `fabric` of a scenario
    Infragraph(ImportFabric),
    /// A server from the topology file of NCCL (`NCCL_TOPO_FILE`), as `endpoint` of a scenario
    NcclTopo(ImportFabric),
    /// Cables of `NetBox` from a CSV file, as `fabric` of a scenario
    Netbox(ImportFabric),
    /// Operations that `tenter import` has made: checks and counts them
    Graph(ImportOperations),
}

#[derive(Debug, Args)]
pub(crate) struct ImportSonic {
    /// The `config_db.json` of the switch
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The port whose settings to take, for instance `Ethernet0`; by default the first port of
    /// the largest group of equal ports
    #[arg(long, value_name = "NAME")]
    pub(crate) port: Option<String>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = ImportFormat::Yaml)]
    pub(crate) format: ImportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// YAML; a comment on each line names its origin
    Yaml,
    /// JSON
    Json,
    /// One line for `--set`
    Override,
}

#[derive(Debug, Args)]
pub(crate) struct ImportFabric {
    /// The file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write the scenario to this file in place of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What the file does not say, for instance `rate=400Gbps`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportOperations {
    /// The file, or what the names of several begin with
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write the operations to this file, which a job runs with `workload: {kind: graph, file: …}`
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Another key of `jobs[].workload` with this kind; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

impl ImportCommand {
    /// Operations that are imported, and the kind of `jobs[].workload`.
    pub(crate) fn operations(&self) -> Option<(&'static str, &ImportOperations)> {
        match self {
            ImportCommand::Sonic(_)
            | ImportCommand::Topo(_)
            | ImportCommand::Ns3Topology(_)
            | ImportCommand::Infragraph(_)
            | ImportCommand::NcclTopo(_)
            | ImportCommand::Netbox(_) => None,
            ImportCommand::Goal(of) => Some(("goal", of)),
            ImportCommand::Chakra(of) => Some(("chakra", of)),
            ImportCommand::Simai(of) => Some(("simai", of)),
            ImportCommand::Aicb(of) => Some(("aicb", of)),
            ImportCommand::Kineto(of) => Some(("kineto", of)),
            ImportCommand::PytorchEt(of) => Some(("pytorch-et", of)),
            ImportCommand::FlightRecorder(of) => Some(("flight-recorder", of)),
            ImportCommand::NcclLog(of) => Some(("nccl-log", of)),
            ImportCommand::FlowTable(of) => Some(("flow-table", of)),
            ImportCommand::Htsim(of) => Some(("htsim", of)),
            ImportCommand::Ns3(of) => Some(("ns3", of)),
            ImportCommand::Graph(of) => Some(("graph", of)),
        }
    }
}

impl ImportCommand {
    /// A fabric that is imported, and its format.
    pub(crate) fn fabric(&self) -> Option<(FabricFormat, &ImportFabric)> {
        match self {
            ImportCommand::Topo(of) => Some((FabricFormat::Topo, of)),
            ImportCommand::Ns3Topology(of) => Some((FabricFormat::Ns3Topology, of)),
            ImportCommand::Infragraph(of) => Some((FabricFormat::InfraGraph, of)),
            ImportCommand::NcclTopo(of) => Some((FabricFormat::NcclTopo, of)),
            ImportCommand::Netbox(of) => Some((FabricFormat::NetBox, of)),
            _ => None,
        }
    }
}

impl Import {
    /// Whether standard output is for a program.
    pub(crate) fn wants_json(&self) -> bool {
        match &self.command {
            ImportCommand::Sonic(sonic) => sonic.format == ImportFormat::Json,
            command => command
                .operations()
                .is_some_and(|(_, of)| of.format == TextFormat::Json),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(subcommand)]
    pub(crate) command: ExportCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// Operations as a GOAL text of `LogGOPSim` and ATLAHS, times in whole nanoseconds
    Goal(ExportOperations),
    /// Operations as execution traces of Chakra, times in whole microseconds: FILE.0.et, FILE.1.et
    /// and so on, and FILE.groups.json where there are collectives
    Chakra(ExportOperations),
    /// Flows as a connection matrix of htsim, with triggers and starts in picoseconds
    Htsim(ExportOperations),
    /// Flows as a flow file of ns-3, with the starts that a run of the scenario gives them
    Ns3(ExportOperations),
    /// Operations as a file for `workload: {kind: graph, file: …}`
    Graph(ExportOperations),
    /// The fabric as an infrastructure of `InfraGraph` 3: JSON if FILE ends in .json, else YAML
    Infragraph(ExportFabric),
    /// The fabric as a fat tree of htsim (`.topo`), where it is a regular one
    Topo(ExportFabric),
    /// The fabric as a topology file of ns-3 HPCC, with the numbers of hosts of `export ns3`
    Ns3Topology(ExportFabric),
}

#[derive(Debug, Args)]
pub(crate) struct ExportFabric {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExportOperations {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// The job whose operations to write; by default the first one
    #[arg(long, value_name = "NAME")]
    pub(crate) job: Option<String>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

impl Export {
    /// Operations that are exported.
    pub(crate) fn operations(&self) -> Option<&ExportOperations> {
        match &self.command {
            ExportCommand::Goal(of)
            | ExportCommand::Chakra(of)
            | ExportCommand::Htsim(of)
            | ExportCommand::Ns3(of)
            | ExportCommand::Graph(of) => Some(of),
            ExportCommand::Infragraph(_)
            | ExportCommand::Topo(_)
            | ExportCommand::Ns3Topology(_) => None,
        }
    }

    /// A fabric that is exported, and its format.
    pub(crate) fn fabric(&self) -> Option<(FabricFormat, &ExportFabric)> {
        match &self.command {
            ExportCommand::Infragraph(of) => Some((FabricFormat::InfraGraph, of)),
            ExportCommand::Topo(of) => Some((FabricFormat::Topo, of)),
            ExportCommand::Ns3Topology(of) => Some((FabricFormat::Ns3Topology, of)),
            _ => None,
        }
    }

    pub(crate) fn format(&self) -> TextFormat {
        let of_operations = self.operations().map(|of| of.format);
        let of_fabric = self.fabric().map(|(_, of)| of.format);
        of_operations.or(of_fabric).unwrap_or(TextFormat::Text)
    }
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
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
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
    /// Write the report even if it takes more memory than is available
    #[arg(long)]
    pub(crate) force: bool,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Sweep {
    #[command(subcommand)]
    pub(crate) command: Option<SweepCommand>,
    #[command(flatten)]
    pub(crate) run: SweepOf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SweepCommand {
    /// Run trials of a sweep that was queued with `--queue`, on any machine that has its folder
    Worker(SweepWorker),
}

#[derive(Debug, Args)]
pub(crate) struct SweepWorker {
    /// Folder of the sweep, on a file system that the machines share
    #[arg(long, value_name = "DIR")]
    pub(crate) ledger: PathBuf,
    /// Trials that run side by side, by default one for each core that the process may use
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct SweepOf {
    /// Description of the sweep: YAML, TOML or JSON
    #[arg(value_name = "FILE", required = true)]
    pub(crate) file: Option<PathBuf>,
    /// Folder for ledger and results, by default `sweeps/NAME`; finished trials in it are not
    /// run again
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Only this variant, or only this value of an axis; may be given several times
    #[arg(long, value_name = "VARIANT|AXIS=VALUE")]
    pub(crate) only: Vec<String>,
    /// Resume the sweep in the folder; begin none if there is none
    #[arg(long)]
    pub(crate) resume: bool,
    /// Run failed trials again
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Run even trials that take more memory than is available
    #[arg(long)]
    pub(crate) force: bool,
    /// Trials that run side by side, by default one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Run nothing, and queue all trials for `tenter sweep worker` on other machines; the command
    /// without this takes their answers
    #[arg(long)]
    pub(crate) queue: bool,
    /// A worker that has written nothing for so long is taken for lost, in seconds; at least 120,
    /// since NFS shows what other machines write with a delay of up to a minute
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "queue",
        default_value_t = 300
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) patience: u32,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Study {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// List the studies
    List {
        /// What to print on standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
    /// Print what a study reproduces, its assumptions and its published values
    Show {
        /// Name of the study, for instance `methodology/jct-2`
        name: String,
        /// What to print on standard output
        #[arg(long, value_enum, default_value_t = TextFormat::Text)]
        format: TextFormat,
    },
    /// Run studies; exit 1 when a required value is outside its band
    Run(StudyRun),
}

#[derive(Debug, Args)]
pub(crate) struct StudyRun {
    /// Names of studies, of groups of them such as `methodology`, or `all`; or folders with a
    /// `study.toml`
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Only the smaller cases of each study
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these variants, by their names; may be given several times
    #[arg(long = "variant", value_name = "NAME")]
    pub(crate) variants: Vec<String>,
    /// Run only the first N seeds of a study
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seeds: Option<u32>,
    /// Also write the answer to this folder (`DIR/studies.json`)
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) format: OutputFormat,
    /// Threads to simulate on, at most one per switch, by default one per core up to 4; the results
    /// are the same for any number
    #[arg(long, value_name = "N", default_value_t = usual_threads(), hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
    /// Trials that run side by side, each on one thread; without this they run one after the other
    #[arg(long, value_name = "N", conflicts_with = "threads")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// A table for people
    Table,
    /// JSON
    Json,
    /// Comma-separated values
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// Text for people
    Text,
    /// JSON
    Json,
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}
