//! Reading of logs of nccl-tests: the text that its programs print, and their JSON.
//!
//! Source: NVIDIA/nccl-tests, the columns of its text and the keys of its JSON. Old versions
//! without the column `root` are read too, and logs in which `mpirun` has marked each line with its
//! rank.

use serde::Deserialize;

/// One size of a log, out of place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NcclRow {
    /// Size in bytes, as nccl-tests counts it.
    pub size_bytes: u64,
    /// Mean time in µs.
    pub time_us: f64,
    /// Bus bandwidth in 10⁹ bytes per second.
    pub busbw: f64,
}

/// The content of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct NcclLog {
    /// The collective by its name in scenarios, if the log names it.
    pub collective: Option<&'static str>,
    /// The sizes in the order of the log.
    pub rows: Vec<NcclRow>,
}

/// The programs of nccl-tests, and their collectives in scenarios.
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

/// The collective of scenarios that a program of nccl-tests runs, `all_reduce` or
/// `…/all_reduce_perf` for instance.
pub fn collective_of_program(program: &str) -> Option<&'static str> {
    let name = program.rsplit('/').next()?.trim();
    let name = name.strip_suffix("_perf").unwrap_or(name);
    let known = PROGRAMS
        .iter()
        .find(|known| known.0 == name || known.1 == name);
    known.map(|known| known.1)
}

impl NcclLog {
    /// Reads a log, text or JSON.
    ///
    /// # Errors
    /// A sentence with the line, when there is no row of results, or one that makes no sense.
    pub fn parse(text: &str) -> Result<NcclLog, String> {
        let log = if text.trim_start().starts_with('{') {
            from_json(text)?
        } else {
            from_text(text)?
        };
        if log.rows.is_empty() {
            return Err("there is no row of results in it: give the output of a program of nccl-tests, or what it wrote for -J".to_owned());
        }
        Ok(log)
    }
}

fn checked(size_bytes: u64, time_us: f64, busbw: f64) -> Result<Option<NcclRow>, String> {
    let sound = |value: f64| value.is_finite() && value >= 0.0;
    if !sound(time_us) || !sound(busbw) || time_us > 1e15 {
        return Err(format!(
            "a time of {time_us} µs and a bus bandwidth of {busbw} GB/s for {size_bytes} bytes make no sense"
        ));
    }
    // Sizes too small to be shared among the ranks are run with nothing to send.
    Ok((size_bytes > 0 && time_us > 0.0).then_some(NcclRow {
        size_bytes,
        time_us,
        busbw,
    }))
}

fn from_text(text: &str) -> Result<NcclLog, String> {
    let mut log = NcclLog {
        collective: None,
        rows: Vec::new(),
    };
    let mut lead = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = without_rank(line);
        if let Some(comment) = line.strip_prefix('#') {
            if let Some(program) = comment.trim().strip_prefix("Collective test starting:") {
                log.collective = collective_of_program(program);
            }
            let words: Vec<&str> = comment.split_whitespace().collect();
            if words.first() == Some(&"size") {
                lead = words.iter().position(|&word| word == "time");
            }
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let row = row_of_text(line, lead).map_err(|why| format!("line {number}: {why}"))?;
            log.rows.extend(row);
        }
    }
    Ok(log)
}

/// A line without the `[1,0]<stdout>:` of `mpirun --tag-output`.
fn without_rank(line: &str) -> &str {
    let line = line.trim();
    match line.split_once(">:") {
        Some((mark, rest)) if mark.starts_with('[') => rest.trim(),
        _ => line,
    }
}

/// One row of results; `lead` columns come before the time, or as many as their count implies.
fn row_of_text(line: &str, lead: Option<usize>) -> Result<Option<NcclRow>, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // size count type redop [root], then four columns out of place and four in place.
    let lead = lead.unwrap_or(if words.len() >= 13 { 5 } else { 4 });
    let number = |column: usize, name: &str| -> Result<f64, String> {
        let word = words.get(column).ok_or_else(|| {
            format!("the row ends before its column `{name}`; the log may be cut off")
        })?;
        word.parse()
            .map_err(|_| format!("`{word}` in column `{name}` is not a number"))
    };
    let size = words[0]
        .parse()
        .map_err(|_| format!("`{}` in column `size` is no number of bytes", words[0]))?;
    let time = number(lead, "time")?;
    number(lead + 1, "algbw")?;
    checked(size, time, number(lead + 2, "busbw")?)
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    args: Vec<String>,
    results: Vec<JsonRow>,
}

