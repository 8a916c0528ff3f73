//! No run is faster than the ideal time of its explanation, on random small scenarios.

use tenter::explain::explain;
use tenter::resolve::{Format, load};
use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_language::units::Budget;
use tenter_language::units::Time;
use tenter_sim::{Options, run};
use tenter_testkit::random_scenario;

#[test]
fn no_run_is_faster_than_its_ideal_time() {
    let (mut judged, mut tight) = (0, 0);
    let mut failures = Vec::new();
    for seed in 0..600 {
        let plan = random_scenario(seed).plan;
        if plan.nic.loss_recovery == LossRecovery::None {
            // What is lost takes no time.
            continue;
        }
        let explanation = explain(&plan, &[], &Budget::unlimited()).expect("the plan can be run");
        let outcome = run(&plan, Options::default(), &mut ()).expect("the plan runs");
        for row in &outcome.collectives {
            let Some(took) = row.completion_time else {
                continue;
            };
            let run = &plan.jobs[row.job as usize].sequence[row.index as usize];
            if run.drawn_from_bytes.is_some() {
                // The explanation has the ideal of the largest size.
                let ideal = row.ideal.expect("each size has one");
                assert!(took >= ideal, "seed {seed}: {took} for {ideal}");
                continue;
            }
            if run.traffic.flow_workload().is_some() {
                // The ideal is that of as many bytes as are expected.
                continue;
            }
            let ideal = &explanation.jobs[row.job as usize].collectives[row.index as usize];
            // Rows have the ideal of the explanation, and are compared with it.
            assert_eq!(row.ideal.map(Time::as_ns), Some(ideal.ideal_ns));
            let busbw = ideal.ideal_busbw_gbytes_per_s;
            assert!(ideal.ideal_ns > 0.0 && busbw.is_some_and(f64::is_finite));
            let percent = row.percent_of_ideal.expect("it has ended");
            let expected = 100.0 * ideal.ideal_ns / took.as_ns();
            assert!((percent - expected).abs() < 1e-9, "seed {seed}");
            judged += 1;
            tight += u32::from(took.as_ns() < 1.05 * ideal.ideal_ns);
            if took.as_ns() < ideal.ideal_ns {
                failures.push(format!(
                    "seed {seed}: {} {} of {} bytes and {} ranks took {} ns, ideal is {} (scheduled {:?}, input-queued {:?}, credit {:?})",
                    row.collective,
                    row.algorithm,
                    row.size_bytes,
                    row.ranks,
                    took.as_ns(),
                    ideal.ideal_ns,
                    plan.scheduled,
                    plan.input_queued,
                    plan.credit
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {judged}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    // Neither a bound that nothing comes near.
    assert!(judged > 500 && tight > judged / 50, "{tight} of {judged}");
}

#[test]
fn a_drawn_size_has_the_ideal_of_a_fixed_one() {
    let rows = |what: &str| {
        let text = format!(
            "fabric: {{kind: single-switch, hosts: 6, rate: 100Gbps, host_delay: 5us}}\njobs:\n  - {{name: judged, ranks: [0, 1], collectives: [{{collective: all-to-all, size: 1MB}}]}}\n  - {{name: load, ranks: [2, 3, 4, 5], background: true, collectives: [{{collective: all-to-all, {what}}}]}}\n"
        );
        let loaded = load(&text, "drawn.yaml", Format::Yaml, &[], None);
        let plan = loaded
            .unwrap_or_else(|error| panic!("{}", error.render()))
            .plan;
        let outcome = run(&plan, Options::default(), &mut ()).expect("the plan runs");
        outcome.collectives
    };
    let drawn = rows("sizes: {least: 10kB, most: 20kB, count: 3}");
    let drawn = drawn.iter().filter(|row| row.job == 1 && row.end.is_some());
    let drawn: Vec<_> = drawn.collect();
    assert!(drawn.len() >= 3, "{}", drawn.len());
    for row in drawn {
        let fixed = rows(&format!("size: {}B", row.size_bytes));
        let fixed = fixed.iter().find(|row| row.job == 1).expect("it has run");
        assert_eq!(row.ideal, fixed.ideal, "{} bytes", row.size_bytes);
        assert!(row.percent_of_ideal > Some(99.0), "{row:?}");
    }
}
