//! Options in nccl-tests without a meaning here. Each is rejected with the reason, unless it asks
//! for what happens anyway, or for something that does not change any time.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

/// An option in nccl-tests without a meaning here.
#[derive(Clone, Copy)]
struct Letter {
    short: char,
    /// Identifier for clap, and the long form if nccl-tests has one.
    name: &'static str,
    has_long: bool,
    /// Value that asks for what happens anyway.
    accepted: Option<&'static str>,
    /// Value that does not change any time. It is ignored with a note.
    idle: Option<&'static str>,
    /// Reason for the rejection, and what to do instead.
    why: &'static str,
}

const fn letter(
    short: char,
    name: &'static str,
    accepted: Option<&'static str>,
    why: &'static str,
) -> Letter {
    Letter {
        short,
        name,
        has_long: true,
        accepted,
        idle: None,
        why,
    }
}

/// Adds a value that is ignored with a note.
const fn idle_with(letter: Letter, value: &'static str) -> Letter {
    Letter {
        idle: Some(value),
        ..letter
    }
}

const NO_GPU: &str = "no GPU is simulated: a rank is a NIC";
const NO_MEMORY: &str = "no memory is simulated, only network traffic";
const EVERY_ITERATION: &str = "every iteration is in the trial folder, in `collectives.parquet`";

const LETTERS: [Letter; 20] = [
    idle_with(
        letter(
            'c',
            "check",
            Some("0"),
            "no data are carried, only their sizes, so there is nothing to check",
        ),
        "1",
    ),
    letter(
        'm',
        "agg_iters",
        Some("1"),
        "a collective begins when the one before it has ended; `-n` asks for more iterations",
    ),
    letter(
        'N',
        "run_cycles",
        Some("1"),
        "every cycle would print the same rows; `--seed` gives other random streams",
    ),
    letter(
        'p',
        "parallel_init",
        Some("0"),
        "there are no communicators to initialise",
    ),
    letter(
        'z',
        "blocking",
        Some("1"),
        "a collective begins when the one before it has ended, as with `-z 1`",
    ),
    letter('y', "stream_null", Some("0"), NO_GPU),
    letter(
        'T',
        "timeout",
        None,
        "a run that cannot go on ends by itself and names the ranks that wait; `--set limits.time=10s` limits simulated time",
    ),
    letter('G', "cudagraph", Some("0"), NO_GPU),
    letter(
        'C',
        "report_cputime",
        Some("0"),
        "no CPU is simulated; the time is that of the network",
    ),
    letter(
        'a',
        "average",
        Some("3"),
        "the time is that of the last rank, as with `-a 3`",
    ),
    idle_with(letter('R', "local_register", Some("0"), NO_MEMORY), "1"),
    letter('x', "cta_policy", None, NO_GPU),
    letter('D', "device_implementation", Some("0"), NO_GPU),
    letter('V', "device_cta_count", None, NO_GPU),
    letter('M', "memory", Some("0"), NO_MEMORY),
    letter('u', "unalign", Some("0"), NO_MEMORY),
    letter('I', "per_iter_timing", Some("0"), EVERY_ITERATION),
    letter(
        'S',
        "report_timestamps",
        Some("0"),
        "nothing printed depends on the wall clock; `manifest.json` in the trial folder has it",
    ),
    Letter {
        short: 'K',
        name: "letter-K",
        has_long: false,
        accepted: Some("0"),
        idle: None,
        why: EVERY_ITERATION,
    },
    Letter {
        short: 'F',
        name: "letter-F",
        has_long: false,
        accepted: None,
        idle: None,
        why: "give `-J FILE` for JSON; the trial folder has the tables",
    },
];

/// Options that were given: index into `LETTERS` and value.
#[derive(Debug, Default)]
pub(crate) struct Letters {
    given: Vec<(usize, String)>,
}

impl Letters {
    /// Rejects the first option that asks for something else than what happens anyway. Returns a
    /// note for each option that is ignored.
    pub(super) fn check(&self) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        for (index, value) in &self.given {
            let (letter, value) = (&LETTERS[*index], value.as_str());
            if letter.accepted == Some(value) {
                continue;
            }
            if letter.idle == Some(value) {
                notes.push(format!(
                    "`-{} {value}` has no effect: {}",
                    letter.short, letter.why
                ));
                continue;
            }
            let remedy = match letter.accepted {
                Some(accepted) => format!("leave it out, or give `-{} {accepted}`", letter.short),
                None => "leave it out".to_owned(),
            };
            return Err(format!(
                "`-{} {value}` of nccl-tests has no meaning here: {}\nhelp: {remedy}",
                letter.short, letter.why
            ));
        }
        Ok(notes)
    }
}

impl Args for Letters {
    fn augment_args(mut command: Command) -> Command {
        for letter in &LETTERS {
            let argument = Arg::new(letter.name)
                .short(letter.short)
                .value_name("VALUE")
                // Values such as -1 are no options.
                .allow_hyphen_values(true)
                .hide(true);
            command = command.arg(if letter.has_long {
                argument.long(letter.name)
            } else {
                argument
            });
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Letters::augment_args(command)
    }
}

impl FromArgMatches for Letters {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut letters = Letters::default();
        letters.update_from_arg_matches(matches)?;
        Ok(letters)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let value = |letter: &Letter| matches.get_one::<String>(letter.name).cloned();
        let given = LETTERS.iter().enumerate();
        let given = given.filter_map(|(index, letter)| Some((index, value(letter)?)));
        self.given = given.collect();
        Ok(())
    }
}