#[derive(Deserialize)]
struct JsonRow {
    size: u64,
    #[serde(default)]
    experiment_name: Option<String>,
    out_of_place: JsonHalf,
}

#[derive(Deserialize)]
struct JsonHalf {
    time: f64,
    bus_bw: f64,
}

fn from_json(text: &str) -> Result<NcclLog, String> {
    let document: Document = serde_json::from_str(text)
        .map_err(|error| format!("it is not the JSON of nccl-tests: {error}"))?;
    let named = document.results.first();
    let named = named.and_then(|row| row.experiment_name.as_deref());
    let mut programs = named
        .into_iter()
        .chain(document.args.first().map(String::as_str));
    let collective = programs.find_map(collective_of_program);
    let mut rows = Vec::new();
    for row in &document.results {
        let half = &row.out_of_place;
        rows.extend(checked(row.size, half.time, half.bus_bw)?);
    }
    Ok(NcclLog { collective, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# nThread 1 nGpus 8 minBytes 8388608 maxBytes 33554432 step: 2(factor) warmup iters: 5 iters: 20
# Collective test starting: all_reduce_perf
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     8388608       2097152     float     sum      -1    103.1   81.36  142.38      0    102.9   81.52  142.66      0
[1,0]<stdout>:    33554432       8388608     float     sum      -1    12345  229.30  401.28    N/A    270.0  124.28  217.48      0
# Avg bus bandwidth    : 148.3
";

    #[test]
    fn text_is_read() {
        let log = NcclLog::parse(TEXT).expect("a log");
        assert_eq!(log.collective, Some("all-reduce"));
        let row = |size_bytes, time_us, busbw| NcclRow {
            size_bytes,
            time_us,
            busbw,
        };
        assert_eq!(
            log.rows,
            [row(8 << 20, 103.1, 142.38), row(32 << 20, 12_345.0, 401.28)]
        );
    }

    #[test]
    fn old_text_without_a_root_is_read() {
        let line = "1048576 262144 float sum 36.95 28.38 49.66 0e+00 36.68 28.59 50.03 0e+00";
        let log = NcclLog::parse(line).expect("a log");
        assert_eq!((log.collective, log.rows[0].time_us), (None, 36.95));
    }

    #[test]
    fn json_is_read() {
        let text = r#"{"version": 2, "args": ["./build/alltoall_perf", "-b", "8"], "results": [
            {"size": 0, "out_of_place": {"time": 0.1, "alg_bw": 0, "bus_bw": 0}},
            {"size": 1048576, "out_of_place": {"time": 50.5, "alg_bw": 20.7, "bus_bw": 18.1, "nwrong": 0}}]}"#;
        let log = NcclLog::parse(text).expect("a log");
        assert_eq!(log.collective, Some("all-to-all"));
        assert_eq!(log.rows.len(), 1);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_place() {
        let cases = [
            ("", "no row of results"),
            ("hello\nworld", "no row of results"),
            ("{\"results\": 3}", "not the JSON of nccl-tests"),
            ("8 2 float sum -1 1.0", "line 1: the row ends before"),
            ("1 2 3 4 5 6 7 8 9 ten eleven", ""),
            (
                "8 2 float sum -1 x 1 1 0 1 1 1 0",
                "line 1: `x` in column `time` is not a number",
            ),
            ("8 2 float sum -1 nan 1 1 0 1 1 1 0", "make no sense"),
            ("8 2 float sum -1 1 1 -4 0 1 1 1 0", "make no sense"),
            (
                "99999999999999999999999 2 float sum -1 1 1 1 0 1 1 1 0",
                "is no number of bytes",
            ),
        ];
        for (text, expected) in cases {
            match NcclLog::parse(text) {
                Err(error) => assert!(error.contains(expected), "{text}: {error}"),
                Ok(_) => assert!(expected.is_empty(), "{text}"),
            }
        }
    }
}
