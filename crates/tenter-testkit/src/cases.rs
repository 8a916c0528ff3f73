//! How many of its random cases a test runs.

/// The variable that sets it: `all`, or a number of cases for each test.
const VARIABLE: &str = "TENTER_TEST_CASES";

/// The number of cases that a test runs: `quick`, or what the variable `TENTER_TEST_CASES` says, at
/// most `all`. `make test-all` sets it to `all`. Cases are numbered from 0, so more of them are the
/// same ones and others.
///
/// # Panics
/// If the variable is neither `all` nor a number.
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
