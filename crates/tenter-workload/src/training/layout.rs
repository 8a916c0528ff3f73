//! A training's layout: ranks, stages, micro-batches and layers that fit together.

use super::operators::Operators;
use super::schedule::{Pipeline, PipelineSchedule};
use super::spec::TrainingSpec;
use crate::transformer::{
    AcceleratorSpec, Checked, Grid, ModelSpec, Place, Precision, check_kv_heads, dimensions,
    divides, figures, near, wrong,
};

/// A training whose numbers fit together.
#[derive(Clone, Debug)]
pub struct Training {
    /// Specification as the scenario gives it.
    pub spec: TrainingSpec,
    /// The model's dimensions, looked up if it has a name.
    pub model: ModelSpec,
    /// The accelerator's figures, looked up if it has a name.
    pub accelerator: AcceleratorSpec,
    /// Ranks by their coordinates in each dimension.
    pub grid: Grid,
    /// Stages, chunks and micro-batches with their schedule.
    pub pipeline: Pipeline,
    /// Number of sequences in a micro-batch.
    pub micro_batch: u32,
    /// Number of tokens in a sequence.
    pub sequence: u32,
    /// First layer in each model part, and at the end the layer count. Part `i` runs at stage `i`
    /// modulo the stage count.
    pub first_layers: Vec<u32>,
}

impl Training {
    /// Fits `spec` to the job's rank count. Without one, `spec.dp` must be given.
    ///
    /// # Errors
    /// Numbers that do not fit together, with numbers that would.
    pub fn new(spec: &TrainingSpec, ranks: Option<u32>) -> Checked<Training> {
        let model = dimensions(&spec.model);
        let accelerator = figures(&spec.accelerator);
        spec.precision.check(&accelerator)?;
        let grid = grid(spec, ranks)?;
        check_model(spec, &model, &grid)?;
        let sequences = grid.size.dp;
        check_batch(spec, sequences)?;
        let own = spec.batch / sequences;
        let micro_batches = spec.micro_batches.unwrap_or(own);
        divides(
            "micro_batches",
            micro_batches,
            "the sequences of a pipeline",
            own,
        )?;
        let pipeline = Pipeline {
            schedule: spec.schedule,
            stages: spec.pp,
            chunks: spec.chunks(),
            micro_batches,
        };
        // An interleaved schedule takes micro-batches through each part of the model in groups of
        // `pp`.
        if pipeline.chunks > 1 && !micro_batches.is_multiple_of(spec.pp) {
            let what = format!(
                "are {micro_batches}, and an interleaved schedule has a multiple of `pp` ({}) of them",
                spec.pp
            );
            let more = micro_batches.next_multiple_of(spec.pp);
            let remedy = format!("give {more} of them, and a `batch` that they divide");
            return wrong("micro_batches", what, remedy);
        }
        let sequence = spec.sequence.unwrap_or(model.sequence);
        check_sequence(spec, sequence)?;
        Ok(Training {
            accelerator,
            first_layers: first_layers(spec, &model)?,
            micro_batch: own / micro_batches,
            spec: spec.clone(),
            model,
            grid,
            pipeline,
            sequence,
        })
    }

    /// Returns true if activations between blocks are sharded over tensor-parallel ranks.
    pub fn shares_activations(&self) -> bool {
        self.spec.tp > 1 && self.spec.sequence_parallel
    }

    /// Returns the tokens that a micro-batch has at a rank.
    pub fn tokens(&self) -> u64 {
        u64::from(self.micro_batch) * u64::from(self.sequence / self.spec.cp)
    }

    /// Returns the tokens in a step, over all ranks.
    pub fn tokens_of_step(&self) -> u64 {
        u64::from(self.spec.batch) * u64::from(self.sequence)
    }

    /// Counts the parts into which the model is cut: stages times chunks.
    pub fn parts(&self) -> u32 {
        self.pipeline.stages * self.pipeline.chunks
    }

    /// Returns the layers in a model part.
    pub fn layers(&self, part: u32) -> std::ops::Range<u32> {
        let part = part as usize;
        self.first_layers[part]..self.first_layers[part + 1]
    }

    /// Returns a rank's operators, which are the same at all ranks.
    pub fn operators(&self) -> Operators {
        Operators {
            model: self.model,
            accelerator: self.accelerator.clone(),
            tokens: self.tokens(),
            sequence: self.sequence,
            tp: self.spec.tp,
            shares_activations: self.shares_activations(),
            ep: self.spec.ep,
            fused: self.spec.fused_attention,
            fp8: self.spec.precision == Precision::Fp8,
        }
    }

