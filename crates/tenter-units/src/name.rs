//! Names that people give to trials and to their folders.

use crate::turns_text;

/// The ledger of a folder of trials; `SQLite` keeps files beside it whose names begin so.
pub const LEDGER_FILE: &str = "ledger.sqlite";
/// The folder of locks beside it, one for each process that uses it.
pub const WORKERS_FOLDER: &str = "workers";
/// The folder of the results of sweeps beside it.
pub const SWEEPS_FOLDER: &str = "sweeps";

/// What to do about a name that is not [visible](is_visible), or is [reserved](is_reserved).
pub const NAME_REMEDY: &str = "choose another name";

/// Whether a name is shown as it is written: it has neither control characters nor such as change
/// the direction of the text round it.
pub fn is_visible(name: &str) -> bool {
    !name
        .chars()
        .any(|character| character.is_control() || turns_text(character))
}

/// `name` as a single portable path component: the name of its folder.
pub fn folder_name(name: &str) -> String {
    let portable = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name
        .chars()
        .map(|c| if portable(c) { c } else { '-' })
        .collect();
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() {
        "trial".to_owned()
    } else {
        name.to_owned()
    }
}

/// Whether the folder of a trial of this name would be in the place of a file or a folder that
/// belongs to the ledger. Some systems tell no capital letters from small ones.
pub fn is_reserved(name: &str) -> bool {
    let name = folder_name(name).to_lowercase();
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
