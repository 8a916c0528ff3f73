//! Notes: facts that must be known beside a trial's numbers.

use std::ops::{Deref, DerefMut};

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::column::{Cell, Kind, Value, rows};

rows! {
    /// A note on a trial: something that a reader of its numbers must know. Notes are no results,
    /// so the digest does not cover them.
    pub struct NoteRow in "notes" {
        /// Kind of note: a word of the list above that stays the same when the text is rephrased.
        code: NoteCode => "code", "";
        /// `warning` where numbers may be misread without it, otherwise `note`.
        severity: Severity => "severity", "";
        /// The key of the scenario that it is about, such as `fabric.switch.ecn`; empty where it is
        /// about the whole trial.
        place: String => "place", "";
        /// The note, a sentence without its end.
        text: String => "text", "";
    }
}

/// Weight that a note has for its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Numbers may be misread without the note.
    Warning,
    /// Information that changes no reading.
    #[default]
    Note,
}

impl Severity {
    /// Returns the word in tables and before the text.
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

impl Value for Severity {
    const KIND: Kind = Kind::Text;
    fn cell(&self) -> Cell<'_> {
        Cell::Text(self.word())
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Severity::deserialize(deserializer)
    }
}

/// Declares the note kinds once: variant, word, weight and meaning.
macro_rules! codes {
    ($( $(#[doc = $meaning:literal])+ $code:ident => $word:literal, $severity:ident; )+) => {
        /// Kind of fact that a note states.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum NoteCode {
            $( $(#[doc = $meaning])+ $code, )+
            /// Kind from another version, unknown to this one.
            #[default]
            Other,
        }

        impl NoteCode {
            /// All kinds with their meanings.
            pub const ALL: &'static [(NoteCode, &'static str)] =
                &[$( (NoteCode::$code, concat!($($meaning),+)), )+];

            /// Returns the word in tables.
            pub const fn word(self) -> &'static str {
                match self {
                    $( NoteCode::$code => $word, )+
                    NoteCode::Other => "other",
                }
            }

            /// Returns the weight that such notes have.
            pub const fn severity(self) -> Severity {
                match self {
                    $( NoteCode::$code => Severity::$severity, )+
                    NoteCode::Other => Severity::Note,
                }
            }
        }
    };
}

codes! {
    /// The check of the scenario warns of it, as `tenter validate` does.
    Scenario => "scenario", Warning;
    /// A setting of the scenario has no effect.
    NoEffect => "no-effect", Note;
    /// Algorithms that nobody has named and NCCL chooses.
    Algorithm => "algorithm", Note;
    /// At which level the trial ran, where that was chosen by `engine.fidelity: auto`.
    Fidelity => "fidelity", Note;
    /// How far flow level was off where it was compared with packets, or that nobody has measured
    /// it for trials of this kind.
    FlowLevelError => "flow-level-error", Warning;
    /// Flow level leaves out something that this scenario has.
    FlowLevel => "flow-level", Warning;
    /// More waits in a queue at flow level than it holds.
    FlowLevelQueue => "flow-level-queue", Warning;
    /// Why `engine.steady_state: jump` jumps over nothing.
    NoJumps => "no-jumps", Warning;
    /// Windows are too short, so the central engine ran: the results are the same.
    CentralEngine => "central-engine", Warning;
    /// Lossless classes dropped frames, which PFC or credit should have prevented.
    LosslessDrops => "lossless-drops", Warning;
    /// Queue pairs gave up on data that was not acknowledged.
    GaveUp => "gave-up", Warning;
    /// A record that was asked for is not whole.
    RecordCut => "record-cut", Warning;
    /// Requests of inferences took longer than their scheduler assumed.
    BatchesLate => "batches-late", Warning;
    /// The trial ended early; the text says why.
    Stopped => "stopped", Warning;
    /// Hosts of a lab were measured: how, and what was not.
    Lab => "lab", Warning;
    /// How a trial of a lab was run.
    LabSetUp => "lab-set-up", Note;
    /// Counters of a real switch lack something.
    LabSwitch => "lab-switch", Warning;
}

impl Value for NoteCode {
    const KIND: Kind = Kind::Text;
    fn cell(&self) -> Cell<'_> {
        Cell::Text(self.word())
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let mut codes = NoteCode::ALL.iter().map(|(code, _)| *code);
        Ok(codes
            .find(|code| code.word() == word)
            .unwrap_or(NoteCode::Other))
    }
}

impl NoteRow {
    /// Creates a note on the whole trial; `text` is a sentence without its full stop.
    pub fn new(code: NoteCode, text: impl Into<String>) -> NoteRow {
        NoteRow {
            code,
            severity: code.severity(),
            place: String::new(),
            text: text.into(),
        }
    }

    /// Refers the note to a scenario key.
    #[must_use]
    pub fn at(self, place: impl Into<String>) -> NoteRow {
        NoteRow {
            place: place.into(),
            ..self
        }
    }

