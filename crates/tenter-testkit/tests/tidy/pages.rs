//! Tables of pages: where they end, and what the glossary says is in the code.

use std::collections::HashSet;

use crate::repository::Repository;

/// Lines that Markdown takes for a row of the table above them.
pub(crate) fn joined_to_tables(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    for page in repository.with_extension("md") {
        let (mut in_block, mut in_table) = (false, false);
        for (number, line) in page.text.lines().enumerate() {
            let line = line.trim_start();
            in_block ^= line.starts_with("```");
            let is_row = !in_block && line.starts_with('|');
            // A heading, a block and a comment end a table, too.
            if in_table && !is_row && line.starts_with(|c| !"#`<>-".contains(c)) {
                findings.push(format!(
                    "{}:{}: becomes a row of the table: put a blank line before it",
                    page.path,
                    number + 1
                ));
            }
            in_table = is_row;
        }
    }
    findings
}

/// Names in the right column of the glossary that the code does not have.
pub(crate) fn unknown_names(repository: &Repository) -> Vec<String> {
    let Some(glossary) = repository.file("docs/glossary.md") else {
        return vec!["docs/glossary.md is missing".to_owned()];
    };
    let code = repository
        .files
        .iter()
        .filter(|file| file.path.starts_with("crates/") || file.path == "docs/data-dictionary.md");
    let words: HashSet<&str> = code
        .filter(|file| !file.path.starts_with("crates/tenter-testkit/tests/tidy/"))
        .flat_map(|file| file.text.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect();
    let terms = glossary.text.split("\n## Words that are not used").next();
    let rows = terms.unwrap_or_default().lines().enumerate();
    let names = rows.flat_map(|(number, row)| {
        let column = row.split('|').nth(3).unwrap_or_default();
        let quoted = column.split('`').skip(1).step_by(2);
        quoted.map(move |name| (number, name))
    });
    let is_name = |name: &str| {
        name.chars()
            .all(|c| c.is_alphanumeric() || "_:".contains(c))
    };
    names
        .filter(|(_, name)| is_name(name))
        .filter(|(_, name)| !words.contains(name.rsplit(':').next().unwrap_or(name)))
        .map(|(number, name)| format!("docs/glossary.md:{}: the code has no `{name}`", number + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{joined_to_tables, unknown_names};
    use crate::repository::{File, Repository};

    #[test]
    fn a_line_below_a_table_is_found() {
        let found = |text: &str| {
            joined_to_tables(&Repository::of(vec![File::new("README.md", text)])).len()
        };
        assert_eq!(found("| a |\n|---|\n| b |\nA sentence.\n"), 1);
        assert_eq!(found("| a |\n|---|\n| b |\n\nA sentence.\n"), 0);
        assert_eq!(found("```\n| a |\nplain\n```\nA sentence.\n"), 0);
    }

    #[test]
    fn a_name_that_left_the_code_is_found() {
        let row = "| rail | A rail is a set of leaves. | `Rail::leaves`, `Due`, `jobs[].gap` |\n";
        let repository = Repository::of(vec![
            File::new("docs/glossary.md", row),
            File::new("crates/x/src/lib.rs", "impl Rail { fn leaves() {} }"),
        ]);
        let found = unknown_names(&repository);
        assert_eq!(found, ["docs/glossary.md:1: the code has no `Due`"]);
    }
}
