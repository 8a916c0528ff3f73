//! Logs from nccl-tests: the text that its programs print, and their JSON.
//!
//! Source: NVIDIA/nccl-tests, its text columns and JSON keys. Old versions without the column
//! `root` are read too, and so are logs in which a launcher has put a mark before each line. From
//! the JSON only the results are read: its environment may hold secrets.

use serde::Deserialize;
use serde_json::Value;

use super::programs::collective_of_program;
use super::rows::{Measured, checked};

/// Reads a log, which is text or JSON.
pub(super) fn parse(text: &str) -> Result<Measured, String> {
    if text.trim_start().starts_with('{') {
        from_json(text)
    } else {
        from_text(text)
    }
}

/// A result row before it is checked.
struct Row {
    size_bytes: u64,
    reduces: bool,
    time_us: f64,
    algbw: f64,
    busbw: f64,
    wrong: Option<f64>,
}

/// Rows collected from a log so far.
#[derive(Default)]
struct Rows {
    log: Measured,
    largest: u64,
    undefined: usize,
    wrong: usize,
}

impl Rows {
    fn add(&mut self, row: &Row) -> Result<(), String> {
        if [row.time_us, row.busbw].iter().any(|value| value.is_nan()) {
            self.undefined += 1;
            return Ok(());
        }
        let sound = checked(row.size_bytes, Some(row.time_us), Some(row.busbw))?;
        let Some(sound) = sound else {
            return Ok(());
        };
        self.wrong += usize::from(row.wrong.is_some_and(|wrong| wrong > 0.0));
        self.log.reduces = Some(row.reduces);
        // The largest size: there the ratio of the printed bandwidths has the most digits.
        if sound.size_bytes >= self.largest && row.algbw > 0.0 {
            self.largest = sound.size_bytes;
            self.log.factor = Some(row.busbw / row.algbw);
        }
        self.log.rows.push(sound);
        Ok(())
    }

    fn finish(mut self) -> Measured {
        let undefined = "have no number (nan), and are left out";
        self.log.note_left_out(self.undefined, undefined);
        let wrong = "have wrong results by nccl-tests' own check, and are kept";
        self.log.note_left_out(self.wrong, wrong);
        self.log
    }
}

fn from_text(text: &str) -> Result<Measured, String> {
    let mut rows = Rows::default();
    let mut has_root = None;
    let mut ranks = 0;
    let mut is_cut = false;
    for (number, line) in (1..).zip(text.lines()) {
        if let Some((_, comment)) = line.split_once('#') {
            if let Some((_, program)) = comment.split_once("Collective test starting:") {
                let program = program.split_whitespace().next().unwrap_or_default();
                rows.log.collective = collective_of_program(program).map(str::to_owned);
            }
            let words: Vec<&str> = comment.split_whitespace().collect();
            let place = |name: &str| words.iter().position(|&word| word == name);
            match words.as_slice() {
                ["size", "count", "type", "redop", ..] => {
                    has_root = place("time").map(|_| place("root").is_some());
                }
                ["Rank", ..] if comment.contains(" on ") => ranks += 1,
                ["...", ..] => is_cut = true,
                _ => {}
            }
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(row) = row_of(&words) {
            let row = row_of_text(row, has_root).map_err(|why| format!("line {number}: {why}"))?;
            let added = rows.add(&row);
            added.map_err(|why| format!("line {number}: {why}"))?;
        }
    }
    rows.log.ranks = (ranks > 0 && !is_cut).then_some(ranks);
    Ok(rows.finish())
}

/// Returns the words that form a result row: from size, count, type and operation on, whatever a
/// launcher has put before them.
fn row_of<'a>(words: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_start = |window: &[&str]| match window {
        // A launcher's mark such as `[1,0]<stdout>:8` may stick to the size.
        [size, count, kind, operation] => {
            digits(without_mark(size)) && digits(count) && name(kind) && name(operation)
        }
        _ => false,
    };
    let start = words.windows(4).position(is_start)?;
    words.get(start..)
}

