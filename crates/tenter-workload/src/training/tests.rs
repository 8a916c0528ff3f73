//! Steps against formulas: bytes of each parallelism, bubbles, and what is exposed on a network
//! that takes no time, or a stated one.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_language::config::{Words, default_with};
use tenter_language::units::{Bytes, Time};

use super::*;
use crate::graph::{GraphSchedule, Marks, Metered, Timing, toy_network};
use crate::transformer::small_model;

/// A model in which each layer takes a given time, and everything else almost none.
fn spec(model: &[(&str, &str)], layer: Option<[u64; 2]>) -> TrainingSpec {
    let small = [
        ("layers", "8"),
        ("hidden", "64"),
        ("heads", "8"),
        ("ffn", "128"),
        ("vocabulary", "64"),
        ("sequence", "64"),
    ];
    let time = |place: usize| layer.map(|us| Time::from_us(us[place]));
    let fast = default_with(&[
        ("flops", "100000PFLOPS"),
        ("fp8_flops", "100000PFLOPS"),
        ("memory_bandwidth", "10000000Gbps"),
        ("memory", "80GB"),
    ]);
    TrainingSpec {
        accelerator: Accelerator::Mapping(fast),
        layer_forward: time(0),
        layer_backward: time(1),
        ..TrainingSpec::new(small_model(&small, model), 16)
    }
}

/// Keys of a model as text.
type Keys = &'static [(&'static str, &'static str)];
/// Change to a specification.
type Change = fn(&mut TrainingSpec);

/// Runs a step on a network where a transfer of `n` bytes takes `takes(n)` ps. Returns the duration
/// of the step in ps, and the attributed time of each rank.
fn run(training: &Training, takes: impl Fn(u64) -> u64) -> (u64, Vec<Metered>) {
    let (graph, _) = step(training).expect("it can be built");
    toy_network::run(graph, Marks::default(), takes)
}

/// Returns the time for which each rank waited for a parallelism. Bubbles are left out.
fn exposed(metered: &[Metered], parallelism: Parallelism) -> Vec<Time> {
    let of_rank = |of: &Metered| {
        let own = of.streams.iter().filter(|(label, ..)| {
            let stream = Stream::of_label(*label).and_then(Stream::parallelism);
            stream == Some(parallelism)
        });
        own.map(|&(_, with, waiting)| {
            // Before a message is sent there is a bubble.
            with + if parallelism == Parallelism::Pipeline {
                Time::ZERO
            } else {
                waiting
            }
        })
        .sum()
    };
    metered.iter().map(of_rank).collect()
}

/// If messages take no time nothing is exposed, and the time without computing is the bubble by the
/// formula.
#[test]
fn bubbles_are_those_of_their_formulas_on_a_network_that_takes_no_time() {
    let tied: Keys = &[("tied", "true")];
    for (schedule, virtual_stages, model) in [
        (PipelineSchedule::GPipe, 1, tied),
        (PipelineSchedule::OneForwardOneBackward, 1, &[]),
        (PipelineSchedule::OneForwardOneBackward, 1, tied),
        (PipelineSchedule::ZeroBubble, 1, tied),
        (PipelineSchedule::Interleaved, 2, tied),
    ] {
        let spec = TrainingSpec {
            pp: 4,
            tp: 2,
            schedule,
            virtual_stages,
            ..spec(model, Some([30, 70]))
        };
        let training = Training::new(&spec, Some(16)).expect("it fits");
        let (whole, metered) = run(&training, |_| 0);
        // Two layers at each stage.
        let passes: Passes = training
            .operators()
            .layer(false)
            .iter()
            .map(Block::all)
            .sum();
        let share = passes.weights / passes.backward();
        let (forward, weights) = (60e6, 140e6 * share);
        let bubble = training.pipeline.bubble(forward, 140e6 - weights, weights);
        for of in &metered {
            let found = (whole - of.computing.ps()) as f64;
            let about = format!("{}: {found} {bubble}", schedule.word());
            // Embedding and output take some hundred ps.
            assert!((found - bubble).abs() < 1e5, "{about}");
        }
        for parallelism in Parallelism::ALL {
            let all = exposed(&metered, parallelism);
            assert!(
                all.iter().all(|time| time.is_zero()),
                "{parallelism:?}: {all:?}"
            );
        }
    }
}

