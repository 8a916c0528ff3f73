"""Runs and trials."""

from __future__ import annotations

import html
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from tenter import _core
from tenter._command import tool
from tenter._scenario import Plan, Scenario, Source, scenario_of
from tenter._table import Table
from tenter._values import whole

Progress = Callable[[dict[str, Any]], object]


class Trial:
    """What a run has left."""

    def __init__(self, core: _core.Trial) -> None:
        self._core = core

    @property
    def summary(self) -> dict[str, Any]:
        """Everything at a glance, as `summary.json` has it."""
        summary: dict[str, Any] = json.loads(self._core.summary())
        return summary

    @property
    def digest(self) -> str:
        """Digest of all results: equal trials have equal digests."""
        return self._core.digest

    @property
    def complete(self) -> bool:
        """Whether every job was done."""
        return self._core.complete

    @property
    def folder(self) -> Path | None:
        """The folder of the trial, where one was asked for."""
        folder = self._core.folder
        return None if folder is None else Path(folder)

    @property
    def plan(self) -> Plan:
        """What was run."""
        return Plan(self._core.plan)

    def query(self, query: str) -> Table:
        """The answer to a query, for instance `p99(flows.fct_ns) by job_name`.

        It has a row for each group, with a column for each name behind `by` and for each value.
        """
        return Table(self._core.query(query))

    def table(self, name: str) -> Table:
        """A table by the name that the data dictionary gives it."""
        return Table(self._core.table(name))

    @property
    def jobs(self) -> Table:
        """One row for each job."""
        return self.table("jobs")

    @property
    def collectives(self) -> Table:
        """One row for each collective and iteration."""
        return self.table("collectives")

    @property
    def flows(self) -> Table:
        """One row for each chunk on its queue pair."""
        return self.table("flows")

    @property
    def ports(self) -> Table:
        """One row for each port."""
        return self.table("ports")

    @property
    def samples(self) -> Table:
        """Queues, pauses and rates of ports over time."""
        return self.table("samples")

    @property
    def notes(self) -> Table:
        """What a reader of the numbers must know: one row for each note."""
        return self.table("notes")

    def report(self, file: str | os.PathLike[str] = "report.html") -> Path:
        """Draws the trial as one HTML file; it needs a trial with a folder."""
        folder = self.folder
        if folder is None:
            from tenter._errors import InputError

            raise InputError(
                "this trial has no folder to draw from: give `run` one, `folder='trials/a'`"
            )
        tool(["report", str(folder), "-o", os.fspath(file)])
        return Path(file)

    def __repr__(self) -> str:
        end = "" if self.complete else ", not complete"
        return f"<Trial {self.plan.name or 'without a name'}: digest {self.digest}{end}>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self).strip('<>'))}</p>" + self.jobs._repr_html_()


def run(
    scenario: Source,
    *,
    set: Mapping[str, object] | None = None,
    seed: int | None = None,
    threads: int | None = None,
    flows: bool = True,
    samples: bool = True,
    folder: str | os.PathLike[str] | None = None,
    interference: Literal["none", "alone", "pairs"] | None = None,
    force: bool = False,
    max_time: str | None = None,
    max_memory: str | None = None,
    progress: bool | Progress = False,
) -> Trial:
    """Runs a scenario and waits for the trial, without the interpreter's lock.

    `set` replaces single keys, as `--set` does. `flows` and `samples` tell whether these tables
    stay in memory. `folder` is where the trial is written; without it nothing is. `interference`
    measures what jobs cost each other, by further runs. `progress` prints a line, or is called
    twenty times a second. Ctrl-C ends the run. Results do not depend on `threads`. `max_time` and
    `max_memory` are those of `Scenario.plan`, and not of the run.
    """
    asked: Scenario = scenario_of(scenario).set(set)
    if seed is not None:
        asked = asked.seed(seed)
    core = _core.run(
        asked.plan(max_time=max_time, max_memory=max_memory)._core,
        threads=whole("threads", threads, 1, 65535),
        flows=flows,
        samples=samples,
        folder=None if folder is None else os.fspath(folder),
        interference=interference,
        force=force,
        progress=line if progress is True else progress or None,
    )
    return Trial(core)


def open(
    folder: str | os.PathLike[str],
    *,
    max_time: str | None = None,
    max_memory: str | None = None,
) -> Trial:
    """Opens the folder of a trial.

    `max_time` and `max_memory` are those of `Scenario.plan`.
    """
    return Trial(_core.open(os.fspath(folder), max_time, max_memory))


def line(at: dict[str, Any]) -> None:
    """Writes how far a run is."""
    expected = at.get("expected_packet_hops") or 0.0
    share = min(at["packet_hops"] / expected, 1.0) if expected > 0 else 0.0
    sys.stderr.write(f"\r{share:4.0%}  {at['simulated_ns'] / 1e6:.3f} ms simulated")
    sys.stderr.flush()
