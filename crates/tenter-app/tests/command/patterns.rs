//! Patterns of applications through the command, and the files that they come from.

use tenter::report::read_summary;

use crate::workplace::Workplace;

const TORUS: &str = include_str!("../../../../scenarios/matrices/torus.yaml");
const MATRICES: [(&str, &str); 3] = [
    (
        "torus.mtx",
        include_str!("../../../../scenarios/matrices/torus.mtx"),
    ),
    (
        "exchange.csv",
        include_str!("../../../../scenarios/matrices/exchange.csv"),
    ),
    (
        "sends.txt",
        include_str!("../../../../scenarios/matrices/sends.txt"),
    ),
];

#[test]
fn files_are_read_beside_the_scenario() {
    let workplace = Workplace::new("patterns-files");
    std::fs::create_dir(workplace.path("deep")).expect("the workplace can be written");
    workplace.write("deep/torus.yaml", TORUS);
    for (name, text) in MATRICES {
        workplace.write(&format!("deep/{name}"), text);
        let command =
            format!("run deep/torus.yaml --set jobs[0].pattern.file={name} -o out-{name}");
        let answer = workplace.words(&command).expect(0);
        assert_eq!(answer.stderr, "");
        let first = read_summary(&workplace.path(&format!("out-{name}"))).expect("a trial");
        // What was written out needs no file, wherever it lies.
        let again = format!("run out-{name}/config.yaml -o again-{name}");
        workplace.words(&again).expect(0);
        let again = read_summary(&workplace.path(&format!("again-{name}"))).expect("a trial");
        assert_eq!(again.engine.digest, first.engine.digest);
    }
    workplace.write("deep/bad.csv", "0,1\n2,x\n");
    let bad = "validate deep/torus.yaml --set jobs[0].pattern.file=bad.csv";
    let said = workplace.words(bad).expect(2).stderr;
    assert!(
        said.contains("the file `bad.csv`, line 2: `x` is no number of bytes"),
        "{said}"
    );
    let none = "validate deep/torus.yaml --set jobs[0].pattern.file=none.csv";
    let said = workplace.words(none).expect(2).stderr;
    assert!(said.contains("paths count from the folder"), "{said}");
}

#[test]
fn applications_have_the_same_digest_on_two_threads() {
    let workplace = Workplace::new("patterns-threads");
    let text = include_str!("../../../../scenarios/applications.yaml");
    workplace.write("applications.yaml", text);
    let digest = |threads: u32| {
        let command = format!("run applications.yaml --threads {threads} -o out-{threads}");
        workplace.words(&command).expect(0);
        let folder = workplace.path(&format!("out-{threads}"));
        read_summary(&folder).expect("a trial").engine.digest
    };
    assert_eq!(digest(1), digest(2));
}
