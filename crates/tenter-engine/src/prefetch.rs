//! Requests for memory before it is needed.
//!
//! In a big network a node's data has left the cache since its last visit. A read waits for the
//! memory; a prefetch does not, so one node's data arrives while another is served. Prefetching
//! changes run time only, never results.

use prefetch_index::prefetch_index;

/// Cache line size in bytes, on x86-64 and most ARM processors.
const LINE_BYTES: usize = 64;

/// Returns how many values fit into a cache line, at least 1.
pub const fn values_per_line<T>() -> usize {
    let bytes = size_of::<T>();
    if bytes == 0 || bytes > LINE_BYTES {
        1
    } else {
        LINE_BYTES / bytes
    }
}

/// Prefetches the cache line in which `value` begins.
#[inline]
pub fn prefetch<T>(value: &T) {
    prefetch_index(std::slice::from_ref(value), 0);
}

/// Prefetches the cache line in which `slice[index]` begins. An `index` beyond the slice is
/// harmless.
#[inline]
pub fn prefetch_at<T>(slice: &[T], index: usize) {
    prefetch_index(slice, index);
}
