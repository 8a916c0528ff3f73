//! `tenter explain`.

use std::process::ExitCode;

use tenter_report::explanation_text;

use crate::arguments::{Explain, ExplainFormat};
use crate::failure::{Failure, print};
use crate::source;

pub(crate) fn explain(arguments: &Explain) -> Result<ExitCode, Failure> {
    let plan = source::read(&arguments.scenario)?;
    plan.check()?;
    let explanation = plan.explain()?;
    print(&match arguments.format {
        ExplainFormat::Text => explanation_text(&explanation),
        ExplainFormat::Json => {
            let text = serde_json::to_string_pretty(&explanation);
            text.map_err(|error| Failure::other(error.to_string()))? + "\n"
        }
    });
    Ok(ExitCode::SUCCESS)
}
