"""Brings the advisories beside this file to a copy of the RustSec database.

    python3 tools/advisories/refresh.py GIT-DIRECTORY

The directory is that of a clone of https://github.com/rustsec/advisory-db. For each advisory about a
crate of `Cargo.lock` its facts are written to `crates/<crate>/<id>.md`, without its text and under a
heading made of them; crates about which the database has none are listed in `none-known.txt`.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NONE_KNOWN = HERE / "none-known.txt"
FACTS = re.compile(r"\A```toml\n(.*?)\n```", re.DOTALL)
HEADING = re.compile(r"^# .*$", re.MULTILINE)


def locked() -> list[str]:
    """Names of the crates of the lock file that come from a registry, in order."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text("utf-8"))["package"]
    return sorted({package["name"] for package in packages if "source" in package})


def facts(text: str, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables `advisory` and `versions` at the head of the database's file."""
    found = FACTS.match(text)
    if found is None:
        sys.exit(f"{name}: the database's file does not begin with its facts")
    tables = tomllib.loads(found.group(1))
    return tables["advisory"], tables["versions"]


def lines(table: dict[str, Any], keys: list[str]) -> str:
    """Some keys of a table as TOML; strings and lists of strings are written as JSON has them."""
    return "".join(f"{key} = {json.dumps(table[key])}\n" for key in keys if key in table)


def heading(advisory: dict[str, Any]) -> str:
    """A heading of the crate and what the advisory is about."""
    about = [advisory["informational"]] if "informational" in advisory else []
    about += [word.replace("-", " ") for word in advisory.get("categories", [])]
    return f"# `{advisory['package']}`: {', '.join(about) or 'vulnerable'}"


def copy(path: Path, text: str) -> None:
    """Writes the facts of one advisory; a heading that is there stays."""
    advisory, versions = facts(text, path.name)
    old = HEADING.search(path.read_text("utf-8")) if path.exists() else None
    title = old.group() if old else heading(advisory)
    about = lines(advisory, ["id", "package", "date", "url", "informational", "withdrawn"])
    which = lines(versions, ["patched", "unaffected"])
    link = f"<https://rustsec.org/advisories/{path.stem}>"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"```toml\n[advisory]\n{about}\n[versions]\n{which}```\n\n{title}\n\n"
        f"The database has the whole text: {link}.\n",
        "utf-8",
    )


def main() -> None:
    """Copies the advisories about locked crates, and lists the other crates."""
    database = sys.argv[1]

    def git(*arguments: str) -> str:
        command = ["git", "-C", database, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    known: dict[str, list[str]] = {}
    for name in git("ls-tree", "-r", "--name-only", "HEAD", "crates/").splitlines():
        known.setdefault(name.split("/")[1], []).append(name)
    commit, day = git("log", "-1", "--format=%H %cs").split()
    without = [name for name in locked() if name not in known]
    about = [path for name in locked() for path in known.get(name, [])]
    for path in set(HERE.glob("crates/*/*.md")) - {HERE / path for path in about}:
        path.unlink()
    for name in about:
        copy(HERE / name, git("show", f"HEAD:{name}"))
    head = f"# The RustSec database of {day}, commit {commit},\n# has no advisory about these crates.\n"
    NONE_KNOWN.write_text(head + "".join(f"{name}\n" for name in without), "utf-8")
    print(f"{len(about)} advisories, {len(without)} crates without any")


if __name__ == "__main__":
    main()
