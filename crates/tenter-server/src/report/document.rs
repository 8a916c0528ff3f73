//! The file of a report.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::json;
use tenter_units::turns_text;

use super::asking::Answered;
use super::policy::policy;

/// Compressed by the build.
const SCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/report.js.gz"));
const STYLE: &str = include_str!("report.gen.css");

/// Bytes of the answers of a report for each of its trials; what does not fit is left out, and the
/// page says so in its place.
const ANSWERS: usize = (5 << 20) / 2;

/// What the page of a report finds in it; `web/src/embedded.ts` reads it.
#[derive(Serialize)]
pub(super) struct Document {
    title: String,
    home: String,
    version: &'static str,
    remark: &'static str,
    answers: BTreeMap<String, Packed>,
    #[serde(skip)]
    room: usize,
}

/// An answer as the page finds it.
#[derive(Serialize)]
#[serde(untagged)]
enum Packed {
    /// Compressed, in base64.
    Answer(String),
    /// The status and the error.
    Refused(u16, String),
}

impl Document {
    /// A report of a number of trials, or of other things, that opens at `home`.
    pub(super) fn new(
        title: String,
        home: String,
        remark: &'static str,
        things: usize,
    ) -> Document {
        Document {
            title,
            home,
            version: env!("CARGO_PKG_VERSION"),
            remark,
            answers: BTreeMap::new(),
            room: ANSWERS.saturating_mul(things.max(1)),
        }
    }

    /// Adds what an address answered; what is not there is not there in the report, either.
    pub(super) fn add(&mut self, address: &str, answered: Answered) {
        let Answered { status, body } = answered;
        let packed = match status {
            404 => return,
            200 => packed(&body).unwrap_or_default(),
            status => {
                let text = String::from_utf8_lossy(&body).into_owned();
                self.answers
                    .insert(address.to_owned(), Packed::Refused(status, text));
                return;
            }
        };
        let answer = match self.room.checked_sub(packed.len()) {
            Some(left) => {
                self.room = left;
                Packed::Answer(packed)
            }
            None => left_out(),
        };
        self.answers.insert(address.to_owned(), answer);
    }

    /// Adds an answer that no route has given.
    pub(super) fn add_body(&mut self, address: &str, body: &impl Serialize) {
        let body = serde_json::to_vec(body).unwrap_or_default();
        self.add(address, Answered { status: 200, body });
    }

    /// The whole file.
    ///
    /// It names an icon of nothing: a browser asks the server of a page without one for a file.
    pub(super) fn text(&self) -> String {
        // Nothing in the data ends the element around it.
        let data = serde_json::to_string(self).unwrap_or_default();
        let data = data.replace('<', "\\u003c");
        let script = script();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\
             <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">\
             <meta name=\"generator\" content=\"Tenter {}\">\
             <title>{} – Tenter report</title><style>{STYLE}</style></head><body>\
             <div id=\"root\"></div>\
             <noscript><p>This report needs a script; all of its numbers are in the folders of its trials.</p></noscript>\
             <script type=\"application/json\" id=\"embedded\">{data}</script>\n\
             <script>{script}</script></body></html>\n",
            policy(&script, STYLE),
            self.version,
            escape(&self.title),
        )
    }
}

/// The script of the page, which the program has whole.
fn script() -> String {
    let mut script = String::new();
    let read = GzDecoder::new(SCRIPT).read_to_string(&mut script);
    read.map(|_| script).unwrap_or_default()
}

fn left_out() -> Packed {
    let body = json!({"error": {
        "message": "this was left out, so that the report does not get too large",
        "help": "`tenter ui` shows it, and the folder of the trial has its numbers.",
    }});
    Packed::Refused(413, body.to_string())
}

fn packed(body: &[u8]) -> io::Result<String> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(body)?;
    Ok(BASE64_STANDARD.encode(packer.finish()?))
}

/// A text with everything escaped that has a meaning in HTML. Control characters, which HTML does
/// not allow, become U+FFFD, as do marks of direction, which would reverse the text beside them.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            _ if c.is_control() || is_noncharacter(c) || turns_text(c) => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

fn is_noncharacter(c: char) -> bool {
    let code = c as u32;
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_is_escaped() {
        let hostile = "</title><script>\u{0}\u{1b}a\u{202e}b";
        let document = Document::new(hostile.to_owned(), String::new(), "", 1);
        let text = document.text();
        let title =
            "<title>&lt;/title&gt;&lt;script&gt;\u{fffd}\u{fffd}a\u{fffd}b – Tenter report</title>";
        assert!(text.contains(title));
        assert!(!text.contains(hostile));
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_says_so() {
        let mut document = Document::new(String::new(), String::new(), "", 1);
        document.room = 60;
        document.add_body("small", &1);
        document.add_body("large", &(0..1_000).collect::<Vec<u32>>());
        let data = serde_json::to_value(&document).expect("plain data");
        assert!(data["answers"]["small"].is_string());
        assert_eq!(data["answers"]["large"][0], 413);
        let none = Answered {
            status: 404,
            body: Vec::new(),
        };
        document.add("missing", none);
        assert_eq!(document.answers.len(), 2);
    }
}
