//! Caches columns from trial tables in memory: the pictures on one page ask for the same ones
//! repeatedly.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tenter::report::{MANIFEST_FILE, TrialTable};

use crate::server::error::ApiError;
use crate::server::rows::place;
use crate::server::stored::open;

/// Upper bound on cached values: 256 MB at eight bytes each. The least recently used columns go
/// first.
const VALUES_MAX: usize = 32 << 20;
/// A column leaves the cache when no request has used it for this time.
const KEPT: Duration = Duration::from_secs(30);

/// Key for a cached column: trial folder, the manifest's modification time, table, column. The
/// manifest is written when a trial ends, so a rerun in the same folder misses the cache.
type Key = (PathBuf, Option<SystemTime>, &'static str, String);

/// The cache, shared by all requests.
#[derive(Default)]
pub(crate) struct Cache {
    entries: Mutex<Vec<Entry>>,
}

struct Entry {
    key: Key,
    values: Arc<Vec<f64>>,
    used: Instant,
}

impl Cache {
    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a numeric column in `table`, NaN where a row has no value, from memory if it is
    /// cached.
    pub(crate) fn column(
        &self,
        folder: &Path,
        table: &TrialTable,
        name: &str,
    ) -> Result<Arc<Vec<f64>>, ApiError> {
        let changed =
            std::fs::symlink_metadata(folder.join(MANIFEST_FILE)).and_then(|of| of.modified());
        let key = (folder.to_owned(), changed.ok(), table.name, name.to_owned());
        if let Some(entry) = self.entries().iter_mut().find(|entry| entry.key == key) {
            entry.used = Instant::now();
            return Ok(Arc::clone(&entry.values));
        }
        // The lock is not held while the file is read: requests for other columns go on. Two
        // requests may read one column at the same time; that costs time, not correctness.
        let values = Arc::new(read(folder, table, name)?);
        let mut entries = self.entries();
        entries.push(Entry {
            key,
            values: Arc::clone(&values),
            used: Instant::now(),
        });
        let mut count: usize = entries.iter().map(|entry| entry.values.len()).sum();
        // The new column was used last, so it goes last.
        entries.sort_by_key(|entry| entry.used);
        // A column that is larger than the whole cache is dropped again at once, and still
        // answered.
        while count > VALUES_MAX && !entries.is_empty() {
            count -= entries.remove(0).values.len();
        }
        Ok(values)
    }

    /// Returns the columns `names` from one table, in that order.
    pub(crate) fn columns<const N: usize>(
        &self,
        folder: &Path,
        table: &TrialTable,
        names: [&str; N],
    ) -> Result<[Arc<Vec<f64>>; N], ApiError> {
        let mut columns: [Arc<Vec<f64>>; N] = std::array::from_fn(|_| Arc::default());
        for (column, name) in columns.iter_mut().zip(names) {
            *column = self.column(folder, table, name)?;
        }
        Ok(columns)
    }

    /// Drops columns that no request has used for [`KEPT`].
    pub(crate) fn tidy(&self) {
        // If a request holds the lock, tidying waits for the next call rather than for the request.
        if let Ok(mut entries) = self.entries.try_lock() {
            entries.retain(|entry| entry.used.elapsed() < KEPT);
        }
    }
}

fn read(folder: &Path, table: &TrialTable, name: &str) -> Result<Vec<f64>, ApiError> {
    let columns = table.columns();
    let Some(column) = place(&columns, name) else {
        return Err(ApiError::internal("a table lacks a column"));
    };
    let groups = open(folder, table)?;
    let mut values = Vec::new();
    for group in 0..groups.count() {
        let column = groups.column(group, column)?;
        let numbers =
            (0..groups.rows(group)).map(|row| column.cell(row).number().unwrap_or(f64::NAN));
        values.extend(numbers);
    }
    Ok(values)
}
