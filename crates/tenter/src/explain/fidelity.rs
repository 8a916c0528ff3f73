//! Known errors of flow level, from trials that ran at packet level too.
//!
//! `fidelity.csv` has these errors by trial class: how the fabric shares its links, and what the
//! jobs send. `tenter calibrate-fidelity` measures them, and a test checks that the file is up to
//! date.

use std::fmt;

use tenter_endpoint::congestion_control::CongestionControl;
use tenter_sim::plan::Plan;

/// Class of a trial by what decides how exact flow level is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FidelityClass {
    /// Mechanism by which the fabric shares its links, as a word.
    pub fabric: String,
    /// The jobs' traffic, as a word.
    pub load: String,
}

impl FidelityClass {
    /// Returns the class that a plan is in.
    #[must_use]
    pub(crate) fn of(plan: &Plan) -> FidelityClass {
        FidelityClass {
            fabric: fabric(plan),
            load: load(plan).to_owned(),
        }
    }
}

impl fmt::Display for FidelityClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, {}", self.fabric, self.load)
    }
}

/// Names the mechanism that decides how links are shared: one that outweighs the load balancer, or
/// else the load balancer, with `-pfc` if lossless classes add pauses. Each has its own errors,
/// because none predicts another's.
fn fabric(plan: &Plan) -> String {
    let control = plan.nic.reacting().map(CongestionControl::word);
    // The first that applies names the class.
    let mechanisms = [
        (plan.circuits.is_some(), "circuits"),
        (!plan.faults.events.is_empty(), "faults"),
        (
            !plan.dma.is_empty() || plan.nic.receive_buffer.is_some(),
            "slow-hosts",
        ),
        (plan.nic.ultra_ethernet().is_some(), "ultra-ethernet"),
        (control.is_some(), control.unwrap_or_default()),
        (plan.scheduled.is_some(), "scheduled"),
        (plan.credit.is_some(), "credit-based"),
        (plan.input_queued.is_some(), "input-queued"),
    ];
    if let Some((_, mechanism)) = mechanisms.into_iter().find(|(has, _)| *has) {
        return mechanism.to_owned();
    }
    let mut balancers: Vec<&str> = plan
        .switches
        .iter()
        .map(|of| of.load_balancing.word())
        .collect();
    balancers.sort_unstable();
    balancers.dedup();
    let balancing = match balancers.as_slice() {
        _ if plan.port_changes.entropy.is_some() => "entropy",
        [one] => one,
        _ => "several-balancers",
    };
    if plan.is_lossless() {
        format!("{balancing}-pfc")
    } else {
        balancing.to_owned()
    }
}

/// Names the traffic. Several jobs are a separate class: they share links in proportions that no
/// single job has, since PFC shares by ingress port and flow level by flow.
fn load(plan: &Plan) -> &'static str {
    let mut runs = plan.jobs.iter().flat_map(|job| &job.sequence);
    if plan.jobs.len() > 1 {
        "mix"
    } else if runs.clone().any(|run| run.traffic.operations().is_some()) {
        "operations"
    } else if runs.any(|run| run.traffic.flow_workload().is_some()) {
        "flows"
    } else {
        "collectives"
    }
}

/// Flow-level errors in one trial, in percent of packet level; negative if flow level gave less.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelErrors {
    /// Error in each measured job's completion time.
    pub jct: Vec<f64>,
    /// Error in each collective's median flow completion time.
    pub fct_p50: Vec<f64>,
    /// Error in each collective's 99th percentile flow completion time.
    pub fct_p99: Vec<f64>,
}

/// Errors over all trials in a class.
#[derive(Clone, Debug, PartialEq)]
pub struct FidelityRow {
    /// Class that these trials share.
    pub class: FidelityClass,
    /// Number of trials in the class.
    pub trials: u32,
    /// Errors in job completion times.
    pub jct: ErrorOf,
    /// Errors in median flow completion times.
    pub fct_p50: ErrorOf,
    /// Errors in 99th percentile flow completion times.
    pub fct_p99: ErrorOf,
}

/// Errors in one quantity, in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorOf {
    /// Mean error with its sign.
    pub bias: f64,
    /// Mean error without its sign.
    pub mean: f64,
    /// 95th percentile of the error without its sign (nearest rank).
    pub p95: f64,
    /// Greatest error without its sign.
    pub worst: f64,
}

impl ErrorOf {
    fn of(errors: &[f64]) -> ErrorOf {
        if errors.is_empty() {
            return ErrorOf::default();
        }
        let count = errors.len() as f64;
        let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        // Nearest rank, as for all percentiles of trials.
        let rank = (0.95 * count).ceil() as usize;
        ErrorOf {
            bias: errors.iter().sum::<f64>() / count,
            mean: sizes.iter().sum::<f64>() / count,
            p95: sizes[rank.clamp(1, sizes.len()) - 1],
            worst: sizes.last().copied().unwrap_or_default(),
        }
    }
}