/// Communication without overlap takes its serial sum. Communication beside longer computing takes
/// nothing on top.
#[test]
fn exposed_time_is_the_serial_sum_without_overlap() {
    // A ring of n ranks takes n − 1 steps of 1 us.
    let takes = |_: u64| 1_000_000;
    let serial = Overlap {
        tp: false,
        ep: false,
        cp: false,
        pp: false,
        gradients: false,
        parameters: false,
    };
    let beside = Overlap {
        tp: true,
        ep: true,
        cp: true,
        ..Overlap::default()
    };
    let experts: Keys = &[("experts", "8"), ("top_k", "2")];
    // For each: what it is, and how many microseconds a rank waits for it.
    let cases: [(Parallelism, Keys, Change, u64); 4] = [
        // Per layer 4 collectives forward and 6 backward, for 2 micro-batches; 2 around the
        // embedding, and 2 at the output with the ring of the loss (twice as many steps); the norms
        // in the end (twice as many). 3 steps each.
        (
            Parallelism::Tensor,
            &[],
            |of| of.tp = 4,
            3 * (2 * (8 * 10 + 6) + 2),
        ),
        // Four times dispatch or combination, each in one step.
        (Parallelism::Expert, experts, |of| of.ep = 4, 2 * 8 * 4),
        // Rings of 3 steps forward and backward.
        (Parallelism::Context, &[], |of| of.cp = 4, 2 * 8 * 2 * 3),
        // Gathered forward and backward and summed: 8 layers, embedding and output; 7 steps each.
        (
            Parallelism::Data,
            &[],
            |of| of.zero = Sharding::Fsdp,
            2 * 10 * 3 * 7,
        ),
    ];
    for (parallelism, model, change, expected) in cases {
        let mut own = TrainingSpec {
            overlap: serial,
            micro_batches: Some(2),
            ..spec(model, Some([300, 700]))
        };
        change(&mut own);
        let training = Training::new(&own, Some(8)).expect("it fits");
        let (_, metered) = run(&training, takes);
        let found = exposed(&metered, parallelism);
        let of_all = found.iter().map(|time| time.ps() / 1_000_000);
        let of_all: Vec<u64> = of_all.collect();
        assert_eq!(of_all, [expected; 8], "{parallelism:?}");
        own.overlap = beside;
        let training = Training::new(&own, Some(8)).expect("it fits");
        let (_, metered) = run(&training, takes);
        let found = exposed(&metered, parallelism).into_iter().max();
        let left = found.unwrap_or_default().ps() / 1_000_000;
        assert!(left < expected / 4, "{parallelism:?}: {left} of {expected}");
        // On a network without time there is none, whatever overlaps.
        for overlap in [serial, beside] {
            own.overlap = overlap;
            let training = Training::new(&own, Some(8)).expect("it fits");
            let (_, metered) = run(&training, |_| 0);
            assert_eq!(exposed(&metered, parallelism), [Time::ZERO; 8]);
        }
    }
}

/// Draws a configuration and a rank count from a seed.
fn drawn(seed: u64) -> (TrainingSpec, u32) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut pick = |from: &[u32]| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        from[(state >> 33) as usize % from.len()]
    };
    let experts = pick(&[0, 0, 8]);
    let text = [experts.to_string(), pick(&[1, 2, 4]).to_string()];
    let mut model = vec![("experts", text[0].as_str())];
    if experts > 0 {
        model.push(("top_k", &text[1]));
        model.push(("shared_experts", "1"));
    }
    let kv = pick(&[2, 4, 8]).to_string();
    model.push(("kv_heads", &kv));
    let mut of = spec(&model, None);
    (of.tp, of.cp, of.pp) = (pick(&[1, 2, 4]), pick(&[1, 2]), pick(&[1, 2, 4]));
    let dp = pick(&[1, 2, 4]);
    of.ep = if experts > 0 { pick(&[1, 2]) } else { 1 };
    if of.tp * of.cp * dp < of.ep {
        of.ep = 1;
    }
    of.sequence_parallel = experts > 0 || pick(&[0, 1]) == 1;
    of.zero = Sharding::ALL[pick(&[0, 1, 2, 3, 4]) as usize];
    of.schedule = PipelineSchedule::ALL[pick(&[0, 1, 2, 3]) as usize];
    of.virtual_stages = pick(&[1, 2]);
    of.micro_batches = Some(4);
    of.recompute = Recompute::ALL[pick(&[0, 1, 2]) as usize];
    of.gradient_bucket = Bytes::new(1 << pick(&[16, 20, 40]));
    of.precision = Precision::ALL[pick(&[0, 1]) as usize];
    if of.ep > 1 {
        of.expert_skew = Skew([0.0, 0.7][pick(&[0, 1]) as usize]);
    }
    let on = |bit: u32| bit == 1;
    of.overlap = Overlap {
        tp: on(pick(&[0, 1])),
        ep: on(pick(&[0, 1])),
        cp: on(pick(&[0, 1])),
        pp: on(pick(&[0, 1])),
        gradients: on(pick(&[0, 1])),
        parameters: on(pick(&[0, 1])),
    };
    (of, dp)
}

