//! Every command that the documentation shows runs, or fails where the documentation says that it
//! fails.
//!
//! A fenced block marked `console` holds lines `$ tenter …` or `$ make …` and what they print; such
//! a command must exit with 0. In a block marked `console,fails` it must exit with 2. The commands
//! of one page run in their order in one folder, so that a later one can read what an earlier one
//! wrote. A `tenter` line in any other block is refused, for it would not be run; a line with
//! `make` may stand in a block marked `sh`, and is run as well.
//!
//! Targets of the Makefile that continuous integration runs itself are not run again. Pages of
//! studies, and one of training, show commands that take minutes: there `study show` is run in
//! place of `study run`, `validate` in place of `run`, and the shortest trials of a sweep; on the
//! page of training, a run with `-o` is run whole, since a later command reads it. Benchmarks end
//! at a smaller size, and that sweep is queued and not run, but where `make test-all` runs them.

mod binary;

use std::fs;
use std::path::{Path, PathBuf};

use binary::{Workplace, root, tenter};
use tenter_testkit::{cases, of_each};

/// What a command runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Program {
    Tenter,
    Make,
}

/// One command of a page.
#[derive(Debug, PartialEq)]
struct Shown {
    /// Where it stands, counted from 1.
    line: usize,
    program: Program,
    /// Its arguments.
    arguments: Vec<String>,
    /// The exit code it must have.
    exit: i32,
}

/// What a fenced block is.
#[derive(Clone, Copy, PartialEq)]
enum Block {
    /// Commands after `$`, with the exit code they must have.
    Console(i32),
    /// Commands of a shell, one a line.
    Shell,
    /// Anything else.
    Other,
}

/// The commands of a page, or what is wrong with one.
fn commands(text: &str) -> Result<Vec<Shown>, String> {
    let mut shown = Vec::new();
    let mut block: Option<Block> = None;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let line = line.trim();
        if let Some(mark) = line.strip_prefix("```") {
            block = match (block, mark) {
                (None, "console") => Some(Block::Console(0)),
                (None, "console,fails") => Some(Block::Console(2)),
                (None, "sh") => Some(Block::Shell),
                (None, _) => Some(Block::Other),
                (Some(_), _) => None,
            };
            continue;
        }
        let at = |reason: &str| format!("line {}: {reason}", number + 1);
        let prompted = line.strip_prefix("$ ");
        let (command, exit) = match (block, prompted) {
            (Some(Block::Console(exit)), Some(command)) => (command, exit),
            (Some(Block::Shell), None) => (line, 0),
            (Some(Block::Other | Block::Shell), _)
                if prompted.unwrap_or(line).starts_with("tenter ") =>
            {
                return Err(at("a command that is not run: mark its block `console`"));
            }
            _ => continue,
        };
        let mut command = command.to_owned();
        while let Some(begun) = command.strip_suffix('\\') {
            let (_, next) = lines.next().ok_or("a command ends in a backslash")?;
            command = format!("{begun}{}", next.trim().trim_start_matches("> "));
        }
        // What a shell takes for a comment.
        command.truncate(command.find(" #").unwrap_or(command.len()));
        let program = match command.split(' ').next() {
            Some("tenter") => Program::Tenter,
            Some("make") => Program::Make,
            _ if block == Some(Block::Shell) => continue,
            _ => return Err(at("neither `tenter` nor `make`: it would not be run")),
        };
        let words = split(&command).map_err(|reason| at(&reason))?;
        shown.push(Shown {
            line: number + 1,
            program,
            arguments: words[1..].to_vec(),
            exit,
        });
    }
    Ok(shown)
}

/// Splits a command at spaces outside quotes; commands that need a shell are refused.
fn split(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None, '|' | '>' | '<' | '&' | ';' | '$' | '*') => {
                return Err(format!("`{c}` needs a shell; show a plain command"));
            }
            (None, ' ') => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

