"""What goes wrong raises an exception with place and remedy."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, cast

import pytest

import tenter

FABRIC: dict[str, object] = {"kind": "single-switch", "hosts": 4}
JOBS: list[dict[str, object]] = [{"collectives": [{"collective": "all-reduce", "size": "1MiB"}]}]


def good(**changes: object) -> tenter.Scenario:
    """A scenario with some sections replaced."""
    return tenter.Scenario({"fabric": FABRIC, "jobs": JOBS, **changes})


def swept(**keys: object) -> tenter.Sweep:
    """A sweep that never runs."""
    return tenter.sweep(keys, scenario=good(), folder="never")


def job(**keys: object) -> tenter.Scenario:
    """A scenario with other keys of its job."""
    return good(jobs=[{**JOBS[0], **keys}])


anything = cast(Any, object())

MISUSES: list[tuple[str, Callable[[], object], str]] = [
    ("a file that is missing", lambda: tenter.run("missing.yaml"), "check the path"),
    ("the text of a scenario", lambda: tenter.run("fabric:\n  kind: x\n"), "from_yaml"),
    ("a number", lambda: tenter.run(cast(Any, 7)), "a file, a mapping or keywords"),
    ("nothing at all", lambda: tenter.run({}), "fabric"),
    ("no jobs", lambda: tenter.run({"fabric": FABRIC}), "jobs"),
    ("a wrong section", lambda: good(fabrics=1).plan(), "did you mean `fabric`"),
    ("a wrong kind", lambda: good(fabric={"kind": "leaf-spin"}).plan(), "leaf-spine"),
    ("a wrong key", lambda: good().set({"fabric.host": 4}).plan(), "did you mean `hosts`"),
    ("a wrong unit", lambda: good().set({"fabric.rate": "400GBps"}).plan(), "Tbps"),
    ("no unit", lambda: good().set({"fabric.rate": 400}).plan(), "Gbps"),
    ("a unit of something else", lambda: good().set({"fabric.rate": "4us"}).plan(), "rate"),
    ("a negative count", lambda: good().set({"fabric.hosts": -1}).plan(), "hosts"),
    ("too many", lambda: good().set({"fabric.hosts": 10**12}).plan(), "hosts"),
    ("a fraction", lambda: good().set({"fabric.hosts": 1.5}).plan(), "whole"),
    ("not a number", lambda: good(seed=float("nan")), "give a number"),
    ("an object", lambda: good(seed=anything), "text, numbers, lists or mappings"),
    ("a path of nothing", lambda: good().set({"jobs[7].iterations": 2}).plan(), "jobs"),
    ("an empty path", lambda: good().set({"": 2}).plan(), "not part of a path"),
    ("a wrong collective", lambda: job(collectives=[{"collective": "allreduce"}]).plan(), "all-"),
    ("a size of zero", lambda: good().set({"jobs[0].collectives[0].size": "0B"}).plan(), "size"),
    ("too many ranks", lambda: job(ranks=9).plan(), "ranks"),
    ("two jobs of one name", lambda: good(jobs=[{**JOBS[0], "name": "a"}] * 2).plan(), "`a`"),
    ("a preset that is none", lambda: tenter.Scenario.preset("rail-65"), "rail-64"),
    ("TOML that is none", lambda: tenter.Scenario.from_toml("a = ").plan(), "TOML"),
    ("YAML that is none", lambda: tenter.Scenario.from_yaml("a: [").plan(), "scenario:1"),
    ("no threads", lambda: tenter.run(good(), threads=-1), "threads"),
    ("a wrong seed", lambda: tenter.run(good(), seed=-1), "seed"),
    ("an interference", lambda: tenter.run(good(), interference=cast(Any, "x")), "pairs"),
    ("a table that is none", lambda: tenter.run(good()).table("job"), "jobs"),
    ("a column that is none", lambda: tenter.run(good()).jobs["jct"], "jct_ns"),
    ("a folder that is a file", lambda: tenter.run(good(), folder=__file__), "test_misuse"),
    ("a folder of something else", lambda: tenter.run(good(), folder="/"), "/"),
    ("a closed folder", lambda: tenter.run(good(), folder="/proc/tenter"), "/proc/tenter"),
    (
        "a closed folder of a sweep",
        lambda: tenter.sweep({}, scenario=good(), folder="/proc/t"),
        "/proc",
    ),
    ("a folder that is no trial", lambda: tenter.open("/nowhere"), "/nowhere"),
    ("a report without a folder", lambda: tenter.run(good()).report(), "folder="),
    ("a sweep of nothing", lambda: tenter.sweep({"seeds": 2}), "scenario="),
    ("a sweep with a wrong key", lambda: swept(axis={}), "axes"),
    ("no seeds", lambda: swept(seeds=0), "seeds"),
    ("an axis of nothing", lambda: swept(axes={"fabric.host": [1]}), "hosts"),
    (
        "a wrong column",
        lambda: swept(readings=[{"name": "a", "query": "max(jobs.jtc_ns)"}]),
        "jct_ns",
    ),
    ("a variant that is none", lambda: tenter.sweep({}, scenario=good(), only=["x"]), "`x`"),
    (
        "an executor that is none",
        lambda: tenter.sweep({}, scenario=good(), folder="sweep", executor=7),
        "concurrent.futures",
    ),
    ("a file and a scenario", lambda: tenter.sweep("a.yaml", scenario=good()), "leave"),
    ("a wrong benchmark", lambda: tenter.bench("all_reduces", fabric="rail-64"), "all_reduce"),
    ("a study that is none", lambda: tenter.study("methodology/none"), "study"),
    ("trials that are none", lambda: tenter.compare("/nowhere", "/neither"), "/nowhere"),
]


@pytest.mark.parametrize("name, call, remedy", MISUSES, ids=[name for name, _, _ in MISUSES])
def test_a_misuse_is_told(
    name: str,
    call: Callable[[], object],
    remedy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tenter.Error) as caught:
        call()
    assert remedy in str(caught.value), name
    assert not isinstance(caught.value, tenter.InternalError)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(tenter.ScenarioError) as caught:
        good().set({"fabric.host": 1, "jobs[0].iteration": 2}).plan()
    error = caught.value
    assert len(error.problems) == 2
    assert error.path == "--set"
    assert error.line == 1
    assert error.help is not None


def test_a_damaged_trial_is_told(tmp_path: Path) -> None:
    tenter.run(good(), folder=tmp_path / "trial")
    table = tmp_path / "trial" / "flows.parquet"
    table.write_bytes(table.read_bytes()[:100])
    with pytest.raises(tenter.FolderError, match="flows.parquet"):
        tenter.open(tmp_path / "trial")


def test_a_trial_whose_folder_is_gone_is_told(tmp_path: Path) -> None:
    trial = tenter.run(good(), folder=tmp_path / "trial")
    shutil.rmtree(tmp_path / "trial")
    assert trial.jobs["jct_ns"]
    with pytest.raises(tenter.Error, match="trial"):
        trial.report(tmp_path / "report.html")


def test_two_threads_may_not_write_one_folder(
    long_scenario: tenter.Scenario, tmp_path: Path
) -> None:
    is_running = threading.Event()
    is_refused = threading.Event()

    def hear(at: dict[str, float]) -> None:
        is_running.set()
        if is_refused.is_set():
            raise StopIteration

    def first() -> None:
        with pytest.raises(StopIteration):
            tenter.run(long_scenario, folder=tmp_path / "trial", progress=hear)

    thread = threading.Thread(target=first)
    thread.start()
    assert is_running.wait(30)
    with pytest.raises(tenter.FolderError, match="trial"):
        tenter.run(good(), folder=tmp_path / "trial")
    is_refused.set()
    thread.join()


def test_a_process_may_fork_while_it_runs(long_scenario: tenter.Scenario) -> None:
    expected = tenter.run(good()).digest
    children: list[int] = []

    def hear(at: dict[str, float]) -> None:
        if not children:
            children.append(os.fork())
            if children[0] == 0:
                # The child has neither the threads of the run nor anything else to wait for.
                os._exit(0 if tenter.run(good()).digest == expected else 1)
        raise StopIteration

    with pytest.raises(StopIteration):
        tenter.run(long_scenario, progress=hear)
    assert os.waitpid(children[0], 0)[1] == 0


def test_a_cancelled_run_leaves_what_it_has(long_scenario: tenter.Scenario, tmp_path: Path) -> None:
    def hear(at: dict[str, float]) -> None:
        if at["packet_hops"] > 0:
            raise StopIteration

    with pytest.raises(StopIteration):
        tenter.run(long_scenario, folder=tmp_path / "trial", progress=hear)
    trial = tenter.open(tmp_path / "trial")
    assert not trial.complete
    assert trial.jobs["jct_ns"] == [None]
    assert tenter.run(good()).complete


class Interrupt:
    """Ctrl-C for this process alone, once trials run."""

    def __init__(self, after_s: float) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.after_s = after_s
        self.sent = 0.0

    def __enter__(self) -> Self:
        threading.Thread(target=self._send).start()
        return self

    def _send(self) -> None:
        time.sleep(self.after_s)
        self.sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        assert time.monotonic() - self.sent < 1


def test_control_c_ends_a_sweep_within_a_second(
    long_scenario: tenter.Scenario, tmp_path: Path
) -> None:
    with Interrupt(1), pytest.raises(KeyboardInterrupt):
        tenter.sweep({"seeds": 4}, scenario=long_scenario, folder=tmp_path)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_control_c_ends_the_trials_of_an_executor_within_a_second(
    kind: str, long_scenario: tenter.Scenario, scenario: tenter.Scenario, tmp_path: Path
) -> None:
    executor: concurrent.futures.Executor
    if kind == "threads":
        executor = concurrent.futures.ThreadPoolExecutor(2)
    else:
        context = multiprocessing.get_context("spawn")
        executor = concurrent.futures.ProcessPoolExecutor(2, mp_context=context)
    # Both workers have begun to live, and trials begin at once.
    tenter.sweep({"seeds": 8}, scenario=scenario, folder=tmp_path / "a", executor=executor)
    with Interrupt(2), pytest.raises(KeyboardInterrupt):
        tenter.sweep({"seeds": 8}, scenario=long_scenario, folder=tmp_path / "b", executor=executor)
    ended = time.monotonic()
    executor.shutdown()
    assert time.monotonic() - ended < 1


def test_control_c_does_not_wait_for_other_tasks_of_an_executor(
    scenario: tenter.Scenario, tmp_path: Path
) -> None:
    is_over = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        executor.submit(is_over.wait, 20)
        try:
            with Interrupt(1), pytest.raises(KeyboardInterrupt):
                tenter.sweep({"seeds": 4}, scenario=scenario, folder=tmp_path, executor=executor)
        finally:
            is_over.set()


SWEPT = """
import concurrent.futures, multiprocessing, sys
import tenter

