//! Words that the glossary replaces.

use crate::repository::Repository;

/// Words that are not used, and what stands for them in docs/glossary.md. A word is whole between
/// characters that no identifier has.
const BANNED: [(&str, &str); 39] = [
    ("Agenda", "EventList"),
    ("agenda", "event list"),
    ("Surroundings", "PortEnv"),
    ("surroundings", "environment"),
    ("go_dark", "link_down"),
    ("light_up", "link_up"),
    ("dark_hosts", "hosts_down"),
    ("barked", "watchdog_dropped"),
    ("minded", "watchdog_active"),
    ("rage", "repeat_storm"),
    ("raging", "storming_hosts"),
    ("heals", "returns_lost_credit"),
    ("healed", "lost_credit_returned"),
    ("heal_credit", "return_lost_credit"),
    ("befall", "apply_fault"),
    ("Trouble", "LinkFaults"),
    ("trouble", "link faults"),
    ("hear_of_credit", "on_credit"),
    ("certify", "all_fit"),
    ("watchful", "in_time_order"),
    ("take_quietly", "receive_fast"),
    ("take_data", "on_data"),
    ("take_nak", "on_nak"),
    ("take_feedback", "on_feedback"),
    ("take_notification", "on_cnp"),
    ("take_signal", "on_signal"),
    ("Laid", "Overlay"),
    ("Accounts", "FlowTable"),
    ("IngressGroup", "PriorityGroup"),
    ("ingress group", "priority group"),
    ("ingress groups", "priority groups"),
    ("SizeLaw", "SizeDistribution"),
    ("law", "distribution"),
    ("laws", "distributions"),
    ("slow-down", "slowdown"),
    ("slow-downs", "slowdowns"),
    ("Slow-down", "Slowdown"),
    ("in thought", "as an estimate"),
    ("Whoever", "the noun, such as \"the sender\""),
];

/// Files that speak of banned words: the glossary, this list, and the history.
const EXEMPT: [&str; 4] = [
    "benches/runs/2026-11-22.md",
    "docs/glossary.md",
    "CHANGELOG.md",
    "crates/tenter-testkit/tests/tidy/words.rs",
];

/// Banned words in code, comments and pages.
pub(crate) fn banned(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    let rust = repository.with_extension("rs");
    for file in rust.chain(repository.with_extension("md")) {
        if EXEMPT.contains(&file.path.as_str()) {
            continue;
        }
        for (number, line) in file.text.lines().enumerate() {
            let found = BANNED.iter().filter(|(word, _)| has_word(line, word));
            findings.extend(found.map(|(word, instead)| {
                format!(
                    "{}:{}: `{word}`: docs/glossary.md says {instead}",
                    file.path,
                    number + 1
                )
            }));
        }
    }
    findings
}

/// Whether a line has a word, and not only as a part of a longer one or of a path.
fn has_word(line: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || "_-/".contains(c);
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(joins) && !after.is_some_and(joins)
    })
}

#[cfg(test)]
mod tests {
    use super::{banned, has_word};
    use crate::repository::{File, Repository};

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_planted_word_is_found_with_its_place() {
        let repository = Repository::of(vec![
            file("docs/README.md", "All is well.\nThe law of sizes.\n"),
            file("crates/x/src/lib.rs", "struct Agenda;\n"),
            file("docs/glossary.md", "law: size distribution\n"),
        ]);
        let found = banned(&repository);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found
                .iter()
                .any(|of| of.starts_with("docs/README.md:2: `law`"))
        );
        assert!(found[0].contains("says") && found[1].contains("says"));
    }

    #[test]
    fn parts_of_words_and_of_paths_are_left_alone() {
        for line in [
            "lawful",
            "0002-agenda-order.md",
            "outlaw",
            "src/law.rs",
            "relaid_x",
        ] {
            assert!(
                !has_word(line, "law") && !has_word(line, "agenda"),
                "{line}"
            );
        }
        assert!(has_word("(law)", "law") && has_word("law's", "law"));
    }
}
