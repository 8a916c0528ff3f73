//! Writes benchmarks as nccl-tests does: its table with the same columns, widths and units, and its
//! JSON.
//!
//! Source: NVIDIA/nccl-tests, the text and the JSON (version 2) that its programs print.

use std::fmt::Write as _;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::report::utc::rfc_3339;

/// Version of the nccl-tests JSON format that is written.
const JSON_VERSION: u32 = 2;

/// Step from one size to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchStep {
    /// Each size is a multiple of the previous one.
    Factor(u64),
    /// Each size is this number of bytes larger than the previous one.
    Bytes(u64),
}

/// One rank, as a line in the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchDevice {
    /// Process that the rank belongs to, counted from 0.
    pub process: u32,
    /// Name that the rank's NIC has in the fabric.
    pub host: String,
    /// Device number within the process.
    pub device: u32,
    /// Description of the device, such as its model.
    pub about: String,
}

/// One row: a size with its result, which is the same out of place and in place.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRow {
    /// Size in bytes, as nccl-tests counts it.
    pub size_bytes: u64,
    /// Element count, per rank if each rank has a share.
    pub count: u64,
    /// Mean over the iterations, in µs; 0 if nothing was sent.
    pub time_us: f64,
    /// Algorithm bandwidth, in 10⁹ bytes per second.
    pub algbw: f64,
    /// Bus bandwidth, in 10⁹ bytes per second.
    pub busbw: f64,
}

/// A benchmark as nccl-tests prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchReport {
    /// The nccl-tests program that runs the collective, such as `all_reduce_perf`.
    pub program: String,
    /// First lines in the header, without `# `.
    pub about: Vec<String>,
    /// Threads per process, as `-t` sets them.
    pub threads: u32,
    /// Devices per thread, as `-g` sets them.
    pub gpus: u32,
    /// Smallest requested size, in bytes.
    pub min_bytes: u64,
    /// Largest requested size, in bytes.
    pub max_bytes: u64,
    /// Step between requested sizes.
    pub step: BenchStep,
    /// Iterations that run first and are not measured.
    pub warm_up: u32,
    /// Iterations over which times are averaged.
    pub iterations: u32,
    /// Ranks in their order, from 0.
    pub devices: Vec<BenchDevice>,
    /// Element type, by its name in NCCL.
    pub datatype: String,
    /// Reduction, or `none` for collectives that do not reduce.
    pub redop: String,
    /// Root rank, or -1 for collectives without one.
    pub root: i64,
}

impl BenchReport {
    /// Returns the text above the first row.
    pub fn header(&self) -> String {
        let mut text = String::new();
        for line in &self.about {
            let _ = writeln!(text, "# {line}");
        }
        let _ = writeln!(text, "# Collective test starting: {}", self.program);
        let (step, of) = match self.step {
            BenchStep::Factor(factor) => (factor, "factor"),
            BenchStep::Bytes(bytes) => (bytes, "bytes"),
        };
        let _ = writeln!(
            text,
            "# nThread {} nGpus {} minBytes {} maxBytes {} step: {step}({of}) warmup iters: {} \
             iters: {} agg iters: 1 validation: 0 graph: 0 unalign: 0\n#\n# Using devices",
            self.threads, self.gpus, self.min_bytes, self.max_bytes, self.warm_up, self.iterations,
        );
        for (rank, device) in self.devices.iter().enumerate() {
            let _ = writeln!(
                text,
                "#  Rank {rank:2} Group  0 Pid {:6} on {:>10} device {:2} [0000:00:00] {}",
                device.process, device.host, device.device, device.about
            );
        }
        text.push_str("#\n");
        let _ = writeln!(
            text,
            "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}           out-of-place                       in-place          ",
            "", "", "", "", ""
        );
        let one = ["time", "algbw", "busbw", "#wrong"];
        columns(["size", "count", "type", "redop", "root"], one, &mut text);
        let one = ["(us)", "(GB/s)", "(GB/s)", ""];
        columns(["(B)", "(elements)", "", "", ""], one, &mut text);
        text
    }

    /// Returns one row. The column for wrong results is `N/A`: the simulation carries sizes, not
    /// data.
    pub fn row(&self, row: &BenchRow) -> String {
        let one = format!(
            "  {}  {}  {}    N/A",
            float(row.time_us, 7),
            float(row.algbw, 6),
            float(row.busbw, 6)
        );
        format!(
            "{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{one}{one}\n",
            row.size_bytes, row.count, self.datatype, self.redop, self.root
        )
    }

    /// Returns the text below the last row.
    pub fn footer(&self, rows: &[BenchRow]) -> String {
        format!(
            "# {:<20} : 0 OK\n# {:<20} : {} \n#\n# Collective test concluded: {}\n",
            "Out of bounds values",
            "Avg bus bandwidth",
            general(average(rows)),
            self.program
        )
    }

