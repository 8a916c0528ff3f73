//! What batches are made of, and how many operations they make.

use super::*;

#[test]
fn every_request_gets_what_it_asks_for_in_batches_that_hold_it() {
    for seed in 0..200 {
        let spec = drawn(seed);
        let of = inference(&spec, None);
        let batches = Scheduler::batches(&of).expect("they can be made");
        let mut got: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
        for engine in &batches.engines {
            let pool = &of.pools[engine.pool];
            for work in engine.iterations.iter().flat_map(|of| &of.work) {
                assert!(work.len() <= pool.max_batch as usize, "{seed}");
                let prompts = work.iter().filter(|of| of.is_prompt());
                let tokens: u32 = prompts.clone().map(|of| of.tokens).sum();
                let one = prompts.count() == 1 && !spec.chunked_prefill;
                assert!(tokens <= spec.batch_tokens || one, "{seed}");
                for own in work {
                    let got = got.entry(own.request).or_default();
                    assert_eq!(own.cached, got[0] + got[1], "{seed}");
                    got[usize::from(!own.is_prompt())] += own.tokens;
                }
            }
        }
        for (number, request) in (0..).zip(&of.requests) {
            assert_eq!(got[&number], [request.prompt, request.output - 1], "{seed}");
        }
        // The graph can be run to its end, and requests follow those before them.
        let timed = Timed::new(&of, |bytes| 1_000 + bytes);
        assert_eq!(timed.run.requests.len(), of.requests.len());
        for own in &timed.run.requests {
            if let Arrival::After(before) = own.request.arrival {
                let before = &timed.run.requests[before as usize];
                let [_, end] = before.decode.unwrap_or(before.prefill);
                assert!(timed.at(own.prefill[0]).0 >= timed.at(end).1, "{seed}");
            }
        }
    }
}

/// In a closed loop of one pool batches are the same whatever computing takes.
#[test]
fn batches_of_a_closed_loop_do_not_depend_on_time() {
    for seed in 0..50 {
        let mut spec = drawn(seed);
        spec.pools = None;
        spec.requests.rate = None;
        spec.requests.concurrency = Some(5);
        let batches = |spec: &InferenceSpec| {
            Scheduler::batches(&inference(spec, None)).expect("they can be made")
        };
        let before = batches(&spec);
        spec.step_overhead = Time::from_us(50);
        spec.accelerator = Accelerator::Word(NamedAccelerator::H100);
        assert_eq!(batches(&spec), before);
        assert_eq!((before.end, before.latency), (None, None));
    }
}

/// Operations are counted before a graph is made, within 2 % and the tokens that the last
/// iterations of a batch do not send back.
#[test]
fn operations_are_counted_before_a_graph_is_made() {
    for seed in 0..100 {
        let of = inference(&drawn(seed), None);
        let counted = Scheduler::batches(&of)
            .expect("they can be made")
            .operations;
        let made = graph(&of).expect("it can be made").0.operations();
        let off = counted.abs_diff(made);
        let ends = 2 * u64::from(of.ranks());
        assert!(off <= made / 50 + ends, "{seed}: {counted} {made}");
    }
}

/// Replicas whose experts are spread over the same ranks wait for requests, not for each other,
/// while there are none.
#[test]
fn replicas_that_go_step_by_step_wait_for_the_requests_of_all_of_them() {
    let tokens = [20, 4].map(TokenCounts::One);
    let experts = [("experts", "8"), ("top_k", "2")];
    let pool = |dp| PoolSpec {
        tp: 1,
        pp: 2,
        dp,
        ep: dp,
        max_batch: None,
        expert_exchange: None,
    };
    let [closed, open] = [Some(1), None].map(|concurrency| RequestsSpec {
        rate: concurrency.is_none().then_some(RequestRate(1000.0)),
        concurrency,
        ..requests(1, 12, tokens.clone())
    });
    let apart = |prefill, decode| {
        Some(PoolsSpec {
            prefill: pool(prefill),
            decode: pool(decode),
        })
    };
    let slow = |bytes: u64| {
        if bytes > 4_000 {
            100_000_000
        } else {
            1_000 + bytes
        }
    };
    for (requests, pools) in [
        (open.clone(), None),
        (open, apart(4, 1)),
        (closed, apart(4, 4)),
    ] {
        let one = pool(4);
        let of = InferenceSpec {
            tp: one.tp,
            pp: one.pp,
            dp: Some(one.dp),
            ep: one.ep,
            pools,
            ..spec(&experts, requests)
        };
        let timed = Timed::new(&inference(&of, None), slow);
        for of in &timed.metered {
            let expert = of.streams.iter().find(|of| of.0 == Stream::Expert.label());
            let share = expert.map_or(Time::ZERO, |of| of.1 + of.2).ps() as f64 / timed.end as f64;
            assert!(share < 0.05, "{share}");
        }
    }
}
