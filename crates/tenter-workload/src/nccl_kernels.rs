//! Times of NCCL's kernels within one scale-up domain.
//!
//! A kernel's time is a launch, a time for each step or peer, and bytes over a rate. NCCL has one
//! kernel for each protocol, and the fastest is taken here.
//!
//! The constants are calibrations. Origin: `systems/data/*/comm/nccl` of aiconfigurator-core
//! 0.12.0, NCCL 2.27.3 to 2.29.2 without 2.28.9, half precision, sizes of 512·4ᵏ bytes. The fit did
//! not read a quarter of these rows (`studies/silicon/nccl/sealed.csv`). It minimises the logarithm
//! of the ratio of both times, with steps of 0.6 µs or more, the latency of a domain.

use std::ops::RangeInclusive;

use tenter_language::config::{choice, component};
use tenter_language::units::{Rate, Time};

use crate::collective::WireProtocol;

/// A GPU whose kernels have been measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NcclGpu {
    /// A100 with `NVLink`.
    A100,
    /// H100 with `NVLink`, and H200, which has the same links.
    H100,
    /// B200 with `NVLink`, GB200 and GB300.
    B200,
    /// RTX PRO 6000 Blackwell, on a server's PCIe switches.
    RtxPro6000,
    /// L40S, on a server's PCIe switches.
    L40s,
}

choice!(NcclGpu {
    "a100" => A100,
    "h100" => H100,
    "b200" => B200,
    "rtx-pro-6000" => RtxPro6000,
    "l40s" => L40s,
});

component! {
    /// Times of NCCL's kernels in the domain: a collective whose ranks share it takes `start`, and
    /// `step` or `peer` for each of them, and its bytes over `rate`, by the fastest protocol.
    pub struct NcclKernels as "`endpoint.host.scale_up.nccl_kernels`" {
        /// The measured GPU whose times are the defaults of all other keys.
        gpu: NcclGpu = "h100";
        /// Launch of a ring with LL.
        ll_start: Time = by defaults::start::<0> | gpu | "that of `gpu`", in TIMES;
        /// Time of a ring's step with LL; the domain's latency at least.
        ll_step: Time = by defaults::step::<0> | gpu | "that of `gpu`", in TIMES;
        /// Rate of a ring with LL.
        ll_rate: Rate = by defaults::rate::<0> | gpu | "that of `gpu`", in RATES;
        /// Launch of a ring with LL128.
        ll128_start: Time = by defaults::start::<1> | gpu | "that of `gpu`", in TIMES;
        /// Time of a ring's step with LL128; the domain's latency at least.
        ll128_step: Time = by defaults::step::<1> | gpu | "that of `gpu`", in TIMES;
        /// Rate of a ring with LL128.
        ll128_rate: Rate = by defaults::rate::<1> | gpu | "that of `gpu`", in RATES;
        /// Launch of a ring with Simple.
        simple_start: Time = by defaults::start::<2> | gpu | "that of `gpu`", in TIMES;
        /// Time of a ring's step with Simple; the domain's latency at least.
        simple_step: Time = by defaults::step::<2> | gpu | "that of `gpu`", in TIMES;
        /// Rate of a ring with Simple.
        simple_rate: Rate = by defaults::rate::<2> | gpu | "that of `gpu`", in RATES;
        /// Rate at which a ring copies a rank's own share, the buffer over the ranks.
        copy_rate: Rate = by defaults::copy_rate | gpu | "that of `gpu`", in RATES;
        /// Rate between two ranks alone with Simple, where it is another: GPUs on one PCIe switch.
        pair_rate: Option<Rate> = by defaults::pair_rate | gpu | "that of `gpu`", in RATES;
        /// Launch of NVLS.
        nvls_start: Time = by defaults::nvls_start | gpu | "that of `gpu`", in TIMES;
        /// Buffer over the time that its bytes take with NVLS, in an all-reduce of 4 ranks or more;
        /// `none`: the switch adds nothing up.
        nvls_rate: Option<Rate> = by defaults::nvls_rate | gpu | "that of `gpu`", in RATES;
        /// Launch of an all-to-all with LL.
        all_to_all_ll_start: Time = by defaults::start::<3> | gpu | "that of `gpu`", in TIMES;
        /// Time for each peer of an all-to-all with LL.
        all_to_all_ll_peer: Time = by defaults::step::<3> | gpu | "that of `gpu`", in TIMES;
        /// Rate to each peer, all at once, of an all-to-all with LL.
        all_to_all_ll_peer_rate: Rate = by defaults::rate::<3> | gpu | "that of `gpu`", in RATES;
        /// Launch of an all-to-all with Simple.
        all_to_all_simple_start: Time = by defaults::start::<4> | gpu | "that of `gpu`", in TIMES;
        /// Time for each peer of an all-to-all with Simple.
        all_to_all_simple_peer: Time = by defaults::step::<4> | gpu | "that of `gpu`", in TIMES;
        /// Rate to all peers together of an all-to-all with Simple.
        all_to_all_simple_rate: Rate = by defaults::rate::<4> | gpu | "that of `gpu`", in RATES;
        /// Rate at which an all-to-all with Simple copies a rank's own block.
        all_to_all_copy_rate: Rate = by defaults::all_to_all_copy_rate | gpu | "that of `gpu`", in RATES;
    }
}

