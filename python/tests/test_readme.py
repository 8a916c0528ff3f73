"""The numbers of README.md are those of the pages that are generated or measured."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS = 900

# Sources whose published values were measured on hardware; those of all others were computed.
HARDWARE = {
    "AI Fabric Test Methodology",
    "Remote Priority Flow Control (Remote PFC)",
    "Reducing Activation Recomputation in Large Transformer Models",
    "Megatron-Core",
    "llm-foundry",
    "DeepEP",
    "Logs of nccl-tests",
}
# The columns of docs/sources.md with published rows: required, and open.
PUBLISHED = slice(8, 10)
KERNELS = ["docs/models/nccl-kernels.md", "docs/silicon-experts.md"]


def read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def rows(page: str) -> list[list[str]]:
    """The cells of all tables of a page, row by row."""
    lines = [line for line in read(page).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def judged_and_met(sources: list[list[str]]) -> list[str]:
    """How many published rows of these sources are judged, and how many of them match."""
    judged = met = 0
    for row in sources:
        for cell in row[PUBLISHED]:
            if count := re.match(r"(\d+) of (\d+)(?:, (\d+) not run)?$", cell):
                met += int(count[1])
                judged += int(count[2]) - int(count[3] or 0)
    return [str(judged), str(met)]


def test_the_rows_counted_are_those_of_the_sources() -> None:
    table = rows("docs/sources.md")
    width = PUBLISHED.stop + 1
    begin = next(at for at, row in enumerate(table) if row[0] == "source" and len(row) == width)
    end = next(at for at, row in enumerate(table) if row[0] == "**all sources**")
    sources = [row for row in table[begin + 2 : end] if not row[0].startswith("**")]
    assert {row[0] for row in sources} > HARDWARE
    hardware = [row for row in sources if row[0] in HARDWARE]
    others = [row for row in sources if row[0] not in HARDWARE]
    verdicts = [row[-1] for page in KERNELS for row in rows(page)]
    met = sum(verdict in ("met", "match") for verdict in verdicts)
    kernels = [str(met + sum(verdict in ("missed", "miss") for verdict in verdicts)), str(met)]
    begins = {
        "hardware": judged_and_met(hardware),
        "NVIDIA's": kernels,
        "other simulators": judged_and_met(others),
    }
    for begin_of_row, expected in begins.items():
        shown = [row[1:] for row in rows("README.md") if row[0].startswith(begin_of_row)]
        assert shown == [expected], begin_of_row


def test_the_speeds_are_those_of_the_benchmarks() -> None:
    measured = [row[:2] for row in rows("benches/README.md")]
    shown = [row for row in rows("README.md") if row[0].startswith(("permutation", "all-to-all"))]
    assert len(shown) == 4
    for row in shown:
        assert row in measured, row


def test_it_is_short() -> None:
    assert len(read("README.md").split()) <= WORDS
