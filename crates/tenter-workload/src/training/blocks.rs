//! The blocks of a model and what they take, and how tokens reach experts that are not all alike.

use super::layout::Training;
use super::operators::{Block, Operators, Passes};
use super::traffic::Sizes;
use crate::collective::CollectiveKind;
use crate::transformer::{Way, all_to_all};

/// What the blocks of the model take any rank.
pub(super) struct Blocks {
    pub(super) operators: Operators,
    pub(super) dense: Vec<Block>,
    pub(super) experts: Vec<Block>,
    pub(super) embedding: Block,
    pub(super) head: Block,
    pub(super) experts_to: Vec<ExpertTraffic>,
}

/// Dispatch and combination of the layers that begin with the same rank.
pub(super) struct ExpertTraffic {
    /// What each rank computes over what it would if tokens were spread evenly.
    pub(super) loads: Vec<f64>,
    pub(super) dispatch: CollectiveKind,
    pub(super) combine: CollectiveKind,
    /// The gradients of the combination.
    pub(super) gradients: CollectiveKind,
}

impl ExpertTraffic {
    /// One for each rank that layers begin with, where tokens are not spread evenly.
    pub(super) fn all(training: &Training) -> Vec<ExpertTraffic> {
        let (spec, sizes) = (&training.spec, Sizes::new(training));
        if spec.expert_skew.is_even() || spec.ep == 1 {
            return Vec::new();
        }
        let shares = spec.expert_skew.shares(training.model.experts, spec.ep);
        let beginning_with = |first: usize| {
            let mut shares = shares.clone();
            shares.rotate_right(first);
            let ranks = f64::from(spec.ep);
            Some(ExpertTraffic {
                dispatch: all_to_all(&shares, sizes.dispatch, Way::There)?,
                combine: all_to_all(&shares, sizes.combine, Way::Back)?,
                gradients: all_to_all(&shares, sizes.combine, Way::There)?,
                loads: shares.iter().map(|share| share * ranks).collect(),
            })
        };
        (0..shares.len()).filter_map(beginning_with).collect()
    }
}

impl Blocks {
    pub(super) fn new(training: &Training) -> Blocks {
        let operators = training.operators();
        let scaled = |has_experts: bool| {
            let mut blocks = operators.layer(has_experts);
            let all: Passes = blocks.iter().map(Block::all).sum();
            let factor = |given: Option<tenter_units::Time>, own: f64| {
                given.map_or(1.0, |given| given.ps() as f64 / 1e12 / own)
            };
            let spec = &training.spec;
            let forward = factor(spec.layer_forward, all.forward);
            let backward = factor(spec.layer_backward, all.backward());
            for block in &mut blocks {
                for part in [&mut block.before, &mut block.core, &mut block.after] {
                    *part = part.scaled(forward, backward);
                }
                block.recomputed *= forward;
            }
            blocks
        };
        Blocks {
            dense: scaled(false),
            experts: if training.model.experts > 0 {
                scaled(true)
            } else {
                Vec::new()
            },
            embedding: operators.embedding(),
            head: operators.head(),
            experts_to: ExpertTraffic::all(training),
            operators,
        }
    }
}
