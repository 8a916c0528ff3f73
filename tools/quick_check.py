"""Checks the crates that have changed, with artefacts that the tests of the whole workspace share.

    python3 tools/quick_check.py CARGO BASE [CRATE...]

Changed are crates with a file that differs from the commit BASE or is not in it. Their lints and
tests run, and the rules of the repository. Cargo compiles a crate anew where its dependencies have
other features, which follow from the crates that are named together: with those of CARRIERS among
them, features are those of the workspace.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# They have all features of dependencies that any member asks for, those of its tests included.
CARRIERS = ("tenter-python", "tenter")
# Its tests run what other crates are made of: they are run where they are named.
RULES = ("tenter-testkit", "tidy")


def git(*arguments: str) -> list[str]:
    """The lines that git prints."""
    command = ["git", "-C", str(ROOT), *arguments]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return ran.stdout.splitlines()


def changed(base: str) -> set[str]:
    """Crates with files that differ from a commit."""
    names = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    parts = [name.split("/") for name in names]
    crates = {part[1] for part in parts if part[0] == "crates" and len(part) > 2}
    return {crate for crate in crates if (ROOT / "crates" / crate / "Cargo.toml").exists()}


def tests(crate: str) -> list[str]:
    """The names of a crate's tests in its folder `tests`."""
    folder = ROOT / "crates" / crate / "tests"
    files = [path.stem for path in folder.glob("*.rs")]
    return sorted(files + [path.parent.name for path in folder.glob("*/main.rs")])


def main() -> int:
    """Runs clippy and the tests; the first failure ends it."""
    cargo, base, *named = sys.argv[1:]
    crates = sorted(changed(base) | set(named))
    print("crates:", *(crates or ["none has changed"]))
    selected = [f"--package={crate}" for crate in sorted({*crates, *CARRIERS, RULES[0]})]
    wanted = [*(("--lib", "--bins") if crates else ()), f"--test={RULES[1]}"]
    wanted += sorted({f"--test={test}" for crate in crates for test in tests(crate)})
    commands = [[cargo, "test", *selected, *wanted]]
    if crates:
        lints = ["--all-targets", "--", "--deny=warnings"]
        commands.insert(0, [cargo, "clippy", *selected, *lints])
    for command in commands:
        code = subprocess.run(command, check=False, cwd=ROOT).returncode
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
