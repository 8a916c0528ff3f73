//! Names that users give to trials and their folders.

use crate::units::turns_text;

/// File name of the ledger in a folder of trials. `SQLite` keeps files beside it whose names begin
/// with this one.
pub const LEDGER_FILE: &str = "ledger.sqlite";
/// Folder beside the ledger with a lock for each process that uses it.
pub const WORKERS_FOLDER: &str = "workers";
/// Folder beside the ledger with the results that sweeps leave.
pub const SWEEPS_FOLDER: &str = "sweeps";

/// Remedy for a name that is not [visible](is_visible), or is [reserved](is_reserved).
pub const NAME_REMEDY: &str = "choose another name";

/// Returns true if `name` is displayed as it is written: no control characters, and none that
/// change the direction of the surrounding text.
pub fn is_visible(name: &str) -> bool {
    !name
        .chars()
        .any(|character| character.is_control() || turns_text(character))
}

/// Converts `name` into a single portable path component, the name of its folder.
pub fn folder_name(name: &str) -> String {
    let portable = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name
        .chars()
        .map(|c| if portable(c) { c } else { '-' })
        .collect();
    // A leading dot hides a folder or leads out of it; a leading dash looks like an option.
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() {
        "trial".to_owned()
    } else {
        name.to_owned()
    }
}

/// Returns true if a trial with this name would have its folder in the place of a file or a folder
/// that belongs to the ledger. Letter case is ignored, as some file systems do.
pub fn is_reserved(name: &str) -> bool {
    let name = folder_name(name).to_lowercase();
    // By its beginning: `SQLite` appends `-journal` or `-wal` to the ledger's name.
    name.starts_with(LEDGER_FILE) || name == WORKERS_FOLDER || name == SWEEPS_FOLDER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_one_path_component() {
        let cases = [
            ("quickstart-1", "quickstart-1"),
            ("methodology/jct 2", "methodology-jct-2"),
            ("../../etc", "etc"),
            ("größe", "größe"),
            ("..", "trial"),
            ("", "trial"),
        ];
        for (name, expected) in cases {
            assert_eq!(folder_name(name), expected, "{name:?}");
        }
    }

    #[test]
    fn names_of_the_ledger_are_reserved_however_they_are_written() {
        for name in [
            "ledger.sqlite",
            "ledger.sqlite-journal",
            "../Ledger.SQLite-wal",
            ".workers",
            "sweeps",
            "/sweeps",
        ] {
            assert!(is_reserved(name), "{name:?}");
        }
        for name in [
            "",
            "ledger",
            "my ledger.sqlite",
            "workers-2",
            "sweeps of May",
        ] {
            assert!(!is_reserved(name), "{name:?}");
        }
    }

    #[test]
    fn names_are_shown_as_they_are_written() {
        assert!(is_visible("größe 4:1 → 8:1") && is_visible("אלף"));
        for mark in ["\u{202e}", "\u{2066}", "\u{200f}", "\u{61c}", "\u{7}"] {
            assert!(!is_visible(&format!("safe{mark}txt")), "{mark:?}");
        }
    }
}
