//! JSON from perftest (`ib_write_bw --out_json` and its siblings).
//!
//! Source: linux-rdma/perftest, its result keys and rate units. Some versions write texts without
//! quotes, which is no JSON, so only the `results` are parsed.

use serde::Deserialize;

use super::rows::{Measured, MeasuredRow, checked};

/// Bytes of the unit that perftest calls `MB`.
const MEBIBYTE: f64 = 1_048_576.0;
/// Tolerance when two rates are compared: both are rounded.
const TOLERANCE: f64 = 0.02;

/// True if a text looks like JSON from perftest.
pub(super) fn is_perftest(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(['{', '[']) && text.contains("MsgSize")
}

/// Results at one size, from a bandwidth test or a latency test (in µs).
#[derive(Deserialize)]
struct Results {
    #[serde(rename = "MsgSize")]
    size: u64,
    #[serde(rename = "BW_average")]
    rate: Option<f64>,
    /// Message rate, in millions per second.
    #[serde(rename = "MsgRate")]
    messages: Option<f64>,
    #[serde(rename = "t_avg")]
    average: Option<f64>,
    #[serde(rename = "t_typical")]
    typical: Option<f64>,
}

/// Reads the results from one run, or from several runs one after the other.
pub(super) fn parse(text: &str) -> Result<Measured, String> {
    let mut measured = Measured::default();
    let mut rest = text;
    // Each run writes a document, and a file may have several of them.
    while let Some(at) = rest.find("\"results\"") {
        rest = rest.get(at + "\"results\"".len()..).unwrap_or_default();
        let value = rest.trim_start().strip_prefix(':').unwrap_or(rest);
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<OneOrMany>();
        let found = values.next().transpose().map_err(|error| {
            format!("its `results` are not those of perftest ({error}): write them with --out_json")
        })?;
        for results in found.map(OneOrMany::all).unwrap_or_default() {
            measured.rows.extend(row(&results)?);
        }
    }
    Ok(measured)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(Results),
    Many(Vec<Results>),
}

impl OneOrMany {
    fn all(self) -> Vec<Results> {
        match self {
            OneOrMany::One(results) => vec![results],
            OneOrMany::Many(results) => results,
        }
    }
}

fn row(results: &Results) -> Result<Option<MeasuredRow>, String> {
    let busbw = match (results.rate, results.messages) {
        (Some(rate), Some(messages)) => Some(gbytes_per_s(results.size, rate, messages)?),
        (Some(_), None) => {
            return Err(format!(
                "the unit of `BW_average` at {} bytes follows from `MsgRate`, which is missing",
                results.size
            ));
        }
        (None, _) => None,
    };
    // Either may be missing from a latency test.
    checked(results.size, results.average.or(results.typical), busbw)
}

/// Converts `rate` to 10⁹ bytes per second. The JSON does not name its unit, MiB/s or Gb/s: it is
/// the one that agrees with message rate × size.
fn gbytes_per_s(size: u64, rate: f64, messages: f64) -> Result<f64, String> {
    let by_messages = messages * 1e6 * size as f64;
    let candidates = [rate * MEBIBYTE, rate * 1e9 / 8.0];
    // The message rate has six decimals, so for large messages its rounding counts.
    let rounding = 0.5 * size as f64;
    let fits = |bytes: &f64| (bytes - by_messages).abs() <= TOLERANCE * by_messages + rounding;
    let found = candidates.into_iter().find(fits);
    found.map(|bytes| bytes / 1e9).ok_or_else(|| {
        format!(
            "a bandwidth of {rate} at {size} bytes and {messages} million messages per second are neither MiB/s nor Gb/s: write the file with one run of perftest"
        )
    })
}
