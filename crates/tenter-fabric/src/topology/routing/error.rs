//! Errors that routing can report.

use tenter_language::units::OverBudget;

/// An error by which routes cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoutingError {
    /// A host that is cabled to no switch.
    #[error("host `{host}` is not attached to a switch; cable it to one")]
    Detached {
        /// Name of the host without a switch.
        host: String,
    },
    /// Two hosts without a path between them.
    #[error("host `{from}` cannot reach host `{to}`; add links between their switches")]
    Unreachable {
        /// Name of the host that sends.
        from: String,
        /// Name of the host that it cannot reach.
        to: String,
    },
    /// A path longer than a packet's time-to-live allows.
    #[error(
        "the shortest path from host `{from}` to host `{to}` passes more than 255 switches; add shorter links"
    )]
    PathTooLong {
        /// Name of the host that sends.
        from: String,
        /// Name of the host that is too far away.
        to: String,
    },
    /// Static routes that form a loop.
    #[error(
        "what `{switch}` sends to the hosts on `{destination}` may go round in a circle; change `routes` so that every way leads there"
    )]
    Loop {
        /// Name of a switch from which packets enter the loop.
        switch: String,
        /// Name of the switch that they never reach.
        destination: String,
    },
    /// A table with more entries than are supported.
    #[error(
        "{switches} switches with routes to {groups} leaves need more than 268435456 table entries; use leaves with more host ports"
    )]
    TooLarge {
        /// Number of switches in the fabric.
        switches: u64,
        /// Number of switches that have hosts.
        groups: u64,
    },
    /// A table that exceeds the request's budget.
    #[error("{switches} switches with routes to {groups} leaves: {over}")]
    OverBudget {
        /// Number of switches in the fabric.
        switches: u64,
        /// Number of switches that have hosts.
        groups: u64,
        /// Amount that the table would take, and a remedy.
        over: OverBudget,
    },
}
