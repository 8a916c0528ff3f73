//! Errors in a switch's text, and the counts in it.

/// Reason why a text is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Line at fault, from 1; `None` if no single line is.
    pub(super) line: Option<usize>,
    /// Sentence that says what is wrong, and what to do.
    pub(super) what: String,
}

impl Fault {
    pub(super) fn at(line: usize, what: String) -> Fault {
        Fault {
            line: Some(line),
            what,
        }
    }

    /// Returns a sentence that names switch, text and line.
    pub(super) fn of(&self, switch: &str, text: &str) -> String {
        let line = self.line.map(|line| format!(", line {line}"));
        let line = line.unwrap_or_default();
        format!("switch `{switch}`, `{text}`{line}: {}", self.what)
    }
}

/// Parses a count as it is printed, with or without thousands separators; `None` if the switch
/// lacks the counter (`N/A`).
///
/// # Errors
/// Returns a sentence if `word` is not a count.
pub(super) fn count(word: &str) -> Result<Option<u64>, String> {
    let digits = word.trim().replace(',', "");
    if matches!(digits.as_str(), "N/A" | "n/a" | "-" | "") {
        return Ok(None);
    }
    let number = digits.parse().map(Some);
    number.map_err(|_| {
        format!("`{word}` is no count; give the output whole, as the switch prints it")
    })
}
