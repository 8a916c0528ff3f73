//! Arguments of `tenter export`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tenter::FabricFormat;

use super::common::{Scenario, TextFormat};

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
    /// Format of standard output
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
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
}

impl Export {
    /// Returns the arguments, if operations are exported.
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

    /// Returns the format and the arguments, if a fabric is exported.
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
