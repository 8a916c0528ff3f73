//! The secret that a lab's agents and coordinator share.

use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Fewest bytes in a secret.
const SECRET_MIN: usize = 16;
/// Most bytes in a secret file.
const SECRET_MAX: u64 = 4096;
/// Random bytes in a generated secret; the file holds twice as many hexadecimal digits.
const SECRET_MADE: usize = 32;

/// Length of a message authentication code in bytes.
pub(super) const MAC_BYTES: usize = 32;

/// The secret that a lab's agents and coordinator share.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// Prints no secret: options that hold one may end up in a log.
impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(…)")
    }
}

/// Reason why the secret cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read or created.
    #[error("cannot use the secret file `{}`: {source}", path.display())]
    File {
        /// Path to the secret file.
        path: PathBuf,
        /// Reason given by the operating system.
        source: std::io::Error,
    },
    /// The file has permissions for its group or for others.
    #[error("others can read the secret file `{}`: run `chmod 600` on it", .0.display())]
    Open(PathBuf),
    /// The secret is too short or the file too long.
    #[error(
        "the secret file `{}` has {bytes} bytes, and a secret has {SECRET_MIN} to {SECRET_MAX}: write random ones, as `head -c 32 /dev/urandom` prints them",
        path.display()
    )]
    Length {
        /// Path to the secret file.
        path: PathBuf,
        /// Length of the secret or its file in bytes.
        bytes: usize,
    },
    /// The system gave no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(getrandom::Error),
}

impl Secret {
    /// Reads the secret from the file at `path`; line ends at its end are ignored.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, has permissions for others, or has the wrong
    /// length.
    pub fn read(path: &Path) -> Result<Secret, SecretError> {
        let file = |source| SecretError::File {
            path: path.to_owned(),
            source,
        };
        // A secret that others can read is refused, as `ssh` does with keys.
        let about = fs::metadata(path).map_err(file)?;
        if about.permissions().mode() & 0o077 != 0 {
            return Err(SecretError::Open(path.to_owned()));
        }
        if about.len() > SECRET_MAX {
            return Err(SecretError::Length {
                path: path.to_owned(),
                bytes: usize::try_from(about.len()).unwrap_or(usize::MAX),
            });
        }
        let mut bytes = fs::read(path).map_err(file)?;
        while bytes
            .last()
            .is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
        {
            bytes.pop();
        }
        if bytes.len() < SECRET_MIN {
            return Err(SecretError::Length {
                path: path.to_owned(),
                bytes: bytes.len(),
            });
        }
        Ok(Secret(bytes))
    }

    /// Generates a secret, and writes it to a new file that only its owner can read.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written or the system has no random bytes.
    pub fn make(path: &Path) -> Result<Secret, SecretError> {
        let bytes = random::<SECRET_MADE>()?;
        let number = |half: &[u8; 16]| format!("{:032x}", u128::from_be_bytes(*half));
        let text: String = bytes.as_chunks().0.iter().map(number).collect();
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let written = options
            .open(path)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|source| SecretError::File {
            path: path.to_owned(),
            source,
        })?;
        Ok(Secret(text.into_bytes()))
    }

    /// Makes a secret from `text` for tests.
    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Secret {
        Secret(text.as_bytes().to_vec())
    }

    /// Returns the authentication code over `parts`.
    pub(super) fn code(&self, parts: &[&[u8]]) -> [u8; MAC_BYTES] {
        Key(self.0.clone()).code(parts)
    }

    /// Derives the key for one direction in one session.
    pub(super) fn key(&self, parts: &[&[u8]]) -> Key {
        Key(self.code(parts).to_vec())
    }

    /// Returns true if `code` is the code over `parts`. The time it takes does not depend on where
    /// the two differ.
    pub(super) fn fits(&self, parts: &[&[u8]], code: &[u8]) -> bool {
        Key(self.0.clone()).fits(parts, code)
    }
}

/// A key for HMAC-SHA-256 (RFC 2104).
pub(super) struct Key(Vec<u8>);

impl Key {
    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("keys of HMAC may have any length");
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            // A length before each part: without it, ("ab", "c") and ("a", "bc") would have the
            // same code.
            mac.update(part);
        }
        mac
    }

    pub(super) fn code(&self, parts: &[&[u8]]) -> [u8; MAC_BYTES] {
        self.mac(parts).finalize().into_bytes().into()
    }

    pub(super) fn fits(&self, parts: &[&[u8]], code: &[u8]) -> bool {
        self.mac(parts).verify_slice(code).is_ok()
    }
}

/// Returns random bytes from the operating system.
///
/// # Errors
/// Returns an error if the system has none.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], SecretError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(SecretError::Random)?;
    Ok(bytes)
}

/// Returns a random number.
///
/// # Errors
/// Returns an error if the system has no random bytes.
pub(crate) fn random_number() -> Result<u64, SecretError> {
    Ok(u64::from_be_bytes(random()?))
}
