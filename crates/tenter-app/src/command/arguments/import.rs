//! Arguments of `tenter import`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tenter::FabricFormat;

use super::common::TextFormat;

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
    /// Format of standard output
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
    /// Property that the file lacks, for instance `rate=400Gbps`; may be repeated
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
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

impl ImportCommand {
    /// Returns the kind of `jobs[].workload` and the arguments, if operations are imported.
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

    /// Returns the format and the arguments, if a fabric is imported.
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
    /// Returns true if a program reads standard output.
    pub(crate) fn wants_json(&self) -> bool {
        match &self.command {
            ImportCommand::Sonic(sonic) => sonic.format == ImportFormat::Json,
            command => command
                .operations()
                .is_some_and(|(_, of)| of.format == TextFormat::Json),
        }
    }
}