/// Computes the bytes that all ranks send by the formulas of the documentation; `B` is 2 bytes.
fn formulas(of: &Training, dp: u64) -> BTreeMap<Parallelism, f64> {
    let (spec, model) = (&of.spec, &of.model);
    let [tp, cp, pp, ep] = [spec.tp, spec.cp, spec.pp, spec.ep].map(f64::from);
    let ranks = f64::from(of.grid.ranks());
    let (replicas, micro_batches) = (dp as f64, f64::from(of.pipeline.micro_batches));
    let (layers, hidden) = (f64::from(model.layers), f64::from(model.hidden));
    let tokens = f64::from(of.micro_batch) * 64.0 / cp;
    let activations = tokens * hidden * 2.0;
    let moe = model.experts > 0;
    let full = if spec.recompute == Recompute::Full {
        1.0
    } else {
        0.0
    };
    let shares = spec.tp > 1 && spec.sequence_parallel;
    let mut bytes = BTreeMap::new();
    // Blocks of a layer that tensor-parallel ranks compute together: attention, and the
    // feed-forward part or the shared expert.
    let blocks = 2.0 * layers;
    let one = (tp - 1.0) * activations;
    // Reduce-scatter and all-gather at the embedding and at the output, or an all-reduce of the
    // embedding forward and of the output backward.
    let ends = 4.0 * one + 2.0 * (tp - 1.0) * tokens * 12.0;
    let of_blocks = if shares {
        blocks * (2.0 * (1.0 + full) + 3.0) * one
    } else {
        blocks * (2.0 * (1.0 + full) + 2.0) * one
    };
    let groups = replicas * cp;
    let norms = if shares {
        // A router has the width of the model for each expert.
        let of_layer = (2.0 + f64::from(model.experts)) * hidden;
        layers * 2.0 * (tp - 1.0) * of_layer * 4.0 * groups
    } else {
        0.0
    };
    bytes.insert(
        Parallelism::Tensor,
        groups * micro_batches * (of_blocks + ends) + norms,
    );
    if moe {
        let sent = tokens / tp * f64::from(model.top_k);
        let combine = sent * hidden * 2.0;
        let dispatch = if spec.precision == Precision::Fp8 {
            sent * (hidden + 4.0)
        } else {
            combine
        };
        let both = (1.0 + full) * (dispatch + combine) + 2.0 * combine;
        let share = (ep - 1.0) / ep * ranks / pp;
        bytes.insert(Parallelism::Expert, layers * micro_batches * share * both);
    }
    let kv = f64::from(model.kv_heads().div_ceil(spec.tp)) * 16.0 * tokens * 2.0;
    let ring = (1.0 + full + 2.0) * (cp - 1.0) * kv * ranks / pp;
    bytes.insert(Parallelism::Context, layers * micro_batches * ring);
    let parts = f64::from(of.parts());
    let sent = if shares {
        activations / tp
    } else {
        activations
    };
    bytes.insert(
        Parallelism::Pipeline,
        2.0 * micro_batches * (parts - 1.0) * sent * ranks / pp,
    );
    bytes.insert(Parallelism::Data, data_formula(of, replicas));
    bytes
}

