//! A switch's specification: plain numbers, all units resolved.

use crate::topology::{NodeId, Topology};
use tenter_language::config::choice;
use tenter_language::units::{Rate, Time};

use crate::net::class::{CLASSES, ClassSpec, EcnSpec, queue_of_class};
use crate::net::load_balancing::LoadBalancing;
use crate::net::memory::{BufferSharing, UNLIMITED_POOL};
use crate::net::response_time::PauseResponse;
use crate::net::scheduled::IndicationSpec;

/// Instant at which a switch may forward a frame from its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// The frame is received whole before it may leave.
    StoreAndForward,
    /// The frame may leave as soon as its head has passed the pipeline, on inputs no slower than
    /// any output of the switch; other inputs store and forward, because a faster output would run
    /// dry in mid-frame.
    CutThrough,
}

choice!(Forwarding { "cut-through" => CutThrough, "store-and-forward" => StoreAndForward });

/// One switch model; all switches in a tier share one.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchSpec {
    /// Cut-through or store-and-forward, for frames from every input.
    pub forwarding: Forwarding,
    /// Delay from the wire to the output queue.
    pub ingress_latency: Time,
    /// Delay from the output queue to the wire.
    pub egress_latency: Time,
    /// Bytes in each pool of the shared buffer; [`UNLIMITED_POOL`] never runs out. Reserved bytes
    /// and headroom lie outside.
    pub pool_bytes: Vec<u64>,
    /// Partitions of the buffer, and shared headroom.
    pub sharing: BufferSharing,
    /// Each class's treatment, ascending by class, at least one. A class that is not listed shares
    /// the next lower listed class's queue, or the first.
    pub classes: Vec<ClassSpec>,
    /// Rule that chooses among equal-cost ports.
    pub load_balancing: LoadBalancing,
}

/// Models for all switches in a fabric.
///
/// All list the same classes, so that a packet's queue has the same number in each, and all choose
/// among ports in the same way.
#[derive(Clone, Debug, PartialEq)]
pub struct Switches {
    /// Model for every tier without its own.
    pub usual: SwitchSpec,
    /// Models for single tiers, 0 for leaves; each tier appears once at most.
    pub tiers: Vec<(u8, SwitchSpec)>,
    /// True if leaves receive frames whole however they forward, as in a scheduled fabric.
    pub leaves_take_whole: bool,
    /// Response time to pause frames at the switches' ports.
    pub pause_response: PauseResponse,
}

impl Switches {
    /// Makes the models for a fabric whose switches are all alike.
    #[cfg(test)]
    pub(crate) fn alike(usual: SwitchSpec) -> Switches {
        Switches {
            usual,
            tiers: Vec::new(),
            leaves_take_whole: false,
            pause_response: PauseResponse::Standard,
        }
    }

    /// Returns true if a switch receives frames whole from an input with this rate: if it stores
    /// and forwards, if a faster output would run dry in mid-frame, or if it is a leaf in a
    /// scheduled fabric.
    ///
    /// # Panics
    ///
    /// If the node is a host.
    pub fn take_whole(&self, topology: &Topology, node: NodeId, rate: Rate) -> bool {
        self.of(topology, node).forwarding == Forwarding::StoreAndForward
            || topology.nodes[node].fastest > rate
            || (self.leaves_take_whole && topology.tier(node) == Some(0))
    }

    /// Returns a switch's model, by its tier.
    ///
    /// # Panics
    ///
    /// If the node is a host.
    pub fn of(&self, topology: &Topology, node: NodeId) -> &SwitchSpec {
        let tier = topology.tier(node).expect("only switches have a model");
        self.of_tier(tier)
    }

    /// Returns the model for a tier's switches, 0 for leaves.
    pub fn of_tier(&self, tier: u8) -> &SwitchSpec {
        let own = self.tiers.iter().find(|(own, _)| *own == tier);
        own.map_or(&self.usual, |(_, spec)| spec)
    }

    /// Returns all models, the base one first.
    pub fn iter(&self) -> impl Iterator<Item = &SwitchSpec> {
        std::iter::once(&self.usual).chain(self.tiers.iter().map(|(_, spec)| spec))
    }

