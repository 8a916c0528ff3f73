//! Send-recv: each rank sends its whole buffer to the next rank and receives the previous rank's
//! buffer.
//!
//! Origin: NVIDIA/nccl-tests `sendrecv.cu`; size and bus bandwidth as there. It has no parameters;
//! the ranks form a ring in ascending order.

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::member::{CollectiveMember, Factor};
use super::one_each::OneEach;
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// Each rank sends everything to the next one.
    pub struct SendRecv;
}

impl Collective for SendRecv {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "send-recv",
        algorithm: "ring",
        summary: "each rank sends everything to the next one",
        model_page: "docs/models/collective-send-recv.md",
        ranks_max: u32::MAX,
        // Every byte crosses each port once in each direction.
        busbw: Factor::One,
    };

    /// Rank r sends to rank r + 1, the last rank to rank 0.
    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let next = (1..ranks).chain([0]).collect();
        Ok(Box::new(OneEach::new(next, size_bytes)))
    }

    /// Takes c(S) + L: each port sends one transfer and receives one.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        switch.hop(switch.size_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_sends_to_the_next() {
        let schedule = SendRecv.schedule(3, 7).unwrap();
        let sent: Vec<_> = (0..3)
            .map(|id| schedule.transfer(id))
            .map(|t| (t.src, t.dst, t.bytes))
            .collect();
        assert_eq!(sent, [(0, 1, 7), (1, 2, 7), (2, 0, 7)]);
    }
}
