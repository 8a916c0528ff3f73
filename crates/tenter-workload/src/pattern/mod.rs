//! Communication patterns of parallel applications: one file per member, listed in [`PatternKind`].
//!
//! ```text
//!   PatternKind ─phases(ranks, step)─▶ a matrix for each phase ─PatternSchedule─▶ transfers
//! ```
//!
//! An application's step computes and then communicates in phases. A phase is a
//! [`CommunicationMatrix`]; a rank goes on to the next phase when everything that the phase sends
//! it has arrived. Code that several members share has a file without a member (`grid`,
//! `communication_matrix`, `reduce`, and for the keys `auto`, `limits`, `sends`).

mod amg;
mod amr;
mod auto;
mod communication_matrix;
mod database_pod;
mod error;
mod grid;
mod gtc;
mod limits;
mod matrix;
mod milc;
mod mini_dft;
mod nekbone;
mod reduce;
mod schedule;
mod sends;

use tenter_engine::Draws;
use tenter_language::config::variants;
use tenter_language::units::Time;

use crate::collective::CollectiveMember;

pub use amg::Amg;
pub use amr::Amr;
pub use auto::Auto;
pub use communication_matrix::CommunicationMatrix;
pub use database_pod::DatabasePod;
pub use error::PatternError;
pub use gtc::Gtc;
pub use matrix::Matrix;
pub use milc::Milc;
pub use mini_dft::MiniDft;
pub use nekbone::Nekbone;
pub use schedule::PatternSchedule;
pub use sends::Sends;

variants! {
    /// Every pattern of applications that a job can run.
    pub enum PatternKind as "`jobs[].pattern`", derive(Clone, Debug, PartialEq, Eq) {
        /// The application; its further keys are below.
        kind;
        /// All-to-alls in rows and columns of ranks, and an all-reduce: Fourier transforms.
        "mini-dft" => MiniDft(MiniDft),
        /// A four-dimensional stencil and dot products: lattice quantum chromodynamics.
        "milc" => Milc(Milc),
        /// A three-dimensional stencil of up to 26 neighbours and dot products: spectral elements.
        "nekbone" => Nekbone(Nekbone),
        /// A three-dimensional stencil at several distances: algebraic multigrid.
        "amg" => Amg(Amg),
        /// Irregular neighbours that change between steps: adaptive mesh refinement.
        "amr" => Amr(Amr),
        /// Shifts round a ring of domains: particles in a torus.
        "gtc" => Gtc(Gtc),
        /// Many-to-many between racks of different loads: databases.
        "database-pod" => DatabasePod(DatabasePod),
        /// Bytes from each rank to each other, as somebody measured or made them.
        "matrix" => Matrix(Matrix),
    }
}

impl PatternKind {
    /// Returns all patterns with default keys, except [`PatternKind::Matrix`], which has no
    /// default.
    pub fn defaults() -> [PatternKind; 7] {
        [
            PatternKind::MiniDft(MiniDft::default()),
            PatternKind::Milc(Milc::default()),
            PatternKind::Nekbone(Nekbone::default()),
            PatternKind::Amg(Amg::default()),
            PatternKind::Amr(Amr::default()),
            PatternKind::Gtc(Gtc::default()),
            PatternKind::DatabasePod(DatabasePod::default()),
        ]
    }

    /// Returns the computing time that all ranks take before each step.
    pub(crate) fn compute(&self) -> Time {
        match self {
            PatternKind::MiniDft(own) => own.compute,
            PatternKind::Milc(own) => own.compute,
            PatternKind::Nekbone(own) => own.compute,
            PatternKind::Amg(own) => own.compute,
            PatternKind::Amr(own) => own.compute,
            PatternKind::Gtc(own) => own.compute,
            PatternKind::DatabasePod(own) => own.compute,
            PatternKind::Matrix(own) => own.compute,
        }
    }

    /// Returns the static description: names, limits, bus bandwidth.
    pub fn member(&self) -> &'static CollectiveMember {
        match self {
            PatternKind::MiniDft(_) => &mini_dft::MEMBER,
            PatternKind::Milc(_) => &milc::MEMBER,
            PatternKind::Nekbone(_) => &nekbone::MEMBER,
            PatternKind::Amg(_) => &amg::MEMBER,
            PatternKind::Amr(_) => &amr::MEMBER,
            PatternKind::Gtc(_) => &gtc::MEMBER,
            PatternKind::DatabasePod(_) => &database_pod::MEMBER,
            PatternKind::Matrix(_) => &matrix::MEMBER,
        }
    }

    /// Returns true if steps differ from each other.
    pub fn changes(&self) -> bool {
        matches!(self, PatternKind::Amr(amr) if amr.regrid.probability() > 0)
    }

    /// Returns true if the pattern depends on random draws.
    pub fn draws(&self) -> bool {
        matches!(self, PatternKind::Amr(_) | PatternKind::DatabasePod(_))
    }

    /// Returns the phases of a step over `ranks` ranks, none of them empty. Steps count from 0, and
    /// `draws` provides the randomness.
    ///
    /// # Errors
    /// A rank count that does not suit the pattern or its keys; more pairs than a matrix may have.
    pub(crate) fn phases(
        &self,
        draws: Draws,
        ranks: u32,
        step: u32,
    ) -> Result<Vec<CommunicationMatrix>, PatternError> {
        let pattern = self.member().algorithm;
        if ranks < 2 {
            return Err(PatternError::TooFewRanks { pattern, ranks });
        }
        if self.pairs_at_most(ranks) > CommunicationMatrix::ENTRIES_MAX as u64 {
            return Err(PatternError::TooManyPairs { pattern, ranks });
        }
        match self {
            PatternKind::MiniDft(own) => own.phases(ranks),
            PatternKind::Milc(own) => own.phases(ranks),
            PatternKind::Nekbone(own) => own.phases(ranks),
            PatternKind::Amg(own) => own.phases(ranks),
            PatternKind::Amr(own) => Ok(own.phases(draws, ranks, step)),
            PatternKind::Gtc(own) => own.phases(ranks),
            PatternKind::DatabasePod(own) => own.phases(draws, ranks),
            PatternKind::Matrix(own) => own.phases(ranks),
        }
    }

    /// Returns an upper bound for the pairs in one phase, so that too large ones are refused before
    /// they are built.
    fn pairs_at_most(&self, ranks: u32) -> u64 {
        let ranks = u64::from(ranks);
        let each = match self {
            PatternKind::Matrix(own) => return own.pairs() as u64,
            PatternKind::MiniDft(own) => {
                let even = || u64::from(grid::even(ranks as u32, 2)[0]);
                match own.rows {
                    Auto::Auto => even(),
                    Auto::Given(rows) => u64::from(rows).max(ranks / u64::from(rows)),
                }
            }
            PatternKind::Milc(_) | PatternKind::Gtc(_) => 8,
            PatternKind::Nekbone(_) | PatternKind::Amg(_) => 26,
            PatternKind::Amr(own) => u64::from(own.partners.max(2)),
            // On average over full racks a rank sends `transfers`; one more for ranks that would
            // send less than one.
            PatternKind::DatabasePod(own) => u64::from(own.transfers) + 1,
        };
        ranks.saturating_mul(each)
    }
}
