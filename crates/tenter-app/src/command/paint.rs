//! Colours of messages and tables, on terminals that have them.
//!
//! Text stays plain until it is printed. Colours follow from its form, and the output stream
//! removes them where nobody would see them (a file, a pipe, `NO_COLOR`).

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[1;31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[34m";
const CYAN: &str = "\x1b[1;36m";
const END: &str = "\x1b[0m";

/// Colours messages: their kind, the places they name, and the carets below a line.
pub(crate) fn messages(text: &str) -> String {
    lines(text, |line, out| {
        let kinds = [("error", RED), ("warning", YELLOW), ("note", CYAN)];
        let kind = kinds.iter().find(|(kind, _)| {
            let rest = line.strip_prefix(kind);
            rest.is_some_and(|rest| rest.starts_with(':'))
        });
        if let Some((kind, colour)) = kind {
            put(out, colour, kind);
            out.push_str(&line[kind.len()..]);
        } else if let Some(place) = line.trim_start().strip_prefix("-->") {
            out.push_str(&line[..line.len() - place.len() - 3]);
            put(out, BLUE, "-->");
            out.push_str(place);
        } else if let Some(carets) = carets(line) {
            out.push_str(&line[..carets]);
            put(out, RED, &line[carets..]);
        } else {
            out.push_str(line);
        }
    })
}

/// Returns the index of the first caret in a line that has nothing else before it but the gutter.
fn carets(line: &str) -> Option<usize> {
    let (gutter, _) = line.split_once('|')?;
    let at = line.find('^')?;
    let between = &line[gutter.len() + 1..at];
    (gutter.trim().is_empty() && between.trim().is_empty()).then_some(at)
}

/// Colours tables: heads, verdicts and differences.
pub(crate) fn tables(text: &str) -> String {
    let mut was_indented = false;
    lines(text, |line, out| {
        let is_indented = line.starts_with("  ");
        // Tables are the indented blocks of an output, and a head is the first line of one.
        if is_indented && !was_indented && is_head(line) {
            put(out, BOLD, line);
        } else if is_indented {
            cells(line, out);
        } else {
            out.push_str(line);
        }
        was_indented = is_indented;
    })
}

/// Returns true if the first line of a block is a table's head: several names, and no numbers
/// except percentiles.
fn is_head(line: &str) -> bool {
    let cells: Vec<&str> = line.split("  ").filter(|cell| !cell.is_empty()).collect();
    let is_name = |cell: &&str| {
        let cell = cell.trim();
        cell.starts_with('P') || !cell.starts_with(|c: char| c.is_ascii_digit() || c == '`')
    };
    cells.len() > 2 && cells.iter().all(is_name)
}

/// Colours a table's line word by word, and keeps its blanks.
fn cells(line: &str, out: &mut String) {
    for part in line.split_inclusive(' ') {
        let word = part.trim_end_matches(' ');
        let number = word.strip_prefix(['+', '-']);
        let is_change = number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let colour = match word {
            "match" => GREEN,
            "miss" | "MISS" => RED,
            "-" => DIM,
            _ if is_change && word.starts_with('+') => YELLOW,
            _ if is_change => CYAN,
            _ => {
                out.push_str(part);
                continue;
            }
        };
        put(out, colour, word);
        out.push_str(&part[word.len()..]);
    }
}

fn lines(text: &str, mut paint: impl FnMut(&str, &mut String)) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        paint(content, &mut out);
        out.push_str(&line[content.len()..]);
    }
    out
}

fn put(out: &mut String, colour: &str, text: &str) {
    out.push_str(colour);
    out.push_str(text);
    out.push_str(END);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with its colours as letters.
    fn shown(text: &str) -> String {
        let names = [
            (BOLD, "<b>"),
            (DIM, "<d>"),
            (RED, "<r>"),
            (GREEN, "<g>"),
            (YELLOW, "<y>"),
            (BLUE, "<u>"),
            (CYAN, "<c>"),
            (END, "</>"),
        ];
        let mut text = text.to_owned();
        for (code, name) in names {
            text = text.replace(code, name);
        }
        text
    }

    #[test]
    fn messages_by_their_kind() {
        let text = "error: unknown key\n  --> s.yaml:2:3\n   |\n 2 |   leafs: 8\n   |   ^^^^^ did you mean `leaves`?\nnote: a\nerrors\n";
        let expected = "<r>error</>: unknown key\n  <u>--></> s.yaml:2:3\n   |\n 2 |   leafs: 8\n   |   <r>^^^^^ did you mean `leaves`?</>\n<c>note</>: a\nerrors\n";
        assert_eq!(shown(&messages(text)), expected);
    }

    #[test]
    fn tables_by_their_form() {
        let text = "a, b\n  case  measured  P99  verdict\n            ms\n  1MiB     +1.5 %  -  match\n  2MiB  -0.2 %  1  MISS\n\n  packets    68.3 M packet-hops\n";
        let expected = "a, b\n<b>  case  measured  P99  verdict</>\n            ms\n  1MiB     <y>+1.5</> %  <d>-</>  <g>match</>\n  2MiB  <c>-0.2</> %  1  <r>MISS</>\n\n  packets    68.3 M packet-hops\n";
        assert_eq!(shown(&tables(text)), expected);
    }

    #[test]
    fn without_colours_the_text_is_what_it_was() {
        let text = "error: x\n  a  b  c\n  1  +2  miss\n\nend";
        let plain = |painted: String| anstream::adapter::strip_str(&painted).to_string();
        assert_eq!(plain(messages(text)), text);
        assert_eq!(plain(tables(text)), text);
    }
}