/// Removes the mark `[1,0]<stdout>:` that `mpirun --tag-output` puts before a line.
fn without_mark(word: &str) -> &str {
    word.rsplit_once(':').map_or(word, |(_, rest)| rest)
}

/// Parses a result row: size, count, type, operation, root if there is one, then four columns out
/// of place and four in place. The last four may be missing.
fn row_of_text(words: &[&str], has_root: Option<bool>) -> Result<Row, String> {
    let [size, _, _, operation, rest @ ..] = words else {
        return Err("the row ends before its column `time`; the log may be cut off".to_owned());
    };
    let size = without_mark(size);
    let size_bytes = size
        .parse()
        .map_err(|_| format!("`{size}` in column `size` is no number of bytes"))?;
    // Without a head line the count decides: both halves have four columns, so an odd one is the
    // root.
    let has_root = has_root.unwrap_or(rest.len() % 2 == 1);
    let columns = rest.get(usize::from(has_root)..).unwrap_or_default();
    let number = |column: usize, name: &str| -> Result<f64, String> {
        let word = columns.get(column).ok_or_else(|| {
            format!("the row ends before its column `{name}`; the log may be cut off")
        })?;
        word.parse()
            .map_err(|_| format!("`{word}` in column `{name}` is not a number"))
    };
    Ok(Row {
        size_bytes,
        reduces: *operation != "none",
        time_us: number(0, "time")?,
        algbw: number(1, "algbw")?,
        busbw: number(2, "busbw")?,
        wrong: columns.get(3).and_then(|word| word.parse().ok()),
    })
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    config: Option<Config>,
    results: Vec<JsonRow>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    devices: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct JsonRow {
    size: u64,
    #[serde(default)]
    redop: Option<String>,
    #[serde(default)]
    experiment_name: Option<String>,
    #[serde(default)]
    out_of_place: Option<JsonHalf>,
    #[serde(default)]
    in_place: Option<JsonHalf>,
}

/// One half's numbers, any of which may be the string `nan`.
#[derive(Deserialize)]
struct JsonHalf {
    #[serde(alias = "cpu_time")]
    time: Value,
    #[serde(default)]
    alg_bw: Value,
    bus_bw: Value,
    #[serde(default)]
    nwrong: Value,
}

fn number(value: &Value) -> f64 {
    let of_text = value.as_str().and_then(|text| text.parse().ok());
    value.as_f64().or(of_text).unwrap_or(f64::NAN)
}

fn from_json(text: &str) -> Result<Measured, String> {
    let document: Document = serde_json::from_str(text)
        .map_err(|error| format!("it is not the JSON of nccl-tests: {error}"))?;
    let named = document.results.first();
    let named = named.and_then(|row| row.experiment_name.as_deref());
    let mut programs = named
        .into_iter()
        .chain(document.args.first().map(String::as_str));
    let collective = programs.find_map(collective_of_program);
    let mut rows = Rows::default();
    rows.log.collective = collective.map(str::to_owned);
    let devices = document.config.map_or(0, |config| config.devices.len());
    rows.log.ranks = u32::try_from(devices).ok().filter(|&ranks| ranks > 0);
    let mut in_place = 0;
    for row in &document.results {
        let Some(half) = row.out_of_place.as_ref().or(row.in_place.as_ref()) else {
            continue;
        };
        in_place += usize::from(row.out_of_place.is_none());
        rows.add(&Row {
            size_bytes: row.size,
            reduces: row.redop.as_deref() != Some("none"),
            time_us: number(&half.time),
            algbw: number(&half.alg_bw),
            busbw: number(&half.bus_bw),
            wrong: Some(number(&half.nwrong)),
        })?;
        if row.redop.is_none() {
            rows.log.reduces = None;
        }
    }
    rows.log
        .note_left_out(in_place, "were measured in place only, and are kept");
    Ok(rows.finish())
}
