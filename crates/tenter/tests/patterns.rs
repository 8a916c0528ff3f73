//! What a scenario says about patterns of parallel applications, and what is refused.

mod beside;

use tenter::resolve::{Diagnostics, Format, Loaded, load};

use beside::load_with;

fn scenario(job: &str) -> String {
    format!("fabric: {{kind: single-switch, hosts: 24}}\njobs:\n  - {job}\n")
}

fn good(job: &str) -> Loaded {
    let text = scenario(job);
    load(&text, "x.yaml", Format::Yaml, &[], None)
        .unwrap_or_else(|errors| panic!("{text}\n{}", errors.render()))
}

fn refused(job: &str, expected: &str) {
    let text = scenario(job);
    let errors = load(&text, "x.yaml", Format::Yaml, &[], None).expect_err(expected);
    let said = errors.render();
    assert_eq!(errors.problems().len(), 1, "{text}\n{said}");
    assert!(said.contains(expected), "lacks {expected:?}\n{said}");
}

#[test]
fn steps_are_iterations_unless_they_differ() {
    let job = &good("{pattern: {kind: milc, steps: 7}, warm_up: 2}")
        .plan
        .jobs[0];
    assert_eq!((job.sequence.len(), job.iterations), (1, 7));
    assert_eq!(job.turns(), Some(9));
    let job = &good("{pattern: {kind: amr, steps: 3}}").plan.jobs[0];
    assert_eq!((job.sequence.len(), job.iterations), (3, 1));
    assert_ne!(job.sequence[0].traffic, job.sequence[1].traffic);
    let job = &good("{pattern: {kind: amr, steps: 3, regrid: 0}}")
        .plan
        .jobs[0];
    assert_eq!((job.sequence.len(), job.iterations), (1, 3));
}

#[test]
fn what_is_written_out_means_the_same_again() {
    for kind in [
        "mini-dft",
        "milc",
        "nekbone",
        "amg",
        "amr",
        "gtc",
        "database-pod",
    ] {
        let loaded = good(&format!("{{pattern: {{kind: {kind}}}}}"));
        let again = load(&loaded.effective, "x.yaml", Format::Yaml, &[], None);
        let again = again.unwrap_or_else(|errors| panic!("{}", errors.render()));
        assert_eq!(again.plan, loaded.plan, "{}", loaded.effective);
        assert_eq!(again.effective, loaded.effective);
    }
}

#[test]
fn load_in_the_background_has_one_step() {
    let text = scenario(
        "{ranks: 2, collectives: [{collective: send-recv, size: 1MiB}]}\n  - {background: true, pattern: {kind: gtc}}",
    );
    let loaded = load(&text, "x.yaml", Format::Yaml, &[], None);
    let plan = loaded.unwrap_or_else(|errors| panic!("{errors}")).plan;
    assert_eq!(plan.jobs[1].turns(), None);
    refused(
        "{ranks: 2, collectives: [{collective: send-recv, size: 1MiB}]}\n  - {background: true, pattern: {kind: gtc, steps: 3}}",
        "`jobs[1].pattern.steps` has no effect in the background",
    );
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    refused("{pattern: {}}", "lacks `kind`");
    refused("{pattern: {kind: mlic}}", "did you mean `milc`?");
    refused("{pattern: {kind: milc, edge: 1KiB}}", "unknown key `edge`");
    refused(
        "{pattern: {kind: milc, grid: 4x4}}",
        "write 4 sides, for example `4x4x4x4`, or `auto`",
    );
    refused(
        "{pattern: {kind: nekbone, grid: 4x4x4}}",
        "a grid of 4x4x4 is not for 24 ranks",
    );
    refused(
        "{pattern: {kind: mini-dft, rows: 7}}",
        "`rows` is 7, which does not divide 24 ranks",
    );
    refused("{pattern: {kind: amr, partners: 3}}", "give an even number");
    refused(
        "{pattern: {kind: amr, least: 2MiB, most: 1MiB}}",
        "is less than `least`",
    );
    refused(
        "{pattern: {kind: database-pod, rack: 24}}",
        "24 ranks fill a single `rack` of 24",
    );
    refused(
        "{pattern: {kind: gtc}, iterations: 3}",
        "`jobs[0].iterations` has no effect beside `pattern`",
    );
    refused(
        "{pattern: {kind: gtc}, collectives: [{collective: incast, size: 1MiB}]}",
        "has no effect beside `pattern`",
    );
    refused(
        "{pattern: {kind: gtc, steps: 1000000, compute: 100s}}",
        "is beyond the longest simulation",
    );
    refused(
        "{pattern: {kind: gtc, compute: 1us, compute_spread: 2us}}",
        "no time is less than nothing",
    );
}

