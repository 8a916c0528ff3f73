//! Stretches of time.

/// A stretch of time, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Its start.
    pub from: f64,
    /// Its end.
    pub to: f64,
}

impl Span {
    /// Contains nothing yet.
    pub(crate) const NONE: Span = Span {
        from: f64::INFINITY,
        to: f64::NEG_INFINITY,
    };

    /// The shortest span that contains both.
    pub(crate) fn with(self, other: Span) -> Span {
        Span {
            from: self.from.min(other.from),
            to: self.to.max(other.to),
        }
    }

    /// How long it lasts.
    pub(crate) fn length(self) -> f64 {
        self.to - self.from
    }
}
