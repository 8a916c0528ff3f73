//! `tenter study`.

use std::process::ExitCode;

use crate::arguments::Study;
use crate::failure::Failure;

pub(crate) fn study(_: &Study) -> Result<ExitCode, Failure> {
    Err(Failure::other("not built yet"))
}