/// All pages of the repository but those of build output.
fn pages() -> Vec<PathBuf> {
    let folders = ["docs", "studies", "benches", "profiles"];
    let mut folders: Vec<PathBuf> = folders.iter().map(|name| root().join(name)).collect();
    let top = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ];
    let mut pages: Vec<PathBuf> = top.iter().map(|name| root().join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of pages can be read") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// A page's name from the top of the repository.
fn name_of(page: &Path) -> String {
    let name = page.strip_prefix(root()).unwrap_or(page);
    name.display().to_string()
}

/// A page of results whose commands take minutes, and the shortest trials of its sweep.
const LONG: &str = "docs/training-interference.md";
const SHORTEST: [&str; 4] = [
    "--only",
    "ecmp",
    "--only",
    "jobs[2].collectives[0].size=1MiB",
];

/// Sizes at which shown benchmarks of many packets end, and the one at which they end here.
const LARGE: [&str; 2] = ["256M", "1G"];
const ENOUGH: &str = "64M";

/// What is run of a command: all of it, or what takes no minutes.
fn shortened(page: &str, arguments: &[String]) -> Vec<String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (is_long, is_of_studies) = (page == LONG, page.starts_with("studies"));
    let is_quick = cases(0, 1) == 0;
    let short = match words[..] {
        ["study", "run", name, ..] if is_of_studies => vec!["study", "show", name],
        ["run", ref rest @ ..] if is_of_studies => [&["validate"], rest].concat(),
        ["run", ref rest @ ..] if is_long && !rest.contains(&"-o") => {
            let rest = rest.iter().filter(|word| **word != "--interference");
            ["validate"].iter().chain(rest).copied().collect()
        }
        ["sweep", ref rest @ ..] if is_long && is_quick => [&["sweep", "--queue"], rest].concat(),
        ["sweep", ref rest @ ..] if is_long => [&["sweep"], rest, &SHORTEST[..]].concat(),
        ["bench", ..] if is_quick => {
            let size = |word| if LARGE.contains(&word) { ENOUGH } else { word };
            words.iter().copied().map(size).collect()
        }
        ref all => all.to_vec(),
    };
    short.iter().map(ToString::to_string).collect()
}

/// Targets of the Makefile, and of them those that continuous integration runs.
fn targets() -> (Vec<String>, Vec<String>) {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("there is a Makefile");
    let rules = makefile.lines().filter_map(|line| line.split_once(": "));
    let rules =
        rules.filter(|(target, _)| target.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
    let (mut all, mut run) = (Vec::new(), vec!["test".to_owned()]);
    for (target, rest) in rules {
        all.push(target.to_owned());
        if ["test", "checks"].contains(&target) {
            let parts = rest.split("##").next().unwrap_or(rest);
            run.extend(parts.split_whitespace().map(str::to_owned));
        }
    }
    (all, run)
}

/// Runs a target with the binary that there is, and without building anything; nothing where
/// continuous integration runs it anyway.
fn make(workplace: &Workplace, binary: &Path, arguments: &[String]) -> Result<(), String> {
    let (all, run) = targets();
    let wanted = arguments.iter().filter(|word| !word.contains('='));
    for target in wanted {
        if !all.contains(target) {
            return Err(format!("the Makefile has no target `{target}`"));
        }
        if run.contains(target) {
            continue;
        }
        let output = std::process::Command::new("make")
            .arg("--file")
            .arg(root().join("Makefile"))
            .args(arguments)
            .arg("CARGO=true")
            .arg(format!("TENTER={}", binary.display()))
            .current_dir(&workplace.folder)
            .output()
            .map_err(|error| format!("make does not run: {error}"))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{}\n{stderr}", output.status));
        }
    }
    Ok(())
}

/// What goes wrong with the commands of one page.
fn run_page(binary: &Path, page: &Path) -> Vec<String> {
    let name = name_of(page);
    let text = fs::read_to_string(page).expect("a page can be read");
    let shown = match commands(&text) {
        Ok(shown) => shown,
        Err(reason) => return vec![format!("{name}: {reason}")],
    };
    if shown.is_empty() {
        return Vec::new();
    }
    let workplace = Workplace::new(&name.replace(['/', '.'], "-"));
    let run = |command: &Shown| match command.program {
        Program::Make => make(&workplace, binary, &command.arguments),
        Program::Tenter => {
            let output = workplace.run(binary, &shortened(&name, &command.arguments));
            let stderr = String::from_utf8_lossy(&output.stderr);
            if output.status.code() == Some(command.exit) {
                Ok(())
            } else {
                Err(format!(
                    "{} in place of exit code {}\n{stderr}",
                    output.status, command.exit
                ))
            }
        }
    };
    let failures = shown.iter().filter_map(|command| {
        let reason = run(command).err()?;
        let arguments = command.arguments.join(" ");
        let (line, program) = (command.line, command.program);
        Some(format!("{name}:{line}: {program:?} {arguments}: {reason}"))
    });
    failures.collect()
}

