//! Exit codes that the command returns.

/// Result of a command; docs/exit-codes.md lists the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitCode(u8);

impl ExitCode {
    /// The command has done what it was asked.
    pub(crate) const SUCCESS: ExitCode = ExitCode(0);
    /// A job did not finish: a QP gave up, or time ran out.
    pub(crate) const NOT_COMPLETE: ExitCode = ExitCode(1);
    /// The user interrupted the command; shells use the same code.
    pub(crate) const INTERRUPTED: ExitCode = ExitCode(130);

    pub(crate) fn code(self) -> u8 {
        self.0
    }
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> ExitCode {
        ExitCode(code)
    }
}
