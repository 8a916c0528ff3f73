//! Privileges that an agent gives up before it serves.

use nix::unistd::{Gid, Uid, User, setgroups, setresgid, setresuid};

/// Reason why privileges could not be given up.
#[derive(Debug, thiserror::Error)]
pub enum PrivilegeError {
    /// The system has no user with this name.
    #[error("there is no user `{0}`: name one that exists, `nobody` for instance")]
    NoUser(String),
    /// The system refused the change.
    #[error("cannot become user `{user}`: {source}")]
    Refused {
        /// The user that the agent was to become.
        user: String,
        /// Reason given by the operating system.
        source: nix::errno::Errno,
    },
}

/// Makes this process run as `user` if root started it; otherwise there are no privileges to give
/// up.
///
/// An agent needs none: its UDP port is above 1023, and it opens no raw sockets.
///
/// # Errors
/// Returns an error if there is no such user, or if the system refuses.
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
    // The user comes last: without root's user id, the groups could no longer be changed.
    setresgid(group, group, group).map_err(refused)?;
    setresuid(found.uid, found.uid, found.uid).map_err(refused)
}