#[test]
fn the_commands_shown_run() {
    let binary = tenter();
    let failures = of_each(&pages(), |page| run_page(&binary, page)).concat();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn commands_are_found_in_blocks_that_are_run() {
    let text = "$ tenter no\n```console\n$ make demo\n$ tenter run a.yaml --set 'x=1 2'\nok\n```\n\
                ```yaml\nrun: no\n```\n```console,fails\n$ tenter run \\\n>   b.yaml\n```\n\
                ```sh\nmake bench ARGS=x  # slow\ncargo fmt\n```\n";
    let shown = |line, program, words: &[&str], exit| Shown {
        line,
        program,
        arguments: words.iter().map(ToString::to_string).collect(),
        exit,
    };
    let expected = [
        shown(3, Program::Make, &["demo"], 0),
        shown(4, Program::Tenter, &["run", "a.yaml", "--set", "x=1 2"], 0),
        shown(11, Program::Tenter, &["run", "b.yaml"], 2),
        shown(15, Program::Make, &["bench", "ARGS=x"], 0),
    ];
    assert_eq!(commands(text).as_deref(), Ok(&expected[..]));
}

#[test]
fn a_command_that_is_not_run_is_refused() {
    for text in [
        "```console\n$ tenter run a.yaml | head\n```\n",
        "```console\n$ tenter run 'a.yaml\n```\n",
        "```console\n$ cat trial/summary.json\n```\n",
        "```\ntenter run a.yaml\n```\n",
        "```text\n$ tenter run a.yaml\n```\n",
        "```sh\n$ tenter run a.yaml\n```\n",
    ] {
        assert!(commands(text).is_err(), "{text}");
    }
}

#[test]
fn commands_within_sentences_name_what_there_is() {
    let (targets, _) = targets();
    let workplace = Workplace::new("help");
    let help = workplace.run(&tenter(), &["help".to_owned()]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let known = help.lines().filter_map(|line| line.strip_prefix("  "));
    let known: Vec<&str> = known.filter_map(|line| line.split(' ').next()).collect();
    assert!(known.contains(&"run"), "{help}");
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page can be read");
        for code in text.split('`').skip(1).step_by(2) {
            let mut words = code.split(' ');
            let (program, name) = (words.next(), words.next().unwrap_or(""));
            let named = match program {
                Some("make") => targets.iter().any(|target| target == name) || name.contains('='),
                Some("tenter") => known.contains(&name) || name.is_empty(),
                _ => true,
            };
            assert!(named, "{}: `{code}` names nothing", name_of(&page));
        }
    }
}

/// The change at the beginning of what follows `--set` in a comment.
fn change_of(rest: &str) -> &str {
    let (quoted, open) = match rest.strip_prefix(['"', '\'']) {
        Some(quoted) => (quoted, &['"', '\''][..]),
        None => (rest, &[' ', ',', ')', ';', '`'][..]),
    };
    let change = quoted.split(open).next().unwrap_or("");
    change.trim_end_matches(['.', ':'])
}

#[test]
fn what_scenarios_suggest_is_valid() {
    let binary = tenter();
    let workplace = Workplace::new("suggestions");
    let folder = root().join("scenarios");
    let entries = fs::read_dir(folder).expect("scenarios/ can be read");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml"));
    files.sort();
    let mut suggestions = 0;
    for file in files {
        let text = fs::read_to_string(&file).expect("a scenario can be read");
        let comments = text.lines().filter_map(|line| line.split_once('#'));
        for (_, comment) in comments {
            let changes: Vec<&str> = comment.split("--set ").skip(1).map(change_of).collect();
            // What one command has holds together, what a sentence has each by itself.
            let each = if comment.contains("tenter run ") {
                changes.len().max(1)
            } else {
                1
            };
            for together in changes.chunks(each) {
                let scenario = name_of(&file);
                let mut arguments = vec!["validate".to_owned(), scenario.clone()];
                for change in together {
                    arguments.extend(["--set".to_owned(), (*change).to_owned()]);
                }
                let output = workplace.run(&binary, &arguments);
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert!(
                    output.status.success(),
                    "{scenario}: {together:?}\n{stderr}"
                );
                suggestions += 1;
            }
        }
    }
    assert!(suggestions >= 5, "only {suggestions} found");
}
