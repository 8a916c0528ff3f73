//! Times for the model's blocks, and the traffic to experts that are unevenly popular.

use super::layout::Training;
use super::operators::{Block, Operators, Passes};
use super::traffic::Sizes;
use crate::collective::{CollectiveKind, Direction};
use crate::transformer::all_to_all;

/// The model's blocks with their times, which are the same at every rank.
pub(super) struct Blocks {
    pub(super) operators: Operators,
    /// Blocks in a layer without experts.
    pub(super) dense: Vec<Block>,
    /// Blocks in a layer with experts; empty if the model has none.
    pub(super) experts: Vec<Block>,
    pub(super) embedding: Block,
    pub(super) head: Block,
    /// Expert traffic by the rank to which a layer deals its most popular expert; empty if tokens
    /// are spread evenly.
    pub(super) experts_to: Vec<ExpertTraffic>,
    /// Dispatch and combination by kernels, in place of all-to-alls.
    pub(super) kernels: Option<[CollectiveKind; 2]>,
}

/// Dispatch and combination for layers that deal their most popular expert to the same rank.
pub(super) struct ExpertTraffic {
    /// Computing at each rank, relative to evenly spread tokens.
    pub(super) loads: Vec<f64>,
    pub(super) dispatch: CollectiveKind,
    pub(super) combine: CollectiveKind,
    /// The combination's backward pass, in which gradients go to the experts.
    pub(super) gradients: CollectiveKind,
}

impl ExpertTraffic {
    /// Builds the traffic for each rank with which a layer may begin. Empty if tokens are spread
    /// evenly, or if one rank has all experts.
    pub(super) fn all(training: &Training) -> Vec<ExpertTraffic> {
        let (spec, sizes) = (&training.spec, Sizes::new(training));
        if spec.expert_skew.is_even() || spec.ep == 1 {
            return Vec::new();
        }
        let shares = spec.expert_skew.shares(training.model.experts, spec.ep);
        let beginning_with = |first: usize| {
            let mut shares = shares.clone();
            // A layer deals its most popular expert to rank `first` of the group.
            shares.rotate_right(first);
            let ranks = f64::from(spec.ep);
            Some(ExpertTraffic {
                dispatch: all_to_all(&shares, sizes.dispatch, Direction::Dispatch)?,
                combine: all_to_all(&shares, sizes.combine, Direction::Combine)?,
                gradients: all_to_all(&shares, sizes.combine, Direction::Dispatch)?,
                loads: shares.iter().map(|share| share * ranks).collect(),
            })
        };
        // Another first rank only moves the shares: either each gives traffic or none does, so an
        // entry's index stays its first rank.
        (0..shares.len()).filter_map(beginning_with).collect()
    }
}

impl Blocks {
    pub(super) fn new(training: &Training) -> Blocks {
        let operators = training.operators();
        let scaled = |has_experts: bool| {
            let mut blocks = operators.layer(has_experts);
            let all: Passes = blocks.iter().map(Block::all).sum();
            let factor = |given: Option<tenter_language::units::Time>, own: f64| {
                // Measured times of a layer keep the roofline's proportions among its blocks.
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
            kernels: training.spec.expert_exchange.kinds(&training.model),
            operators,
        }
    }
}
