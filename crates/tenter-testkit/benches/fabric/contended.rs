//! Whether the usual threads are ever slower than one: on an idle machine, and beside busy loops.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::cases::{CASES, Case, Traffic};
use crate::failure::Failure;
use crate::machine;
use crate::rounds::{Manner, in_own_process};

/// What is compared unless cases are named: small windows, middling and large ones.
const USUAL: [&str; 3] = [
    "full-flows-8",
    "full-permutation-128",
    "full-all-to-all-512",
];
/// A loop ends of itself after so long.
const LONGEST: Duration = Duration::from_secs(600);

/// A table of wall times on one thread and on as many as there are cores.
pub(crate) fn compare(
    filters: &[String],
    runs: u32,
    shorten: u64,
    say: impl Fn(&str),
) -> Result<String, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = cores.clamp(2, 4) as u16;
    let named = |case: &&Case| match filters {
        [] => USUAL.contains(&case.name),
        _ => filters.iter().any(|filter| case.name.contains(filter)),
    };
    let cases = CASES.iter().filter(named);
    let mut text = format!(
        "| case | busy loops | 1 thread (s) | {threads} threads (s) | ratio |\n\
         |---|---:|---:|---:|---:|\n"
    );
    for case in cases.filter(|case| case.traffic != Traffic::Kernel) {
        for loops in [0, cores / 2, cores] {
            say(&format!("{} beside {loops} busy loops", case.name));
            let _busy = Busy::start(loops);
            let [one, many] = best(case, threads, runs, shorten)?;
            let (name, ratio) = (case.name, many / one);
            writeln!(
                text,
                "| {name} | {loops} | {one:.2} | {many:.2} | {ratio:.2} |"
            )
            .expect("a string takes any text");
        }
    }
    let machine = machine::describe();
    Ok(format!(
        "{text}\nBest of {runs} by turns, wall time, {machine}."
    ))
}

/// The shortest run on one thread and on `threads`, by turns.
fn best(case: &Case, threads: u16, runs: u32, shorten: u64) -> Result<[f64; 2], Failure> {
    let mut best = [f64::INFINITY; 2];
    let mut digest = None;
    for _ in 0..runs {
        for (best, threads) in best.iter_mut().zip([1, threads]) {
            let manner = Manner {
                runs,
                shorten,
                threads,
                on_core: false,
            };
            let measured = in_own_process(case, manner)?;
            *best = best.min(measured.run_s);
            if *digest.get_or_insert_with(|| measured.digest.clone()) != measured.digest {
                return Err(Failure(format!("{}: the digests differ", case.name)));
            }
        }
    }
    Ok(best)
}

/// Threads that do nothing, as fast as they can, until it is dropped.
struct Busy {
    stop: Arc<AtomicBool>,
    loops: Vec<JoinHandle<()>>,
}

impl Busy {
    fn start(loops: usize) -> Busy {
        let stop = Arc::new(AtomicBool::new(false));
        let spin = |stop: Arc<AtomicBool>| {
            let started = Instant::now();
            while !stop.load(Ordering::Relaxed) && started.elapsed() < LONGEST {
                std::hint::spin_loop();
            }
        };
        let loops = (0..loops).map(|_| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || spin(stop))
        });
        Busy {
            loops: loops.collect(),
            stop,
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for busy in self.loops.drain(..) {
            // A loop cannot fail.
            let _ = busy.join();
        }
    }
}
