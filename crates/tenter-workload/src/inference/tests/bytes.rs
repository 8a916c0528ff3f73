//! Bytes of each parallelism against their formulas.

use super::*;

/// Bytes of a pool by stream, for the tokens that it computes.
fn formulas(of: &Inference, number: usize, bytes: &mut BTreeMap<Stream, u64>) {
    let (model, pool) = (&of.model, &of.pools[number]);
    let [tp, pp, ep] = [pool.size().tp, pool.size().pp, pool.ep].map(u64::from);
    let sum =
        |of_request: &dyn Fn(&Request) -> u64| -> u64 { of.requests.iter().map(of_request).sum() };
    let prompts = sum(&|of| u64::from(of.prompt));
    let others = sum(&|of| u64::from(of.output - 1));
    let count = of.requests.len() as u64;
    let (tokens, outputs) = match pool.role {
        Role::Both => (prompts + others, count + others),
        Role::Prefill => (prompts, count),
        Role::Decode => (others, others),
    };
    let activations = tokens * 64 * 2;
    // An all-reduce in a ring sends twice its size for each rank but one, a gathering once.
    let (mut reduced, mut gathered) = (2 * 4 + 1, 0);
    if model.experts > 0 {
        reduced += 3;
        if ep > 1 {
            (reduced, gathered) = (reduced - 3, 3);
        }
    }
    let sent = (2 * reduced + gathered) * activations + 2 * 8 * outputs;
    *bytes.entry(Stream::Tensor).or_default() += (tp - 1) * sent;
    *bytes.entry(Stream::Pipeline).or_default() += (pp - 1) * tp * activations;
    if ep > tp {
        // Replicas without a request tell their next stage.
        let batches = Scheduler::batches(of).expect("they can be made");
        let engines = batches.engines.iter().filter(|of| of.pool == number);
        let work = engines
            .flat_map(|of| &of.iterations)
            .flat_map(|of| &of.work);
        let empty = work.filter(|work| work.is_empty()).count() as u64;
        *bytes.entry(Stream::Pipeline).or_default() += (pp - 1) * tp * 4 * empty;
    }
    if ep > 1 {
        let batches = Scheduler::batches(of).expect("they can be made");
        let engines = batches.engines.iter().filter(|of| of.pool == number);
        let iterations = engines.flat_map(|of| &of.iterations);
        let padded: u64 = iterations
            .map(|of| {
                of.work
                    .iter()
                    .map(|work| Load::of(work).tokens)
                    .max()
                    .unwrap_or(0)
            })
            .sum();
        let of_token = match of.spec.precision {
            Precision::Bf16 => 4 * 64,
            Precision::Fp8 => 3 * 64 + 4,
        };
        let ranks = tp * u64::from(pool.replicas_together());
        let sent = padded * 2 * of_token / tp * ranks;
        *bytes.entry(Stream::Expert).or_default() += 3 * sent * (ep - 1) / ep;
    }
    if pool.role == Role::Decode {
        let kept = sum(&|of| u64::from(of.prompt) * u64::from(of.output > 1));
        let numbers = 4 * tp.max(4) * 2 * 8;
        let width = of.spec.kv_precision.bytes();
        *bytes.entry(Stream::CacheSend).or_default() += kept * numbers * width;
    }
}

#[test]
fn bytes_of_each_parallelism_are_those_of_their_formulas() {
    for seed in 0..50 {
        let spec = drawn(seed);
        let of = inference(&spec, None);
        let (graph, _) = graph(&of).expect("it can be made");
        let schedule = GraphSchedule::new(Arc::new(graph), Timing::default());
        let schedule = schedule.expect("it can be run");
        let sent = schedule.bytes_by_stream(|_, _| true);
        let mut expected = BTreeMap::new();
        for number in 0..of.pools.len() {
            formulas(&of, number, &mut expected);
        }
        for (stream, mut bytes) in expected {
            let found = sent.get(&stream.label()).map_or(0, |of| of[0]);
            if stream == Stream::CacheSend && of.pools[0].size().pp > 1 {
                // The first token comes from the last stage.
                let other = of.requests.iter().filter(|of| of.output > 1).count();
                bytes += 4 * other as u64 * u64::from(of.pools[1].size().tp);
            }
            // What is sent to experts is rounded for each iteration.
            let rounded = if stream == Stream::Expert {
                bytes / 50
            } else {
                0
            };
            assert!(
                found.abs_diff(bytes) <= rounded,
                "{seed} {stream:?}: {found} {bytes}"
            );
        }
    }
}
