//! `tenter explain`.

use tenter_report::explanation_text;

use crate::arguments::{Explain, TextFormat};
use crate::exit::ExitCode;
use crate::failure::{Failure, print, print_tables};
use crate::source;

pub(crate) fn explain(arguments: &Explain) -> Result<ExitCode, Failure> {
    let plan = source::read(&arguments.scenario)?;
    plan.check()?;
    let explanation = plan.explain()?;
    match arguments.format {
        TextFormat::Text => print_tables(&explanation_text(&explanation)),
        TextFormat::Json => {
            let text = serde_json::to_string_pretty(&explanation);
            let text = text.map_err(|error| Failure::other(error.to_string()))?;
            print(&format!("{text}\n"));
        }
    }
    Ok(ExitCode::SUCCESS)
}
