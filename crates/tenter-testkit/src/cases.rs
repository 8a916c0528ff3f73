//! Number of random cases that a test runs, by environment variable.

/// Environment variable that sets the number: `all`, or cases for each test.
const VARIABLE: &str = "TENTER_TEST_CASES";

/// Returns how many cases a test runs: `quick`, or the value of `TENTER_TEST_CASES`, at most `all`.
/// `make test-all` sets it to `all`.
///
/// Cases are numbered from 0, so a larger number adds cases to those of a smaller one.
///
/// # Panics
/// Panics if the variable is neither `all` nor a number.
pub fn cases(quick: u64, all: u64) -> u64 {
    match std::env::var(VARIABLE).as_deref() {
        Err(_) => quick,
        Ok("all") => all,
        Ok(number) => {
            let number: Result<u64, _> = number.parse();
            let number = number.unwrap_or_else(|_| panic!("{VARIABLE} is `all` or a number"));
            number.clamp(1, all)
        }
    }
}
