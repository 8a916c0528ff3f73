"""Sweeps: here, on executors, on a Dask cluster."""

from __future__ import annotations

import concurrent.futures
import html
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

from tenter import _core
from tenter._command import tool
from tenter._errors import InputError, RunError
from tenter._scenario import Scenario
from tenter._table import html_table
from tenter._values import document, whole

# A task of a cluster should last a second at least: its scheduler takes a millisecond for each.
BATCH_PACKET_HOPS = 2e7
BATCH_TRIALS = 256
# A worker that dies takes its tasks with it; on machines that may be taken away that is usual.
RETRIES = 10
# Tasks that are told to end are waited for no longer, in seconds.
STOP_S = 5.0

Order = tuple[str, str, float, int, bytes]


class Sweep:
    """What a sweep has left."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each reading, point and variant, with the spread over the seeds."""
        rows: list[dict[str, Any]] = self._document["answer"]["cases"]
        return rows

    @property
    def winners(self) -> list[dict[str, Any]]:
        """Which variant is best by each reading at each point, and how sure that is."""
        winners: list[dict[str, Any]] = self._document["winners"]
        return winners

    @property
    def notes(self) -> list[dict[str, str]]:
        """What a reader of the numbers must know: the notes of the trials, with their variant."""
        variants = self._document["answer"]["variants"]
        return [{"variant": of["name"], **note} for of in variants for note in of.get("notes", [])]

    @property
    def failures(self) -> list[dict[str, str]]:
        """Trials that failed: settings, variant and error."""
        failures: list[dict[str, str]] = self._document["failures"]
        return failures

    @property
    def complete(self) -> bool:
        """Whether every trial has run or failed."""
        return bool(self._document["complete"])

    @property
    def digest(self) -> str:
        """Digest of all trials: equal sweeps have equal digests."""
        return str(self._document["answer"]["digest"])

    @property
    def folder(self) -> Path:
        """The folder with the ledger and the tables."""
        return Path(self._document["folder"])

    @property
    def results(self) -> Path:
        """`results.parquet`: a row for each collective of each trial."""
        return self.folder / "results.parquet"

    def report(self, file: str | os.PathLike[str] = "sweep.html") -> Path:
        """Draws the sweep as one HTML file."""
        tool(["report", str(self.folder), "-o", os.fspath(file)])
        return Path(file)

    def __repr__(self) -> str:
        done = self._document["done"]
        return f"<Sweep {self.folder.name}: {done} trials, digest {self.digest}>"

    def _repr_html_(self) -> str:
        rows = []
        for row in self.rows:
            spread = row.get("spread") or {"least": None, "greatest": None}
            best = "".join(f"p = {of['p_value']:.2g}" for of in self.winners if _is_winner(of, row))
            shown = [row["metric"], row["case"], row["variant"], row["measured"]]
            rows.append([*shown, spread["least"], spread["greatest"], best])
        names = ["reading", "point", "variant", "value", "least", "greatest", "best of its point"]
        # A sweep without axes has one point, without a name.
        kept = [index for index in range(len(names)) if any(row[index] != "" for row in rows)]
        table = html_table(
            [names[index] for index in kept], ([row[index] for index in kept] for row in rows)
        )
        return f"<p>{html.escape(repr(self).strip('<>'))}</p>{table}"