if __name__ == "__main__":
    fabric = {"kind": "leaf-spine", "leaves": 16, "hosts_per_leaf": 8, "spines": 8}
    jobs = [{"collectives": [{"collective": "all-to-all", "size": "4GiB"}]}]
    context = multiprocessing.get_context("spawn")
    executor = concurrent.futures.ProcessPoolExecutor(2, mp_context=context)

    def hear(at):
        print(*executor._processes, flush=True)

    scenario = tenter.Scenario(fabric=fabric, jobs=jobs)
    tenter.sweep(
        {"seeds": 8}, scenario=scenario, folder=sys.argv[1], executor=executor, progress=hear
    )
"""


def test_the_processes_of_an_executor_end_with_the_one_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "swept.py").write_text(SWEPT)
    command = [sys.executable, str(tmp_path / "swept.py"), str(tmp_path / "sweep")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as swept:
        assert swept.stdout is not None
        # The processes are there with the first line, and run trials soon after.
        workers = [int(word) for word in swept.stdout.readline().split()]
        time.sleep(2)
        swept.kill()

    def lives(process: int) -> bool:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return False
        return state != "Z"

    assert workers
    deadline = time.monotonic() + 10
    while any(map(lives, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(lives, workers))


def test_control_c_ends_the_trials_of_dask(
    long_scenario: tenter.Scenario, scenario: tenter.Scenario, tmp_path: Path
) -> None:
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        tenter.sweep({"seeds": 8}, scenario=scenario, folder=tmp_path / "a", executor=client)
        with Interrupt(2), pytest.raises(KeyboardInterrupt):
            tenter.sweep(
                {"seeds": 8}, scenario=long_scenario, folder=tmp_path / "b", executor=client
            )
        time.sleep(1)
        before = client.run(time.process_time)
        time.sleep(1)
        after = client.run(time.process_time)
        assert all(after[worker] - before[worker] < 0.5 for worker in before)


def test_misuses_are_as_many_as_promised() -> None:
    assert len(MISUSES) >= 40
