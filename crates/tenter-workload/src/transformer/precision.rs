//! Numbers that accelerators compute with, and send.

use tenter_config::choice;

use super::accelerator::AcceleratorSpec;
use super::error::{Checked, wrong};

/// Bytes of an activation.
pub(crate) const ACTIVATION_BYTES: u64 = 2;
/// Numbers of 8 bits that share a scale of 4 bytes.
const SCALED: u64 = 128;

/// Numbers of matrix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Two bytes.
    Bf16,
    /// One byte, with a scale of 4 bytes for 128 of them.
    Fp8,
}

choice!(Precision {
    "bf16" => Bf16,
    "fp8" => Fp8,
});

impl Precision {
    /// Bytes of a number, without scales.
    pub fn bytes(self) -> u64 {
        match self {
            Precision::Bf16 => 2,
            Precision::Fp8 => 1,
        }
    }

    /// Bytes of so many activations of a token, with scales.
    pub(crate) fn activation_bytes(self, width: u64) -> u64 {
        match self {
            Precision::Bf16 => width * ACTIVATION_BYTES,
            Precision::Fp8 => width + 4 * width.div_ceil(SCALED),
        }
    }

    /// Refuses numbers that an accelerator does not multiply.
    pub(crate) fn check(self, accelerator: &AcceleratorSpec) -> Checked<()> {
        if self == Precision::Fp8 && accelerator.fp8_flops.is_none() {
            let what = "is fp8, and the accelerator has no `fp8_flops`".to_owned();
            let remedy = "give `precision: bf16`, or another `accelerator`".to_owned();
            return wrong("precision", what, remedy);
        }
        Ok(())
    }
}
