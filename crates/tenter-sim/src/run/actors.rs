//! The list of all actors in a trial.

use crate::plan::{Fidelity, Plan};

use crate::network::Driver;

use super::actor::EdgeActor;
use super::background::Background;
use super::circuits::Circuits;
use super::faults::Faults;
use super::jobs::Jobs;
use super::reports::Reports;
use super::sampler::Sampler;
use super::steering::Steering;
use super::time_limit::TimeLimit;

/// Makes all actors for a plan, in the order in which they act at one instant.
pub(super) fn of<D: Driver>(plan: &Plan) -> Vec<Box<dyn EdgeActor<D>>> {
    // Flow level has no queues to sample.
    let is_of_packets = plan.fidelity == Fidelity::Packet;
    let interval = plan.sample_interval.filter(|_| is_of_packets);
    vec![
        Box::new(Faults::new(plan)),
        Box::new(Circuits::new(plan)),
        Box::new(Jobs),
        Box::new(Steering::new(plan)),
        Box::new(Sampler::new(interval)),
        Box::new(Reports::default()),
        Box::new(Background::default()),
        Box::new(TimeLimit::new(plan)),
    ]
}