#[test]
fn matrices_are_written_out_or_come_from_files() {
    let read = |job: &str| -> Result<Loaded, Diagnostics> {
        let files = |name: &str| match name {
            "two.csv" => Ok(b"0,10\n20,0\n".to_vec().into()),
            "bad.csv" => Ok(b"0,10\n20,x\n".to_vec().into()),
            _ => Err("check the path".to_owned()),
        };
        load_with(&scenario(job), &files)
    };
    let of_file = read("{pattern: {kind: matrix, file: two.csv}}");
    let of_file = of_file.unwrap_or_else(|errors| panic!("{errors}"));
    let written = good("{pattern: {kind: matrix, sends: 0 1 10; 1 0 20}}");
    assert_eq!(of_file.plan, written.plan);
    // What is written out needs no file.
    let again = load(&of_file.effective, "x.yaml", Format::Yaml, &[], None);
    let again = again.unwrap_or_else(|errors| panic!("{errors}\n{}", of_file.effective));
    assert_eq!(again.plan, of_file.plan);
    let refused = |job: &str, expected: [&str; 2]| {
        let errors = read(job).expect_err(expected[0]);
        let said = errors.render();
        assert_eq!(errors.problems().len(), 1, "{said}");
        assert!(expected.iter().all(|what| said.contains(what)), "{said}");
    };
    refused(
        "{pattern: {kind: matrix, file: bad.csv}}",
        [
            "the file `bad.csv`, line 2: `x` is no number of bytes",
            "write a whole number",
        ],
    );
    refused(
        "{pattern: {kind: matrix, file: none.csv}}",
        ["cannot read the file `none.csv`", "check the path"],
    );
    refused(
        "{pattern: {kind: matrix, file: two.csv, sends: 0 1 1}}",
        ["has a `file` and `sends`", "leave one of them out"],
    );
}

#[test]
fn matrices_that_make_no_sense_are_refused() {
    refused("{pattern: {kind: matrix}}", "lacks `file` or `sends`");
    refused(
        "{pattern: {kind: matrix, file: two.csv}}",
        "write what it holds into the scenario",
    );
    refused(
        "{pattern: {kind: matrix, sends: 0 1 1; 0 x 1}}",
        "send 2: `x` is no rank",
    );
    refused(
        "{pattern: {kind: matrix, sends: 0 24 1}}",
        "it has 25 rows, and the job 24 ranks",
    );
    refused(
        "{pattern: {kind: matrix, sends: 0 0 1}}",
        "it sends nothing",
    );
}

#[test]
fn a_law_of_flow_sizes_is_read_from_a_file() {
    let job = |points: &str| {
        format!(
            "{{workload: {{points: {points}, between: lines, flows: 9, pairs: [{{from: 0, to: 1}}]}}}}"
        )
    };
    let read = |points: &str| {
        let files = |name: &str| match name {
            "distribution.csv" => Ok(b"size_bytes,cumulative\n100,0.25\n4000,1\n".to_vec().into()),
            "distribution.txt" => Ok(b"100 25\n4000 100\n".to_vec().into()),
            "bad.csv" => Ok(b"100,0.25\n4000\n".to_vec().into()),
            "down.csv" => Ok(b"100,0.25\n90,1\n".to_vec().into()),
            _ => Err("check the path".to_owned()),
        };
        load_with(&scenario(&job(points)), &files)
    };
    let list = "[{size: 100B, cumulative: 0.25}, {size: 4000B, cumulative: 1}]";
    let written = good(&job(list));
    for name in ["distribution.csv", "distribution.txt"] {
        let of_file = read(name).unwrap_or_else(|errors| panic!("{name}: {}", errors.render()));
        assert_eq!(of_file.plan, written.plan, "{name}");
        assert_eq!(good_text(&of_file.effective).plan, written.plan, "{name}");
    }
    for (name, what) in [
        (
            "bad.csv",
            "the file `bad.csv`, line 2: has 1 field, not a size and a cumulative",
        ),
        (
            "down.csv",
            "point 2 of the distribution is below the one before it",
        ),
        ("none.csv", "cannot read the file `none.csv`"),
    ] {
        let said = read(name).expect_err(name).render();
        assert!(said.contains(what), "{said}");
    }
}

fn good_text(text: &str) -> Loaded {
    load(text, "x.yaml", Format::Yaml, &[], None).unwrap_or_else(|errors| panic!("{errors}"))
}
