//! The command line.

use clap::Parser;

/// Measures Tenter's engine and models on leaf-spine fabrics.
#[derive(Debug, Parser)]
#[command(name = "fabric", disable_version_flag = true)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag a person types"
)]
pub(crate) struct Arguments {
    /// Only cases whose name contains one of these; kernels they are compared with come along.
    pub(crate) filters: Vec<String>,

    /// How often each case is run; the best counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,

    /// Run with a part of the packets: 1/N of each flow.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) shorten: u64,

    /// Threads to spread the nodes over; kernels always have one.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: u16,

    /// Count only the time in which a run had a core, for a machine that does other things too
    /// (Linux, one thread).
    #[arg(long, conflicts_with = "threads")]
    pub(crate) on_core: bool,

    /// Compare the threads that `tenter run` would take with one thread, on an idle machine and
    /// beside busy loops.
    #[arg(long, conflicts_with_all = ["threads", "on_core", "json", "instructions"])]
    pub(crate) contended: bool,

    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the cases and end.
    #[arg(long)]
    pub(crate) list: bool,

    /// Count instructions per packet-hop with valgrind instead of measuring time.
    #[arg(long)]
    pub(crate) instructions: bool,

    /// Run this one case once, in this process, and print what came out as JSON.
    #[arg(long, value_name = "CASE")]
    pub(crate) once: Option<String>,

    /// With `--once`: end after the set-up.
    #[arg(long, requires = "once")]
    pub(crate) set_up_only: bool,

    /// What cargo says to benchmarks; it changes nothing.
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
}
