//! Notes from an answer's trials, as lines below its tables.

use tenter_results::NoteRow;

use crate::studies::answer::StudyAnswer;

/// A note with the variants whose trials have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Noted<'a> {
    /// The note; its numbers are from the first trial that has it.
    pub note: &'a NoteRow,
    /// Variant names, in the answer's order.
    pub variants: Vec<&'a str>,
    /// Counts further notes from these variants that differ from `note` in numbers alone.
    pub alike: usize,
}

impl Noted<'_> {
    /// Formats the note as a line without line end: severity, variants, text. `all` is the answer's
    /// variant count; a single variant's name is left out.
    pub fn line(&self, all: usize) -> String {
        let variants = match self.variants.as_slice() {
            _ if all < 2 => String::new(),
            variants if variants.len() == all => "all variants: ".to_owned(),
            variants => variants.join(", ") + ": ",
        };
        let alike = match self.alike {
            0 => String::new(),
            alike => format!(" ({alike} more notes differ in numbers alone)"),
        };
        let NoteRow { severity, text, .. } = self.note;
        format!("{}: {variants}{text}{alike}", severity.word())
    }
}

impl StudyAnswer {
    /// Returns all variants' notes, warnings first; each appears once with the variants that have
    /// it.
    pub fn noted(&self) -> Vec<Noted<'_>> {
        let of = self
            .variants
            .iter()
            .map(|of| (of.name.as_str(), of.notes.as_slice()));
        noted(of)
    }
}

/// Merges notes that are given variant by variant, as [`StudyAnswer::noted`] does.
pub fn noted<'a>(variants: impl Iterator<Item = (&'a str, &'a [NoteRow])>) -> Vec<Noted<'a>> {
    let mut all: Vec<Noted<'a>> = Vec::new();
    for (variant, notes) in variants {
        for note in notes {
            match all.iter_mut().find(|known| is_alike(known.note, note)) {
                None => all.push(Noted {
                    note,
                    variants: vec![variant],
                    alike: 0,
                }),
                Some(known) => {
                    known.alike += usize::from(known.note.text != note.text);
                    // Notes come variant by variant, so a variant that is known already is the last
                    // one.
                    if known.variants.last() != Some(&variant) {
                        known.variants.push(variant);
                    }
                }
            }
        }
    }
    // The sort is stable: notes of equal severity stay in the order of the variants.
    all.sort_by_key(|noted| noted.note.severity);
    all
}

/// Returns true if two notes are equal except for numbers, as if one trial dropped 3 frames and the
/// next one 5.
fn is_alike(a: &NoteRow, b: &NoteRow) -> bool {
    let words = |note: &NoteRow| -> String {
        let text = note.text.chars();
        text.filter(|of| !of.is_ascii_digit() && *of != '.')
            .collect()
    };
    (a.code, &a.place) == (b.code, &b.place) && (a.text == b.text || words(a) == words(b))
}

#[cfg(test)]
mod tests {
    use tenter_results::NoteCode;

    use super::*;

    #[test]
    fn equal_notes_are_said_once_with_their_variants() {
        let drops = |count: u32| {
            let text = format!("{count} frames of lossless classes were dropped");
            NoteRow::new(NoteCode::LosslessDrops, text)
        };
        let idle = NoteRow::new(NoteCode::NoEffect, "`a` has no effect");
        let [first, second] = [
            vec![idle.clone(), drops(1)],
            vec![idle, drops(1), drops(20)],
        ];
        let all = noted([("pfc", &first[..]), ("dcqcn", &second[..])].into_iter());
        let lines: Vec<String> = all.iter().map(|noted| noted.line(3)).collect();
        assert_eq!(
            lines,
            [
                "warning: pfc, dcqcn: 1 frames of lossless classes were dropped (1 more notes differ in numbers alone)",
                "note: pfc, dcqcn: `a` has no effect",
            ]
        );
        assert!(all[1].line(2).starts_with("note: all variants: "));
        assert_eq!(all[1].line(1), "note: `a` has no effect");
    }
}
