//! No input makes the reader panic or take long: random bytes, mutated scenarios, and texts made to
//! hurt.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tenter::resolve::{Format, load, text_of};

const SEEDS: [&str; 5] = [
    include_str!("../../../scenarios/explicit.yaml"),
    include_str!("../../../scenarios/incast.yaml"),
    include_str!("../../../scenarios/polarisation.yaml"),
    include_str!("../../../scenarios/queue-scheduling.yaml"),
    include_str!("../../../scenarios/pfc.yaml"),
];

/// Loads, and renders what there is to say; the result does not matter.
fn survive(text: &str, format: Format, overrides: &[String]) {
    match load(text, "x", format, overrides, None) {
        Ok(loaded) => {
            let again = load(&loaded.effective, "config.yaml", Format::Yaml, &[], None);
            assert_eq!(again.expect("the effective form loads").plan, loaded.plan);
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(!errors.render().is_empty());
        }
    }
}

/// What a careless or malicious hand types into a scenario.
fn scrap() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~\\n\\t]{0,6}",
        "[0-9]{1,30}",
        Just("\n".to_owned()),
        Just("99999999999999999999Gbps".to_owned()),
        Just("0".to_owned()),
        Just("-1".to_owned()),
        Just("[".to_owned()),
        Just("}".to_owned()),
        Just("&a ".to_owned()),
        Just("*a".to_owned()),
        Just("\u{1f9f5}é\u{0}".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(text) = text_of(&bytes, "x") {
            survive(text, Format::Yaml, &[]);
            survive(text, Format::Toml, &[]);
        }
        survive(&String::from_utf8_lossy(&bytes), Format::Yaml, &[]);
    }

    #[test]
    fn random_text(text in "[a-z0-9:\\-\\[\\]{}\"'|>#&*!%@, \\n\\t]{0,200}") {
        survive(&text, Format::Yaml, &[]);
        survive(&text, Format::Toml, &[]);
    }

    #[test]
    fn mutated_scenarios(
        seed in 0..SEEDS.len(),
        changes in proptest::collection::vec(
            (any::<prop::sample::Index>(), 0_usize..8, scrap()),
            1..4,
        ),
    ) {
        let mut text: Vec<char> = SEEDS[seed].chars().collect();
        for (at, length, scrap) in changes {
            let at = at.index(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, scrap.chars());
        }
        survive(&text.into_iter().collect::<String>(), Format::Yaml, &[]);
    }

    #[test]
    fn random_overrides(path in "[a-z_.\\[\\]0-9]{0,20}", value in scrap()) {
        survive(SEEDS[0], Format::Yaml, &[format!("{path}={value}"), value]);
    }
}

#[test]
fn texts_made_to_hurt_are_refused_in_no_time() {
    const LONG: usize = 1 << 20;
    let texts = [
        "[".repeat(LONG),
        "{".repeat(LONG),
        "- ".repeat(LONG),
        "? ".repeat(LONG),
        "a: ".repeat(LONG),
        "&a ".repeat(LONG),
        "!a ".repeat(LONG),
        "\"".repeat(LONG),
        "'".repeat(LONG),
        "|".repeat(LONG),
        "#".repeat(LONG),
        " ".repeat(LONG),
        "\n".repeat(LONG),
        "\t".repeat(LONG),
        "a".repeat(LONG),
        "a\n".repeat(LONG),
        "---\n".repeat(LONG / 4),
        "%YAML 1.2\n".repeat(LONG / 8),
        format!("jobs: [{}]", "a,".repeat(LONG)),
        format!("fabric: {{kind: explicit, nodes: [{}]}}", "a,".repeat(LONG)),
        (0..LONG / 8).map(|i| format!("k{i}: 1")).collect::<Vec<_>>().join("\n"),
        "k: 1\n".repeat(LONG / 8),
        "fabric: {kind: leaf-spine, leaves: 1048576, hosts_per_leaf: 1048576, spines: 1048576, links_per_pair: 1048576}\n".to_owned(),
        format!(
            "fabric: {{kind: single-switch, hosts: 60000}}\njobs: [{{ranks: [{}], collectives: [{{collective: all-to-all, size: 1B}}]}}]",
            "0-59999,".repeat(LONG / 16)
        ),
        format!("fabric: {{kind: single-switch, hosts: 60000}}\njobs:\n{}", "- {ranks: all, collectives: [{collective: permutation, size: 1B}]}\n".repeat(9_000)),
    ];
    for text in texts {
        for format in [Format::Yaml, Format::Toml] {
            let start = Instant::now();
            survive(&text, format, &[]);
            let head: String = text.chars().take(40).collect();
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "{head:?} took {:?}",
                start.elapsed()
            );
        }
    }
}
