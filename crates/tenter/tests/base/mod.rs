//! A small scenario, and what becomes of it under overrides.

use tenter::resolve::{Diagnostics, Format, Loaded, load};

/// The text of a scenario that holds.
pub(crate) struct Base(pub(crate) &'static str);

impl Base {
    pub(crate) fn set(&self, overrides: &[&str]) -> Result<Loaded, Diagnostics> {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        load(self.0, "small.yaml", Format::Yaml, &overrides, None)
    }

    /// Loads it, with an effective form that gives the same plan and form.
    pub(crate) fn good(&self, overrides: &[&str]) -> Loaded {
        let loaded = self.set(overrides);
        let loaded = loaded.unwrap_or_else(|errors| panic!("{overrides:?}\n{errors}"));
        let again = load(&loaded.effective, "config.yaml", Format::Yaml, &[], None);
        let again = again.unwrap_or_else(|errors| panic!("{errors}\n{}", loaded.effective));
        assert_eq!(again.plan, loaded.plan, "{}", loaded.effective);
        assert_eq!(again.effective, loaded.effective);
        loaded
    }

    /// Asserts that the overrides are refused with one problem that says `expected` and what to do.
    pub(crate) fn refused(&self, overrides: &[&str], expected: &str) -> Diagnostics {
        let errors = self.set(overrides).expect_err(expected);
        let text = errors.render();
        assert_eq!(errors.problems().len(), 1, "{overrides:?}\n{text}");
        assert!(errors.problems()[0].help.is_some(), "{text}");
        assert!(
            text.contains(expected),
            "{overrides:?} lacks {expected:?}\n{text}"
        );
        errors
    }
}
