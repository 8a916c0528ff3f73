//! Operation graphs from files, as a job's `workload`.

use std::fmt;
use std::str::FromStr;

use tenter_language::config::{component, parsed};
use tenter_language::units::{Bytes, Time};

use super::limits::{SIZES, TIMES};
use crate::graph::Timing;

component! {
    /// A graph of operations that `tenter import` has made.
    pub struct GraphSpec as "`jobs[].workload` with `kind: graph`", derive(Clone, Debug, PartialEq, Eq) {
        /// The file; its path counts from the folder of the scenario.
        file: String, in 4_096;
        ..timing: OperationTiming, "What operations take.";
    }
}

component! {
    /// A graph of operations in the format of GOAL, which `LogGOPSim` and ATLAHS read: what each
    /// rank sends, receives and computes, and what these wait for.
    pub struct GoalSpec as "`jobs[].workload` with `kind: goal`", derive(Clone, Debug, PartialEq, Eq) {
        /// The file, as text or binary; its path counts from the folder of the scenario.
        file: String, in 4_096;
        ..timing: OperationTiming, "What operations take.";
    }
}

component! {
    /// Times that operations take beside what they are for.
    pub struct OperationTiming as "`jobs[].workload` of operations", derive(Clone, Copy, Debug, PartialEq, Eq) {
        /// Time for which each send occupies its stream before it is posted, and each receive once
        /// its message is there.
        overhead: Time = "0ns", in TIMES;
        /// The largest message whose send is done once it is posted. A larger one's is done once
        /// the receiver's NIC has acknowledged it.
        eager: Bytes = "65535B", in Bytes::new(0)..=*SIZES.end(), from "the usual value of S in LogGOPSim";
        /// `true` sends a message above `eager` by rendezvous: its sender posts a request of 64
        /// bytes, and the message once the receiver has answered that a receive takes it.
        rendezvous: bool = "false";
        /// How often the time that the file has for it computing takes: 0.5 is a machine that is
        /// twice as fast.
        compute_scale: ComputeScale = "1";
    }
}

impl OperationTiming {
    /// Converts the keys into the values that a run uses.
    pub fn timing(self) -> Timing {
        Timing {
            overhead: self.overhead,
            eager_bytes: self.eager.count(),
            rendezvous: self.rendezvous,
            compute_ppm: self.compute_scale.0,
        }
    }
}

/// Factor on computing times, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputeScale(pub u64);

/// Millionths in a factor of 1.
const ONE: f64 = 1e6;
/// Largest factor that is accepted.
const SCALE_MAX: f64 = 1e6;

impl FromStr for ComputeScale {
    type Err = ();

    fn from_str(text: &str) -> Result<ComputeScale, ()> {
        let factor: f64 = text.parse().map_err(|_| ())?;
        // Refuses signs, exponents and `inf`, which Rust would parse.
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let millionths = (factor * ONE).round();
        // More than six decimals would be lost silently.
        let is_exact = (millionths / ONE - factor).abs() < 1e-12 * factor.max(1.0);
        let holds = is_plain && is_exact && (0.0..=SCALE_MAX).contains(&factor);
        holds.then_some(ComputeScale(millionths as u64)).ok_or(())
    }
}

impl fmt::Display for ComputeScale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0 as f64 / ONE).fmt(formatter)
    }
}

parsed!(ComputeScale {
    "decimal, 0 to 1,000,000",
    "cannot be",
    "give a number from 0 to 1,000,000 with up to six digits behind the point"
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_exact() {
        for (text, millionths) in [
            ("0", 0),
            ("1", 1_000_000),
            ("0.000001", 1),
            ("2.5", 2_500_000),
        ] {
            let scale: ComputeScale = text.parse().expect(text);
            assert_eq!(scale.0, millionths);
            assert_eq!(scale.to_string(), text);
        }
        for text in ["-1", "1e3", "0.0000001", "1000001", "nan", "", "."] {
            assert_eq!(text.parse::<ComputeScale>(), Err(()), "{text}");
        }
    }
}
