//! What is tried, and the agent that the test is for itself.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tenter_lab::AgentOptions;
use tenter_language::units::Rate;

use crate::bench::Bench;
use crate::{capture, faults, hostile, rack, traffic};

/// What test runners call all of it.
const NAME: &str = "namespaces";

/// What is tried, in order; each leaves the lab as it was.
type Trial = (&'static str, fn(&Bench));
const TRIALS: [Trial; 13] = [
    (
        "collectives are measured and verified",
        traffic::collectives,
    ),
    ("segmentation changes nothing", traffic::segmentation),
    (
        "colliding queue pairs take the links that the simulation gives them",
        traffic::paths,
    ),
    (
        "marked packets are answered by notifications",
        traffic::marks,
    ),
    ("the simulation takes about as long", traffic::twin),
    ("captured frames are RoCEv2 with its ICRC", capture::frames),
    ("lost packets are sent again", faults::loss),
    (
        "switches of a rack are read, and their counters are in the tables",
        rack::switches,
    ),
    ("a hostile peer changes nothing", hostile::peers),
    (
        "a link that is down ends the trial with its reason",
        faults::link_down,
    ),
    (
        "a coordinator that is gone is noticed",
        faults::lost_coordinator,
    ),
    (
        "a killed agent ends the trial with its reason",
        faults::killed_agent,
    ),
    ("nothing is left", faults::nothing_is_left),
];

pub(crate) fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let [
        "agent",
        "--listen",
        listen,
        "--secret-file",
        secret,
        "--lab",
        lab,
    ] = words.as_slice()
    {
        let options = AgentOptions {
            listen: listen.parse().expect("an address"),
            secret_file: PathBuf::from(secret),
            lab: PathBuf::from(lab),
            user: "nobody".to_owned(),
            max_rate: Rate::from_gbps(100),
            max_time: Duration::from_secs(120),
        };
        let ended = tenter_lab::start(&options, |_| {});
        eprintln!("{ended:?}");
        return ExitCode::FAILURE;
    }
    if words.contains(&"--list") {
        println!("{NAME}: test");
        return ExitCode::SUCCESS;
    }
    if let Some(why) = tenter_lab::missing_tools("tests") {
        println!("skipped: {why}");
        return ExitCode::SUCCESS;
    }
    let bench = Bench::up();
    for (name, of) in TRIALS {
        let is_name = |word: &&&str| !word.starts_with('-') && **word != NAME;
        let wanted = words.iter().find(is_name);
        let is_last = name == TRIALS[TRIALS.len() - 1].0;
        if wanted.is_some_and(|wanted| !name.contains(wanted)) && !is_last {
            continue;
        }
        let began = Instant::now();
        println!("{name} …");
        of(&bench);
        println!("{name}: ok, {:.1} s", began.elapsed().as_secs_f64());
    }
    ExitCode::SUCCESS
}
