//! The boundary to the Parquet library, which panics where some damaged files contradict
//! themselves: such a panic is an error about the file like any other.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in the Parquet library: a panic hook then prints nothing, as the panic
/// comes back as an error that names the file.
pub fn is_decoding() -> bool {
    DECODING.get()
}

/// Lets the Parquet library read something of a file. The half-read data is dropped when it fails,
/// so no caller sees it.
///
/// # Errors
/// Those of the library, and one in place of a panic.
pub fn guarded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    DECODING.set(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(false);
    decoded.unwrap_or_else(|_| {
        Err(ParquetError::General(
            "its contents contradict each other".to_owned(),
        ))
    })
}
