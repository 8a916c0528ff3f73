//! The further runs by which interference between jobs is measured.

use tenter::resolve::{Format, load};
use tenter_sim::{Interference, interference_runs};

#[test]
fn every_pair_with_a_job_under_test_is_run_once() {
    let text = "
fabric: {kind: single-switch, hosts: 4}
jobs:
  - {collectives: [{collective: all-to-all, size: 1MiB}]}
  - {background: true, flows: [{from: 0, to: 1}]}
  - {background: true, flows: [{from: 1, to: 0}]}
  - {collectives: [{collective: all-to-all, size: 1MiB}]}
";
    let plan = load(text, "x.yaml", Format::Yaml, &[], None).unwrap().plan;
    assert!(interference_runs(&plan, Interference::None).is_empty());
    let runs = interference_runs(&plan, Interference::Pairs);
    assert_eq!(
        runs,
        [
            vec![0],
            vec![3],
            vec![0, 1],
            vec![0, 2],
            vec![0, 3],
            vec![1, 3],
            vec![2, 3]
        ]
    );
    assert_eq!(interference_runs(&plan, Interference::Alone), runs[..2]);
}
