//! Asking for memory before it is needed.
//!
//! What a node of a big network needs has left the cache since its last visit. A read waits for the
//! memory; a prefetch does not, so that what one thing needs comes while another one is served.
//! Nothing depends on it but time.

use prefetch_index::prefetch_index;

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// How many values fit into a cache line, at least one.
pub const fn values_per_line<T>() -> usize {
    let bytes = size_of::<T>();
    if bytes == 0 || bytes > LINE_BYTES {
        1
    } else {
        LINE_BYTES / bytes
    }
}

/// Prefetches the cache line in which a value begins.
#[inline]
pub fn prefetch<T>(value: &T) {
    prefetch_index(std::slice::from_ref(value), 0);
}

/// Prefetches the cache line in which a value of a slice begins; outside of it nothing happens that
/// matters.
#[inline]
pub fn prefetch_at<T>(slice: &[T], index: usize) {
    prefetch_index(slice, index);
}
