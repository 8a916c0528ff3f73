//! Lookup of one rank's items in a list that is sorted by rank.

/// Returns the items that belong to `rank` in `sorted`, which ascends by `rank_of`; empty if there
/// are none.
pub(crate) fn of_rank<T>(sorted: &[T], rank: u32, rank_of: impl Fn(&T) -> u32) -> &[T] {
    let first = sorted.partition_point(|item| rank_of(item) < rank);
    // Two binary searches: a list of a large graph is asked once for each rank and each send.
    let own = &sorted[first..];
    &own[..own.partition_point(|item| rank_of(item) == rank)]
}
