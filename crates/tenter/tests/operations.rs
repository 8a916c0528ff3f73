//! Graphs of operations in scenarios: what is refused, and what is kept.

mod beside;

use tenter::resolve::{Diagnostics, Loaded};
use tenter_fabric::topology::HostId;

use beside::load_with;

fn read(keys: &str, graph: &str) -> Result<Loaded, Diagnostics> {
    let text = format!(
        "fabric: {{kind: single-switch, hosts: 4}}\n\
         jobs: [{{workload: {{kind: goal, file: g.goal}}{keys}}}]\n"
    );
    let files = |name: &str| match name {
        "g.goal" => Ok(graph.as_bytes().to_vec().into()),
        _ => Err("check the path".to_owned()),
    };
    load_with(&text, &files)
}

const PAIR: &str = "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }";

#[test]
fn a_job_has_the_ranks_of_its_file() {
    let loaded = read("", PAIR).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(loaded.plan.jobs[0].hosts, [0, 1].map(HostId::new));
    let beside = loaded.beside();
    let [(name, bytes)] = beside.as_slice() else {
        panic!("one file is beside it");
    };
    assert_eq!(name, "operations-0.tenter");
    // What is kept runs as the file did.
    let files = |_: &str| Ok(bytes.clone().into());
    let again = load_with(&loaded.effective, &files);
    let again = again.unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(again.plan, loaded.plan);
    assert_eq!(again.effective, loaded.effective);
    let listed = read(", ranks: [3, 1]", PAIR).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(listed.plan.jobs[0].hosts, [3, 1].map(HostId::new));
}

#[test]
fn what_cannot_be_run_is_refused() {
    let large = PAIR.replace("8b", "1125899906842624b");
    for (keys, graph, what) in [
        (
            ", ranks: 3",
            PAIR,
            "the file has 2 ranks, and the job has 3",
        ),
        (
            "",
            "num_ranks 2\nrank 0 {}\nrank 1 {}",
            "no rank has an operation",
        ),
        (
            "",
            "num_ranks 2\nrank 0 { calc x }",
            "line 2: `x` is not a time",
        ),
        (
            "",
            "num_ranks 5\nrank 0 {calc 1} rank 1 {} rank 2 {} rank 3 {} rank 4 {}",
            "5 ranks",
        ),
        (
            "",
            "num_ranks 2\nrank 0 { calc 9000000000000000 }\nrank 1 { }",
            "computes for longer than",
        ),
        ("", large.as_str(), "packets on one queue pair"),
    ] {
        let errors = read(keys, graph).expect_err(what).render();
        assert!(errors.contains(what), "{errors}");
    }
}

/// Ranks 1 and 2 of three have a collective; the file of communicators says so.
#[test]
fn communicators_lie_beside_the_traces_of_chakra() {
    let rank = |which: u32| {
        let kind = if which == 0 {
            "\"type\": 4, \"duration_micros\": 3"
        } else {
            "\"type\": 7, \"comm_type\": 0, \"comm_size\": 64, \"pg_name\": \"1\""
        };
        format!("{{\"nodes\": [{{\"id\": 1, {kind}}}]}}")
    };
    let scenario = "fabric: {kind: single-switch, hosts: 4}\n\
                    jobs: [{workload: {kind: chakra, file: t}}]\n";
    let load = |beside: &'static str, groups: &'static str| {
        let files = move |name: &str| match name {
            "t.0.et" | "t.1.et" | "t.2.et" => {
                let which = name.as_bytes()[2] - b'0';
                Ok(rank(which.into()).into_bytes().into())
            }
            _ if name == beside => Ok(groups.as_bytes().into()),
            _ => Err("check the path".to_owned()),
        };
        load_with(scenario, &files)
    };
    for beside in ["t.groups.json", "t.json"] {
        let loaded = load(beside, "{\"1\": [1, 2]}").unwrap_or_else(|errors| panic!("{errors}"));
        let warnings = loaded.warnings.render();
        assert!(
            warnings.contains(&format!("communicators are those of `{beside}`")),
            "{warnings}"
        );
    }
    // Another file of that name is none of communicators.
    for (beside, groups) in [("t.json", "{\"nodes\": []}{"), ("none", "")] {
        let errors = load(beside, groups)
            .expect_err("nothing names the ranks")
            .render();
        assert!(
            errors.contains("nothing says which ranks communicator `1` has"),
            "{errors}"
        );
    }
}
