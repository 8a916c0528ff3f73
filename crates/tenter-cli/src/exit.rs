//! Exit codes.

/// How a command ended; docs/exit-codes.md lists the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitCode(u8);

impl ExitCode {
    /// The command has done what it was asked.
    pub(crate) const SUCCESS: ExitCode = ExitCode(0);

    pub(crate) fn code(self) -> u8 {
        self.0
    }
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> ExitCode {
        ExitCode(code)
    }
}
