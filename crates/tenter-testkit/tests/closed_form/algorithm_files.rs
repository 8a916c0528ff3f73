//! Algorithms from files of the repository, beside those that are built in.

use tenter::resolve::{Format, load_beside};
use tenter_language::units::Budget;

use crate::trial::Trial;

const RING: &str = include_str!("../../../../scenarios/algorithms/ring-4.xml");

fn run(algorithm: &str, size: u64) -> Trial {
    let scenario = format!(
        "
fabric: {{kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2}}
jobs:
  - ranks: 4
    iterations: 2
    collectives:
      - {{collective: all-reduce, algorithm: {algorithm}, size: {size}B}}
observe: {{samples: false}}
"
    );
    let files = |name: &str| match name {
        "ring-4.xml" => Ok(RING.as_bytes().to_vec().into()),
        _ => Err("name another file".to_owned()),
    };
    let loaded = load_beside(
        &scenario,
        "test.yaml",
        Format::Yaml,
        &[],
        None,
        &files,
        &Budget::unlimited(),
    );
    let loaded = loaded.unwrap_or_else(|problems| panic!("{}", problems.render()));
    Trial::of_plan(&loaded.plan).unwrap_or_else(|error| panic!("{scenario}\n{error}"))
}

#[test]
fn the_ring_of_a_file_takes_as_long_as_the_ring() {
    for size in [4, 4_096, 100_000, 1 << 20, (4 << 20) + 12] {
        let (built_in, of_file) = (run("ring", size), run("{file: ring-4.xml}", size));
        for iteration in 0..2 {
            let times = [&built_in, &of_file].map(|trial| trial.completion(iteration));
            assert_eq!(times[0], times[1], "{size} B, iteration {iteration}");
        }
    }
}
