//! Files that are replaced as a whole, and removed.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::report::TrialError;

/// Returns the name under which this process writes a file before moving it to `path`. It contains
/// the process number, since another process may write the same file at the same time.
pub(crate) fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    PathBuf::from(name)
}

/// Writes a file beside its final name and moves it there, so that a reader sees the old content or
/// the new, never a part. A path that is no regular file, such as `/dev/stdout`, is written
/// directly.
///
/// # Errors
/// If the file cannot be written. An older one then stays as it was.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), TrialError> {
    write_whole_with(path, |file| file.write_all(bytes.as_ref()))
}

/// Same as [`write_whole`], for content that is long and written in pieces.
///
/// # Errors
/// If the file cannot be written. An older one then stays as it was.
pub fn write_whole_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), TrialError> {
    replace(path, &whole_partial(path), write)
}

/// Returns the temporary name for a file that only one process writes.
fn whole_partial(path: &Path) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".partial");
    PathBuf::from(beside)
}

/// True if the file at `path` holds exactly what `write` would write.
pub fn is_written(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let mut held = Same(BufReader::new(file));
    let is_held = write(&mut held).is_ok();
    is_held && held.0.fill_buf().is_ok_and(<[u8]>::is_empty)
}

/// A writer that fails at the first byte which differs from the reader's.
struct Same<R>(R);

impl<R: BufRead> Write for Same<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let held = self.0.fill_buf()?;
        let count = held.len().min(bytes.len());
        if held[..count] != bytes[..count] || count == 0 && !bytes.is_empty() {
            return Err(io::Error::other("the file holds something else"));
        }
        self.0.consume(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Same as [`write_whole`], for a file that several processes may write at the same time.
///
/// # Errors
/// If the file cannot be written. An older one then stays as it was.
pub(crate) fn write_shared(path: &Path, text: &str) -> Result<(), TrialError> {
    replace(path, &partial(path), |file| file.write_all(text.as_bytes()))
}

/// Same as [`write_whole`], for a file in a trial folder, which is always regular. A link with that
/// name is replaced and never followed to a device.
pub(crate) fn write_own(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), TrialError> {
    move_there(path, &whole_partial(path), write)
}

fn replace(
    path: &Path,
    beside: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), TrialError> {
    // A device such as `/dev/stdout` must not be replaced by a file.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let written = File::options().write(true).open(path);
        let written = written.and_then(|file| write_buffered(file, write));
        return written.map_err(TrialError::io("write", path));
    }
    move_there(path, beside, write)
}

fn move_there(
    path: &Path,
    beside: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), TrialError> {
    // A link with the temporary name must not lead the text elsewhere.
    let _ = fs::remove_file(beside);
    // Fails if a link has been put there in the meantime.
    let written = File::create_new(beside)
        .and_then(|file| write_buffered(file, write))
        .and_then(|()| fs::rename(beside, path));
    written.map_err(|error| {
        let _ = fs::remove_file(beside);
        TrialError::io("write", path)(error)
    })
}

fn write_buffered(
    file: File,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.flush()
}

/// Removes a file, if it exists.
pub(crate) fn remove(file: &Path) -> Result<(), TrialError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(TrialError::io("remove", file)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_compared_with_what_would_be_written() {
        let name = format!("tenter-whole-file-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let bytes: Vec<u8> = (0..100_000_u32).map(|at| (at >> 3) as u8).collect();
        let is_written = |bytes: &[u8]| is_written(&path, |to| to.write_all(bytes));
        assert!(!is_written(&bytes), "there is no file");
        write_whole_with(&path, |to| {
            bytes.chunks(7).try_for_each(|of| to.write_all(of))
        })
        .expect("it can be written");
        assert!(is_written(&bytes));
        assert!(!is_written(&bytes[1..]) && !is_written(&bytes[..99_999]));
        assert!(!is_written(&[bytes.as_slice(), &[0]].concat()));
        let broken = write_whole_with(&path, |to| {
            to.write_all(b"half")?;
            Err(io::Error::other("broken"))
        });
        assert!(
            broken.is_err() && is_written(&bytes),
            "the older file stays"
        );
        remove(&path).expect("it is there");
    }
}
