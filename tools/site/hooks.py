"""Hooks of MkDocs: the navigation from five index pages, and links to the rest of the repository.

Pages link to files outside of docs/, as a reader of the repository follows them. Each such file
becomes a page of the site: Markdown as it is, other text as a block of code, a folder as a list.

Beside each page stands its Markdown, and llms.txt (https://llmstxt.org) lists them.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = "docs/"
# Where files from outside of docs/ are on the site.
OUTSIDE = "repository/"
# Each tab has an index page, whose tables are its navigation: a group for each heading.
TABS = {
    "Start": "README.md",
    "Guides": "guides.md",
    "Models": "models.md",
    "Reference": "reference.md",
    "Developers": "developers.md",
}
# The Markdown of pages as the site has it, by their places.
MARKDOWN: dict[str, str] = {}
# A longer file is shown up to here; nobody reads further in a browser.
SHOWN_LINES = 400

# How much the search prefers pages, by the first beginning of their places that fits; with 0 it
# leaves them out.
WEIGHTS = {
    OUTSIDE + "studies/": 0.2,
    OUTSIDE + "README.md": 2,
    OUTSIDE: 0,
    "decisions/": 0.2,
    "guides/": 4,
    "models/": 2,
}

LINK = re.compile(r"(?<!\!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
PICTURE = re.compile(r"(?P<begin>!\[[^\]]*\]\()(?P<target>[^)\s]+)")
FENCE = re.compile(r"^(```|~~~)")
LANGUAGES = {".rs": "rust", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Takes the navigation from the tables of the index pages."""
    config.nav = [{tab: [index, *groups(index)]} for tab, index in TABS.items()]
    return config


def groups(index: str) -> list[dict[str, list[dict[str, str]]]]:
    """The pages that the tables of an index page link to, by their headings."""
    found: dict[str, list[dict[str, str]]] = {}
    for heading, text, about, uri in entries(index):
        # The number of a decision is no name.
        name = f"{text}: {about}" if text.isdigit() else text
        found.setdefault(heading, []).append({name: uri})
    return [{heading: pages} for heading, pages in found.items()]


def entries(index: str) -> list[tuple[str, str, str, str]]:
    """The rows of the tables of an index page: heading, link, description, and place on the site."""
    found = []
    heading = ""
    for line in read(DOCS + index).splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif line.startswith("| [") and (link := LINK.search(line)):
            target, _ = resolved(DOCS + index, link["target"])
            if target is not None:
                about = line.split("|")[2].strip()
                found.append((heading, link["text"], about, site_uri(target)))
    return found


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
            made = File.generated(config, uri, content=content(target))
            # Files that pages name are found by these pages, and by the search.
            made.inclusion = InclusionLevel.NOT_IN_NAV
            files.append(made)
            if target.endswith(".md"):
                waiting.append((target, read(target)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Leads links and pictures to where their files are on the site."""
    uri = page.file.src_uri
    weight = next((weight for begin, weight in WEIGHTS.items() if uri.startswith(begin)), 1)
    page.meta["search"] = {"exclude": True} if weight == 0 else {"boost": weight}
    path = repository_path(uri)
    if path is None:
        return markdown
    here = posixpath.dirname(page.file.src_uri)

    def lead(link: re.Match[str]) -> str:
        target, anchor = resolved(path, link["target"])
        if target is None or not (ROOT / target).exists():
            return link[0]
        uri = posixpath.relpath(site_uri(target), here or ".")
        return f"[{link['text']}]({uri}{anchor})"

    def show(picture: re.Match[str]) -> str:
        target, _ = resolved(path, picture["target"])
        if target is None:
            return picture[0]
        return picture["begin"] + posixpath.relpath(target.removeprefix(DOCS), here or ".")

    led = outside_fences(markdown, lambda line: PICTURE.sub(show, LINK.sub(lead, line)))
    MARKDOWN[uri] = led
    return led


def on_post_build(config: MkDocsConfig) -> None:
    """Writes the Markdown of each page beside it, and the list of all pages."""
    site = Path(config.site_dir)
    for uri, markdown in MARKDOWN.items():
        (site / uri).write_text(markdown, "utf-8")
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    for tab, index in TABS.items():
        rows = [f"- [{text}]({uri}): {about}" for _, text, about, uri in entries(index)]
        lines += [f"## {tab}", "", *rows, ""]
    (site / "llms.txt").write_text("\n".join(lines), "utf-8")


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
