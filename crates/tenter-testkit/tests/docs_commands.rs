//! Every command that the documentation shows runs, or fails where the documentation says that it
//! fails.
//!
//! A fenced block marked `console` holds lines `$ tenter …` and what they print; such a command
//! must exit with 0. In a block marked `console,fails` it must exit with 2. Other commands (`$ make
//! demo`) are not run here. The commands of one page run in their order in one folder, so that a
//! later one can read what an earlier one wrote.

mod binary;

use std::fs;
use std::path::{Path, PathBuf};

use binary::{Workplace, root, tenter};

/// One command of a page.
#[derive(Debug, PartialEq)]
struct Shown {
    /// Where it stands, counted from 1.
    line: usize,
    /// Its arguments after `tenter`.
    arguments: Vec<String>,
    /// The exit code it must have.
    exit: i32,
}

/// The commands of a page, or what is wrong with one.
fn commands(text: &str) -> Result<Vec<Shown>, String> {
    let mut shown = Vec::new();
    let mut exit = None;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let line = line.trim();
        if let Some(mark) = line.strip_prefix("```") {
            exit = match (exit, mark) {
                (None, "console") => Some(Some(0)),
                (None, "console,fails") => Some(Some(2)),
                (None, _) => Some(None),
                (Some(_), _) => None,
            };
            continue;
        }
        let (Some(Some(exit)), Some(command)) = (exit, line.strip_prefix("$ ")) else {
            continue;
        };
        let mut command = command.to_owned();
        while let Some(begun) = command.strip_suffix('\\') {
            let (_, next) = lines.next().ok_or("a command ends in a backslash")?;
            command = format!("{begun}{}", next.trim().trim_start_matches("> "));
        }
        let words = split(&command).map_err(|reason| format!("line {}: {reason}", number + 1))?;
        if let Some(("tenter", arguments)) = words.split_first().map(|(a, b)| (a.as_str(), b)) {
            shown.push(Shown {
                line: number + 1,
                arguments: arguments.to_vec(),
                exit,
            });
        }
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

/// README.md and every page under `docs/`.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("docs/ can be read") {
            let path = entry.expect("an entry of docs/ can be read").path();
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

/// What goes wrong with the commands of one page.
fn run_page(binary: &Path, page: &Path) -> Vec<String> {
    let name = page
        .strip_prefix(root())
        .unwrap_or(page)
        .display()
        .to_string();
    let text = fs::read_to_string(page).expect("a page can be read");
    let shown = match commands(&text) {
        Ok(shown) => shown,
        Err(reason) => return vec![format!("{name}: {reason}")],
    };
    if shown.is_empty() {
        return Vec::new();
    }
    let workplace = Workplace::new(&name.replace(['/', '.'], "-"));
    let runs = shown
        .iter()
        .map(|command| (command, workplace.run(binary, &command.arguments)));
    runs.filter(|(command, output)| output.status.code() != Some(command.exit))
        .map(|(command, output)| {
            format!(
                "{name}:{}: tenter {}: {} in place of exit code {}\n{}",
                command.line,
                command.arguments.join(" "),
                output.status,
                command.exit,
                String::from_utf8_lossy(&output.stderr)
            )
        })
        .collect()
}

#[test]
fn the_commands_shown_run() {
    let binary = tenter();
    let failures: Vec<String> = pages()
        .iter()
        .flat_map(|page| run_page(&binary, page))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn commands_are_found_in_console_blocks_only() {
    let text = "$ tenter no\n```console\n$ make demo\n$ tenter run a.yaml --set 'x=1 2'\nok\n```\n\
                ```yaml\n$ tenter no\n```\n```console,fails\n$ tenter run \\\n>   b.yaml\n```\n";
    let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let expected = [
        Shown {
            line: 4,
            arguments: owned(&["run", "a.yaml", "--set", "x=1 2"]),
            exit: 0,
        },
        Shown {
            line: 11,
            arguments: owned(&["run", "b.yaml"]),
            exit: 2,
        },
    ];
    assert_eq!(commands(text).as_deref(), Ok(&expected[..]));
}

#[test]
fn a_command_that_needs_a_shell_is_refused() {
    assert!(commands("```console\n$ tenter run a.yaml | head\n```\n").is_err());
    assert!(commands("```console\n$ tenter run 'a.yaml\n```\n").is_err());
    assert!(commands("```\n$ tenter run a.yaml | head\n```\n").is_ok());
}
