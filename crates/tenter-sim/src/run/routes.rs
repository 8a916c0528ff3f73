//! Routing's view of the network: links that are out of use, and circuits.

use std::sync::Arc;

use tenter_fabric::topology::{Rewiring, Routing, Topology};
use tenter_language::units::Instant;

use crate::network::{Context, Driver};

/// The graph as routing knows it, which may lag behind the real one.
#[derive(Debug)]
pub(super) struct Routes {
    topology: Arc<Topology>,
    /// The routes while no link is out of use.
    whole: Arc<Routing>,
    /// For each cable true if routing avoids it; empty while it avoids none.
    is_out: Vec<bool>,
    /// Set if switches must get new routes.
    has_changed: bool,
    /// Set if circuits have changed, so that `whole` must be computed again.
    is_rewired: bool,
    /// Reason why there are no routes over the new circuits.
    failure: Option<String>,
}

impl Routes {
    pub(super) fn new(context: &Context) -> Routes {
        Routes {
            topology: Arc::clone(&context.topology),
            whole: Arc::clone(&context.routing),
            is_out: Vec::new(),
            has_changed: false,
            is_rewired: false,
            failure: None,
        }
    }

    /// Takes a cable out of use, or back into use.
    pub(super) fn set_out(&mut self, cable: u32, is_out: bool) {
        self.is_out.resize(self.topology.cables.len(), false);
        self.is_out[cable as usize] = is_out;
        self.has_changed = true;
    }

    /// Makes new circuits known to routing.
    pub(super) fn rewire(&mut self, rewiring: &Rewiring) {
        Arc::make_mut(&mut self.topology).rewire(rewiring);
        self.has_changed = true;
        self.is_rewired = true;
    }

    /// Returns why there are no routes over the new circuits, if there are none, and clears it.
    pub(super) fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Gives all switches new routes, if anything has changed.
    pub(super) fn publish<D: Driver>(&mut self, driver: &mut D, now: Instant) {
        if !std::mem::take(&mut self.has_changed) {
            return;
        }
        if std::mem::take(&mut self.is_rewired) {
            match Routing::rebuild(&self.topology) {
                Ok(whole) => self.whole = Arc::new(whole),
                // The old routes stay; the caller ends the trial.
                Err(error) => self.failure = Some(error.to_string()),
            }
        }
        let routing = if self.is_out.contains(&true) {
            // Hosts without any path left keep their full routes, which end at a link out of use.
            Arc::new(self.whole.without(&self.topology, &self.is_out))
        } else {
            Arc::clone(&self.whole)
        };
        for part in 0..driver.parts() {
            driver.fabric_mut(part).routing = Arc::clone(&routing);
        }
        driver.routes_changed(now);
    }
}
