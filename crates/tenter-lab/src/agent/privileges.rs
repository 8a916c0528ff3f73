//! Privileges that an agent gives up.

use nix::unistd::{Gid, Uid, User, setgroups, setresgid, setresuid};

/// Why privileges could not be given up.
#[derive(Debug, thiserror::Error)]
pub enum PrivilegeError {
    /// There is no such user.
    #[error("there is no user `{0}`: name one that exists, `nobody` for instance")]
    NoUser(String),
    /// The system does not let it.
    #[error("cannot become user `{user}`: {source}")]
    Refused {
        /// The user.
        user: String,
        /// Why not.
        source: nix::errno::Errno,
    },
}

/// Becomes a user without privileges, if this process is root's; otherwise it has none to give up.
///
/// An agent needs none: its port of UDP is above 1023, and it opens no raw sockets.
///
/// # Errors
/// When there is no such user, or the system refuses.
pub fn drop_privileges(user: &str) -> Result<(), PrivilegeError> {
    if !Uid::effective().is_root() {
        return Ok(());
    }
    let refused = |source| PrivilegeError::Refused {
        user: user.to_owned(),
        source,
    };
    let found = User::from_name(user).map_err(refused)?;
    let found = found.ok_or_else(|| PrivilegeError::NoUser(user.to_owned()))?;
    let group: Gid = found.gid;
    setgroups(&[group]).map_err(refused)?;
    setresgid(group, group, group).map_err(refused)?;
    setresuid(found.uid, found.uid, found.uid).map_err(refused)
}
