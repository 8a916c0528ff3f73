//! The table over trials that run one scenario with several seeds.

use crate::column::{Seed, rows};

rows! {
    /// One job, or one collective of it, over trials with several seeds. A trial in which it was
    /// not done is not among them.
    pub struct SeedRow in "seeds" {
        /// Index of the job in the scenario.
        job: u32 => "job", "";
        /// Name of the job.
        job_name: String => "job_name", "";
        /// Index of the collective in the job's run order; missing, like the three that follow, in
        /// the row of the job itself.
        index: Option<u32> => "collective_index", "";
        /// The operation, `all-to-all` or `all-reduce` for instance; of flows of a load also the
        /// statistic of their completion times, as in `flows, FCT P99`.
        collective: Option<String> => "collective", "";
        /// How it is carried out, `ring` or `parallel` for instance.
        algorithm: Option<String> => "algorithm", "";
        /// Size of the collective as nccl-tests counts it; missing for flows of a load, of which
        /// each seed draws others.
        size_bytes: Option<u64> => "size_bytes", "bytes";
        /// Ranks that take part.
        ranks: u32 => "ranks", "";
        /// Seeds whose trials count.
        seeds: u32 => "seeds", "";
        /// Mean over the seeds of the job's completion time, or of the collective's, which is
        /// itself the mean over the iterations of a trial, warm-up left out, or of the statistic of
        /// a load's flows.
        mean: f64 => "time_mean_ns", "ns";
        /// Half the width of the 95 % confidence interval of that mean, by Student's t
        /// distribution; missing for a single seed.
        ci95: Option<f64> => "time_ci95_ns", "ns";
        /// The longest of these times.
        worst: f64 => "time_worst_ns", "ns";
        /// The seed that had it, the first of several.
        worst_seed: Seed => "worst_seed", "";
        /// The shortest.
        best: f64 => "time_best_ns", "ns";
        /// The seed that had it, the first of several.
        best_seed: Seed => "best_seed", "";
        /// Bus bandwidth at the mean time; missing in the row of a job, of
        /// flows of a load and of graphs of operations.
        busbw_gbytes_per_s: Option<f64> => "busbw_gbytes_per_s", "GB/s (10⁹)";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{Cell, Row};

    #[test]
    fn a_seed_keeps_all_its_bits() {
        let row = SeedRow {
            worst_seed: Seed(u64::MAX),
            ..SeedRow::default()
        };
        let mut columns = SeedRow::COLUMNS.iter();
        let column = columns.find(|column| column.name == "worst_seed");
        let names = crate::Names::default();
        let cell = column.map(|column| (column.cell)(&row, &names));
        assert_eq!(cell, Some(Cell::Unsigned(u64::MAX)));
        let json = serde_json::to_string(&row).expect("a row is JSON");
        let read: SeedRow = serde_json::from_str(&json).expect("it is a row");
        assert_eq!(read, row);
    }
}
