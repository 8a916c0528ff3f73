//! Each crate of the lock file has the advisories about it beside the project, or a statement that
//! none is known.

use std::collections::BTreeSet;

use crate::repository::Repository;

const FOLDER: &str = "tools/advisories/crates/";
const NONE_KNOWN: &str = "tools/advisories/none-known.txt";

/// Locked crates with neither or both, and statements about crates that are not locked.
pub(crate) fn unstated(repository: &Repository) -> Vec<String> {
    let (Some(lock), Some(none)) = (repository.file("Cargo.lock"), repository.file(NONE_KNOWN))
    else {
        return vec![format!("Cargo.lock or {NONE_KNOWN} is missing")];
    };
    let locked = locked(&lock.text);
    let lines = none.text.lines().filter(|line| !line.starts_with('#'));
    let none: BTreeSet<&str> = lines.collect();
    let with_advisories: BTreeSet<&str> = repository
        .under(FOLDER)
        .filter_map(|file| file.path.strip_prefix(FOLDER)?.split('/').next())
        .collect();
    let stated: BTreeSet<&str> = none.union(&with_advisories).copied().collect();
    let remedy = "run tools/advisories/refresh.py";
    let lacking = locked.difference(&stated).map(|name| {
        format!("Cargo.lock: nothing states which advisories about {name} are known: {remedy}")
    });
    let stale = stated
        .difference(&locked)
        .map(|name| format!("tools/advisories: {name} is not in Cargo.lock: {remedy}"));
    let both = none
        .intersection(&with_advisories)
        .map(|name| format!("{NONE_KNOWN}: there are advisories about {name}: {remedy}"));
    lacking.chain(stale).chain(both).collect()
}

/// Names of the packages of a lock file that come from a registry.
fn locked(lock: &str) -> BTreeSet<&str> {
    let packages = lock.split("[[package]]").skip(1);
    let external = packages.filter(|package| package.contains("\nsource = "));
    external
        .filter_map(|package| package.split('"').nth(1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{NONE_KNOWN, unstated};
    use crate::repository::{File, Repository};

    #[test]
    fn a_locked_crate_without_a_statement_is_found() {
        let lock = "version = 4\n\n[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n\n\
                    [[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"1.0.0\"\nsource = \"registry\"\n";
        let findings = |none: &str| {
            unstated(&Repository::of(vec![
                File::new("Cargo.lock", lock),
                File::new(NONE_KNOWN, none),
                File::new("tools/advisories/crates/b/RUSTSEC-2020-0001.md", ""),
            ]))
        };
        assert_eq!(findings("# day\na\n"), Vec::<String>::new());
        assert!(findings("")[0].contains("about a are known"));
        assert!(findings("a\nb\n")[0].contains("there are advisories about b"));
        assert!(findings("a\nc\n")[0].contains("c is not in Cargo.lock"));
    }
}
