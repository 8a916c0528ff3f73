//! AMR: adaptive mesh refinement, with irregular partners and heavy-tailed volumes that change as
//! the mesh does.
//!
//! Origin: block-structured refinement with blocks dealt out along a space-filling curve, as in
//! `AMReX` (`BoxLib`) and Chombo. No published matrix is reproduced; all of the following is
//! assumed. Partners are close along the curve, half as likely at twice the distance. Volumes
//! follow a Pareto distribution with shape 1, the heaviest tail whose logarithm is still evenly
//! spread, cut off at a maximum. Before each step a share of the pairs is drawn anew.

use tenter_engine::Draws;
use tenter_language::config::{Chance, Reader, component};
use tenter_language::units::{Bytes, Time};

use super::CommunicationMatrix;
use super::limits::{COMPUTE, COUNT_MAX, SIZES};
use super::reduce::{all_reduce, everybody};
use crate::collective::{CollectiveMember, Factor};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "pattern",
    algorithm: "amr",
    summary: "irregular neighbours with volumes of a heavy tail, which change between steps",
    model_page: "docs/models/pattern-amr.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

component! {
    /// An irregular mesh, some of whose pairs change before each step.
    pub struct Amr as "`jobs[].pattern` with `kind: amr`" {
        /// Computing time of all ranks before each step.
        compute: Time = "200us", in COMPUTE, from "assumed";
        /// Partners of a rank, on average; an even number.
        partners: u32 = "12", in 2..=COUNT_MAX, unless odd, from "assumed";
        /// The least that a pair exchanges, each way.
        least_bytes as "least": u64 as Bytes = "16KiB", in SIZES, from "assumed";
        /// The most that a pair exchanges, each way.
        most_bytes as "most": u64 as Bytes = "4MiB", in SIZES, from "assumed";
        /// The share of pairs that is drawn anew before each step but the first.
        regrid: Chance = "0.25", from "assumed";
        /// The buffer of each all-reduce, which agrees on the time step.
        reduce_bytes as "reduce": u64 as Bytes = "8B", in SIZES, from "one number of double precision";
        check least_is_not_more_than_most;
    }
}

fn odd(partners: u32) -> Option<(String, String)> {
    let help = "give an even number: each rank chooses half of its partners";
    (partners % 2 == 1).then(|| (format!("cannot be `{partners}`"), help.to_owned()))
}

fn least_is_not_more_than_most(own: &Amr, reader: &mut dyn Reader) -> bool {
    let holds = own.least_bytes <= own.most_bytes;
    if !holds {
        reader.refuse(
            "most",
            "is less than `least`",
            "swap the two, or raise `most`",
        );
    }
    holds
}

impl Amr {
    pub(super) fn phases(&self, draws: Draws, ranks: u32, step: u32) -> Vec<CommunicationMatrix> {
        let regrid = self.regrid.probability();
        let slots = (self.partners / 2).max(1);
        let mut sends = Vec::new();
        for rank in 0..ranks {
            for slot in 0..slots {
                let own = draws.of(u64::from(rank) << 32 | u64::from(slot));
                let anew = |at: &u32| own.at(u64::from(*at)) < regrid;
                // The number of times this pair has been drawn anew decides its draws, so any step
                // can be computed without the ones before. Counting down keeps these numbers apart
                // from the steps' own draws.
                let epoch = (1..=step).filter(anew).count() as u64;
                let pair = own.of(u64::MAX - epoch);
                let other = (rank + distance(pair, ranks)) % ranks;
                let bytes = self.volume(pair.at(2));
                sends.extend([(rank, other, bytes), (other, rank, bytes)]);
            }
        }
        let mut phases = vec![CommunicationMatrix::of(ranks, sends)];
        phases.extend(all_reduce(ranks, &everybody(ranks), self.reduce_bytes));
        phases
    }

    /// Returns the volume for a `draw` that is uniform over all 64-bit values: above x with the
    /// probability `least`/x, and never more than `most`.
    fn volume(&self, draw: u64) -> u64 {
        let distribution = (u128::from(self.least_bytes) << 64) / (u128::from(draw) + 1);
        u64::try_from(distribution)
            .unwrap_or(u64::MAX)
            .min(self.most_bytes)
    }
}

/// Returns a partner's distance along the curve, at most half way round. Each doubling of the
/// distance is equally likely, and so is each distance within a doubling.
fn distance(pair: Draws, ranks: u32) -> u32 {
    let most = (ranks / 2).max(1);
    let octave = pair.below(0, u64::from(most.ilog2()) + 1) as u32;
    let first = 1 << octave;
    let end = (2 * first).min(most + 1);
    first + pair.below(1, u64::from(end - first)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws() -> Draws {
        Draws::new(1, "amr", "test")
    }

    #[test]
    fn pairs_are_symmetric_and_as_many_as_asked_for() {
        for step in [0, 3] {
            let phases = Amr::default().phases(draws(), 256, step);
            assert_eq!(phases.len(), 1 + 8);
            assert!(phases[0].is_symmetric());
            // 256 · 6 draws both ways; those that hit a pair again are added up.
            let pairs = phases[0].pairs();
            assert!(pairs <= 256 * 12 && pairs > 256 * 9, "{pairs}");
            let bytes = |(_, _, bytes)| bytes;
            assert!(phases[0].iter().map(bytes).min() >= Some(16 << 10));
        }
    }

    #[test]
    fn volumes_have_the_tail_of_the_law() {
        let amr = Amr::default();
        assert_eq!(amr.volume(u64::MAX), 16 << 10);
        // One in 256 is cut off at 256 times the least, and half are less than twice the least.
        assert_eq!(amr.volume(u64::MAX / 2), 32 << 10);
        assert_eq!(amr.volume(u64::MAX / 256), 4 << 20);
        assert_eq!(amr.volume(0), 4 << 20);
    }

    #[test]
    fn near_partners_are_likelier() {
        let draws = Draws::new(1, "distance", "test");
        let mut octaves = [0; 8];
        for number in 0..8_000 {
            octaves[distance(draws.of(number), 256).ilog2() as usize] += 1;
        }
        // 128 is alone in the last of eight doublings: 1,000 each, give or take five times 30.
        assert!(
            octaves.iter().all(|count| (850..1_150).contains(count)),
            "{octaves:?}"
        );
        assert_eq!(distance(draws, 2), 1);
        assert_eq!(distance(draws, 3), 1);
    }

    #[test]
    fn a_quarter_of_the_pairs_changes_between_steps() {
        let amr = Amr::default();
        let [before, after] = [4, 5].map(|step| amr.phases(draws(), 512, step).swap_remove(0));
        let kept = before
            .iter()
            .filter(|&(a, b, bytes)| after.bytes(a, b) == bytes)
            .count();
        let share = kept as f64 / before.pairs() as f64;
        assert!((0.68..0.80).contains(&share), "{share}");
        assert_eq!(before, amr.phases(draws(), 512, 4)[0], "the same again");
    }
}
