//! A made-up study for the tests of this crate.

/// Its table has columns for both metrics, the ends of the band, and the case to select by.
pub(crate) const DESCRIPTION: &str = r#"
title = "two cases"
source = "nowhere"
metrics = ["completion_time_ms", "ideal_percent"]
published = { table = "made-up", rows = { case = "a" }, cases = "size" }
scenario = { sizes = "jobs[0].collectives[0].sizes", quick_size_max = "1MiB" }
judged = { metric = "completion_time_ms", variant = "fitted", band = ["low", "high"] }

[[variants]]
name = "pure"
about = "nothing fitted"

[[variants]]
name = "fitted"
about = "one constant fitted"
calibrations = [{ set = "endpoint.nic.message_gap=35ns", fitted_to = "1 MiB" }]
"#;
