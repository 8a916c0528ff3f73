//! Where cases come from: keys and words of the format, scenarios of the repository, and a stream
//! of random numbers for each case.

use std::fs;
use std::path::Path;

use tenter::resolve::key_reference;

/// One case: a text and what is changed in it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) overrides: Vec<String>,
}

/// What cases are made of.
pub(crate) struct Source {
    scenarios: Vec<String>,
    keys: Vec<Key>,
    words: Vec<String>,
}

/// A key of the format.
struct Key {
    /// Where it stands, `[]` for any item of a list.
    path: String,
    /// What may be written there, in words.
    form: String,
    default: String,
}

/// A stream of random numbers: `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators").
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Whether something happens that does once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Values at the ends of what is possible, and beyond.
const ODD: [&str; 34] = [
    "0",
    "-1",
    "1",
    "2",
    "7",
    "255",
    "65535",
    "65536",
    "1048577",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "1e999",
    "-0.0",
    "nan",
    "0.1",
    "none",
    "all",
    "true",
    "~",
    "\"\"",
    "[]",
    "{}",
    "[1, 2]",
    "{a: 1}",
    "[[[[]]]]",
    "0B",
    "1B",
    "1TiB",
    "16EiB",
    "0ns",
    "100000s",
    "1bps",
    "100Tbps",
];

/// Small fabrics to begin with, one of each kind, and the least there is of the rest.
const BEGINNINGS: [&str; 5] = [
    "fabric: {kind: single-switch, hosts: 4}",
    "fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2}",
    "fabric: {kind: fat-tree, hosts_per_leaf: 2, leaves_per_pod: 2, aggs_per_pod: 2}",
    "fabric: {kind: rail, servers: 4, nics_per_server: 2, spines: 2}",
    "fabric: {kind: explicit, nodes: [{name: a}, {name: b}, {name: s, kind: switch}], links: [{a: a, b: s}, {a: b, b: s}]}",
];

impl Source {
    /// Reads the scenarios and the tables of keys.
    pub(crate) fn read() -> Source {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let mut files = Vec::new();
        for folder in [folder.join("broken"), folder] {
            let entries = fs::read_dir(folder).expect("scenarios are part of the repository");
            files.extend(entries.map(|entry| entry.expect("an entry can be read").path()));
        }
        files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml"));
        files.sort();
        let texts = files
            .iter()
            .map(|file| fs::read_to_string(file).expect("it is text"));
        let mut scenarios: Vec<String> = texts.collect();
        let job = "jobs: [{collectives: [{collective: all-to-all, size: 64KiB}]}]\n";
        scenarios.extend(BEGINNINGS.map(|fabric| format!("{fabric}\n{job}")));
        let keys = keys();
        assert!(keys.len() > 100, "the tables of keys have another form now");
        let quoted = keys.iter().flat_map(|key| quoted(&key.form));
        let mut words: Vec<String> = quoted.collect();
        words.sort();
        words.dedup();
        Source {
            scenarios,
            keys,
            words,
        }
    }

    /// The case of a number, always the same.
    pub(crate) fn case(&self, number: u64) -> Case {
        let mut random = Random(number);
        let mut text = random.of(&self.scenarios).clone();
        if random.once_in(3) {
            for _ in 0..=random.below(3) {
                text = self.change_a_line(&text, &mut random);
            }
        }
        let changes = if random.once_in(4) {
            0
        } else {
            random.below(4) + 1
        };
        let overrides = (0..changes).map(|_| self.change(&mut random)).collect();
        Case { text, overrides }
    }

    /// A key of the format with a value, as an override.
    fn change(&self, random: &mut Random) -> String {
        let key = random.of(&self.keys);
        let mut path = String::new();
        for part in key.path.split("[]") {
            if !path.is_empty() {
                path += if random.once_in(8) { "[1]" } else { "[0]" };
            }
            path.push_str(part);
        }
        if random.once_in(40) {
            path.push_str(".x");
        }
        format!("{path}={}", self.value(key, random))
    }

    fn value(&self, key: &Key, random: &mut Random) -> String {
        match random.below(8) {
            0 => (*random.of(&ODD)).to_owned(),
            1 => random.of(&self.words).clone(),
            2 if !key.default.is_empty() => key.default.clone(),
            3 => format!("[{}, {}]", plain(key, random), plain(key, random)),
            _ => plain(key, random),
        }
    }

    /// A text with one line left out, doubled, moved, indented, or with another value.
    fn change_a_line(&self, text: &str, random: &mut Random) -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if lines.is_empty() {
            return text.to_owned();
        }
        let at = random.below(lines.len());
        match random.below(6) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            3 => lines[at].insert_str(0, "  "),
            4 => {
                let other = random.of(&self.scenarios).lines();
                let other: Vec<&str> = other.collect();
                lines.insert(at, (*random.of(&other)).to_owned());
            }
            _ => {
                if let Some(colon) = lines[at].find(": ") {
                    let key = random.of(&self.keys);
                    let value = self.value(key, random);
                    lines[at].replace_range(colon + 2.., &value);
                }
            }
        }
        lines.join("\n") + "\n"
    }
}

/// A value of the form that is asked for.
fn plain(key: &Key, random: &mut Random) -> String {
    let words = quoted(&key.form);
    if !words.is_empty() && !random.once_in(3) {
        return random.of(&words).clone();
    }
    let digits = 1 + random.below(3) as u32;
    let number = random.below(10_usize.pow(digits));
    let unit = match key.form.split([' ', ',']).next().unwrap_or("") {
        "time" => *random.of(&["ns", "us", "ms", "s"]),
        "size" => *random.of(&["B", "KiB", "MiB", "GB"]),
        "rate" => *random.of(&["Mbps", "Gbps"]),
        _ => "",
    };
    format!("{number}{unit}")
}

/// The keys of all tables of the reference, by where they stand.
fn keys() -> Vec<Key> {
    let reference = key_reference();
    let mut section = String::new();
    let mut keys = Vec::new();
    for line in reference.lines() {
        if let Some(title) = line.strip_prefix("### ") {
            section = quoted(title).first().cloned().unwrap_or_default();
        }
        let Some(row) = line.strip_prefix("| `") else {
            continue;
        };
        let cells: Vec<&str> = row.split(" | ").collect();
        let [name, form, default, ..] = cells[..] else {
            continue;
        };
        let name = name.trim_end_matches('`');
        let path = if section.is_empty() {
            name.to_owned()
        } else {
            format!("{section}.{name}")
        };
        keys.push(Key {
            path,
            form: form.to_owned(),
            default: quoted(default).first().cloned().unwrap_or_default(),
        });
    }
    keys
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<String> {
    let parts = text.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}
