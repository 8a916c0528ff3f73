//! Number formats for matrix operators and for the activations that ranks send.

use tenter_language::config::choice;

use super::accelerator::AcceleratorSpec;
use super::error::{Checked, wrong};
use crate::collective::TokenPrecision;

/// Bytes per activation at 16 bits.
pub(crate) const ACTIVATION_BYTES: u64 = 2;

/// Number format for matrix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 16-bit brain floating point, 2 bytes.
    Bf16,
    /// 8-bit floating point, 1 byte, with a 4-byte scale for every 128 values.
    Fp8,
}

choice!(Precision {
    "bf16" => Bf16,
    "fp8" => Fp8,
});

impl Precision {
    /// Returns the bytes per number, scales excluded.
    pub fn bytes(self) -> u64 {
        match self {
            Precision::Bf16 => 2,
            Precision::Fp8 => 1,
        }
    }

    /// Returns the bytes for one token's `width` activations, scales included.
    pub(crate) fn activation_bytes(self, width: u64) -> u64 {
        match self {
            Precision::Bf16 => TokenPrecision::Bf16.bytes(width),
            Precision::Fp8 => TokenPrecision::Fp8.bytes(width),
        }
    }

    /// Refuses a format without a peak rate among the accelerator's figures.
    pub(crate) fn check(self, accelerator: &AcceleratorSpec) -> Checked<()> {
        if self == Precision::Fp8 && accelerator.fp8_flops.is_none() {
            let what = "is fp8, and the accelerator has no `fp8_flops`".to_owned();
            let remedy = "give `precision: bf16`, or another `accelerator`".to_owned();
            return wrong("precision", what, remedy);
        }
        Ok(())
    }
}
