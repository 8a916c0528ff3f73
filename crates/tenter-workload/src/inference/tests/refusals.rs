//! What does not fit is refused with what would.

use super::*;

/// Millions of iterations of eight ranks are refused before all of them are known.
#[test]
fn a_graph_of_too_many_operations_is_refused_with_the_requests_that_fit() {
    let large = |count: u32, output: u32| {
        refused(
            |spec| {
                spec.tp = 8;
                spec.max_batch = 1;
                spec.requests = RequestsSpec {
                    rate: Some(RequestRate(1000.0)),
                    concurrency: None,
                    ..requests(1, count, [100, output].map(TokenCounts::One))
                };
            },
            Some(8),
        )
    };
    let of = large(19_000, 1000);
    let expected = "`requests.count` is 19000, which makes a graph of over 50000000 operations; \
                    give at most 19, or shorter answers";
    assert_eq!(of, expected);
    let of = large(2, 1_000_000);
    assert!(
        of.ends_with("use shorter prompts and answers, or fewer ranks"),
        "{of}"
    );
}

/// Weights and keys and values of the largest numbers need more bytes than can be counted.
#[test]
fn memory_beyond_all_numbers_is_refused() {
    let model = [
        ("layers", "10000"),
        ("hidden", "1000000"),
        ("heads", "10000"),
        ("head_size", "100000"),
        ("ffn", "10000000"),
        ("experts", "1000000"),
    ];
    let of = spec(
        &model,
        requests(1, 1, [10_000_000, 10_000].map(TokenCounts::One)),
    );
    let of = inference(&of, Some(1));
    let memory = super::memory::of_pool(&of, &of.pools[0]);
    assert_eq!(memory.all(), u64::MAX);
    assert!(graph(&of).is_err());
}

fn refused(change: impl FnOnce(&mut InferenceSpec), ranks: Option<u32>) -> String {
    let tokens = [1000, 200].map(TokenCounts::One);
    let mut spec = InferenceSpec {
        tp: 4,
        ..InferenceSpec::new(
            Model::Word(NamedModel::Llama3Of70b),
            requests(64, 64, tokens),
        )
    };
    change(&mut spec);
    let refused = Inference::new(&spec, ranks, 0, reach()).and_then(|of| graph(&of));
    refused.expect_err("it does not fit").to_string()
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    let of = refused(|spec| spec.tp = 7, Some(7));
    assert_eq!(
        of,
        "`tp` is 7, which does not divide the heads of the model (64); give 4 or 8"
    );
    let of = refused(|spec| spec.pp = 3, Some(12));
    assert_eq!(
        of,
        "`pp` is 3, which does not divide the layers of the model (80); give 2 or 4"
    );
    let of = refused(|spec| spec.ep = 2, Some(4));
    assert_eq!(of, "`ep` is 2, and the model has no experts; leave it out");
    let of = refused(|_| {}, Some(6));
    let expected =
        "`tp` is 4, and the job has 6 ranks, no multiple of tp 4 · pp 1 = 4; give 4 or 8 `ranks`";
    assert_eq!(of, expected);
    let pool = PoolSpec {
        tp: 4,
        pp: 1,
        dp: 2,
        ep: 1,
        max_batch: None,
        expert_exchange: None,
    };
    let pools = PoolsSpec {
        prefill: pool,
        decode: PoolSpec { tp: 16, ..pool },
    };
    let of = refused(|spec| spec.pools = Some(pools), Some(16));
    assert_eq!(
        of,
        "`pools` make 40 ranks, and the job has 16; give 40 `ranks`"
    );
    let of = refused(
        |spec| {
            spec.accelerator = Accelerator::Word(NamedAccelerator::A100);
            spec.precision = Precision::Fp8;
        },
        Some(4),
    );
    let expected = "`precision` is fp8, and the accelerator has no `fp8_flops`; give `precision: bf16`, or another `accelerator`";
    assert_eq!(of, expected);
    let of = refused(|spec| spec.requests.count = 1_000_000, Some(4));
    assert!(of.contains("give at most 99502"), "{of}");
}

/// 35.3 GB of weights at each of four ranks, and 80 KiB for each of 1,199 tokens: 455 requests fit.
#[test]
fn batches_that_are_too_large_are_refused_with_what_would_fit() {
    let many = |spec: &mut InferenceSpec| {
        spec.requests.concurrency = Some(1000);
        spec.requests.count = 1000;
        spec.max_batch = 512;
    };
    let of = refused(many, Some(4));
    assert!(
        of.starts_with("`max_batch` is 512: keys and values of 512 requests need"),
        "{of}"
    );
    assert!(of.ends_with("give 455, with which they fit"), "{of}");
    let of = refused(|spec| spec.tp = 1, Some(1));
    assert!(of.starts_with("`tp` is 1: a rank needs 141."), "{of}");
}
