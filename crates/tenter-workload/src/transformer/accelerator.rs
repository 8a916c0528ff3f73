//! Accelerators: peak rates, memory, and the share that operators reach of each peak.

use std::fmt;
use std::str::FromStr;

use tenter_language::config::{Share, WordOr, choice, component, default_with, parsed};
use tenter_language::units::{Bytes, Rate};

use super::shapes::Cost;

/// A computing rate in floating-point operations per second, written with a unit: `312TFLOPS`.
/// Stored in millions, so that a decimal such as 989.4 TFLOPS is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flops(u64);

/// Unit suffixes, each with its value in million operations per second.
const UNITS: [(&str, u64); 3] = [
    ("GFLOPS", 1_000),
    ("TFLOPS", 1_000_000),
    ("PFLOPS", 1_000_000_000),
];

impl Flops {
    /// Creates a rate from millions per second.
    pub const fn from_mega(mega: u64) -> Flops {
        Flops(mega)
    }

    /// Returns the rate in operations per second.
    pub fn per_second(self) -> f64 {
        self.0 as f64 * 1e6
    }
}

impl FromStr for Flops {
    type Err = ();

    fn from_str(text: &str) -> Result<Flops, ()> {
        let unit = UNITS.iter().find_map(|&(unit, mega)| {
            let number = text.strip_suffix(unit)?;
            Some((number, mega))
        });
        let (number, mega) = unit.ok_or(())?;
        // Refuses signs, exponents and `inf`, which Rust would parse.
        let is_plain = number.bytes().all(|of| of.is_ascii_digit() || of == b'.');
        let number: f64 = number.parse().map_err(|_| ())?;
        let all = (number * mega as f64).round();
        // Below 10¹⁵ a whole number of millions is exact in floating point.
        let holds = is_plain && (1.0..1e15).contains(&all);
        holds.then_some(Flops(all as u64)).ok_or(())
    }
}

impl fmt::Display for Flops {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}TFLOPS", self.0 as f64 / 1e6)
    }
}

parsed!(Flops {
    "operations per second, such as `312TFLOPS`",
    "are no operations per second:",
    "give a number with GFLOPS, TFLOPS or PFLOPS, for example `312TFLOPS`"
});

component! {
    /// Share of a peak that an operator reaches, from a size on.
    pub struct EfficiencyStep as "`jobs[].workload.accelerator.…[]`", derive(Clone, Copy, Debug, PartialEq, Eq) {
        /// The size of the operator from which it holds: GFLOP of matrix and vector operators, MB
        /// of memory.
        from: u32 = "0", in 0..=1_000_000_000;
        /// The share of the peak.
        share: Share;
    }
}

component! {
    /// How fast an accelerator computes.
    pub struct AcceleratorSpec as "`jobs[].workload.accelerator`", derive(Clone, Debug, PartialEq, Eq) {
        /// Peak of the matrix units with 16-bit numbers, without sparsity.
        flops: Flops;
        /// Peak of the matrix units with 8-bit numbers.
        fp8_flops: Option<Flops> = absent "none: `precision: fp8` is refused";
        /// Peak of the vector units with 16-bit numbers.
        vector_flops: Option<Flops> = absent "a quarter of `flops`";
        /// Rate at which it reads and writes its memory.
        memory_bandwidth: Rate, in Rate::from_gbps(1)..=Rate::from_gbps(10_000_000);
        /// Capacity of its memory, which `check_memory` compares with what the model needs.
        memory: Bytes, in Bytes::new(1 << 20)..=Bytes::new(1 << 50);
        /// Share of the peak that matrix operators reach, by their size; an operator of a size
        /// below all of them reaches a tenth.
        matrix_efficiency: Vec<EfficiencyStep> = "[]";
        /// Share of their peak that vector operators reach, by their size.
        vector_efficiency: Vec<EfficiencyStep> = "[]";
        /// Share of the bandwidth that the memory reaches, by the bytes of an operator.
        memory_efficiency: Vec<EfficiencyStep> = "[]";
        /// Share of the peak of the matrix units that the fused kernel of attention reaches.
        attention_efficiency: Share = "0.5", from "assumed";
        /// One share of the peak for matrix operators of all sizes, in place of
        /// `matrix_efficiency`: the number to calibrate.
        efficiency: Option<Share> = absent "`matrix_efficiency`";
        /// Time of an operator: the `sum` of its times for computing and for memory, or the longer
        /// one (`max`).
        roofline: Roofline = "max";
    }
}

/// Rule that makes one time from an operator's computing time and memory time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roofline {
    /// The two times add up: computing and memory traffic follow one another.
    Sum,
    /// The longer time counts: computing and memory traffic overlap.
    Max,
}

choice!(Roofline {
    "sum" => Sum,
    "max" => Max,
});