/// Summarises trial errors, class by class.
#[must_use]
pub fn fidelity_rows(trials: &[(FidelityClass, LevelErrors)]) -> Vec<FidelityRow> {
    // A trial whose jobs did not end at both levels gives no error.
    let trials = trials.iter().filter(|(_, errors)| !errors.jct.is_empty());
    let trials: Vec<_> = trials.collect();
    let mut classes: Vec<&FidelityClass> = trials.iter().map(|(class, _)| class).collect();
    classes.sort_unstable();
    classes.dedup();
    let row = |class: &FidelityClass| {
        let own = || {
            trials
                .iter()
                .filter(|(of, _)| of == class)
                .map(|(_, errors)| errors)
        };
        let all = |of: fn(&LevelErrors) -> &Vec<f64>| {
            let errors: Vec<f64> = own()
                .flat_map(|errors| of(errors).iter().copied())
                .collect();
            ErrorOf::of(&errors)
        };
        FidelityRow {
            class: class.clone(),
            trials: own().count() as u32,
            jct: all(|errors| &errors.jct),
            fct_p50: all(|errors| &errors.fct_p50),
            fct_p99: all(|errors| &errors.fct_p99),
        }
    };
    classes.into_iter().map(row).collect()
}

/// Column names in the table.
pub const FIDELITY_COLUMNS: [&str; 15] = [
    "fabric",
    "load",
    "trials",
    "jct_bias_percent",
    "jct_mean_percent",
    "jct_p95_percent",
    "jct_worst_percent",
    "fct_p50_bias_percent",
    "fct_p50_mean_percent",
    "fct_p50_p95_percent",
    "fct_p50_worst_percent",
    "fct_p99_bias_percent",
    "fct_p99_mean_percent",
    "fct_p99_p95_percent",
    "fct_p99_worst_percent",
];

impl FidelityRow {
    /// Returns the row's cells in [`FIDELITY_COLUMNS`] order; percentages have two decimals.
    #[must_use]
    pub fn cells(&self) -> Vec<String> {
        let class = [&self.class.fabric, &self.class.load].map(Clone::clone);
        let errors = [self.jct, self.fct_p50, self.fct_p99];
        let errors = errors
            .into_iter()
            .flat_map(|of| [of.bias, of.mean, of.p95, of.worst]);
        let errors = errors.map(|error| format!("{error:.2}"));
        let head = class.into_iter().chain([self.trials.to_string()]);
        head.chain(errors).collect()
    }
}

/// Writes rows as comma-separated values, with a heading.
#[must_use]
pub fn fidelity_csv(rows: &[FidelityRow]) -> String {
    let lines = rows.iter().map(|row| row.cells().join(","));
    let lines = std::iter::once(FIDELITY_COLUMNS.join(",")).chain(lines);
    lines.map(|line| line + "\n").collect()
}

/// Known errors, as comma-separated values.
pub(crate) const KNOWN: &str = include_str!("fidelity.csv");

/// Known flow-level error for a plan's class.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownError {
    /// The plan's class, whose trials were measured.
    pub class: FidelityClass,
    /// Number of trials behind the figures.
    pub trials: u32,
    /// Errors in job completion times, in percent.
    pub jct: ErrorOf,
}

impl fmt::Display for KnownError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorOf {
            bias,
            mean,
            p95,
            worst,
            ..
        } = self.jct;
        write!(
            formatter,
            "completion times of jobs were off by {mean:.1} % in the mean ({bias:+.1} % with its sign), {p95:.1} % at the 95th percentile and {worst:.1} % at worst in {} trials of this kind ({})",
            self.trials, self.class
        )
    }
}

/// Looks up the flow-level error for a plan's class; `None` for a class that no measured trial has.
#[must_use]
pub fn known_error(plan: &Plan) -> Option<KnownError> {
    let class = FidelityClass::of(plan);
    let rows = KNOWN.lines().skip(1);
    let mut cells = rows.map(|line| line.split(',').collect::<Vec<_>>());
    let row = cells.find(|cells| {
        cells.len() == FIDELITY_COLUMNS.len() && cells[..2] == [&class.fabric, &class.load]
    })?;
    let number = |column: usize| row[column].parse::<f64>().ok();
    Some(KnownError {
        trials: row[2].parse().ok()?,
        jct: ErrorOf {
            bias: number(3)?,
            mean: number(4)?,
            p95: number(5)?,
            worst: number(6)?,
        },
        class,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_summed_up_class_by_class() {
        let class = |fabric: &str| FidelityClass {
            fabric: fabric.to_owned(),
            load: "collectives".to_owned(),
        };
        let errors = |jct: &[f64]| LevelErrors {
            jct: jct.to_vec(),
            ..LevelErrors::default()
        };
        let rows = fidelity_rows(&[
            (class("spray"), errors(&[-3.0])),
            (class("ecmp"), errors(&[1.0, -2.0])),
            (class("spray"), errors(&[1.0])),
        ]);
        let found: Vec<_> = rows
            .iter()
            .map(|row| (row.class.fabric.as_str(), row.trials))
            .collect();
        assert_eq!(found, [("ecmp", 1), ("spray", 2)]);
        assert_eq!(rows[1].cells()[3..7], ["-1.00", "2.00", "3.00", "3.00"]);
        assert_eq!(rows[0].cells().len(), FIDELITY_COLUMNS.len());
    }

    #[test]
    fn the_table_has_its_columns() {
        assert_eq!(KNOWN.lines().next(), Some(&*FIDELITY_COLUMNS.join(",")));
    }
}
