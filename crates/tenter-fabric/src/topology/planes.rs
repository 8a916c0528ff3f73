//! The number of planes in a fabric.

use std::fmt;
use std::str::FromStr;

use tenter_language::config::parsed;

/// Copies that a multi-plane fabric has of its switches and cables. Each copy has one port on every
/// NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planes(u8);

impl Planes {
    /// A single plane; NICs have one port.
    pub const ONE: Planes = Planes(1);
    /// Most planes, which is also the most ports that a NIC may have.
    pub(crate) const MOST: Planes = Planes(8);

    /// Returns `count` planes, or `None` outside 1 to 8.
    pub fn new(count: u32) -> Option<Planes> {
        let is_one = (1..=Planes::MOST.count()).contains(&count);
        is_one.then_some(Planes(count as u8))
    }

    /// Returns the plane count, 1 to 8.
    pub fn count(self) -> u32 {
        self.0.into()
    }
}

impl Default for Planes {
    fn default() -> Planes {
        Planes::ONE
    }
}

impl FromStr for Planes {
    type Err = ();

    fn from_str(word: &str) -> Result<Planes, ()> {
        let count = word.parse().map_err(|_| ())?;
        Planes::new(count).ok_or(())
    }
}

impl fmt::Display for Planes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

parsed!(Planes {
    "number, 1 to 8",
    "must be the number of ports of a NIC, 1 to 8, not",
    "write for example `4`"
});
