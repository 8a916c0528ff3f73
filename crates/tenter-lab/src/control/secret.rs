//! The secret that the agents and the coordinator of a lab share.

use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of a secret at least.
const SECRET_MIN: usize = 16;
/// Bytes of a secret at most.
const SECRET_MAX: u64 = 4096;
/// Bytes of a secret that is made here.
const SECRET_MADE: usize = 32;

/// The bytes of a message authentication code.
pub(super) const MAC_BYTES: usize = 32;

/// A secret that the agents and the coordinator of a lab share.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// It is not shown.
impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(…)")
    }
}

/// Why there is no secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read or made.
    #[error("cannot use the secret file `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Others can read it.
    #[error("others can read the secret file `{}`: run `chmod 600` on it", .0.display())]
    Open(PathBuf),
    /// It is too short or too long.
    #[error(
        "the secret file `{}` has {bytes} bytes, and a secret has {SECRET_MIN} to {SECRET_MAX}: write random ones, as `head -c 32 /dev/urandom` prints them",
        path.display()
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// How many it has.
        bytes: usize,
    },
    /// The system has no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(getrandom::Error),
}

impl Secret {
    /// Reads it; line ends at its end do not count.
    ///
    /// # Errors
    /// When the file cannot be read, others can read it, or it is too short.
    pub fn read(path: &Path) -> Result<Secret, SecretError> {
        let file = |source| SecretError::File {
            path: path.to_owned(),
            source,
        };
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

    /// Makes one, and a file with it that nobody else can read.
    ///
    /// # Errors
    /// When the file cannot be made.
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

    /// The secret of a test.
    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Secret {
        Secret(text.as_bytes().to_vec())
    }

    /// The code of some parts.
    pub(super) fn code(&self, parts: &[&[u8]]) -> [u8; MAC_BYTES] {
        Key(self.0.clone()).code(parts)
    }

    /// A key for one purpose in one session.
    pub(super) fn key(&self, parts: &[&[u8]]) -> Key {
        Key(self.code(parts).to_vec())
    }

    /// Whether a code is that of some parts, in a time that does not depend on where it differs.
    pub(super) fn fits(&self, parts: &[&[u8]], code: &[u8]) -> bool {
        Key(self.0.clone()).fits(parts, code)
    }
}

/// A key of HMAC-SHA-256 (RFC 2104).
pub(super) struct Key(Vec<u8>);

impl Key {
    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("keys of HMAC may have any length");
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
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

/// Random bytes of the operating system.
///
/// # Errors
/// When it has none.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], SecretError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(SecretError::Random)?;
    Ok(bytes)
}

/// A random number.
///
/// # Errors
/// When the system has none.
pub(crate) fn random_number() -> Result<u64, SecretError> {
    Ok(u64::from_be_bytes(random()?))
}
