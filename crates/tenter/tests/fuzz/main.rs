//! Scenarios that somebody may write who knows the keys but not what they are for: none of them
//! makes reading, resolving or explaining panic, hang or take memory without bound.
//!
//! Cases are made from the tables of keys that the format itself is read by, and from the scenarios
//! of this repository. Each is made from its number alone; a failure prints the line that runs it
//! again. Random bytes are the business of `tests/robustness.rs`.

mod source;

use std::alloc::System;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use cap::Cap;
use source::Source;
use tenter::explain::{explain, memory_bytes};
use tenter::resolve::{Format, load};
use tenter_language::units::Budget;
use tenter_testkit::{ProcessorTime, cases};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// How many cases there are, which take more than a minute; `make test` runs the first 10,000, and
/// `make test-all` all.
const CASES: u64 = 60_000;
const CASES_QUICK: u64 = 10_000;
/// Cases that run beside each other.
const THREADS: usize = 2;
/// What cases may take at most: the largest fabric there may be, once for each thread and twice
/// over, with its routes.
const BYTES_MAX: usize = 4 << 30;
/// A case takes a second at most on a machine that has nothing else to do.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Prints how to run a case again when it panics.
struct Replay(u64);

impl Drop for Replay {
    #[expect(
        clippy::print_stderr,
        reason = "a failing test says how to run it again"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let case = self.0;
            eprintln!("again: TENTER_FUZZ_CASE={case} cargo test -p tenter --test fuzz");
        }
    }
}

/// Runs one case; whether it was a scenario.
fn survive(source: &Source, number: u64) -> bool {
    let _replay = Replay(number);
    let case = source.case(number);
    let began = ProcessorTime::now();
    let before = ALLOCATOR.allocated();
    let good = match load(&case.text, "x.yaml", Format::Yaml, &case.overrides, None) {
        Ok(loaded) => {
            let again = load(&loaded.effective, "config.yaml", Format::Yaml, &[], None);
            let again = again.unwrap_or_else(|problems| panic!("{}", problems.render()));
            assert_eq!(again.plan, loaded.plan, "{}", loaded.effective);
            drop(again);
            if let Ok(explanation) = explain(&loaded.plan, &loaded.given, &Budget::unlimited()) {
                let bytes = memory_bytes(&loaded.plan).expect("it was explained");
                assert_eq!(explanation.cost.peak_bytes, bytes);
                assert!(explanation.cost.packet_hops.is_finite());
            }
            true
        }
        Err(problems) => {
            let text = problems.render();
            assert!(text.starts_with("error: "), "{text}");
            // Every problem has a place, in the file or in an override.
            let errors = text.matches("error: ").count();
            assert!(text.matches("--> ").count() >= errors.min(1), "{text}");
            false
        }
    };
    let peak = ALLOCATOR.max_allocated();
    assert!(
        peak < BYTES_MAX,
        "{peak} bytes at the peak, {before} before"
    );
    assert!(began.elapsed() < TIME_MAX, "it took {:?}", began.elapsed());
    good
}

#[test]
fn scenarios_of_people_who_know_the_keys() {
    let source = Source::read();
    if let Ok(case) = std::env::var("TENTER_FUZZ_CASE") {
        let number = case
            .parse()
            .expect("TENTER_FUZZ_CASE is the number of a case");
        eprintln!("{:#?}", source.case(number));
        survive(&source, number);
        return;
    }
    let cases = cases(CASES_QUICK, CASES);
    let (next, good) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= cases {
                break;
            }
            good.fetch_add(u64::from(survive(&source, number)), Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
    let good = good.into_inner();
    // Neither all noise nor all harmless.
    assert!(
        good > cases / 10 && good < cases * 9 / 10,
        "{good} of {cases} are scenarios"
    );
}