    /// Returns all models for changes, the base one first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut SwitchSpec> {
        let tiers = self.tiers.iter_mut().map(|(_, spec)| spec);
        std::iter::once(&mut self.usual).chain(tiers)
    }

    /// Returns the highest class among those that switches list and those in `used`.
    pub fn highest_class(&self, used: impl IntoIterator<Item = u8>) -> Option<u8> {
        let listed = self.usual.classes.iter().map(|listed| listed.class);
        listed.chain(used).max()
    }

    /// Adds to every switch a strict queue for a class above all others, in a pool without limit.
    pub fn add_class_for_signals(&mut self, class: u8) {
        for spec in self.iter_mut() {
            let mut pools = spec.pool_bytes.iter();
            // A pool that never runs out may be shared without effect on its other classes.
            let pool = pools.position(|&bytes| bytes == UNLIMITED_POOL);
            let pool = pool.unwrap_or_else(|| {
                spec.pool_bytes.push(UNLIMITED_POOL);
                spec.pool_bytes.len() - 1
            });
            spec.classes.push(ClassSpec {
                pool: pool as u8,
                ..ClassSpec::without_end(class)
            });
        }
    }

    /// Returns true if any switch has a class for which `is` holds.
    pub fn any_class(&self, is: impl Fn(&ClassSpec) -> bool) -> bool {
        self.iter().any(|spec| spec.classes.iter().any(&is))
    }

    /// Returns the listed class for packets in `class`, then the classes that they take in further
    /// regions.
    pub fn classes_in_regions(&self, class: u8) -> impl Iterator<Item = &ClassSpec> {
        let classes = &self.usual.classes;
        let queue = self.usual.queue_of_class()[usize::from(class)];
        std::iter::successors(classes.get(usize::from(queue)), |class| {
            // Only a higher class follows, so that the chain ends.
            let next = class.next_region.filter(|next| *next > class.class)?;
            classes.iter().find(|class| class.class == next)
        })
    }

    /// Returns how many classes become one as packets enter a region, at most; at least 1. A switch
    /// that pauses that one class sends a frame for each.
    pub(crate) fn classes_that_become_one(&self) -> u32 {
        let classes = &self.usual.classes;
        if classes.iter().all(|class| class.next_region.is_none()) {
            return 1;
        }
        let become_one = |of: u8| {
            let next = classes
                .iter()
                .map(|class| class.next_region.unwrap_or(class.class));
            next.filter(|next| *next == of).count() as u32
        };
        let most = classes.iter().map(|class| become_one(class.class)).max();
        most.unwrap_or(1).max(1)
    }
}

impl SwitchSpec {
    /// Returns a pool's size in one partition, in bytes: a queue or priority group draws on one
    /// partition only.
    pub fn pool_of(&self, class_pool: u8) -> u64 {
        let pool = self.pool_bytes[usize::from(class_pool)];
        self.sharing.of_one_part(pool)
    }

    /// Returns the model for a spine in a scheduled fabric whose leaves this one describes. It has
    /// the same delays, and one queue without limit at each port, which marks cells to indicate
    /// congestion.
    #[must_use]
    pub fn of_spine(&self, indication: Option<IndicationSpec>) -> SwitchSpec {
        let ecn = indication.map(|indication| EcnSpec::above(indication.threshold_bytes));
        let class = ClassSpec {
            ecn,
            ..ClassSpec::without_end(0)
        };
        SwitchSpec {
            pool_bytes: vec![UNLIMITED_POOL],
            sharing: BufferSharing::default(),
            classes: vec![class],
            ..self.clone()
        }
    }

    /// Returns each class's queue, as an index into the list of classes.
    pub fn queue_of_class(&self) -> [u8; CLASSES] {
        queue_of_class(&self.classes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::load_balancing::Ecmp;

    /// Switches with these classes, each with the one that it becomes in another region.
    fn switches(classes: &[(u8, Option<u8>)]) -> Switches {
        let class = |&(class, next_region): &(u8, Option<u8>)| ClassSpec {
            next_region,
            ..ClassSpec::without_end(class)
        };
        Switches::alike(SwitchSpec {
            forwarding: Forwarding::CutThrough,
            ingress_latency: Time::ZERO,
            egress_latency: Time::ZERO,
            pool_bytes: vec![UNLIMITED_POOL],
            sharing: BufferSharing::default(),
            classes: classes.iter().map(class).collect(),
            load_balancing: LoadBalancing::Ecmp(Ecmp::default()),
        })
    }

    #[test]
    fn classes_become_one_where_a_chain_ends_or_chains_meet() {
        let most = |classes: &[(u8, Option<u8>)]| switches(classes).classes_that_become_one();
        assert_eq!(most(&[(0, None), (3, None)]), 1);
        // Class 4 becomes 5, and 5 stays itself.
        assert_eq!(most(&[(0, None), (3, Some(4)), (4, Some(5)), (5, None)]), 2);
        // Nothing else is class 4 or 5 in another region.
        assert_eq!(most(&[(3, Some(4)), (4, Some(5))]), 1);
        assert_eq!(most(&[(2, Some(4)), (3, Some(4)), (4, None)]), 3);
    }
}
