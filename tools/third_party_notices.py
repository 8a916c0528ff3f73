"""Write the notices of the crates that the `tenter` binary contains.

    python3 tools/third_party_notices.py           writes crates/tenter-app/THIRD-PARTY.txt
    python3 tools/third_party_notices.py --check   fails where the file is out of date

The crates are those that the command links on any platform, without what only builds and tests
need. Of a choice of licences the most permissive one is taken, in the order of PREFERRED.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, TypedDict

ROOT = Path(__file__).resolve().parent.parent
NOTICES = ROOT / "crates" / "tenter-app" / "THIRD-PARTY.txt"
LINKED = ("tenter-app", "tenter-python")

# Of several licences to choose from, the first of these that is offered.
PREFERRED = ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Zlib", "CC0-1.0", "MPL-2.0"]
# How the file of a licence is called, where a crate has several.
FILES = {
    "MIT": r"MIT|^LICEN[SC]E(\.md|\.txt)?$",
    "Apache-2.0": r"APACHE|^LICEN[SC]E(\.md|\.txt)?$",
    "Unicode-3.0": r"UNICODE",
}
ANY_LICENCE = r"^(LICEN[SC]E|COPYING)"
# Licences whose text a crate may leave out, as the text is the same for everyone.
ELSEWHERE = {"MPL-2.0": "https://mozilla.org/MPL/2.0/", "MIT": "https://opensource.org/license/mit"}
RULE = "-" * 100


class Crate(TypedDict):
    """A package of `cargo metadata`, as far as it is read here."""

    name: str
    version: str
    license: str
    repository: str | None
    authors: list[str]
    manifest_path: str


def linked_crates() -> list[Crate]:
    """Return the crates of others that the command and the Python module link, by name and version."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    answer = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    metadata: dict[str, Any] = json.loads(answer.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [i for i, package in packages.items() if package["name"] in LINKED]
    seen: set[str] = set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for dependency in nodes[current]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    found: list[Crate] = [packages[i] for i in seen if packages[i]["source"] is not None]
    return sorted(found, key=lambda crate: (crate["name"], crate["version"]))


def chosen_licences(expression: str) -> list[str]:
    """Return the licences that a licence expression binds us to, one of each choice."""
    chosen: list[str] = []
    for term in re.split(r"\s+AND\s+", expression):
        offered = re.split(r"\s+OR\s+|/", term.strip("() "))
        known = [licence for licence in PREFERRED if licence in offered]
        chosen.append(known[0] if known else offered[0])
    return chosen


def licence_text(crate: Crate, licence: str) -> str:
    """Return the text of one licence of a crate, from its sources."""
    folder = Path(crate["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file())
    for pattern in (FILES.get(licence), ANY_LICENCE):
        for path in files:
            if pattern is not None and re.search(pattern, path.name, re.IGNORECASE):
                text = path.read_text(encoding="utf-8", errors="replace")
                return "\n".join(line.rstrip() for line in text.strip().splitlines())
    if licence in ELSEWHERE:
        by = f" Its authors: {', '.join(crate['authors'])}." if crate["authors"] else ""
        return f"The crate has no file with this licence; its text is at {ELSEWHERE[licence]}.{by}"
    sys.exit(f"{crate['name']} {crate['version']} has no text of its licence {licence}")


def notices() -> str:
    """Return the whole file: a list of crates, then each licence text once with its crates."""
    crates = linked_crates()
    texts: dict[tuple[str, str], list[str]] = {}
    lines = [
        "The tenter binary contains these crates, unmodified; their sources are on crates.io.",
        "",
    ]
    for crate in crates:
        label = f"{crate['name']} {crate['version']}"
        licences = chosen_licences(crate["license"])
        lines.append(f"  {label}: {' and '.join(licences)} (offered: {crate['license']})")
        for licence in licences:
            text = licence_text(crate, licence)
            texts.setdefault((licence, " ".join(text.split())), [text]).append(label)
    for (licence, _), (text, *labels) in sorted(texts.items()):
        lines += ["", RULE, f"{licence}: {', '.join(labels)}", RULE, "", text]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the file, or compare it."""
    text = notices()
    if sys.argv[1:] == ["--check"]:
        if not NOTICES.exists() or NOTICES.read_text(encoding="utf-8") != text:
            sys.exit(
                f"{NOTICES.relative_to(ROOT)} is out of date; run\n"
                "    python3 tools/third_party_notices.py"
            )
        print(f"notices: {text.count('(offered: ')} crates, up to date")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        NOTICES.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
