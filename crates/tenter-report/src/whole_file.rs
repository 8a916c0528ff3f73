//! Files that are replaced whole, and removed.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::TrialError;

/// The name under which this process writes a file before it moves it to its own: another process
/// may write the same file at the same time.
pub(crate) fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    PathBuf::from(name)
}

/// Writes a text file beside its final name and moves it there, so that a reader sees the old text
/// or the new one, never half of it. A file that is not regular, as `/dev/stdout`, is written
/// directly.
///
/// # Errors
/// When the file cannot be written; an older one is then as it was.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), TrialError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".partial");
    replace(path, &PathBuf::from(beside), bytes.as_ref())
}

/// As [`write_whole`], for a file that several processes may write at the same time.
///
/// # Errors
/// When the file cannot be written; an older one is then as it was.
pub fn write_shared(path: &Path, text: &str) -> Result<(), TrialError> {
    replace(path, &partial(path), text.as_bytes())
}

fn replace(path: &Path, beside: &Path, bytes: &[u8]) -> Result<(), TrialError> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, bytes).map_err(TrialError::io("write", path));
    }
    // A link of that name must not lead the text elsewhere.
    let _ = fs::remove_file(beside);
    let written = File::create_new(beside)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(beside, path));
    written.map_err(|error| {
        let _ = fs::remove_file(beside);
        TrialError::io("write", path)(error)
    })
}

/// Removes a file that need not be there.
pub(crate) fn remove(file: &Path) -> Result<(), TrialError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(TrialError::io("remove", file)(error))
        }
        _ => Ok(()),
    }
}
