//! GTC: particles in a torus, cut into domains along one ring.
//!
//! Origin: the Gyrokinetic Toroidal Code. Domains follow each other round the torus, and several
//! ranks share the particles of a domain. A step adds up the charge within each domain, exchanges
//! the field at the domain's two borders, and shifts particles that have left it to the
//! neighbouring domains. The code usually has at most 64 domains; sizes and the computing time are
//! assumed.

use tenter_language::config::component;
use tenter_language::units::{Bytes, Time};

use super::auto::Auto;
use super::limits::{COMPUTE, SIZES};
use super::reduce::all_reduce;
use super::{CommunicationMatrix, PatternError};
use crate::collective::{CollectiveMember, Factor};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "pattern",
    algorithm: "gtc",
    summary: "shifts round a ring of domains, and sums within each domain",
    model_page: "docs/models/pattern-gtc.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

/// Most domains by default, as many as the code usually has.
const USUAL_DOMAINS: u32 = 64;

component! {
    /// Particles in a ring of domains.
    pub struct Gtc as "`jobs[].pattern` with `kind: gtc`" {
        /// Computing time of all ranks before each step.
        compute: Time = "500us", in COMPUTE, from "assumed";
        /// Toroidal domains, a divisor of the ranks; `auto` is the greatest one up to 64. Ranks of
        /// a domain follow each other.
        domains: Auto = "auto", in 1..=u32::MAX;
        /// The buffer that the ranks of a domain add up.
        charge_bytes as "charge": u64 as Bytes = "256KiB", in SIZES, from "assumed";
        /// The field at the border, from a rank to the same one of each neighbouring domain.
        field_bytes as "field": u64 as Bytes = "64KiB", in SIZES, from "assumed";
        /// The particles that have crossed the border, from a rank to the same one of each
        /// neighbouring domain.
        particle_bytes as "particles": u64 as Bytes = "1MiB", in SIZES, from "assumed";
    }
}

impl Gtc {
    pub(super) fn phases(&self, ranks: u32) -> Result<Vec<CommunicationMatrix>, PatternError> {
        let usual = || {
            (1..=USUAL_DOMAINS.min(ranks))
                .rev()
                .find(|d| ranks.is_multiple_of(*d))
        };
        let domains = match self.domains {
            Auto::Auto => usual().unwrap_or(1),
            Auto::Given(domains) => domains,
        };
        if !ranks.is_multiple_of(domains) {
            return Err(PatternError::NotDivided {
                pattern: "gtc",
                ranks,
                key: "domains",
                given: domains,
            });
        }
        let members = ranks / domains;
        let groups: Vec<Vec<u32>> = (0..domains)
            .map(|domain| (domain * members..(domain + 1) * members).collect())
            .collect();
        let beside = |bytes: u64| {
            let of = |rank: u32| {
                [members, ranks - members].map(|away| (rank, (rank + away) % ranks, bytes))
            };
            CommunicationMatrix::of(ranks, (0..ranks).flat_map(of).collect())
        };
        let mut phases = all_reduce(ranks, &groups, self.charge_bytes);
        phases.extend([beside(self.field_bytes), beside(self.particle_bytes)]);
        // A domain that is a single rank adds nothing up, and a single domain has no neighbours.
        phases.retain(|phase| phase.pairs() > 0);
        Ok(phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_of_domains_and_the_closed_form() {
        let gtc = Gtc {
            domains: Auto::Given(8),
            ..Gtc::default()
        };
        let phases = gtc.phases(32).unwrap();
        // Four ranks halve twice and double twice.
        assert_eq!(phases.len(), 4 + 2);
        let sums: u64 = phases[..4].iter().map(CommunicationMatrix::total).sum();
        assert_eq!(sums, 8 * 2 * 3 * (256 << 10));
        assert!(
            phases[..4]
                .iter()
                .flat_map(CommunicationMatrix::iter)
                .all(|(a, b, _)| a / 4 == b / 4)
        );
        let shift = &phases[5];
        assert_eq!(shift.row(1), [(5, 1 << 20), (29, 1 << 20)]);
        assert!(shift.is_symmetric());
        assert_eq!(shift.total(), 32 * 2 * (1 << 20));
    }

    #[test]
    fn the_usual_number_of_domains() {
        // 64 of 64 ranks, alone in their domains; 60 of 120, in pairs; a prime is one domain.
        let members = |ranks| {
            let phases = Gtc::default().phases(ranks).unwrap();
            phases.last().unwrap().row(0)[0].0
        };
        assert_eq!((members(64), members(120)), (1, 2));
        assert_eq!(Gtc::default().phases(67).unwrap().len(), 2 * 6 + 2);
        let two = Gtc {
            domains: Auto::Given(2),
            ..Gtc::default()
        };
        // The domains on both sides are the same.
        assert_eq!(two.phases(2).unwrap()[1].row(0), [(1, 2 << 20)]);
    }
}
