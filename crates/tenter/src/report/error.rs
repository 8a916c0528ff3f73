//! Errors of reading and writing trial folders.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use tenter_results::SinkError;

use crate::report::own_file::OWN_FILE_REMEDY;

/// Reason why a trial could not be written or read, with the file and a remedy.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The file system refused an operation.
    #[error("cannot {action} {}: {source}; {}", path.display(), remedy(action, source.kind()))]
    Io {
        /// Failed action: `create`, `write`, `read` or `remove`.
        action: &'static str,
        /// File or folder that was to be created, written, read or removed.
        path: PathBuf,
        /// Error that the system returned.
        source: io::Error,
    },
    /// A Parquet file could not be encoded or decoded.
    #[error("cannot {action} {}: {source}; {}", path.display(), parquet_remedy(action))]
    Parquet {
        /// Failed action: `write` or `read`.
        action: &'static str,
        /// Parquet file that was to be read or written.
        path: PathBuf,
        /// Error that the Parquet library returned.
        source: ParquetError,
    },
    /// A JSON file or a table does not have the content that this version writes.
    #[error(
        "cannot understand {}: {source}; it is damaged or from another version of Tenter, so run the trial again",
        path.display()
    )]
    Content {
        /// File with the unexpected content.
        path: PathBuf,
        /// Finding, and its place in the file.
        source: serde_json::Error,
    },
    /// The named folder holds no finished trial.
    #[error("{}: {reason}", path.display())]
    Unusable {
        /// Folder or file that the user named.
        path: PathBuf,
        /// Description of what it is instead, and a remedy.
        reason: String,
    },
    /// The output folder has other content.
    #[error(
        "will not write a trial to {}: it is not empty and not a trial folder (no manifest.json of Tenter's); \
         choose another folder with -o, or empty this one",
        path.display()
    )]
    NotATrial {
        /// Folder that holds something else.
        path: PathBuf,
    },
    /// Another run writes to the folder.
    #[error(
        "another run writes to {}: {holder}; wait for its end, or choose another folder with -o",
        path.display()
    )]
    InUse {
        /// Folder that the other run uses.
        path: PathBuf,
        /// The other run's command and start time.
        holder: String,
    },
}

/// Number of the error for a device that fails, which has no kind of its own.
const EIO: i32 = 5;

impl TrialError {
    /// True if the disk is at fault and not the request: it is full, or fails.
    pub fn is_of_disk(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, Other, QuotaExceeded, StorageFull, WriteZero};
        match self {
            TrialError::Io { source, .. } => {
                let kind = source.kind();
                matches!(
                    kind,
                    StorageFull | QuotaExceeded | FileTooLarge | WriteZero | Other
                ) || (cfg!(unix) && source.raw_os_error() == Some(EIO))
            }
            TrialError::Parquet { action, .. } => *action == "write",
            _ => false,
        }
    }

    /// Returns a closure for `map_err` on file operations.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TrialError {
        move |source| TrialError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// Returns a closure for `map_err` on Parquet operations. A file error inside the Parquet error
    /// is taken out, so that a full disk is reported as one.
    pub(crate) fn parquet(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(ParquetError) -> TrialError {
        move |error| {
            let path = path.to_owned();
            // The library wraps what the file system returned.
            let ParquetError::External(external) = error else {
                return TrialError::Parquet {
                    action,
                    path,
                    source: error,
                };
            };
            match external.downcast::<io::Error>() {
                Ok(source) => TrialError::Io {
                    action,
                    path,
                    source: *source,
                },
                Err(other) => TrialError::Parquet {
                    action,
                    path,
                    source: ParquetError::External(other),
                },
            }
        }
    }

    /// Returns a closure for `map_err` on JSON.
    pub(crate) fn content(path: &Path) -> impl FnOnce(serde_json::Error) -> TrialError {
        move |source| TrialError::Content {
            path: path.to_owned(),
            source,
        }
    }
}

impl From<TrialError> for SinkError {
    fn from(error: TrialError) -> SinkError {
        SinkError(error.to_string())
    }
}

fn remedy(action: &str, kind: io::ErrorKind) -> &'static str {
    // `open_own` refuses links and special files with this kind.
    if kind == io::ErrorKind::InvalidInput {
        return OWN_FILE_REMEDY;
    }
    // Files that are read were named by the user, so another `-o` does not help.
    if action == "read" {
        return match kind {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "check the path",
            io::ErrorKind::PermissionDenied => "ask for the right to read it",
            _ => "check the disk, or run the trial again",
        };
    }
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "free some space there or choose another folder with -o; what was written before is a partial trial"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a folder you may write to with -o"
        }
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "a file is in the way: choose another folder with -o"
        }
        _ => "check the disk, or choose another folder with -o",
    }
}

fn parquet_remedy(action: &str) -> &'static str {
    if action == "read" {
        "the file is damaged, or its trial was killed while writing it: run the trial again"
    } else {
        "run the trial again with another folder (-o)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_not_written_elsewhere() {
        let says = |action, kind: io::ErrorKind| {
            TrialError::io(action, Path::new("t/summary.json"))(kind.into()).to_string()
        };
        for kind in [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::NotADirectory,
            io::ErrorKind::InvalidData,
        ] {
            assert!(!says("read", kind).contains("-o"), "{kind}");
            assert!(says("write", kind).contains("-o"), "{kind}");
        }
        let denied = says("read", io::ErrorKind::PermissionDenied);
        assert!(
            denied.ends_with("; ask for the right to read it"),
            "{denied}"
        );
    }
}
