//! The part of a sorted list that belongs to one rank.

/// The items of a rank in a list that is sorted by rank.
pub(crate) fn of_rank<T>(sorted: &[T], rank: u32, rank_of: impl Fn(&T) -> u32) -> &[T] {
    let first = sorted.partition_point(|item| rank_of(item) < rank);
    let own = &sorted[first..];
    &own[..own.partition_point(|item| rank_of(item) == rank)]
}
