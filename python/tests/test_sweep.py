"""Sweeps on threads, on executors and on Dask."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import polars
import pytest

import tenter

DESCRIPTION: dict[str, object] = {
    "name": "fabrics",
    "variants": {"ecmp": {}, "spray": {"fabric.load_balancing": {"kind": "random-spray"}}},
    "axes": {"jobs[0].collectives[0].size": ["256KiB", "512KiB"]},
    "set": {
        "endpoint.nic.loss_recovery": {"kind": "selective-repeat", "reorder": 64},
        "jobs[0].collectives[0].collective": "all-to-all",
    },
    "seeds": 3,
    "readings": [{"name": "time", "query": "max(jobs.jct_ns)"}],
}


def test_a_sweep_is_equal_wherever_it_runs(scenario: tenter.Scenario, tmp_path: Path) -> None:
    here = tenter.sweep(DESCRIPTION, scenario=scenario, folder=tmp_path / "here")
    assert here.complete
    assert not here.failures
    assert len(here.rows) == 4
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        there = tenter.sweep(
            DESCRIPTION, scenario=scenario, folder=tmp_path / "there", executor=executor
        )
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        threads = tenter.sweep(
            DESCRIPTION, scenario=scenario, folder=tmp_path / "threads", executor=executor
        )
    assert here.digest == there.digest == threads.digest
    tables = [polars.read_parquet(sweep.results) for sweep in (here, there, threads)]
    assert tables[0].height == 12
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    assert "<!DOCTYPE html>" in here.report(tmp_path / "sweep.html").read_text()
    shown = here._repr_html_()
    assert shown.count("<tr>") == 5
    assert shown.count("p = ") == 2


def test_a_trial_has_the_digest_that_it_has_alone(
    scenario: tenter.Scenario, tmp_path: Path
) -> None:
    sweep = tenter.sweep({"seeds": 2}, scenario=scenario, folder=tmp_path)
    digests = polars.read_parquet(sweep.results)["digest"].to_list()
    assert digests == [tenter.run(scenario).digest, tenter.run(scenario, seed=2).digest]


def test_one_kind_of_seed_is_varied(scenario: tenter.Scenario, tmp_path: Path) -> None:
    sweep = tenter.sweep({"seeds": {"hashing": [4, 5]}}, scenario=scenario, folder=tmp_path)
    results = polars.read_parquet(sweep.results)
    assert results["seeds.hashing"].to_list() == [4, 5]
    alone = [tenter.run(scenario, set={"seeds.hashing": seed}).digest for seed in (4, 5)]
    assert results["digest"].to_list() == alone


def test_a_part_of_a_sweep_is_run(scenario: tenter.Scenario, tmp_path: Path) -> None:
    part = tenter.sweep(
        DESCRIPTION, scenario=scenario, folder=tmp_path, only=["spray", "size=256KiB"]
    )
    assert part._document["done"] == 3
    with pytest.raises(tenter.InputError, match="did you mean `size`"):
        tenter.sweep(DESCRIPTION, scenario=scenario, folder=tmp_path, only=["sise=256KiB"])


def test_what_has_run_is_not_run_again(scenario: tenter.Scenario, tmp_path: Path) -> None:
    first = tenter.sweep({"seeds": 2}, scenario=scenario, folder=tmp_path)
    told: list[dict[str, float]] = []
    second = tenter.sweep(
        {"seeds": 3}, scenario=scenario, folder=tmp_path, progress=lambda at: told.append(at)
    )
    assert first.complete
    assert second._document["kept"] == 2
    assert second._document["done"] == 3


def test_equal_trials_of_several_variants_are_run_once_for_a_new_reading(
    scenario: tenter.Scenario, tmp_path: Path
) -> None:
    keys: dict[str, object] = {"variants": {"one": {}, "same": {}}, "seeds": 2}
    tenter.sweep(keys, scenario=scenario, folder=tmp_path)
    more = {**keys, "readings": [{"name": "computing", "query": "max(jobs.compute_ns)"}]}
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        sweep = tenter.sweep(more, scenario=scenario, folder=tmp_path, executor=executor)
    assert sweep.complete
    assert not sweep.failures
    assert [row["measured"] for row in sweep.rows] == [0.0, 0.0]
    with sqlite3.connect(tmp_path / "ledger.sqlite") as ledger:
        runs = ledger.execute("SELECT runs FROM trials").fetchall()
    # Two trials, each for two readings.
    assert runs == [(2,), (2,)]


def test_a_failed_trial_leaves_the_others(scenario: tenter.Scenario, tmp_path: Path) -> None:
    class Broken(concurrent.futures.ThreadPoolExecutor):
        def submit(self, *_: Any, **__: Any) -> concurrent.futures.Future[Any]:
            def fail() -> None:
                raise OSError("the disk is full")

            return super().submit(fail)

    with Broken(1) as executor:
        sweep = tenter.sweep({"seeds": 2}, scenario=scenario, folder=tmp_path, executor=executor)
    assert [failure["error"] for failure in sweep.failures] == ["OSError: the disk is full"] * 2
    assert [failure["variant"] for failure in sweep.failures] == ["all"] * 2
    again = tenter.sweep({"seeds": 2}, scenario=scenario, folder=tmp_path, retry_failed=True)
    assert not again.failures


def test_a_worker_of_dask_may_die(
    scenario: tenter.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client, LocalCluster

    here = tenter.sweep({**DESCRIPTION, "seeds": 20}, scenario=scenario, folder=tmp_path / "here")
    monkeypatch.setattr(tenter._sweep, "BATCH_TRIALS", 2)
    killed: list[int] = []
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        pids = client.run(os.getpid)

        left = iter(pids.values())

        def kill(at: dict[str, float]) -> None:
            if at["done"] >= 10 and (pid := next(left, None)) and len(killed) == 0:
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

        there = tenter.sweep(
            {**DESCRIPTION, "seeds": 20},
            scenario=scenario,
            folder=tmp_path / "there",
            executor=client,
            progress=kill,
        )
    assert len(killed) == 1
    assert not there.failures
    assert there.complete
    assert polars.read_parquet(here.results).equals(polars.read_parquet(there.results))
