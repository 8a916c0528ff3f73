//! Every key and every word that a scenario may have is set in a scenario, a sweep, a study or a
//! preset of the repository, so that a reader finds an example of it; so are the keys of sweeps.
//!
//! Words that are the default of their key have a home wherever the key is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter::resolve::schema;
use tenter_language::config::Written;
use tenter_language::notation::diagnostics::Problems;
use tenter_language::notation::yaml;

/// Keys that only files made by tools have: the programs of MSCCL++ in their folder.
const WITHOUT: [&str; 2] = ["files", "programs"];
/// Words without a file that would be of use: of devices that need a fabric of their own for a
/// tier, of switches of `SONiC`, and of what no usual setting leads to.
const WORDS_WITHOUT: [[&str; 2]; 5] = [
    ["profile", "jericho3-ramon3"],
    ["profile", "quantum2"],
    ["headroom", "sonic"],
    ["class", "nic"],
    ["algorithm", "listed"],
];

/// A key by its name and sentence, since equal names stand in several tables; a word by its key.
type Name = (String, String);

/// The JSON Schema of scenarios.
struct Schema(Value);

/// Keys and words of a schema.
#[derive(Default)]
struct Names {
    keys: BTreeSet<Name>,
    words: BTreeSet<Name>,
}

/// Returns the sentence of a key.
fn sentence(node: &Value) -> &str {
    node["description"].as_str().unwrap_or_default()
}

/// Returns the name by which the words of a key are known: `kind` chooses for the key above it.
fn owner<'a>(key: &'a str, above: &'a str) -> &'a str {
    if key == "kind" { above } else { key }
}

impl Schema {
    /// Follows a reference. What stands beside it, such as the sentence, is looked up before.
    fn target<'a>(&'a self, node: &'a Value) -> &'a Value {
        let reference = node["$ref"].as_str();
        let path = reference.and_then(|path| path.strip_prefix('#'));
        path.and_then(|path| self.0.pointer(path)).unwrap_or(node)
    }

    fn branches<'a>(&'a self, node: &'a Value) -> impl Iterator<Item = &'a Value> {
        let lists = ["oneOf", "anyOf", "allOf"].map(|name| node[name].as_array());
        lists
            .into_iter()
            .flatten()
            .flatten()
            .map(|one| self.target(one))
    }

    /// Collects all keys and words below a node.
    fn collect(&self, node: &Value, key: &str, all: &mut Names, default: &str) {
        let node = self.target(node);
        for (name, own) in node["properties"].as_object().into_iter().flatten() {
            all.keys.insert((name.clone(), sentence(own).to_owned()));
            let (_, default) = sentence(own).rsplit_once("Default: ").unwrap_or_default();
            self.collect(own, owner(name, key), all, default.trim_end_matches('.'));
        }
        for word in node["enum"].as_array().into_iter().flatten() {
            if let Some(word) = word
                .as_str()
                .filter(|&word| word != default && word != "none")
            {
                all.words.insert((key.to_owned(), word.to_owned()));
            }
        }
        self.branches(node)
            .for_each(|branch| self.collect(branch, key, all, default));
        for inner in ["items", "additionalProperties"] {
            if node[inner].is_object() {
                self.collect(&node[inner], key, all, "");
            }
        }
    }

    /// Returns true if a branch may be meant by a value.
    fn fits(&self, node: &Value, value: &Written) -> bool {
        let Written::Map(entries) = value else {
            return matches!(value, Written::List(_)) == (node["type"] == "array")
                || !node["anyOf"].is_null()
                || !node["oneOf"].is_null();
        };
        let Some(properties) = node["properties"].as_object() else {
            return !node["anyOf"].is_null() || !node["oneOf"].is_null();
        };
        entries.iter().all(|(key, value)| {
            let Some(own) = properties.get(key) else {
                return node["additionalProperties"] != Value::Bool(false);
            };
            let words = self.target(own)["enum"].as_array();
            let word = match value {
                Written::Word(word) | Written::Text(word) => Some(word.as_str()),
                Written::List(_) | Written::Map(_) => None,
            };
            let chooses = ["kind", "collective", "algorithm"].contains(&key.as_str());
            !chooses || words.is_none_or(|words| words.iter().any(|one| one.as_str() == word))
        })
    }

