//! Names and units for times, rates and sizes.

/// A kind of quantity: its names in messages and its units, smallest first, each with its value in
/// the smallest unit.
pub(crate) struct Dimension {
    /// The quantity's name in messages: "time", "rate" or "size".
    pub(crate) noun: &'static str,
    /// The noun with its article: "a time".
    pub(crate) article: &'static str,
    /// The smallest unit's name in the plural: "picoseconds".
    pub(crate) smallest: &'static str,
    /// The unit that a bare number most likely lacks, for a suggestion.
    pub(crate) usual: &'static str,
    /// A valid quantity for messages.
    pub(crate) example: &'static str,
    /// The units that printing may choose.
    pub(crate) units: &'static [(&'static str, u64)],
    /// Alternative spellings that are read but never printed.
    pub(crate) spellings: &'static [(&'static str, u64)],
}

impl Dimension {
    /// Returns the value of `unit` in the smallest unit, or `None` for an unknown unit.
    pub(crate) fn worth(&self, unit: &str) -> Option<u64> {
        let mut known = self.units.iter().chain(self.spellings);
        known
            .find(|(name, _)| *name == unit)
            .map(|(_, worth)| *worth)
    }

    /// Returns the unit that the writer most likely meant: the same letters in another case, or
    /// else one typing error away.
    pub(crate) fn closest(&self, unit: &str) -> Option<&'static str> {
        let names = || self.units.iter().map(|(name, _)| *name);
        // Only units with their printed spelling are compared, so a rate is converted to that
        // first.
        let bare = unit.replace("bit/s", "bps").replace("b/s", "bps");
        names()
            .find(|name| name.eq_ignore_ascii_case(&bare))
            .or_else(|| names().find(|name| strsim::damerau_levenshtein(name, &bare) == 1))
            // One letter is one slip away from too many units.
            .filter(|_| bare.len() > 1)
    }

    /// Lists all units, separated by commas.
    pub(crate) fn listing(&self) -> String {
        let names: Vec<&str> = self.units.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}

/// Times: units, each with its value in ps.
pub(crate) const TIME: Dimension = Dimension {
    noun: "time",
    article: "a time",
    smallest: "picoseconds",
    usual: "us",
    example: "5us",
    units: &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
    ],
    // The micro sign and the Greek letter mu look alike, but are different characters.
    spellings: &[("\u{b5}s", 1_000_000), ("\u{3bc}s", 1_000_000)],
};

/// Line rates: units, each with its value in bit/s.
pub(crate) const RATE: Dimension = Dimension {
    noun: "rate",
    article: "a rate",
    smallest: "bits per second",
    usual: "Gbps",
    example: "400Gbps",
    units: &[
        ("bps", 1),
        ("kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
    ],
    spellings: &[
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
        ("b/s", 1),
        ("kb/s", 1_000),
        ("Mb/s", 1_000_000),
        ("Gb/s", 1_000_000_000),
        ("Tb/s", 1_000_000_000_000),
    ],
};

/// Sizes: units, each with its value in bytes.
pub(crate) const SIZE: Dimension = Dimension {
    noun: "size",
    article: "a size",
    smallest: "bytes",
    usual: "B",
    example: "128KiB",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
        ("TB", 1_000_000_000_000),
        ("TiB", 1 << 40),
    ],
    // Only the lower-case k is SI, but the capital one is common, and means 1,000 too.
    spellings: &[("KB", 1_000)],
};
