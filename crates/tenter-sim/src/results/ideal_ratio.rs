//! Ideal ratios: a time over that which the same transfers take on a full mesh with point-to-point
//! links at port speed.

use tenter_language::units::Time;
use tenter_results::{CollectiveRow, nearest_rank};

use crate::network::JobPlan;

/// Returns a collective's time on the full mesh, in which its transfers count by the share
/// `arrived`, with the time within hosts before and after them.
pub(crate) fn of_collective(plan: &JobPlan, number: u32, transfers: Time, arrived: f64) -> Time {
    let mesh = Time::from_ps((transfers.ps() as f64 * arrived) as u64);
    let within = plan.within_hosts(number);
    within.saturating_add(within).saturating_add(mesh)
}

/// Sorts a collective's ideal ratios in ascending order.
pub(crate) fn of_flows(ratios: &[f64]) -> Vec<f64> {
    let mut ratios = ratios.to_vec();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios
}

/// Returns a job's ideal ratio: the time that its measured collectives took together over their
/// times on the full mesh.
pub(crate) fn of_job(collectives: &[CollectiveRow]) -> Option<f64> {
    let judged = collectives.iter().filter(|row| !row.warm_up);
    let zero = (Time::ZERO, Time::ZERO);
    let (taken, ideal) = judged.fold(zero, |(taken, ideal), row| {
        let time = row.completion_time.unwrap_or_default();
        let ideal = ideal.saturating_add(row.full_mesh_time);
        (taken.saturating_add(time), ideal)
    });
    ratio(taken, ideal)
}

/// Divides two times; `None` if `ideal` is zero.
pub(crate) fn ratio(time: Time, ideal: Time) -> Option<f64> {
    (!ideal.is_zero()).then(|| time.as_ns() / ideal.as_ns())
}

/// Divides two times, in millionths; 128 bits suffice for any times. `ideal` must not be zero.
pub(crate) fn millionths(time: Time, ideal: Time) -> u128 {
    u128::from(time.ps()) * 1_000_000 / u128::from(ideal.ps())
}

/// Returns the mean over ascending ratios. Sorted, the sum does not depend on the order in which
/// flows ended.
pub(crate) fn mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().sum();
    (!ratios.is_empty()).then(|| sum / ratios.len() as f64)
}

/// Returns a quantile from ascending ratios, by nearest rank.
pub(crate) fn at(ratios: &[f64], per_mille: u32) -> Option<f64> {
    nearest_rank(ratios, per_mille)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_takes_what_its_judged_collectives_take() {
        let row = |warm_up: bool, taken: u64, ideal: u64| CollectiveRow {
            warm_up,
            completion_time: Some(Time::from_us(taken)),
            full_mesh_time: Time::from_us(ideal),
            ..CollectiveRow::default()
        };
        // (12 + 18) / (10 + 10), without the warm-up.
        let rows = [row(true, 90, 10), row(false, 12, 10), row(false, 18, 10)];
        assert_eq!(of_job(&rows), Some(1.5));
        assert_eq!(of_job(&rows[..1]), None);
    }

    #[test]
    fn ratios_of_flows_by_hand() {
        let ratios = [1.0, 1.25, 3.0];
        assert_eq!(mean(&ratios), Some(1.75));
        assert_eq!(
            (at(&ratios, 500), at(&ratios, 999)),
            (Some(1.25), Some(3.0))
        );
        assert_eq!((mean(&[]), at(&[], 500)), (None, None));
    }
}