    /// Notes the keys and words of a value.
    fn walk(&self, node: &Value, key: &str, value: &Written, set: &mut Names) {
        let node = self.target(node);
        match value {
            Written::Map(entries) => {
                for (name, inner) in entries {
                    if let Some(own) = node["properties"].get(name) {
                        set.keys.insert((name.clone(), sentence(own).to_owned()));
                        self.walk(own, owner(name, key), inner, set);
                    } else if node["additionalProperties"].is_object() {
                        self.walk(&node["additionalProperties"], key, inner, set);
                    }
                }
            }
            Written::List(items) if node["items"].is_object() => {
                for item in items {
                    self.walk(&node["items"], key, item, set);
                }
            }
            Written::Word(word) | Written::Text(word) => {
                let words = node["enum"].as_array();
                let is_one = words.is_some_and(|words| words.iter().any(|one| one == word));
                if is_one || node["const"] == *word {
                    set.words.insert((key.to_owned(), word.clone()));
                }
            }
            Written::List(_) => {}
        }
        for branch in self.branches(node) {
            if self.fits(branch, value) {
                self.walk(branch, key, value, set);
            }
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The YAML files below a folder, without scenarios that are refused.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the folder is part of the repository");
    for entry in entries {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() && !path.ends_with("broken") {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> Option<Written> {
    let text = fs::read_to_string(path).expect("the file can be read");
    let node = yaml::parse(&text, 0, 0, &Problems::default());
    node.map(|node| node.to_written())
}

fn entry<'a>(value: &'a Written, key: &str) -> Option<&'a Written> {
    let Written::Map(entries) = value else {
        return None;
    };
    let found = entries.iter().find(|(name, _)| name == key);
    found.map(|(_, value)| value)
}

/// Puts a value at a path such as `jobs[0].workload.sizes`. A word on the way is a `kind`.
fn put(document: &mut Written, path: &str, value: Written) {
    let (step, rest) = match path.find(['.', '[']) {
        Some(end) => path.split_at(end),
        None => (path, ""),
    };
    if let Some(index) = path.strip_prefix('[') {
        let (index, rest) = index.split_once(']').unwrap_or((index, ""));
        let index = index.parse().unwrap_or(0);
        if !matches!(document, Written::List(_)) {
            *document = Written::List(Vec::new());
        }
        if let Written::List(items) = document {
            while items.len() <= index {
                items.push(Written::Map(Vec::new()));
            }
            return put(&mut items[index], rest.trim_start_matches('.'), value);
        }
    }
    if step.is_empty() {
        *document = value;
        return;
    }
    if let Written::Word(word) | Written::Text(word) = document {
        *document = Written::Map(vec![("kind".into(), Written::Word(word.clone()))]);
    }
    if let Written::Map(entries) = document {
        let place = entries.iter().position(|(name, _)| name == step);
        let place = place.unwrap_or_else(|| {
            entries.push((step.to_owned(), Written::Map(Vec::new())));
            entries.len() - 1
        });
        put(&mut entries[place].1, rest.trim_start_matches('.'), value);
    }
}

/// The scenarios that a sweep or a study makes: its base with each setting of each bundle.
fn scenarios_of(sweep: &Written, path: &Path) -> Vec<Written> {
    let named = match entry(sweep, "scenario") {
        Some(Written::Word(name) | Written::Text(name)) => path.with_file_name(name),
        _ => PathBuf::new(),
    };
    let base = named.is_file().then(|| read(&named)).flatten();
    let mut base = base.unwrap_or(Written::Map(Vec::new()));
    let put_all = |document: &mut Written, bundle: &Written| {
        if let Written::Map(settings) = bundle {
            for (path, value) in settings {
                put(document, path, value.clone());
            }
        }
    };
    if let Some(set) = entry(sweep, "set") {
        put_all(&mut base, set);
    }
    let mut made = vec![base.clone()];
    if let Some(Written::Map(variants)) = entry(sweep, "variants") {
        for (_, bundle) in variants {
            let mut one = base.clone();
            put_all(&mut one, entry(bundle, "set").unwrap_or(bundle));
            made.push(one);
        }
    }
    if let Some(Written::Map(axes)) = entry(sweep, "axes") {
        for (path, values) in axes {
            let values: Vec<Written> = match values {
                Written::List(values) => values.clone(),
                Written::Map(named) => named.iter().map(|(_, value)| value.clone()).collect(),
                _ => Vec::new(),
            };
            for value in values {
                let mut one = base.clone();
                put_all(&mut one, entry(&value, "set").unwrap_or(&value));
                put(&mut one, path, value);
                made.push(one);
            }
        }
    }
    made
}

/// The files of the repository with what they hold.
fn documents() -> BTreeMap<PathBuf, Written> {
    let mut paths = Vec::new();
    for folder in ["scenarios", "studies", "presets", "profiles"] {
        files(&root().join(folder), &mut paths);
    }
    let read = |path: PathBuf| Some((path.clone(), read(&path)?));
    paths.into_iter().filter_map(read).collect()
}

#[test]
fn every_key_and_word_of_a_scenario_is_set_somewhere() {
    let schema = Schema(serde_json::from_str(&schema()).expect("the schema is JSON"));
    let (mut all, mut set) = (Names::default(), Names::default());
    schema.collect(&schema.0, "", &mut all, "");
    for (path, document) in &documents() {
        let made = match entry(document, "scenario") {
            Some(_) => scenarios_of(document, path),
            None => vec![document.clone()],
        };
        for one in &made {
            schema.walk(&schema.0, "", one, &mut set);
        }
    }
    assert!(
        all.keys.len() > 500 && all.words.len() > 100,
        "the schema is read"
    );
    let keys = all.keys.difference(&set.keys);
    let keys = keys.filter(|(name, _)| !WITHOUT.contains(&name.as_str()));
    let keys: Vec<String> = keys.map(|(name, what)| format!("{name}: {what}")).collect();
    let words = all.words.difference(&set.words);
    let is_excepted = |of: &&Name| WORDS_WITHOUT.contains(&[of.0.as_str(), of.1.as_str()]);
    let words: Vec<&Name> = words.filter(|word| !is_excepted(word)).collect();
    assert!(
        keys.is_empty() && words.is_empty(),
        "set them in a scenario or sweep of a family, or remove them: {keys:#?} {words:#?}"
    );
}

const HEAD: &str = "# Scenarios

A line for each file, from its `description`. Run a scenario with `tenter run scenarios/NAME.yaml`, and a sweep with
`tenter sweep scenarios/sweeps/NAME.yaml`. Every key and every word that a scenario may have is set in one of them, or in a
[study](../docs/studies.md) or a preset; sweeps show families of keys side by side. Scenarios in `broken` are refused, with
the text beside them. A test writes this page and holds it.
";

#[test]
fn the_page_of_scenarios_has_a_line_for_each() {
    let mut page = HEAD.to_owned();
    let folders = [
        ("", "Scenarios"),
        ("sweeps", "Sweeps"),
        ("training", "Trainings"),
    ];
    for (folder, title) in folders {
        let _ = writeln!(page, "\n## {title}\n\n| file | shows |\n|---|---|");
        let folder = root().join("scenarios").join(folder);
        let entries = fs::read_dir(&folder).expect("the folder is part of the repository");
        let paths = entries.map(|entry| entry.expect("an entry can be read").path());
        let mut paths: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
            .collect();
        paths.sort();
        for path in paths {
            let document = read(&path).expect("it is YAML");
            let about = match entry(&document, "description") {
                Some(Written::Word(text) | Written::Text(text)) => text.clone(),
                _ => panic!("{} has no `description`", path.display()),
            };
            let whole = root().join("scenarios");
            let name = path.strip_prefix(&whole).expect("it is below");
            let name = name.display();
            let _ = writeln!(page, "| [{name}]({name}) | {about} |");
        }
    }
    let path = root().join("scenarios/README.md");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&path, &page).expect("the repository can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "scenarios/README.md differs; run with UPDATE_EXPECTED=1 and review"
    );
}

/// Collects the keys of all mappings in a value.
fn keys_of(value: &Written, set: &mut BTreeSet<String>) {
    match value {
        Written::Map(entries) => {
            for (key, value) in entries {
                set.insert(key.clone());
                keys_of(value, set);
            }
        }
        Written::List(items) => {
            for item in items {
                keys_of(item, set);
            }
        }
        Written::Word(_) | Written::Text(_) => {}
    }
}

#[test]
fn every_key_of_a_sweep_is_set_somewhere() {
    let page = fs::read_to_string(root().join("docs/sweeps.md")).expect("the page can be read");
    // Rows of tables of keys begin with names in backticks and have a default in a further cell.
    let cells = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let names = cells
        .flat_map(|cell| cell.split(", "))
        .map(|name| name.trim_matches('`'));
    let is_key = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let names: BTreeSet<&str> = names.filter(is_key).filter(|name| name.len() > 1).collect();
    assert!(names.len() > 15, "{names:?}");
    let mut set = BTreeSet::new();
    let documents = documents();
    let sweeps = documents
        .values()
        .filter(|one| entry(one, "scenario").is_some());
    sweeps.for_each(|sweep| keys_of(sweep, &mut set));
    let lacks: Vec<&&str> = names.iter().filter(|name| !set.contains(**name)).collect();
    assert!(lacks.is_empty(), "no sweep or study sets {lacks:?}");
}
