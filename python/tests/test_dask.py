"""Tasks of a cluster: what they hold, and what becomes of those that are lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from distributed import KilledWorker

import tenter
from tenter import _core, _dask, _sweep


@pytest.fixture
def session(scenario: tenter.Scenario, tmp_path: Path) -> _core.SweepSession:
    """A sweep of six short trials, under way."""
    keys = json.dumps({"name": "tasks", "scenario": "given", "seeds": 6})
    run = _core.SweepRun.parse(keys, "json", scenario._core)
    return run.with_options(folder=str(tmp_path)).begin()


def test_short_trials_share_a_task(session: _core.SweepSession) -> None:
    batch, is_over = _sweep.next_batch(session)
    assert (len(batch), is_over) == (6, True)
    for key, answer in _sweep.run_orders(batch):
        session.answer(key, answer)
    assert json.loads(session.end())["complete"]


def test_long_trials_have_a_task_each(
    session: _core.SweepSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_sweep, "BATCH_PACKET_HOPS", 1.0)
    batches = [_sweep.next_batch(session) for _ in range(7)]
    assert [len(batch) for batch, _ in batches] == [1] * 6 + [0]
    assert [is_over for _, is_over in batches] == [False] * 6 + [True]


def test_tasks_have_names_of_their_trials_and_readings(
    scenario: tenter.Scenario, tmp_path: Path
) -> None:
    def named(folder: str, seeds: int, column: str) -> str:
        readings = [{"name": "read", "query": f"max(jobs.{column})"}]
        keys = json.dumps({"scenario": "given", "seeds": seeds, "readings": readings})
        run = _core.SweepRun.parse(keys, "json", scenario._core)
        session = run.with_options(folder=str(tmp_path / folder)).begin()
        name = _dask.name(_sweep.next_batch(session)[0])
        session.end()
        return name

    first = named("a", 2, "jct_ns")
    assert named("b", 2, "jct_ns") == first
    assert named("c", 3, "jct_ns") != first
    assert named("d", 2, "compute_ns") != first


class Told:
    """What a sweep was told of its trials."""

    def __init__(self) -> None:
        self.stopped_ones: list[str] = []
        self.failures: dict[str, str] = {}

    def stopped(self, key: str) -> None:
        """Takes a trial that is to be run later."""
        self.stopped_ones.append(key)

    def failed(self, key: str, why: str) -> None:
        """Takes a trial that has failed."""
        self.failures[key] = why


def test_trials_are_innocent_of_the_death_of_workers() -> None:
    told = Told()
    session = cast(_core.SweepSession, told)
    killed: Any = KilledWorker("tenter-1", None, 3)
    _dask._lost(session, ["a", "b"], (type(killed), killed, None))
    assert told.stopped_ones == ["a", "b"]
    error = OSError("the disk is full")
    _dask._lost(session, ["c"], (type(error), error, None))
    assert told.failures == {"c": "OSError: the disk is full"}
