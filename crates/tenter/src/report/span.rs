//! Spans between two instants, in ns.

/// A span in simulated time, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Start, in ns since the simulation began.
    pub from: f64,
    /// End, in ns since the simulation began.
    pub to: f64,
}

impl Span {
    /// The empty span, neutral in [`with`](Span::with).
    pub(crate) const NONE: Span = Span {
        from: f64::INFINITY,
        to: f64::NEG_INFINITY,
    };

    /// Returns the shortest span that contains both.
    pub(crate) fn with(self, other: Span) -> Span {
        Span {
            from: self.from.min(other.from),
            to: self.to.max(other.to),
        }
    }

    /// Returns the duration, in ns.
    pub(crate) fn length(self) -> f64 {
        self.to - self.from
    }
}
