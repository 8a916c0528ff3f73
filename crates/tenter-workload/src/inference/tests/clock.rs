//! The clock of the scheduler against runs on the network that it assumes.

use super::*;

/// The clock of the scheduler is right where nothing is in the way of what is sent.
#[test]
fn the_clock_of_the_scheduler_is_right_on_the_network_that_it_assumes() {
    let tokens = [64, 5].map(TokenCounts::One);
    let spec = InferenceSpec {
        tp: 2,
        assumed_latency: Time::from_us(1),
        requests: RequestsSpec {
            rate: Some(RequestRate(1000.0)),
            ..requests(1, 20, tokens.clone())
        },
        ..spec(&[], requests(1, 1, tokens))
    };
    let spec = InferenceSpec {
        requests: RequestsSpec {
            concurrency: None,
            ..spec.requests
        },
        ..spec
    };
    let of = inference(&spec, Some(2));
    // 400 Gbit/s are 20 ps for a byte.
    let timed = Timed::new(&of, |bytes| 1_000_000 + 20 * bytes);
    let planned = timed.run.planned.expect("batches depend on time").ps();
    assert!(
        planned.abs_diff(timed.end) < 1_000,
        "{planned} {}",
        timed.end
    );
}

/// With stages, and with keys and values that go to another pool: a stage computes the next batch
/// while its message is on its way.
#[test]
fn the_clock_of_the_scheduler_knows_that_stages_send_while_they_compute() {
    let pool = |max_batch| PoolSpec {
        tp: 8,
        pp: 2,
        dp: 1,
        ep: 1,
        max_batch,
        expert_exchange: None,
    };
    let tokens = [64, 5].map(TokenCounts::One);
    let spec = InferenceSpec {
        pools: Some(PoolsSpec {
            prefill: pool(Some(1)),
            decode: pool(None),
        }),
        assumed_latency: Time::from_us(50),
        ..spec(&[("kv_heads", "8")], requests(8, 64, tokens))
    };
    let timed = Timed::new(&inference(&spec, None), |bytes| 50_000_000 + 20 * bytes);
    let planned = timed.run.planned.expect("batches depend on time").ps();
    let off = planned as f64 / timed.end as f64 - 1.0;
    assert!(off.abs() < 0.001, "{planned} {}", timed.end);
    let latency = |of: &RequestRun| {
        let ended = |of: &RequestRun| timed.at(of.decode.expect("it decodes")[1]).1;
        let arrival = match of.request.arrival {
            Arrival::At(time) => time,
            Arrival::After(before) => ended(&timed.run.requests[before as usize]),
        };
        ended(of) - arrival
    };
    let sum: u64 = timed.run.requests.iter().map(latency).sum();
    let planned = timed.run.planned_latency.expect("batches depend on time");
    let off = planned.ps() as f64 / (sum / 64) as f64 - 1.0;
    assert!(off.abs() < 0.001, "{planned} {}", sum / 64);
}
