//! Files in a trial folder.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_results::{EachTable, Kept, Row, Table, each_table};

use crate::report::own_file::{OWN_FILE_REMEDY, read_own_text, refuse_link};

/// File with the trial's effective configuration.
pub const CONFIG_FILE: &str = "config.yaml";
pub(crate) const SUMMARY_FILE: &str = "summary.json";
/// File that describes a trial's program, machine and completion.
pub const MANIFEST_FILE: &str = "manifest.json";
/// The manifest's name while it is being written.
const PARTIAL_MANIFEST: &str = "manifest.json.partial";
/// File with the captured frames.
pub(crate) const CAPTURE_FILE: &str = "capture.pcapng";
/// File with the trace for Perfetto.
pub const TRACE_FILE: &str = "trace.json";

/// Returns the path to a table.
pub(crate) fn table_file<R: Row>(folder: &Path) -> PathBuf {
    folder.join(R::TABLE).with_extension("parquet")
}

/// Returns the path to a table's checkpoint, which makes the table readable if its process was
/// killed.
pub(crate) fn footer_file(table: &Path) -> PathBuf {
    table.with_extension("parquet.footer")
}

/// True if a folder has a manifest written by Tenter, whatever the version.
pub(crate) fn has_manifest(folder: &Path) -> bool {
    let text = read_own_text(&folder.join(MANIFEST_FILE)).unwrap_or_default();
    let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
    value.is_ok_and(|value| value["tenter_version"].is_string() && value["complete"].is_boolean())
}

/// True if a folder is empty, or holds nothing but the manifest that a killed run had not finished.
pub(crate) fn is_just_made(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else {
        return false;
    };
    // True for an empty folder as well.
    entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == PARTIAL_MANIFEST))
}

/// Prefix and suffix, around a number, for the files that `config.yaml` refers to.
const BESIDE: [(&str, &str); 3] = [
    ("sends-", ".csv"),
    ("steps-", ".csv"),
    ("operations-", ".goal"),
];

/// Returns the files, such as `sends-0.csv`, that `config.yaml` refers to. The folder is searched
/// for them, so a missing number hides no later one.
fn files_beside(folder: &Path) -> Vec<PathBuf> {
    let is_beside = |name: &str| {
        let mut kinds = BESIDE.iter();
        let number = kinds.find_map(|(kind, end)| name.strip_prefix(kind)?.strip_suffix(end));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        number.is_some_and(|number| !number.is_empty() && digits(number))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_beside))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

/// Returns the paths to all files that a trial may have.
pub(crate) fn own_files(folder: &Path) -> Vec<PathBuf> {
    struct Files<'a>(&'a Path);
    impl EachTable for Files<'_> {
        type Out = Vec<PathBuf>;
        fn of<R: Table>(&mut self) -> Vec<PathBuf> {
            let file = table_file::<R>(self.0);
            match R::KEPT {
                Kept::Always | Kept::IfAny => vec![file],
                Kept::Streamed => vec![footer_file(&file), file],
                Kept::InSummary => Vec::new(),
            }
        }
    }
    let mut files = files_beside(folder);
    files.extend([folder.join(CONFIG_FILE), folder.join(SUMMARY_FILE)]);
    files.extend(each_table(Files(folder)).into_iter().flatten());
    files.extend([
        folder.join(TRACE_FILE),
        folder.join(CAPTURE_FILE),
        folder.join(PARTIAL_MANIFEST),
        // The manifest identifies a trial, so it is the last to be removed: after an interrupted
        // removal, the rest is still known to be a trial's.
        folder.join(MANIFEST_FILE),
    ]);
    files
}

/// Describes the links among a trial folder's files, each with a remedy.
pub fn links_in(folder: &Path) -> Vec<String> {
    let refused = |file: PathBuf| {
        let why = refuse_link(&file).err()?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        Some(format!("{name}: {why}; {OWN_FILE_REMEDY}"))
    };
    own_files(folder).into_iter().filter_map(refused).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn links_are_found_even_if_they_lead_nowhere() {
        let folder = std::env::temp_dir().join(format!("tenter-links-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for the test");
        for name in [CONFIG_FILE, TRACE_FILE, "notes.txt"] {
            let to = folder.join("absent");
            std::os::unix::fs::symlink(to, folder.join(name)).expect("a link");
        }
        fs::write(folder.join(MANIFEST_FILE), "{}").expect("a file");
        let links = links_in(&folder);
        let names: Vec<&str> = links.iter().filter_map(|of| of.split(':').next()).collect();
        assert_eq!(names, [CONFIG_FILE, TRACE_FILE]);
        fs::remove_dir_all(folder).expect("the folder of the test");
    }

    #[test]
    fn a_missing_file_beside_hides_no_other() {
        let folder = std::env::temp_dir().join(format!("tenter-beside-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for the test");
        for name in [
            "sends-0.csv",
            "sends-2.csv",
            "steps-1.csv",
            "sends-.csv",
            "sends-x.csv",
            "notes.csv",
        ] {
            fs::write(folder.join(name), "").expect("a file for the test");
        }
        let names = ["sends-0.csv", "sends-2.csv", "steps-1.csv"].map(|name| folder.join(name));
        assert_eq!(files_beside(&folder), names);
        fs::remove_dir_all(&folder).expect("the folder of the test");
    }
}
