"""Hooks of MkDocs: the navigation from docs/README.md, and links to the rest of the repository.

Pages link to files outside of docs/, as a reader of the repository follows them. Each such file
becomes a page of the site: Markdown as it is, other text as a block of code, a folder as a list.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = "docs/"
# Where files from outside of docs/ are on the site.
OUTSIDE = "repository/"
# The list of decisions, which is a section of docs/README.md alone.
DECISIONS = "decisions/README.md"
# A longer file is shown up to here; nobody reads further in a browser.
SHOWN_LINES = 400

LINK = re.compile(r"(?<!\!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~)")
LANGUAGES = {".rs": "rust", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Takes the navigation from the tables of docs/README.md, a section for each heading."""
    nav: list[Any] = [{"Home": "README.md"}]
    section: list[dict[str, str] | str] = []
    for line in (ROOT / DOCS / "README.md").read_text("utf-8").splitlines():
        if line.startswith("## "):
            section = []
            nav.append({line.removeprefix("## "): section})
            if line == "## Decisions":
                section.append(DECISIONS)
        elif line.startswith("| [") and nav:
            found = LINK.search(line)
            if found and not found["target"].startswith(".."):
                section.append({title(found["text"], line): found["target"]})
    config.nav = [item for item in nav if all(item.values())]
    return config


def title(text: str, line: str) -> str:
    """A name for the navigation: `tutorial.md` is no name, and neither is the number 0001."""
    if text.isdigit():
        return f"{text}: {line.split('|')[2].strip()}"
    return text.removesuffix(".md").replace("-", " ")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what pages link to outside of docs/, and what that links to in turn."""
    waiting = [
        (DOCS + file.src_uri, read(DOCS + file.src_uri)) for file in files.documentation_pages()
    ]
    known = {path for path, _ in waiting}
    while waiting:
        path, text = waiting.pop()
        for target in targets(path, text):
            if target in known or not (ROOT / target).exists():
                continue
            known.add(target)
            uri = site_uri(target)
            files.append(File.generated(config, uri, content=content(target)))
            if target.endswith(".md"):
                waiting.append((target, read(target)))
    files.append(File.generated(config, DECISIONS, content=decisions()))
    return files


def decisions() -> str:
    """The page of the section: its table, with links from where the decisions are."""
    section = read(DOCS + "README.md").partition("## Decisions\n")[2].partition("\n## ")[0]
    return "# Decisions\n" + section.replace("](decisions/", "](")


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Leads links to where their files are on the site."""
    path = repository_path(page.file.src_uri)
    if path is None:
        return markdown
    here = posixpath.dirname(page.file.src_uri)

    def lead(link: re.Match[str]) -> str:
        target, anchor = resolved(path, link["target"])
        if target is None or not (ROOT / target).exists():
            return link[0]
        uri = posixpath.relpath(site_uri(target), here or ".")
        return f"[{link['text']}]({uri}{anchor})"

    return outside_fences(markdown, lambda line: LINK.sub(lead, line))


def read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def outside_fences(markdown: str, change: Any) -> str:
    lines = []
    fenced = False
    for line in markdown.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        lines.append(line if fenced else change(line))
    return "\n".join(lines)


def targets(path: str, text: str) -> list[str]:
    """The files of the repository that a page links to."""
    found: list[str] = []

    def note(line: str) -> str:
        for link in LINK.finditer(line):
            target, _ = resolved(path, link["target"])
            if target is not None and not is_page_of_docs(target):
                found.append(target)
        return line

    outside_fences(text, note)
    return found


def is_page_of_docs(target: str) -> bool:
    return target.startswith(DOCS) and target.endswith(".md")


def resolved(path: str, link: str) -> tuple[str | None, str]:
    """The file that a link on a page means, and its anchor; nothing of other sites and places on
    the same page."""
    target, mark, anchor = link.partition("#")
    if not target or "://" in target or target.startswith("mailto:"):
        return None, ""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return (None if joined.startswith("..") else joined), mark + anchor


def site_uri(path: str) -> str:
    """Where a file of the repository is among the sources of the site."""
    if path.startswith(DOCS) and path.endswith(".md"):
        return path.removeprefix(DOCS)
    return OUTSIDE + (path if path.endswith(".md") else f"{path}.md")


def repository_path(uri: str) -> str | None:
    """The file behind a source of the site, if its links are to be followed from there."""
    if not uri.startswith(OUTSIDE):
        return DOCS + uri
    path = uri.removeprefix(OUTSIDE)
    return path if (ROOT / path).is_file() else None


def content(path: str) -> str:
    """What a file of the repository shows as a page."""
    place = ROOT / path
    if path.endswith(".md"):
        return read(path)
    if place.is_dir():
        names = sorted(entry.name for entry in place.iterdir() if not entry.name.startswith("."))
        return f"# {path}\n\n" + "\n".join(f"- `{name}`" for name in names) + "\n"
    lines = read(path).splitlines()
    more = "" if len(lines) <= SHOWN_LINES else f"\n… and {len(lines) - SHOWN_LINES} lines more.\n"
    language = LANGUAGES.get(place.suffix, "text")
    shown = "\n".join(lines[:SHOWN_LINES])
    return f"# {path}\n\n````{language}\n{shown}\n````\n{more}"
