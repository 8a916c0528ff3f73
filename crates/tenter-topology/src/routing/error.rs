//! Why routes cannot be computed.

use tenter_units::OverBudget;

/// Why routes cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoutingError {
    /// A host that is not on a switch.
    #[error("host `{host}` is not attached to a switch; cable it to one")]
    Detached {
        /// Name of the host.
        host: String,
    },
    /// Two hosts without a path between them.
    #[error("host `{from}` cannot reach host `{to}`; add links between their switches")]
    Unreachable {
        /// Name of one host.
        from: String,
        /// Name of the other.
        to: String,
    },
    /// A path longer than the time-to-live of a packet.
    #[error(
        "the shortest path from host `{from}` to host `{to}` passes more than 255 switches; add shorter links"
    )]
    PathTooLong {
        /// Name of one host.
        from: String,
        /// Name of the other.
        to: String,
    },
    /// Static routes that lead back to their start.
    #[error(
        "what `{switch}` sends to the hosts on `{destination}` may go round in a circle; change `routes` so that every way leads there"
    )]
    Loop {
        /// Name of a switch from which the loop is reached.
        switch: String,
        /// Name of the switch that is never reached.
        destination: String,
    },
    /// A table that would not fit in memory.
    #[error(
        "{switches} switches with routes to {groups} leaves need more than 268435456 table entries; use leaves with more host ports"
    )]
    TooLarge {
        /// How many switches there are.
        switches: u64,
        /// How many of them have hosts.
        groups: u64,
    },
    /// A table that takes more than the request may.
    #[error("{switches} switches with routes to {groups} leaves: {over}")]
    OverBudget {
        /// How many switches there are.
        switches: u64,
        /// How many of them have hosts.
        groups: u64,
        /// What it would take, and the remedy.
        over: OverBudget,
    },
}
