//! The answers that a report has in it.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;

/// Returns the answers that a report embeds, by address; for a refused request its error.
pub(crate) struct Embedded {
    pub(crate) document: Value,
    pub(crate) answers: BTreeMap<String, String>,
}

impl Embedded {
    pub(crate) fn of(page: &str) -> Embedded {
        let (_, data) = page.split_once("id=\"embedded\">").expect("data");
        let (data, _) = data.split_once("</script>").expect("its end");
        let document: Value = serde_json::from_str(data).expect("JSON");
        let answers = document["answers"].as_object().expect("answers").iter();
        let answers = answers.map(|(address, packed)| (address.clone(), inflated(packed)));
        Embedded {
            answers: answers.collect(),
            document,
        }
    }

    pub(crate) fn read(file: &Path) -> Embedded {
        Embedded::of(&std::fs::read_to_string(file).expect("a report"))
    }

    pub(crate) fn text(&self, address: &str) -> &str {
        let found = self.answers.get(address);
        found.unwrap_or_else(|| panic!("{address} is not in the report"))
    }

    pub(crate) fn json(&self, address: &str) -> Value {
        serde_json::from_str(self.text(address)).expect("JSON")
    }
}

fn inflated(packed: &Value) -> String {
    let Some(text) = packed.as_str() else {
        return packed[1].as_str().expect("an error").to_owned();
    };
    let bytes = BASE64_STANDARD.decode(text).expect("base64");
    let mut text = String::new();
    GzDecoder::new(&*bytes)
        .read_to_string(&mut text)
        .expect("gzip");
    text
}
