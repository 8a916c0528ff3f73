//! Arguments of `tenter bench`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{Fidelity, TextFormat, Threads, seed};
use crate::command::bench::{Letters, parse_size};

/// The letters are those of nccl-tests.
#[derive(Debug, Args)]
#[command(after_help = BENCH_HELP)]
pub(crate) struct Bench {
    /// As the programs of nccl-tests are called
    #[arg(value_name = "COLLECTIVE", help = COLLECTIVE_HELP)]
    pub(crate) collective: String,
    /// The fabric: a preset (`tenter presets` lists them) or a scenario file, without its jobs
    #[arg(long, value_name = "PRESET|FILE", default_value = "dgx-h100-64")]
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
    /// Format of standard output: the table, or the document of -J
    #[arg(long, value_enum, default_value_t = TextFormat::Text)]
    pub(crate) format: TextFormat,
    /// Algorithm, by its name in scenarios, or a file of MSCCL or MSCCL++
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) algorithm: Option<String>,
    /// Change a value of the fabric or the job, for instance `--set jobs[0].queue_pairs=4`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Units that move through the fabric
    #[arg(long, value_enum)]
    pub(crate) fidelity: Option<Fidelity>,
    /// Seed of every random stream
    #[arg(long, value_name = "N", value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Folder for the trial; replaces an existing trial; by default a new one under `trials/`
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: Threads,
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

/// Sizes to run, as nccl-tests chooses them.
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
    /// The order of the ranks: along the rails (the default on a rail fabric whose servers have no
    /// scale-up domain), or host by host
    #[arg(long, value_enum)]
    pub(crate) order: Option<RankOrder>,
}

impl Ranks {
    /// Returns true if ranks on several nodes take part.
    pub(crate) fn has_several_nodes(&self) -> bool {
        match (self.nodes, self.threads_per_node, self.gpus) {
            (Some(nodes), ..) => nodes > 1,
            (None, threads, gpus) => threads.is_none() && gpus.is_none(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RankOrder {
    /// NIC 0 of every server, then NIC 1 of every server, …
    Rails,
    /// In the order of the fabric's hosts
    Hosts,
}
