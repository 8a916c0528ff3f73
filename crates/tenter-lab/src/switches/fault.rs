//! What is wrong with the text of a switch, and the counts in it.

/// Why a text is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The line, from 1, where there is one to blame.
    pub(super) line: Option<usize>,
    /// What is wrong with it, and the remedy.
    pub(super) what: String,
}

impl Fault {
    pub(super) fn at(line: usize, what: String) -> Fault {
        Fault {
            line: Some(line),
            what,
        }
    }

    /// A sentence that names the switch, the text and the line.
    pub(super) fn of(&self, switch: &str, text: &str) -> String {
        let line = self.line.map(|line| format!(", line {line}"));
        let line = line.unwrap_or_default();
        format!("switch `{switch}`, `{text}`{line}: {}", self.what)
    }
}

/// A count as it is printed, with or without commas; none where the switch has no such counter.
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
