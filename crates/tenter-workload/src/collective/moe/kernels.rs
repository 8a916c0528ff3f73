//! Launches and rates of the kernels: calibrations.
//!
//! Origin: `studies/published/silicon-deepep.csv` and `silicon-moe-a2a.csv`, tables measured by
//! NVIDIA (aiconfigurator-core 0.12.0). Each constant is fitted to the rows of these tables that
//! `crates/tenter/tests/silicon_experts/` does not seal. Times are in ns, rates in GB/s (10⁹).

use tenter_language::config::choice;
use tenter_language::units::{Rate, Time};

use super::{Direction, Mode};
use crate::collective::NpuGeneration;

/// GPU on which kernels were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpertKernels {
    /// Eight H100 of a server, on one to eight servers with a NIC at 400G for each.
    H100,
    /// Eight B200 of a server.
    B200,
    /// GB200: four of a tray with `DeepEP`, 2 to 64 of an `NVL72` with the kernel `nvlink`.
    Gb200,
}

choice!(ExpertKernels {
    "h100" => H100,
    "b200" => B200,
    "gb200" => Gb200,
});

/// A kernel on one host: its launch, and the rate of its copies with all processors.
#[derive(Clone, Copy)]
struct Measured {
    launch: u64,
    rate: u64,
}

/// Values for dispatch and combination.
type ByDirection<T> = [T; 2];

/// Time that a launch takes more on 1, 2, 4, and 8 hosts than on one. Origin: H100; no other GPU is
/// in the tables on several hosts.
type ByHosts = [u64; 4];

/// A kernel's launch, and the rate of one NPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Time from the start to the first bytes.
    pub(crate) launch: Time,
    /// Rate of what an NPU sends into its domain, if the kernel limits it.
    pub(crate) pace: Option<Rate>,
}

const fn measured(launch: u64, rate: u64) -> Measured {
    Measured { launch, rate }
}

/// Copies in `normal` that a streaming multiprocessor makes in a second, on one host: x in
/// min(SMs·x, r). The tables have 4 to 24 of them.
const fn rate_of_sm(kernels: ExpertKernels) -> u64 {
    match kernels {
        ExpertKernels::H100 => 20,
        ExpertKernels::B200 => 24,
        ExpertKernels::Gb200 => 40,
    }
}

/// Share of this rate on several hosts, in per cent: processors also serve the NICs there.
const ACROSS: ByDirection<u64> = [56, 44];

const fn on_one_host(mode: Mode, kernels: ExpertKernels) -> ByDirection<Measured> {
    use ExpertKernels::{B200, Gb200, H100};
    match (mode, kernels) {
        (Mode::Normal, H100) => [measured(31_000, 337), measured(48_600, 341)],
        (Mode::Normal, B200) => [measured(35_600, 397), measured(59_100, 446)],
        (Mode::Normal, Gb200) => [measured(32_700, 335), measured(49_700, 388)],
        (Mode::LowLatency, H100) => [measured(13_700, 288), measured(11_800, 257)],
        (Mode::LowLatency, B200) => [measured(20_900, 560), measured(21_400, 702)],
        (Mode::LowLatency, Gb200) => [measured(16_000, 629), measured(16_700, 777)],
        // Only the GB200 is in the tables; other GPUs have the rates of `normal`.
        (Mode::Nvlink, H100) => [measured(13_400, 337), measured(12_400, 341)],
        (Mode::Nvlink, B200) => [measured(13_400, 397), measured(12_400, 446)],
        (Mode::Nvlink, Gb200) => [measured(13_400, 536), measured(12_400, 451)],
    }
}

const fn more_by_hosts(mode: Mode, direction: Direction) -> ByHosts {
    match (mode, direction) {
        (Mode::Normal, Direction::Dispatch) => [0, 0, 7_000, 24_000],
        (Mode::Normal, Direction::Combine) => [0, 1_000, 10_000, 15_000],
        (Mode::LowLatency, Direction::Dispatch) => [0, 4_800, 9_500, 10_800],
        (Mode::LowLatency, Direction::Combine) => [0, 9_700, 14_600, 12_800],
        // One domain alone.
        (Mode::Nvlink, _) => [0; 4],
    }
}

const fn of<T: Copy>(both: ByDirection<T>, direction: Direction) -> T {
    match direction {
        Direction::Dispatch => both[0],
        Direction::Combine => both[1],
    }
}

impl ExpertKernels {
    /// Returns the kernels that stand for a generation without any of its own.
    pub(super) fn of(generation: Option<NpuGeneration>) -> ExpertKernels {
        match generation {
            Some(NpuGeneration::Blackwell) => ExpertKernels::B200,
            _ => ExpertKernels::H100,
        }
    }

    /// Returns the launch on `hosts` hosts. Between the measured numbers of hosts the next greater
    /// one counts.
    pub(super) fn launch(self, mode: Mode, direction: Direction, hosts: u32) -> Time {
        let one = of(on_one_host(mode, self), direction).launch;
        let class = hosts.max(1).next_power_of_two().ilog2().min(3);
        Time::from_ns(one + more_by_hosts(mode, direction)[class as usize])
    }

    /// Returns the rate of an NPU's copies, its own included. `sms` are the processors of a kernel
    /// that depends on them.
    pub(super) fn rate(
        self,
        mode: Mode,
        direction: Direction,
        hosts: u32,
        sms: Option<u32>,
    ) -> Rate {
        let one = of(on_one_host(mode, self), direction).rate;
        let share = if hosts > 1 {
            of(ACROSS, direction)
        } else {
            100
        };
        // In MB/s, so that shares in per cent stay whole.
        let by_sms = sms.map_or(u64::MAX, |sms| {
            u64::from(sms) * rate_of_sm(self) * share * 10
        });
        Rate::from_bits_per_second(by_sms.min(one * 1_000) * 8_000_000)
    }
}