/// Permitted times of a launch, a step or a peer.
const TIMES: RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000);
/// Permitted rates.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(1_000_000);

/// Constants of a GPU, in µs and GB/s (10⁹).
struct Constants {
    /// Start, step or peer, and rate of rings with LL, LL128 and Simple, then of all-to-alls with
    /// LL and Simple.
    pieces: [[f64; 3]; 5],
    copy: f64,
    pair: Option<f64>,
    nvls: Option<(f64, f64)>,
    all_to_all_copy: f64,
}

const A100: Constants = Constants {
    pieces: [
        [7.99, 0.96, 7.4],
        [10.67, 1.0, 120.35],
        [33.47, 4.11, 228.88],
        [10.47, 0.71, 19.56],
        [17.85, 3.33, 207.96],
    ],
    copy: 491.46,
    pair: None,
    nvls: None,
    all_to_all_copy: 592.95,
};

const H100: Constants = Constants {
    pieces: [
        [4.53, 0.82, 11.34],
        [5.26, 0.92, 176.41],
        [19.32, 0.83, 362.22],
        [6.27, 0.31, 6.43],
        [12.99, 0.07, 302.42],
    ],
    copy: 776.65,
    pair: None,
    nvls: Some((61.6, 250.04)),
    all_to_all_copy: 3_812.2,
};

const B200: Constants = Constants {
    pieces: [
        [7.05, 1.33, 13.55],
        [8.48, 1.23, 264.61],
        [13.79, 5.4, 731.84],
        [9.39, 0.29, 6.51],
        [14.77, 0.58, 601.09],
    ],
    copy: 1_155.81,
    pair: None,
    nvls: Some((93.63, 434.44)),
    all_to_all_copy: 786.36,
};

/// LL128 needs `NVLink`; here it is as Simple, so never faster.
const RTX_PRO_6000: Constants = Constants {
    pieces: [
        [4.55, 1.45, 9.81],
        [12.72, 4.36, 25.03],
        [12.72, 4.36, 25.03],
        [5.03, 0.64, 0.69],
        [6.0, 2.42, 22.38],
    ],
    copy: 158.11,
    pair: Some(37.83),
    nvls: None,
    all_to_all_copy: 87.39,
};

/// LL128 needs `NVLink`; here it is as Simple, so never faster.
const L40S: Constants = Constants {
    pieces: [
        [4.83, 1.06, 0.92],
        [3.56, 4.84, 4.77],
        [3.56, 4.84, 4.77],
        [4.96, 0.95, 0.21],
        [7.68, 0.97, 2.11],
    ],
    copy: 150.45,
    pair: Some(21.39),
    nvls: None,
    all_to_all_copy: 244.14,
};

impl NcclGpu {
    const fn constants(self) -> &'static Constants {
        match self {
            NcclGpu::A100 => &A100,
            NcclGpu::H100 => &H100,
            NcclGpu::B200 => &B200,
            NcclGpu::RtxPro6000 => &RTX_PRO_6000,
            NcclGpu::L40s => &L40S,
        }
    }
}