/// Computes the bytes of gradients and weights that data-parallel ranks send.
fn data_formula(of: &Training, replicas: f64) -> f64 {
    let spec = &of.spec;
    let [tp, cp, pp, ep] = [spec.tp, spec.cp, spec.pp, spec.ep].map(f64::from);
    let ranks = f64::from(of.grid.ranks()) / pp;
    let micro_batches = f64::from(of.pipeline.micro_batches);
    let (dense, experts) = weights(of);
    let alike = |weights: f64, replicas: f64| {
        let once = (replicas - 1.0) * weights * ranks / replicas;
        let times = match spec.zero {
            Sharding::None => 2.0 * 4.0,
            Sharding::Optimizer => 4.0 + 2.0,
            Sharding::Gradients => 4.0 * micro_batches + 2.0,
            Sharding::Weights | Sharding::Fsdp => micro_batches * (4.0 + 2.0 * 2.0),
        };
        once * times
    };
    alike(dense, replicas * cp) + alike(experts, replicas * cp * tp / ep)
}

/// Counts the weights over all stages at one place in the other dimensions: those that all
/// data-parallel ranks share, and those in experts.
fn weights(of: &Training) -> (f64, f64) {
    let stages = (0..of.pipeline.stages).map(|stage| of.weights_of_stage(stage));
    stages.fold((0.0, 0.0), |sum, (dense, experts)| {
        (sum.0 + dense as f64, sum.1 + experts as f64)
    })
}

/// Of 50 configurations that fit, each parallelism sends what its formula says.
#[test]
fn bytes_of_each_parallelism_are_those_of_their_formulas() {
    let mut fit = 0;
    for seed in 1.. {
        let (spec, dp) = drawn(seed);
        let ranks = spec.tp * spec.cp * spec.pp * dp;
        let Ok(training) = Training::new(&spec, Some(ranks)) else {
            continue;
        };
        if ranks < 2 {
            continue;
        }
        let (graph, _) = step(&training).expect("it can be built");
        let schedule = GraphSchedule::new(Arc::new(graph), Timing::default());
        let by_stream = schedule
            .expect("it can be run")
            .bytes_by_stream(|_, _| false);
        let mut found: BTreeMap<Parallelism, u64> = BTreeMap::new();
        for (label, [within, network]) in by_stream {
            assert_eq!(within, 0);
            if let Some(of) = Stream::of_label(label).and_then(Stream::parallelism) {
                *found.entry(of).or_default() += network;
            }
        }
        for (of, expected) in formulas(&training, u64::from(dp)) {
            let found = found.get(&of).copied().unwrap_or(0) as f64;
            let off = (found - expected).abs();
            // Parts of a buffer that does not divide are rounded.
            let about = format!("{seed} {of:?}: {found} for {expected} of {spec:?}");
            assert!(off <= 1e-3 * expected + 1.0, "{about}");
        }
        fit += 1;
        if fit == 50 {
            return;
        }
    }
}

fn refused(change: impl FnOnce(&mut TrainingSpec), ranks: u32) -> String {
    let mut own = spec(&[], None);
    change(&mut own);
    let error = Training::new(&own, Some(ranks)).expect_err("it does not fit");
    error.to_string()
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    let of_ranks = refused(|of| (of.tp, of.pp) = (4, 2), 12);
    assert_eq!(
        of_ranks,
        "`tp` is 4, and the job has 12 ranks, no multiple of tp 4 · cp 1 · pp 2 = 8; give 8 or 16 `ranks`"
    );
    let of_replicas = refused(|of| (of.tp, of.dp) = (4, Some(3)), 8);
    assert!(
        of_replicas.ends_with("give `dp: 2`, or 12 `ranks`"),
        "{of_replicas}"
    );
    let of_layers = refused(|of| of.pp = 3, 3);
    assert!(of_layers.contains("give 2 or 4, or the"), "{of_layers}");
    let of_parts = refused(
        |of| {
            (of.pp, of.virtual_stages) = (2, 3);
            of.schedule = PipelineSchedule::Interleaved;
        },
        2,
    );
    assert!(
        of_parts.starts_with("`virtual_stages` is 3") && of_parts.contains("give 2 or 4, or"),
        "{of_parts}"
    );
    let of_heads = refused(|of| of.tp = 3, 3);
    assert!(of_heads.ends_with("give 2 or 4"), "{of_heads}");
    let of_more = refused(|of| of.tp = 16, 16);
    assert!(of_more.ends_with("give 8"), "{of_more}");
    let of_precision = refused(
        |of| {
            of.accelerator = Accelerator::Word(NamedAccelerator::A100);
            of.precision = Precision::Fp8;
        },
        1,
    );
    assert!(of_precision.starts_with("`precision`"), "{of_precision}");
    let of_experts = refused(|of| of.ep = 2, 2);
    assert!(
        of_experts.contains("the model has no experts"),
        "{of_experts}"
    );
    let of_batch = refused(|_| {}, 3);
    assert!(of_batch.ends_with("give 15 or 18"), "{of_batch}");
    let of_rounds = refused(
        |of| {
            (of.pp, of.virtual_stages, of.micro_batches) = (4, 2, Some(2));
            of.schedule = PipelineSchedule::Interleaved;
        },
        4,
    );
    assert!(of_rounds.contains("give 4 of them"), "{of_rounds}");
}