/// An accelerator whose figures Tenter knows by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedAccelerator {
    /// NVIDIA A100 SXM with 80 GB.
    A100,
    /// NVIDIA H100 SXM with 80 GB.
    H100,
    /// NVIDIA H200 SXM with 141 GB.
    H200,
    /// NVIDIA B200, 180 GB, as in a DGX B200.
    B200,
    /// AMD Instinct MI300X, 192 GB.
    Mi300x,
}

choice!(NamedAccelerator {
    "a100" => A100,
    "h100" => H100,
    "h200" => H200,
    "b200" => B200,
    "mi300x" => Mi300x,
});

type Steps = &'static [(u32, u32)];

/// Matrix efficiency on A100 in percent, from a size in GFLOP on. The authors behind Calculon
/// fitted it to measured steps (calculon-ai/calculon, `systems/`).
const MATRIX_A100: Steps = &[(0, 10), (1, 60), (16, 90), (128, 95)];
/// Matrix efficiency on H100, from the linear layers in Llama-2-70B as microsoft/vidur measured
/// them: 699 of 989 TFLOP/s with 4,096 tokens, 370 to 668 with 512, 179 to 289 with 128.
const MATRIX_H100: Steps = &[(0, 10), (2, 22), (8, 45), (16, 60), (64, 72)];
/// Calculon's vector efficiency in percent, by GFLOP.
const VECTOR: Steps = &[(0, 10), (1, 50), (16, 95)];
/// Calculon's memory efficiency in percent, by MB.
const MEMORY: Steps = &[(0, 30), (1, 60), (10, 75), (100, 90)];

fn steps(percent: Steps) -> Vec<EfficiencyStep> {
    let step = |&(from, percent): &(u32, u32)| EfficiencyStep {
        from,
        share: Share::from_ppm(percent * 10_000),
    };
    percent.iter().map(step).collect()
}

impl NamedAccelerator {
    /// Names the documents from which the figures come.
    pub fn origin(self) -> &'static str {
        match self {
            NamedAccelerator::A100 => {
                "data sheet of NVIDIA A100 80GB SXM; efficiencies of calculon-ai/calculon"
            }
            NamedAccelerator::H100 => {
                "data sheet of NVIDIA H100 SXM; efficiencies from measurements of microsoft/vidur"
            }
            NamedAccelerator::H200 => {
                "data sheet of NVIDIA H200 SXM; efficiencies of H100, as an assumption"
            }
            NamedAccelerator::B200 => {
                "data sheet of NVIDIA DGX B200; vector peak an assumption; efficiencies of H100, as an assumption"
            }
            NamedAccelerator::Mi300x => {
                "data sheet of AMD Instinct MI300X; vector peak an assumption; efficiencies of H100, as an assumption"
            }
        }
    }

    /// Returns the figures by the accelerator's data sheet, with efficiencies.
    pub fn figures(self) -> AcceleratorSpec {
        // Dense peaks in TFLOP/s (16-bit matrix, 8-bit matrix, 16-bit vector), memory rate in
        // Gbit/s, and memory size in GB.
        let [flops, fp8, vector, gbps, memory] = match self {
            NamedAccelerator::A100 => ["312", "312", "78", "16312", "80"],
            NamedAccelerator::H100 => ["989.4", "1978.9", "133.8", "26800", "80"],
            NamedAccelerator::H200 => ["989.4", "1978.9", "133.8", "38400", "141"],
            NamedAccelerator::B200 => ["2250", "4500", "160", "64000", "180"],
            NamedAccelerator::Mi300x => ["1307.4", "2614.9", "163.4", "42400", "192"],
        };
        let own: [(&str, String); 5] = [
            ("flops", format!("{flops}TFLOPS")),
            ("fp8_flops", format!("{fp8}TFLOPS")),
            ("vector_flops", format!("{vector}TFLOPS")),
            ("memory_bandwidth", format!("{gbps}Gbps")),
            ("memory", format!("{memory}GB")),
        ];
        let own = own.each_ref().map(|(key, value)| (*key, value.as_str()));
        // Without 8-bit floating point in the matrix units `precision: fp8` must be refused, so the
        // placeholder in the table is dropped below.
        let is_a100 = self == NamedAccelerator::A100;
        // Read as a scenario's text would be, so units, ranges and defaults hold for named ones,
        // too.
        let given: AcceleratorSpec = default_with(&own);
        AcceleratorSpec {
            matrix_efficiency: steps(if is_a100 { MATRIX_A100 } else { MATRIX_H100 }),
            vector_efficiency: steps(VECTOR),
            memory_efficiency: steps(MEMORY),
            roofline: if is_a100 {
                Roofline::Sum
            } else {
                Roofline::Max
            },
            fp8_flops: given.fp8_flops.filter(|_| !is_a100),
            ..given
        }
    }
}

/// An accelerator by its name, or by its figures.
pub type Accelerator = WordOr<NamedAccelerator, AcceleratorSpec>;

/// Returns the accelerator's figures, looked up if it has a name.
pub(crate) fn figures(accelerator: &Accelerator) -> AcceleratorSpec {
    match accelerator {
        WordOr::Word(named) => named.figures(),
        WordOr::Mapping(own) => own.clone(),
    }
}