    /// Counts a layer's weights at a rank, without the experts that a router chooses.
    pub fn dense_weights(&self, layer: u32) -> u64 {
        let model = &self.model;
        let [tp, hidden] = [self.spec.tp, model.hidden].map(u64::from);
        let feed_forward = if model.has_experts(layer) {
            let router = hidden * u64::from(model.experts);
            router + (model.shared_weights() - router).div_ceil(tp)
        } else {
            model.dense_weights().div_ceil(tp)
        };
        model.attention_weights_at(self.spec.tp) + feed_forward + model.norm_weights()
    }

    /// Counts a layer's weights that every tensor-parallel rank holds whole: normalisations, latent
    /// attention's down-projections, and the router.
    pub fn replicated_weights(&self, layer: u32) -> u64 {
        let model = &self.model;
        let router = if model.has_experts(layer) {
            u64::from(model.hidden) * u64::from(model.experts)
        } else {
            0
        };
        model.norm_weights() + model.down_weights() + router
    }

    /// Counts the weights at a rank in the experts that a layer's router chooses.
    pub fn expert_weights(&self, layer: u32) -> u64 {
        if !self.model.has_experts(layer) {
            return 0;
        }
        u64::from(self.model.experts / self.spec.ep) * self.model.expert_weights()
    }

    /// Counts the weights at a rank in the embedding, or in the output layer.
    pub fn vocabulary_weights(&self) -> u64 {
        self.model
            .vocabulary_weights()
            .div_ceil(u64::from(self.spec.tp))
    }

    /// Counts a stage's weights at a rank: those that all data-parallel ranks share, and those in
    /// experts.
    pub fn weights_of_stage(&self, stage: u32) -> (u64, u64) {
        let (mut dense, mut experts) = (0, 0);
        for chunk in 0..self.pipeline.chunks {
            let part = chunk * self.pipeline.stages + stage;
            for layer in self.layers(part) {
                dense += self.dense_weights(layer);
                experts += self.expert_weights(layer);
            }
            let ends = u64::from(part == 0) + u64::from(part + 1 == self.parts());
            let tied = u64::from(self.model.tied && self.parts() == 1);
            dense += (ends - tied) * self.vocabulary_weights();
        }
        (dense, experts)
    }
}

fn grid(spec: &TrainingSpec, ranks: Option<u32>) -> Checked<Grid> {
    let ways = [spec.tp, spec.cp, spec.pp].map(u64::from);
    let of_model: u64 = ways.iter().product();
    let words = format!(
        "tp {} · cp {} · pp {} = {of_model}",
        spec.tp, spec.cp, spec.pp
    );
    let most = u64::from(u32::MAX >> 8);
    let dp = match (spec.dp, ranks) {
        (None, None) => {
            let what = "is not given, and neither is how many ranks the job has".to_owned();
            return wrong(
                "dp",
                what,
                "give `dp`, or the `ranks` of the job".to_owned(),
            );
        }
        (Some(dp), Some(ranks)) if of_model * u64::from(dp) != u64::from(ranks) => {
            let all = of_model * u64::from(dp);
            let what =
                format!("is {dp}, and {words} with it make {all} ranks, while the job has {ranks}");
            let fits = u64::from(ranks) / of_model;
            let remedy = if u64::from(ranks).is_multiple_of(of_model) {
                format!("give `dp: {fits}`, or {all} `ranks`")
            } else {
                format!("give {all} `ranks`")
            };
            return wrong("dp", what, remedy);
        }
        // Where both are given, they agree: the case above has refused all others.
        (Some(dp), _) => dp,
        (None, Some(ranks)) => {
            if !u64::from(ranks).is_multiple_of(of_model) {
                let below = u64::from(ranks) / of_model * of_model;
                let above = below + of_model;
                let what = format!(
                    "is {}, and the job has {ranks} ranks, no multiple of {words}",
                    spec.tp
                );
                let remedy = if below == 0 {
                    format!("give {above} `ranks`")
                } else {
                    format!("give {below} or {above} `ranks`")
                };
                return wrong("tp", what, remedy);
            }
            (u64::from(ranks) / of_model) as u32
        }
    };
    if of_model * u64::from(dp) > most {
        let what = format!("is {dp}, and {words} with it make more than {most} ranks");
        return wrong("dp", what, "give fewer".to_owned());
    }
    Ok(Grid {
        size: Place {
            tp: spec.tp,
            cp: spec.cp,
            dp,
            pp: spec.pp,
        },
        order: spec.order,
    })
}

fn check_batch(spec: &TrainingSpec, dp: u32) -> Checked<()> {
    if spec.batch.is_multiple_of(dp) {
        return Ok(());
    }
    let what = format!(
        "is {}, which {dp} data-parallel ranks do not divide",
        spec.batch
    );
    let below = spec.batch / dp * dp;
    let remedy = if below == 0 {
        format!("give {dp}")
    } else {
        format!("give {below} or {}", below + dp)
    };
    wrong("batch", what, remedy)
}