/// Converts µs from a table, rounded to a nanosecond.
fn time(us: f64) -> Time {
    Time::from_ns((us * 1e3).round() as u64)
}

/// Converts GB/s from a table; 8 Mbit/s are 0.001 GB/s.
fn gbytes_per_s(rate: f64) -> Rate {
    Rate::from_bits_per_second((rate * 1e3).round() as u64 * 8_000_000)
}

/// Defaults of keys, as functions of the GPU.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "defaults are made from references"
)]
mod defaults {
    use tenter_language::units::{Rate, Time};

    use super::{NcclGpu, gbytes_per_s, time};

    pub(super) fn start<const PIECE: usize>(gpu: &NcclGpu) -> Time {
        time(gpu.constants().pieces[PIECE][0])
    }

    pub(super) fn step<const PIECE: usize>(gpu: &NcclGpu) -> Time {
        time(gpu.constants().pieces[PIECE][1])
    }

    pub(super) fn rate<const PIECE: usize>(gpu: &NcclGpu) -> Rate {
        gbytes_per_s(gpu.constants().pieces[PIECE][2])
    }

    pub(super) fn copy_rate(gpu: &NcclGpu) -> Rate {
        gbytes_per_s(gpu.constants().copy)
    }

    pub(super) fn pair_rate(gpu: &NcclGpu) -> Option<Rate> {
        gpu.constants().pair.map(gbytes_per_s)
    }

    pub(super) fn nvls_start(gpu: &NcclGpu) -> Time {
        time(gpu.constants().nvls.map_or(0.0, |(start, _)| start))
    }

    pub(super) fn nvls_rate(gpu: &NcclGpu) -> Option<Rate> {
        gpu.constants().nvls.map(|(_, rate)| gbytes_per_s(rate))
    }

    pub(super) fn all_to_all_copy_rate(gpu: &NcclGpu) -> Rate {
        gbytes_per_s(gpu.constants().all_to_all_copy)
    }
}

/// A kernel's times: its launch, each step or peer, and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    pub(crate) start: Time,
    pub(crate) each: Time,
    pub(crate) rate: Rate,
}

impl NcclKernels {
    /// Returns the kernel of a ring through `ranks` ranks.
    pub(crate) fn ring(self, protocol: WireProtocol, ranks: u32) -> Kernel {
        let (start, each, rate) = match protocol {
            WireProtocol::Ll => (self.ll_start, self.ll_step, self.ll_rate),
            WireProtocol::Ll128 => (self.ll128_start, self.ll128_step, self.ll128_rate),
            WireProtocol::Simple => {
                let rate = self.of_pair(self.simple_rate, ranks);
                (self.simple_start, self.simple_step, rate)
            }
        };
        Kernel { start, each, rate }
    }

    /// Returns the kernel of an all-to-all with LL; its rate is that to each peer.
    pub(crate) fn all_to_all_ll(self) -> Kernel {
        Kernel {
            start: self.all_to_all_ll_start,
            each: self.all_to_all_ll_peer,
            rate: self.all_to_all_ll_peer_rate,
        }
    }

    /// Returns the kernel of an all-to-all with Simple; its rate is that to all peers together.
    pub(crate) fn all_to_all_simple(self, ranks: u32) -> Kernel {
        Kernel {
            start: self.all_to_all_simple_start,
            each: self.all_to_all_simple_peer,
            rate: self.of_pair(self.all_to_all_simple_rate, ranks),
        }
    }

    fn of_pair(self, rate: Rate, ranks: u32) -> Rate {
        self.pair_rate.filter(|_| ranks == 2).unwrap_or(rate)
    }

    /// Returns the lowest rate of any kernel that a rank sends at.
    pub(crate) fn slowest(self) -> Rate {
        let rings = [self.ll_rate, self.ll128_rate, self.simple_rate];
        let others = [
            Some(self.all_to_all_simple_rate),
            self.pair_rate,
            self.nvls_rate,
        ];
        let all = rings.into_iter().chain(others.into_iter().flatten());
        all.fold(self.ll_rate, Rate::min)
    }
}