/// Twelve heads of queries and four of keys and values are not divided by six ranks.
#[test]
fn heads_of_keys_and_values_are_whole_or_replicated() {
    let keys = [
        ("hidden", "96"),
        ("heads", "12"),
        ("kv_heads", "4"),
        ("ffn", "96"),
    ];
    let with = |tp: u32| {
        let own = TrainingSpec {
            tp,
            sequence_parallel: false,
            ..spec(&keys, None)
        };
        Training::new(&own, Some(tp))
    };
    let error = with(6).expect_err("it does not fit").to_string();
    assert!(error.ends_with("give 4 or 12"), "{error}");
    let training = with(12).expect("each head of keys and values is at three ranks");
    let attention = 96 * 8 + 2 * 96 * 8 + 96 * 8;
    let all = attention + 3 * 96 * 96 / 12 + 2 * 96;
    assert_eq!(training.dense_weights(0), all);
}

/// The remedy names every key that its trial has changed.
#[test]
fn the_remedy_of_a_full_memory_names_all_that_changes() {
    let gpt = TrainingSpec {
        tp: 8,
        pp: 2,
        dp: Some(4),
        micro_batches: Some(16),
        stage_layers: vec![48; 2],
        recompute: Recompute::Full,
        ..TrainingSpec::new(Model::Word(NamedModel::Gpt3), 64)
    };
    let training = Training::new(&gpt, Some(64)).expect("its numbers fit together");
    let error = memory::check(&training).expect_err("it needs more than 80 GB");
    assert_eq!(
        error.remedy,
        "give `pp: 4` and `dp: 2` and leave `micro_batches` and `stage_layers` out, with which it fits on the same ranks"
    );
}

/// GPT-3 on 8 accelerators takes 16 bytes for each of its weights and more.
#[test]
fn a_model_that_is_too_large_is_refused_with_what_would_fit() {
    let gpt = TrainingSpec {
        tp: 8,
        pp: 8,
        fused_attention: false,
        ..TrainingSpec::new(Model::Word(NamedModel::Gpt3), 64)
    };
    let training = Training::new(&gpt, Some(64)).expect("its numbers fit together");
    let error = step(&training).expect_err("it needs more than 80 GB");
    assert_eq!(error.key, "model");
    assert!(error.remedy.contains("with which it fits"), "{error}");
    let full = TrainingSpec {
        recompute: Recompute::Full,
        ..gpt
    };
    let training = Training::new(&full, Some(64)).expect("it fits");
    let memory = memory::of_largest_stage(&training).1;
    assert!(memory.all() < 80e9 && memory.all() > 40e9, "{memory:?}");
}

/// `s b h (10 + 24 / t + 5 a s / h t)` bytes of a layer, and `s b h / t (34 + 5 a s / h)` with
/// sharded activations (Korthikanti et al., 2022, table 2).
#[test]
fn activations_are_those_of_the_paper() {
    for shares in [false, true] {
        let gpt = TrainingSpec {
            tp: 8,
            sequence_parallel: shares,
            fused_attention: false,
            ..TrainingSpec::new(Model::Word(NamedModel::Gpt3), 1)
        };
        let training = Training::new(&gpt, Some(8)).expect("it is not checked");
        let (sequence, hidden, heads, tp) = (2048.0, 12_288.0, 96.0, 8.0);
        let scores = 5.0 * heads * sequence / hidden;
        let layer = if shares {
            sequence * hidden / tp * (34.0 + scores)
        } else {
            sequence * hidden * (10.0 + 24.0 / tp + scores / tp)
        };
        let expected = 96.0 * layer + 4.0 * sequence * 51_200.0 / tp;
        let found = memory::of_largest_stage(&training).1.activations;
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }
}