fn check_model(spec: &TrainingSpec, model: &ModelSpec, grid: &Grid) -> Checked<()> {
    divides("tp", spec.tp, "the heads of the model", model.heads)?;
    divides("tp", spec.tp, "the width `ffn`", model.ffn)?;
    check_kv_heads("tp", spec.tp, model)?;
    if model.experts == 0 && spec.ep > 1 {
        let what = format!("is {}, and the model has no experts", spec.ep);
        return wrong("ep", what, "leave it out".to_owned());
    }
    if model.experts == 0 {
        return Ok(());
    }
    divides("ep", spec.ep, "the experts of a layer", model.experts)?;
    spec.expert_exchange
        .check("expert_exchange", spec.expert_skew)?;
    let stage = grid.size.tp * grid.size.cp * grid.size.dp;
    divides("ep", spec.ep, "the ranks of a stage", stage)?;
    if spec.tp > 1 && !spec.sequence_parallel {
        let what = "is false, and experts take the tokens that each rank has alone".to_owned();
        let remedy = "leave it out: true is the default".to_owned();
        return wrong("sequence_parallel", what, remedy);
    }
    Ok(())
}

fn check_sequence(spec: &TrainingSpec, sequence: u32) -> Checked<()> {
    divides("cp", spec.cp, "the tokens of a sequence", sequence)?;
    if spec.tp > 1 && spec.sequence_parallel {
        let own = sequence / spec.cp;
        divides("tp", spec.tp, "the tokens of a sequence at a rank", own)?;
    }
    Ok(())
}

/// Reports why an interleaved schedule does not divide the layers evenly.
fn virtual_stages_that_do_not_divide<T>(spec: &TrainingSpec, layers: u32) -> Checked<T> {
    let or_layers = "or the layers of each virtual stage with `stage_layers`";
    let (pp, chunks) = (spec.pp, spec.chunks());
    if !layers.is_multiple_of(pp) {
        let what = format!("is {pp}, which does not divide the layers of the model ({layers})");
        return wrong(
            "pp",
            what,
            format!("give {}, {or_layers}", near(layers, pp)),
        );
    }
    let of_stage = layers / pp;
    let what = format!("is {chunks}, which does not divide the layers of a stage ({of_stage})");
    let remedy = format!("give {}, {or_layers}", near(of_stage, chunks));
    wrong("virtual_stages", what, remedy)
}

fn first_layers(spec: &TrainingSpec, model: &ModelSpec) -> Checked<Vec<u32>> {
    let parts = spec.pp * spec.chunks();
    // With one stage `stage_layers` has no effect, which its key reports.
    if spec.pp == 1 || spec.stage_layers.is_empty() {
        if !model.layers.is_multiple_of(parts) && spec.chunks() > 1 {
            return virtual_stages_that_do_not_divide(spec, model.layers);
        }
        if !model.layers.is_multiple_of(parts) {
            let what = format!(
                "is {}, which does not divide the layers of the model ({})",
                spec.pp, model.layers
            );
            let remedy = format!(
                "give {}, or the layers of each stage with `stage_layers`",
                near(model.layers, parts)
            );
            return wrong("pp", what, remedy);
        }
        let each = model.layers / parts;
        return Ok((0..=parts).map(|part| part * each).collect());
    }
    let given = &spec.stage_layers;
    if given.len() != parts as usize {
        let what = format!("has {} numbers, and there are {parts} parts", given.len());
        return wrong("stage_layers", what, format!("give {parts} numbers"));
    }
    let all: u64 = given.iter().map(|&of| u64::from(of)).sum();
    if all != u64::from(model.layers) {
        let what = format!("add up to {all}, and the model has {} layers", model.layers);
        let remedy = format!("give numbers that add up to {}", model.layers);
        return wrong("stage_layers", what, remedy);
    }
    let mut first = vec![0];
    let mut sum = 0;
    first.extend(given.iter().map(|layers| {
        sum += layers;
        sum
    }));
    Ok(first)
}

impl Training {
    /// Returns this training with a changed specification on the same ranks; `None` if that does
    /// not fit together. Used to find a remedy for a model too large for memory.
    pub(super) fn with(&self, change: impl FnOnce(&mut TrainingSpec)) -> Option<Training> {
        let mut spec = self.spec.clone();
        change(&mut spec);
        let is_interleaved = spec.schedule == PipelineSchedule::Interleaved;
        if spec.pp == 1 && is_interleaved {
            return None;
        }
        Training::new(&spec, Some(self.grid.ranks())).ok()
    }
}
