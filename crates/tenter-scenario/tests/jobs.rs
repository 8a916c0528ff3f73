//! What the `jobs` section means beside its collectives: where ranks run, when they compute, what
//! load they are.

use tenter_scenario::{Format, Loaded, load};

/// Two leaves of four hosts, and jobs in flow style.
fn scenario(jobs: &str) -> String {
    format!(
        "fabric: {{kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2}}\njobs:\n{}\n",
        jobs.replace(
            "RING",
            "collectives: [{collective: all-reduce, size: 1MiB}]"
        )
    )
}

fn good(jobs: &str) -> Loaded {
    let text = scenario(jobs);
    load(&text, "x.yaml", Format::Yaml, &[], None)
        .unwrap_or_else(|errors| panic!("{text}\n{}", errors.render()))
}

fn refused(jobs: &str, expected: &str) {
    let text = scenario(jobs);
    let errors = load(&text, "x.yaml", Format::Yaml, &[], None).expect_err(expected);
    let said = errors.render();
    assert_eq!(errors.problems().len(), 1, "{text}\n{said}");
    assert!(said.contains(expected), "lacks {expected:?}\n{said}");
}

fn hosts(jobs: &str) -> Vec<Vec<u32>> {
    let loaded = good(jobs);
    // What is written out means the same again, whatever was drawn.
    let again = load(&loaded.effective, "x.yaml", Format::Yaml, &[], Some(99));
    let again = again.unwrap_or_else(|errors| panic!("{}", errors.render()));
    let of = |loaded: &Loaded| -> Vec<Vec<u32>> {
        let jobs = loaded.plan.jobs.iter();
        jobs.map(|job| job.hosts.clone()).collect()
    };
    assert_eq!(of(&loaded), of(&again), "{}", loaded.effective);
    of(&loaded)
}

#[test]
fn placement_chooses_hosts() {
    assert_eq!(hosts("  - {ranks: 3, RING}"), [[0, 1, 2]]);
    assert_eq!(
        hosts("  - {ranks: 3, placement: round-robin, RING}"),
        [[0, 4, 1]]
    );
    let random = hosts("  - {ranks: 8, placement: random, RING}");
    let mut sorted = random[0].clone();
    sorted.sort_unstable();
    assert_ne!(random[0], sorted);
    assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
    let groups = hosts("  - {ranks: 6, placement: random-groups, group_size: 2, RING}");
    for pair in groups[0].chunks(2) {
        assert_eq!((pair[0] % 2, pair[1]), (0, pair[0] + 1));
    }
}

#[test]
fn another_job_moves_no_draw() {
    let alone = hosts("  - {name: a, ranks: 4, placement: random, RING}");
    let first = hosts(
        "  - {name: b, ranks: 4, placement: random, RING}\n  - {name: a, ranks: 4, placement: random, RING}",
    );
    assert_eq!(alone[0], first[1]);
    assert_ne!(first[0], first[1]);
}

#[test]
fn jobs_may_share_hosts_or_take_free_ones() {
    assert_eq!(
        hosts("  - {ranks: 3, RING}\n  - {ranks: 3, RING}"),
        [[0, 1, 2], [0, 1, 2]]
    );
    assert_eq!(
        hosts(
            "  - {ranks: [1, 4], RING}\n  - {ranks: 3, free_hosts: true, RING}\n  - {free_hosts: true, RING}"
        ),
        [vec![1, 4], vec![0, 2, 3], vec![5, 6, 7]]
    );
    refused(
        "  - {ranks: 6, RING}\n  - {ranks: 3, free_hosts: true, RING}",
        "3 ranks need a host each, and the jobs before leave 2 of 8 free",
    );
    refused(
        "  - {RING}\n  - {free_hosts: true, RING}",
        "2 ranks need a host each, and the jobs before leave 0 of 8 free",
    );
}

#[test]
fn what_chooses_nothing_is_refused() {
    refused(
        "  - {ranks: [0, 1], placement: random, RING}",
        "chooses hosts, and `ranks` lists them",
    );
    refused(
        "  - {ranks: 4, placement: random, group_size: 2, RING}",
        "has no effect without groups",
    );
    refused(
        "  - {ranks: 4, placement: spiral, RING}",
        "choose from packed, random, random-groups, round-robin",
    );
}
