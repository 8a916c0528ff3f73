//! The content security policy of a page: its own script and style sheet, and nothing else.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// The policy of a page with one script and one style sheet, each the whole text of its element.
///
/// Both are allowed by their digests, so a script that found its way into the page would not run.
/// Attributes keep `unsafe-inline` for style alone: marks carry their measures there, and nothing
/// that a style can name may be fetched. Pictures of `data:` are drawings on their way to a file.
pub(super) fn policy(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src-elem '{}'; style-src-attr 'unsafe-inline'; \
         img-src data:; base-uri 'none'; form-action 'none'",
        source(script),
        source(style)
    )
}

/// The hash source of a text.
fn source(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_source_is_the_digest_in_base64() {
        // NIST's example for SHA-256, "abc".
        assert_eq!(
            source("abc"),
            "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
        );
    }
}