def _is_winner(winner: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether a row is that of the best variant by its reading at its point."""
    name, metric = str(winner["reading"]), str(row["metric"])
    is_same = metric == name or metric.startswith((f"{name} (", f"{name} over that of "))
    is_there: bool = winner["point"] == row["case"] and winner["variant"] == row["variant"]
    return is_same and is_there


class _Future(Protocol):
    def result(self) -> list[tuple[str, bytes]]: ...


class _Submit(Protocol):
    """What is asked of an executor."""

    def submit(self, task: Callable[..., Any], *arguments: Any, **named: Any) -> Any: ...


def run_orders(
    orders: list[tuple[str, bytes]], threads: int = 1, stop: str | None = None
) -> list[tuple[str, bytes]]:
    """Runs trials one after the other, and gives an answer to each: the task of a worker.

    A file of the name `stop` ends the trial that runs, and the task: threads and processes of one
    machine see it, whatever started them. A process whose parent is gone ends: nothing takes its
    answers, and an executor would let it wait for ever.
    """
    parent = multiprocessing.parent_process()

    def stopped() -> bool:
        if parent is not None and not parent.is_alive():
            os._exit(1)
        return stop is not None and os.path.exists(stop)

    return run_until(orders, threads, stopped)


def run_until(
    orders: list[tuple[str, bytes]], threads: int, stopped: Callable[[], bool]
) -> list[tuple[str, bytes]]:
    """Runs trials, and raises where it is stopped: part of the answers would pass for all."""
    answers: list[tuple[str, bytes]] = []
    for key, order in orders:
        if not stopped():
            answers.append((key, _core.carry_out(order, threads, stopped)))
        if stopped():
            raise RunError("the sweep was stopped; the same call goes on where it was")
    return answers


def sweep(
    description: str | os.PathLike[str] | Mapping[str, object],
    *,
    scenario: Scenario | None = None,
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    executor: object | None = None,
    only: Iterable[str] = (),
    retry_failed: bool = False,
    force: bool = False,
    max_time: str | None = None,
    max_memory: str | None = None,
    progress: Callable[[dict[str, Any]], object] | None = None,
) -> Sweep:
    """Runs one scenario over variants, values and seeds, and compares what comes of it.

    `description` is a file as `tenter sweep` takes it, or a mapping with the same keys; with
    `scenario` it needs none of its own. Trials that have run before are taken from the ledger in
    `folder`. They run on threads of this process; on an `executor` of `concurrent.futures` or a
    `distributed.Client` of Dask they run there, and only this process writes the ledger. `only`
    names variants, and values of axes as `AXIS=VALUE`: the others are not run, and have no values
    in the results. Ctrl-C ends the sweep; the same call goes on where it was. `max_time` and
    `max_memory` are those of `Scenario.plan`, for the plan of each trial.
    """
    run = _read(description, scenario).with_options(
        folder=None if folder is None else os.fspath(folder),
        workers=whole("workers", workers, 1, 65535),
        only=list(only),
        retry_failed=retry_failed,
        force=force,
        max_time=max_time,
        max_memory=max_memory,
    )
    if executor is None:
        return Sweep(json.loads(run.run(progress)))
    session = run.begin()
    try:
        _drive(session, executor, progress)
    finally:
        # What has run is kept, whatever ends the sweep.
        document = json.loads(session.end())
    return Sweep(document)


def _read(
    description: str | os.PathLike[str] | Mapping[str, object], scenario: Scenario | None
) -> _core.SweepRun:
    if isinstance(description, Mapping):
        keys = dict(description)
        base = None if scenario is None else scenario._core
        if base is not None:
            keys.setdefault("scenario", "given")
        elif "scenario" not in keys:
            raise InputError("the sweep has no scenario: give `scenario=` or the key `scenario`")
        return _core.SweepRun.parse(document(keys, "sweep"), "json", base)
    if scenario is not None:
        raise InputError("the file of a sweep names its scenario: leave `scenario` out")
    return _core.SweepRun.read(os.fspath(description))


def _drive(
    session: _core.SweepSession,
    executor: object,
    progress: Callable[[dict[str, Any]], object] | None,
) -> None:
    if _is_dask(executor):
        from tenter._dask import drive

        drive(session, executor, progress)
        return
    if not hasattr(executor, "submit"):
        raise InputError(
            f"a {type(executor).__name__} runs no tasks: give an executor of concurrent.futures "
            "or a client of Dask"
        )
    pool = cast(_Submit, executor)
    under_way: dict[Any, list[str]] = {}
    limit = 4 * (getattr(executor, "_max_workers", None) or os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="tenter-") as folder:
        stop = os.path.join(folder, "stop")
        try:
            _drive_pool(
                session, partial(pool.submit, run_orders, stop=stop), under_way, limit, progress
            )
        except BaseException:
            # Nothing runs on behind the caller's back.
            Path(stop).touch()
            # A task that is cancelled does not begin; waiting for it would be for a free worker.
            running = [future for future in under_way if not future.cancel()]
            # The file is there until tasks have seen it; one that hangs is not waited for.
            concurrent.futures.wait(running, timeout=STOP_S)
            raise


def _drive_pool(
    session: _core.SweepSession,
    submit: Callable[[list[tuple[str, bytes]]], Any],
    under_way: dict[Any, list[str]],
    limit: int,
    progress: Callable[[dict[str, Any]], object] | None,
) -> None:
    is_over = False
    while under_way or not is_over:
        while not is_over and len(under_way) < limit:
            batch, is_over = next_batch(session)
            if batch:
                under_way[submit(batch)] = [key for key, _ in batch]
            elif not is_over:
                break
        if not under_way:
            # Other processes run what is left.
            time.sleep(0.2)
            continue
        done, _ = concurrent.futures.wait(
            under_way, timeout=0.2, return_when=concurrent.futures.FIRST_COMPLETED
        )
        for future in done:
            take(session, future, under_way.pop(future))
        if progress is not None:
            progress(session.progress())


def next_batch(session: _core.SweepSession) -> tuple[list[tuple[str, bytes]], bool]:
    """Trials for one task, and whether no more are left."""
    batch: list[tuple[str, bytes]] = []
    hops = 0.0
    while len(batch) < BATCH_TRIALS and hops < BATCH_PACKET_HOPS:
        order = session.next()
        if order is None:
            return batch, True
        if isinstance(order, bool):
            break
        key, _name, packet_hops, _memory, text = order
        batch.append((key, text))
        hops += packet_hops
    return batch, False


def take(session: _core.SweepSession, future: _Future, keys: list[str]) -> None:
    """Hands the answers of a task to the sweep; a task that broke leaves its trials to be run."""
    try:
        answers = future.result()
    except BrokenProcessPool:
        for key in keys:
            session.stopped(key)
        raise
    except Exception as error:
        for key in keys:
            session.failed(key, f"{type(error).__name__}: {error}")
        return
    for key, answer in answers:
        session.answer(key, answer)


def _is_dask(executor: object) -> bool:
    module = type(executor).__module__
    return module == "distributed.client" or module.startswith("distributed.")
