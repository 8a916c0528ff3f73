//! The nccl-tests programs and their collectives.

/// The nccl-tests programs, each with its collective's name in scenarios.
const PROGRAMS: [(&str, &str); 10] = [
    ("all_reduce", "all-reduce"),
    ("all_gather", "all-gather"),
    ("reduce_scatter", "reduce-scatter"),
    ("alltoall", "all-to-all"),
    ("broadcast", "broadcast"),
    ("reduce", "reduce"),
    ("sendrecv", "send-recv"),
    ("gather", "gather"),
    ("scatter", "scatter"),
    ("hypercube", "hypercube"),
];

/// Returns the collective that an nccl-tests program runs, for `all_reduce` or `…/all_reduce_perf`
/// for instance.
pub fn collective_of_program(program: &str) -> Option<&'static str> {
    let name = program.rsplit('/').next()?.trim();
    let name = name.strip_suffix("_perf").unwrap_or(name);
    let known = PROGRAMS
        .iter()
        .find(|known| known.0 == name || known.1 == name);
    known.map(|known| known.1)
}
