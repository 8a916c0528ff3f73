//! The HTML file that is a report.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read as _, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::json;
use tenter_language::units::turns_text;

use super::asking::Answered;
use super::policy::policy;

/// The page's script, gzip-compressed by the build.
const SCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/report.js.gz"));
const STYLE: &str = include_str!("report.gen.css");

/// Space for a report's answers, in bytes per trial (2.5 MiB). What does not fit is left out, and
/// the page says so in its place.
const ANSWERS: usize = (5 << 20) / 2;

/// Data embedded in a report's page; `web/src/embedded.ts` reads it.
#[derive(Serialize)]
pub(super) struct Document {
    title: String,
    home: String,
    version: &'static str,
    remark: &'static str,
    answers: BTreeMap<String, Packed>,
    #[serde(skip)]
    room: usize,
    #[serde(skip)]
    left_out: Vec<LeftOut>,
}

/// A report as one HTML file, which fetches nothing.
#[derive(Debug)]
pub struct Report {
    /// The file's text.
    pub text: String,
    /// Answers that did not fit; the page says in their place that they were left out.
    pub left_out: Vec<LeftOut>,
}

/// An answer that did not fit into a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Address that the page would ask a server for.
    pub address: String,
    /// Name of the trial that the answer is about; empty if it is about several.
    pub trial: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below = self.address.trim_start_matches("/api/v1/");
        // The number in the address counts the trials of the report.
        match below
            .strip_prefix("trials/")
            .and_then(|of| of.split_once('/'))
        {
            Some((_, view)) if !self.trial.is_empty() => write!(f, "{}: {view}", self.trial),
            _ => f.write_str(below),
        }
    }
}

/// Answer in the form that the page expects.
#[derive(Serialize)]
#[serde(untagged)]
enum Packed {
    /// A 200: gzip-compressed JSON, in base64.
    Answer(String),
    /// Any other answer: status and error body.
    Refused(u16, String),
}

impl Document {
    /// Makes an empty report on `things` trials, sweeps or studies that opens at the page address
    /// `home`.
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
            left_out: Vec::new(),
            room: ANSWERS.saturating_mul(things.max(1)),
        }
    }

    /// Adds the answer from `address` about `trial`, which is empty if the answer is about several.
    /// A 404 adds nothing: the page then shows the same as it would
    /// beside a server.
    pub(super) fn add(&mut self, address: &str, trial: &str, answered: Answered) {
        let Answered { status, body } = answered;
        let packed = match status {
            404 => return,
            // Compression writes to memory and does not fail.
            200 => packed(&body).unwrap_or_default(),
            status => {
                let text = String::from_utf8_lossy(&body).into_owned();
                self.answers
                    .insert(address.to_owned(), Packed::Refused(status, text));
                return;
            }
        };
        // Callers add the most important answers first, so the least important are left out.
        let answer = if let Some(left) = self.room.checked_sub(packed.len()) {
            self.room = left;
            Packed::Answer(packed)
        } else {
            self.left_out.push(LeftOut {
                address: address.to_owned(),
                trial: trial.to_owned(),
            });
            left_out()
        };
        self.answers.insert(address.to_owned(), answer);
    }

    /// Adds an answer that no route has given: the report is about it, so it is never left out.
    pub(super) fn add_body(&mut self, address: &str, body: &impl Serialize) {
        let body = serde_json::to_vec(body).unwrap_or_default();
        let packed = packed(&body).unwrap_or_default();
        self.answers
            .insert(address.to_owned(), Packed::Answer(packed));
    }

    /// Returns the report.
    pub(super) fn finish(self) -> Report {
        Report {
            text: self.text(),
            left_out: self.left_out,
        }
    }

    /// Returns the whole HTML file.
    ///
    /// It names an empty icon: a browser would otherwise ask the server for one.
    fn text(&self) -> String {
        // `</script>` in the data, as in a trial's name, must not end the element around it.
        let data = serde_json::to_string(self).unwrap_or_default();
        // Names from elsewhere may have direction marks, which would reverse the text beside them;
        // none of them may differ between an answer and its address.
        let data = data.replace('<', "\\u003c").replace(turns_text, "\u{fffd}");
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

/// Unpacks the script for the page.
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

/// Compresses an answer. Direction marks, which a trial from elsewhere may have in its names, would
/// reverse the text beside them and become U+FFFD.
fn packed(body: &[u8]) -> io::Result<String> {
    let text = String::from_utf8_lossy(body);
    let text = if text.contains(turns_text) {
        Cow::Owned(text.replace(turns_text, "\u{fffd}"))
    } else {
        text
    };
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(text.as_bytes())?;
    Ok(BASE64_STANDARD.encode(packer.finish()?))
}

/// Escapes `text` for HTML. Control characters, which HTML does not allow, become U+FFFD; so do
/// direction marks, which would reverse the text beside them.
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
        let numbers = |count: u32| Answered {
            status: 200,
            body: format!("{:?}", (0..count).collect::<Vec<u32>>()).into_bytes(),
        };
        document.add("small", "", numbers(1));
        document.add("/api/v1/trials/1/large", "ecmp", numbers(1_000));
        document.add_body("home", &(0..1_000).collect::<Vec<u32>>());
        let data = serde_json::to_value(&document).expect("plain data");
        assert!(data["answers"]["small"].is_string());
        assert_eq!(data["answers"]["/api/v1/trials/1/large"][0], 413);
        let none = Answered {
            status: 404,
            body: Vec::new(),
        };
        document.add("missing", "", none);
        assert!(data["answers"]["home"].is_string());
        assert_eq!(document.answers.len(), 3);
        let left_out = document.finish().left_out;
        assert_eq!(left_out.len(), 1);
        assert_eq!(left_out[0].to_string(), "ecmp: large");
    }

    #[test]
    fn marks_of_direction_do_not_reach_the_page() {
        let packed = packed("{\"name\": \"a\u{202e}b\"}".as_bytes()).expect("memory");
        let packed = BASE64_STANDARD.decode(packed).expect("base64");
        let mut text = String::new();
        let read = GzDecoder::new(packed.as_slice()).read_to_string(&mut text);
        read.expect("gzip");
        assert_eq!(text, "{\"name\": \"a\u{fffd}b\"}");
    }
}
