//! Completions and manual pages.

use crate::workplace::Workplace;

#[test]
fn completions_know_every_command() {
    let workplace = Workplace::new("completions");
    for shell in ["bash", "zsh", "fish"] {
        let script = workplace.words(&format!("completions {shell}")).expect(0);
        for command in ["sweep", "study", "validate"] {
            assert!(script.stdout.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn each_command_has_a_manual_page() {
    let workplace = Workplace::new("manual");
    workplace.words("man pages").expect(0);
    for page in ["tenter.1", "tenter-run.1", "tenter-sweep.1"] {
        let text = std::fs::read_to_string(workplace.path("pages").join(page));
        assert!(text.is_ok_and(|text| text.starts_with(".ie")), "{page}");
    }
    let refused = workplace.words("man pages/tenter.1").expect(2);
    assert!(
        refused.stderr.contains("name another folder"),
        "{}",
        refused.stderr
    );
}
