//! Boundary to the Parquet library, which panics on some damaged files that contradict themselves.
//! Such a panic becomes an error about the file like any other.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Returns true while this thread is inside the Parquet library. A panic hook then prints nothing,
/// because the panic comes back as an error that names the file.
pub fn is_decoding() -> bool {
    DECODING.get()
}

/// Runs a call into the Parquet library, and turns a panic into an error.
///
/// # Errors
/// Errors from the library, and a general one in place of a panic.
pub fn guarded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    DECODING.set(true);
    // Unwinding is safe: half-read data is dropped with the closure, and no caller sees it.
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(false);
    decoded.unwrap_or_else(|_| {
        Err(ParquetError::General(
            "its contents contradict each other".to_owned(),
        ))
    })
}
