//! A report's content security policy: its own script and style sheet, and nothing else.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// Returns the policy for a page with one script and one style sheet, each the whole text in its
/// element.
///
/// Both are allowed by digest, so an injected script would not run. `style` attributes stay allowed
/// (`unsafe-inline`): drawings carry their sizes there, and nothing that a style can name may be
/// fetched. Images from `data:` are drawings that are being saved as PNG files.
pub(super) fn policy(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src-elem '{}'; style-src-attr 'unsafe-inline'; \
         img-src data:; base-uri 'none'; form-action 'none'",
        source(script),
        source(style)
    )
}

/// Returns the CSP hash source for an inline script or style.
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
