//! What is found while a scenario is put together.

use tenter_notation::diagnostics::Problems;

/// Where problems are noted, and warnings.
#[derive(Clone, Copy)]
pub(crate) struct Findings<'a> {
    /// There is no plan with any of these.
    pub(crate) problems: &'a Problems,
    /// What is allowed, but hardly meant.
    pub(crate) warnings: &'a Problems,
}