    /// Returns the whole benchmark as JSON. `arguments` are the command's; `more` has keys that
    /// nccl-tests does not write.
    pub fn json(
        &self,
        rows: &[BenchRow],
        arguments: &[String],
        started: SystemTime,
        more: &Value,
    ) -> String {
        let time = |instant| rfc_3339(instant).replace('T', " ").replace('Z', "");
        let results: Vec<Value> = rows.iter().map(|row| self.json_row(row)).collect();
        let document = json!({
            "version": JSON_VERSION,
            "start_time": time(started),
            "args": arguments,
            "env": [],
            "nccl_version": 0,
            "config": self.json_config(),
            "results": results,
            "out_of_bounds": {"count": 0, "okay": "true"},
            "average_bus_bandwidth": {"bandwidth": average(rows), "okay": "unchecked"},
            "errors": [],
            "tenter": more,
            "end_time": time(SystemTime::now()),
        });
        format!("{document:#}\n")
    }

    fn json_config(&self) -> Value {
        let mut config = json!({
            "nthreads": self.threads,
            "ngpus": self.gpus,
            "minimum_bytes": self.min_bytes,
            "maximum_bytes": self.max_bytes,
            "warmup_iters": self.warm_up,
            "iterations": self.iterations,
            "aggregated_iterations": 1,
            "validation": 0,
            "graph": 0,
            "blocking_collectives": "true",
            "per_iter_timing": "false",
            "parallel_init": "false",
        });
        match self.step {
            BenchStep::Factor(factor) => config["step_factor"] = factor.into(),
            BenchStep::Bytes(bytes) => config["step_bytes"] = bytes.into(),
        }
        let devices = self.devices.iter().enumerate().map(|(rank, device)| {
            json!({
                "rank": rank,
                "group": 0,
                "pid": device.process,
                "hostname": device.host,
                "device": device.device,
                "device_hex": "0000:00:00",
                "device_info": device.about,
            })
        });
        config["devices"] = devices.collect();
        config
    }

    fn json_row(&self, row: &BenchRow) -> Value {
        let one = json!({
            "time": row.time_us,
            "alg_bw": row.algbw,
            "bus_bw": row.busbw,
            "nwrong": null,
        });
        json!({
            "size": row.size_bytes,
            "count": row.count,
            "type": self.datatype,
            "redop": self.redop,
            // nccl-tests pads the root to six characters and writes it as a text.
            "root": format!("{:>6}", self.root),
            "out_of_place": one,
            "in_place": one,
            "actual_iterations": self.iterations,
            "experiment_name": self.program,
        })
    }
}

/// Appends a head line; the four columns in `one` come twice, out of place and in place.
fn columns(first: [&str; 5], one: [&str; 4], text: &mut String) {
    let [size, count, datatype, redop, root] = first;
    let _ = write!(
        text,
        "# {size:>10}  {count:>12}  {datatype:>8}  {redop:>6}  {root:>6}"
    );
    for _ in 0..2 {
        let [time, algbw, busbw, wrong] = one;
        let _ = write!(text, "  {time:>7}  {algbw:>6}  {busbw:>6}  {wrong:>6}");
    }
    text.push_str(" \n");
}

/// Returns the mean bus bandwidth over all rows, 0 without rows.
fn average(rows: &[BenchRow]) -> f64 {
    // Out of place and in place are equal, so the mean over both is the mean over one.
    let sum: f64 = rows.iter().map(|row| row.busbw).sum();
    if rows.is_empty() {
        0.0
    } else {
        sum / rows.len() as f64
    }
}

/// Formats a number with two decimals, or fewer if it would otherwise exceed its column.
fn float(value: f64, width: usize) -> String {
    let digits = (0..400)
        .find(|&digits| value < 10_f64.powi(digits))
        .unwrap_or(400) as usize;
    match width.saturating_sub(digits) {
        3.. => format!("{value:width$.2}"),
        2 => format!("{value:width$.1}"),
        _ if digits <= width => format!("{value:width$.0}"),
        _ => exponential(value, usize::from(width >= 7)),
    }
}

/// Formats a number as C prints `%e`.
fn exponential(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// Formats a number as C prints `%g`: six significant digits, without trailing zeros.
fn general(value: f64) -> String {
    // The exponent after rounding decides, as in C: 999999.5 is 1e+06.
    let text = exponential(value, 5);
    let exponent: i32 = text
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    let trimmed = |number: &str| {
        if number.contains('.') {
            number
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        } else {
            number.to_owned()
        }
    };
    if (-4..6).contains(&exponent) {
        let decimals = (5 - exponent) as usize;
        return trimmed(&format!("{value:.decimals$}"));
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
    format!("{}e{exponent}", trimmed(mantissa))
}

#[cfg(test)]
mod tests;