    /// Formats a line for terminals: `warning: …` or `note: …`.
    pub fn line(&self) -> String {
        format!("{}: {}", self.severity.word(), self.text)
    }
}

/// A trial's notes. A summary has them as rows in `notes`, and the texts of warnings again in
/// `warnings`, for people who read it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes(pub Vec<NoteRow>);

impl Notes {
    /// Adds a note on the whole trial.
    pub fn add(&mut self, code: NoteCode, text: impl Into<String>) {
        self.0.push(NoteRow::new(code, text));
    }

    /// Returns the texts of all warnings among them.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        let warnings = self
            .0
            .iter()
            .filter(|note| note.severity == Severity::Warning);
        warnings.map(|note| note.text.as_str())
    }

    /// Merges several trials' notes in their order, equal notes once.
    pub fn of_all<'a>(trials: impl IntoIterator<Item = &'a Notes>) -> Notes {
        let mut seen: Vec<NoteRow> = Vec::new();
        for note in trials.into_iter().flat_map(|notes| &notes.0) {
            // Trials have few notes, so a search is fast enough.
            if !seen.contains(note) {
                seen.push(note.clone());
            }
        }
        Notes(seen)
    }
}

impl Deref for Notes {
    type Target = Vec<NoteRow>;

    fn deref(&self) -> &Vec<NoteRow> {
        &self.0
    }
}

impl DerefMut for Notes {
    fn deref_mut(&mut self) -> &mut Vec<NoteRow> {
        &mut self.0
    }
}

impl FromIterator<NoteRow> for Notes {
    fn from_iter<I: IntoIterator<Item = NoteRow>>(notes: I) -> Notes {
        Notes(notes.into_iter().collect())
    }
}

impl Serialize for Notes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut both = serializer.serialize_struct("Notes", 2)?;
        both.serialize_field("warnings", &self.warnings().collect::<Vec<_>>())?;
        both.serialize_field("notes", &self.0)?;
        both.end()
    }
}

impl<'de> Deserialize<'de> for Notes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Entry in `notes`: a row, or a text in summaries from earlier versions.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Note {
            Row(NoteRow),
            Text(String),
        }
        #[derive(Deserialize)]
        struct Both {
            #[serde(default)]
            warnings: Vec<String>,
            #[serde(default)]
            notes: Vec<Note>,
        }
        let both = Both::deserialize(deserializer)?;
        let mut notes: Vec<NoteRow> = Vec::new();
        let is_row = |note: &Note| matches!(note, Note::Row(_));
        // Rows contain the warnings; `warnings` only repeats their texts.
        if !both.notes.iter().any(is_row) {
            notes.extend(both.warnings.into_iter().map(|text| NoteRow {
                severity: Severity::Warning,
                ..NoteRow::new(NoteCode::Other, text)
            }));
        }
        notes.extend(both.notes.into_iter().map(|note| match note {
            Note::Row(row) => row,
            Note::Text(text) => NoteRow::new(NoteCode::NoEffect, text),
        }));
        Ok(Notes(notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Row, Summary};

    #[test]
    fn a_summary_has_rows_and_texts_and_reads_both() {
        let mut summary = Summary::default();
        summary.notes.add(NoteCode::CentralEngine, "slow");
        let idle = NoteRow::new(NoteCode::NoEffect, "`a` has no effect").at("fabric.a");
        summary.notes.push(idle);
        let json = serde_json::to_value(&summary).expect("plain data");
        assert_eq!(json["warnings"], serde_json::json!(["slow"]));
        assert_eq!(json["notes"][1]["code"], "no-effect");
        assert_eq!(json["notes"][1]["severity"], "note");
        assert_eq!(json["notes"][1]["place"], "fabric.a");
        let back: Summary = serde_json::from_value(json.clone()).expect("own output");
        assert_eq!(back, summary);
        // As earlier versions wrote it.
        let mut old = json;
        old["notes"] = serde_json::json!(["`a` has no effect"]);
        let old: Summary = serde_json::from_value(old).expect("an older summary");
        let lines: Vec<String> = old.notes.iter().map(NoteRow::line).collect();
        assert_eq!(lines, ["warning: slow", "note: `a` has no effect"]);
    }

    #[test]
    fn words_of_codes_are_in_kebab_case_and_come_back() {
        assert_eq!(NoteRow::TABLE, "notes");
        for &(code, meaning) in NoteCode::ALL {
            let word = code.word();
            assert!(
                word.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            );
            assert!(meaning.ends_with('.'), "{meaning}");
            let row = NoteRow::new(code, "a sentence");
            let text = serde_json::to_string(&row).expect("a row");
            assert_eq!(
                serde_json::from_str::<NoteRow>(&text).expect("own row"),
                row
            );
            let later = text.replace(word, "of-tomorrow");
            let later: NoteRow = serde_json::from_str(&later).expect("any word");
            assert_eq!(later.code, NoteCode::Other);
        }
    }
}
