//! Hosts behind NICs through the command: PCIe, scale-up domains, groups of ranks, ideal ratios.

use tenter::report::read_summary;

use crate::workplace::Workplace;

const PCIE: &str = include_str!("../../../../scenarios/pcie.yaml");
const INFERENCE: &str = include_str!("../../../../scenarios/inference-small.yaml");
const STEP: &str = include_str!("../../../../scenarios/training-step.yaml");

#[test]
fn an_impaired_nic_is_explained_and_run() {
    let workplace = Workplace::new("host-pcie");
    workplace.write("pcie.yaml", PCIE);
    let explained = workplace.words("explain pcie.yaml").expect(0).stdout;
    assert!(
        explained.contains("PCIe: 504.123 Gb/s, packets of 256 bytes with 24 bytes of overhead")
    );
    // 252.06 · 4096/4480 of 392.1 Gb/s.
    let slow = ["host3", "252.1", "230.5", "58.8"];
    let of_host = |line: &&str| line.contains("host3");
    let line = explained.lines().find(of_host).expect("a line of its own");
    assert!(slow.iter().all(|part| line.contains(part)), "{line}");
    let answer = workplace.words("run pcie.yaml --ideal -o out").expect(0);
    assert_eq!(answer.stderr, "");
    assert!(
        answer
            .stdout
            .contains("\nideal ratio: time over that of the same transfers")
    );
    let summary = read_summary(&workplace.path("out")).expect("a trial");
    let ratio = summary.jobs[0].job.ideal_ratio.expect("it has ended");
    // All wait for the slow one in the end: 400/230.5.
    assert!((1.735..1.80).contains(&ratio), "{ratio}");
    let whole = "run pcie.yaml --set endpoint.nic_impairments=[] -o whole";
    let answer = workplace.words(whole).expect(0);
    let idle = "note: `endpoint.nic.pcie` has no effect: at every NIC it keeps up with the wire";
    assert!(answer.stdout.contains(idle), "{}", answer.stdout);
    assert!(!answer.stdout.contains("ideal ratio"));
}

#[test]
fn requests_to_a_model_are_the_same_on_two_threads() {
    let workplace = Workplace::new("host-inference");
    workplace.write("requests.yaml", INFERENCE);
    let run = |threads: u32| {
        let command = format!("run requests.yaml --threads {threads} -o out-{threads}");
        let answer = workplace.words(&command).expect(0);
        assert!(
            answer.stdout.contains("time to first token p50"),
            "{}",
            answer.stdout
        );
        let table = std::fs::read(workplace.path(&format!("out-{threads}/requests.parquet")));
        let summary = read_summary(&workplace.path(&format!("out-{threads}")));
        (summary.expect("a trial"), table.expect("a table"))
    };
    let ((one, requests), (two, of_two)) = (run(1), run(2));
    assert_eq!(one.engine.digest, two.engine.digest);
    assert_eq!(
        (one.inference, one.inference_pools),
        (two.inference, two.inference_pools)
    );
    assert_eq!(requests, of_two);
    let again = workplace.words("run out-1/config.yaml -o again").expect(0);
    assert!(again.stdout.contains(&two.engine.digest));
}

#[test]
fn steps_of_training_are_the_same_on_two_threads() {
    let workplace = Workplace::new("host-step");
    workplace.write("step.yaml", STEP);
    let run = |threads: u32| {
        let command = format!("run step.yaml --threads {threads} -o out-{threads}");
        let answer = workplace.words(&command).expect(0);
        assert_eq!(answer.stderr, "");
        read_summary(&workplace.path(&format!("out-{threads}"))).expect("a trial")
    };
    let summary = run(1);
    assert_eq!(summary.engine.digest, run(2).engine.digest);
    let job = &summary.jobs[0];
    assert_eq!(job.collectives.len(), 9);
    let names: Vec<&str> = job.collectives[..3]
        .iter()
        .map(|row| row.collective.as_str())
        .collect();
    assert_eq!(names, ["all-to-all", "all-to-all", "all-reduce"]);
    // 24 blocks of 256 KiB leave a host; the ring of four moves 2 · 3/4 of 16 MiB.
    let ideal: Vec<u64> = job.collectives[1..3]
        .iter()
        .map(|row| row.full_mesh_time.ps())
        .collect();
    assert_eq!(ideal, [24 * (256 << 10) * 20, 6 * (4 << 20) * 20]);
    let again = workplace.words("run out-1/config.yaml -o again").expect(0);
    assert_eq!(again.stderr, "");
    let again = read_summary(&workplace.path("again")).expect("a trial");
    assert_eq!(again.engine.digest, summary.engine.digest);
}