/// Share that operators reach below the first step. It is also used for a share of 0, by which
/// times would be infinite.
const LEAST_SHARE: f64 = 0.1;

/// Returns the share that an operator reaches of a peak: the highest step up to `size` counts.
/// Without steps it is 1. Sizes are in GFLOP for computing and in MB for memory.
fn share_of(steps: &[EfficiencyStep], size: f64) -> f64 {
    if steps.is_empty() {
        return 1.0;
    }
    let reached = steps.iter().filter(|step| size >= f64::from(step.from));
    let share = reached
        .max_by_key(|step| step.from)
        .map(|step| f64::from(step.share.ppm()) / 1e6);
    share.filter(|&share| share > 0.0).unwrap_or(LEAST_SHARE)
}

impl AcceleratorSpec {
    /// Returns the matrix units' peak in operations per second. Without `fp8_flops` the 16-bit peak
    /// counts.
    pub fn peak(&self, is_fp8: bool) -> f64 {
        let fp8 = self.fp8_flops.filter(|_| is_fp8);
        fp8.unwrap_or(self.flops).per_second()
    }

    /// Returns the seconds that a matrix operator takes. A positive `efficiency` overrides the
    /// table by size.
    pub fn matrix_seconds(&self, cost: Cost, is_fp8: bool) -> f64 {
        let usual = || share_of(&self.matrix_efficiency, cost.flops / 1e9);
        let own = self.efficiency.map(|share| f64::from(share.ppm()) / 1e6);
        let share = own.filter(|&share| share > 0.0).unwrap_or_else(usual);
        self.roof(cost.flops / (self.peak(is_fp8) * share), cost.bytes)
    }

    /// Returns the seconds that the fused attention kernel takes, always at the 16-bit peak.
    pub fn attention_seconds(&self, cost: Cost) -> f64 {
        let share = f64::from(self.attention_efficiency.ppm()) / 1e6;
        let share = if share > 0.0 { share } else { LEAST_SHARE };
        self.roof(cost.flops / (self.peak(false) * share), cost.bytes)
    }

    /// Returns the seconds that a vector operator takes.
    pub fn vector_seconds(&self, cost: Cost) -> f64 {
        // The default for accelerators without a stated vector peak, as the key's reference says.
        let quarter = self.flops.per_second() / 4.0;
        let peak = self.vector_flops.map_or(quarter, Flops::per_second);
        let share = share_of(&self.vector_efficiency, cost.flops / 1e9);
        self.roof(cost.flops / (peak * share), cost.bytes)
    }

    /// Combines `computing` seconds with the time to move `bytes`.
    fn roof(&self, computing: f64, bytes: f64) -> f64 {
        if bytes <= 0.0 {
            return computing;
        }
        let rate = self.memory_bandwidth.bits_per_second() as f64 / 8.0;
        let memory = bytes / (rate * share_of(&self.memory_efficiency, bytes / 1e6));
        match self.roofline {
            Roofline::Sum => computing + memory,
            Roofline::Max => computing.max(memory),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_language::config::Words;

    #[test]
    fn operations_per_second_have_units() {
        let read = |text: &str| text.parse::<Flops>().map(Flops::per_second);
        assert_eq!(read("312TFLOPS"), Ok(312e12));
        assert_eq!(read("1.5PFLOPS"), Ok(1.5e15));
        for text in ["312", "TFLOPS", "-1TFLOPS", "1e3TFLOPS", "0GFLOPS"] {
            assert_eq!(read(text), Err(()), "{text}");
        }
        for named in NamedAccelerator::ALL {
            assert!(named.figures().peak(true) >= named.figures().peak(false));
        }
    }

    #[test]
    fn steps_may_stand_in_any_order() {
        let mut steps = steps(MATRIX_H100);
        let sizes = [0.0, 1.0, 10.0, 100.0, 1e3, 1e4];
        let shares = |steps: &[EfficiencyStep]| sizes.map(|size| share_of(steps, size).to_bits());
        let ascending = shares(&steps);
        steps.reverse();
        assert_eq!(shares(&steps), ascending);
    }

    /// 1,000 GFLOP at 95 % of 312 TFLOP/s and 200 MB at 90 % of 2,039 GB/s, one after the other.
    #[test]
    fn the_roofline_is_by_hand() {
        let a100 = NamedAccelerator::A100.figures();
        let expected = 1e12 / (312e12 * 0.95) + 200e6 / (2_039e9 * 0.9);
        let found = a100.matrix_seconds(Cost::new(1e12, 200e6), false);
        assert!((found / expected - 1.0).abs() < 1e-12);
        let h100 = NamedAccelerator::H100.figures();
        let found = h100.vector_seconds(Cost::new(1e9, 200e6));
        assert!((found / (200e6 / (3_350e9 * 0.9)) - 1.0).abs() < 1e-12);
    }
}
