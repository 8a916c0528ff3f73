"""Sweeps on a Dask cluster: a client of LocalCluster, SSH, Slurm or Kubernetes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

from distributed import KilledWorker, as_completed, get_worker

from tenter import _core
from tenter._sweep import RETRIES, next_batch, run_until


def drive(
    session: _core.SweepSession,
    client: Any,
    progress: Callable[[dict[str, Any]], object] | None,
) -> None:
    """Runs the trials of a sweep as tasks of a cluster.

    A task is named by its orders, so that the scheduler knows one that is asked for twice, and does
    not take one with other readings for it. A worker that dies loses the tasks that it was running;
    the scheduler gives them to others.
    """
    under_way: dict[str, tuple[Any, list[str]]] = {}
    try:
        _drive(session, client, under_way, progress)
    except BaseException:
        # Nothing runs on behind the caller's back.
        client.cancel([future for future, _ in under_way.values()], force=True)
        raise


def _drive(
    session: _core.SweepSession,
    client: Any,
    under_way: dict[str, tuple[Any, list[str]]],
    progress: Callable[[dict[str, Any]], object] | None,
) -> None:
    completed = as_completed(with_results=True, raise_errors=False)
    is_over = False
    while True:
        limit = 4 * max(1, sum(client.nthreads().values()))
        while not is_over and len(under_way) < limit:
            batch, is_over = next_batch(session)
            if not batch:
                break
            task = name(batch)
            future = client.submit(run_task, task, batch, key=task, pure=True, retries=RETRIES)
            under_way[task] = (future, [key for key, _ in batch])
            completed.add(future)
        if not under_way:
            if is_over:
                return
            # Other processes run what is left.
            time.sleep(0.2)
            continue
        future, answers = next(completed)
        if not isinstance(answers, list) and future.status in ("pending", "lost"):
            # The answer went with its worker, and another one makes it again.
            completed.add(future)
            continue
        _, keys = under_way.pop(future.key)
        # The status may be another one by now: the worker that had the answer may be gone.
        if isinstance(answers, list):
            for key, answer in answers:
                session.answer(key, answer)
        else:
            _lost(session, keys, answers)
        future.release()
        if progress is not None:
            progress(session.progress())


def run_task(name: str, batch: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Runs trials on a worker, until it is told that no one wants them any more."""
    worker = get_worker()

    def stopped() -> bool:
        task = worker.state.tasks.get(name)
        return task is not None and task.state == "cancelled"

    return run_until(batch, 1, stopped)


def name(batch: list[tuple[str, bytes]]) -> str:
    """What a task is called: a digest of all that its trials take and of what is read of them."""
    digest = hashlib.sha256()
    for _, order in batch:
        digest.update(hashlib.sha256(order).digest())
    return f"tenter-{digest.hexdigest()[:32]}"


def _lost(session: _core.SweepSession, keys: list[str], answers: Any) -> None:
    """A task without an answer: its worker died too often, or it raised."""
    error = answers[1] if isinstance(answers, tuple) and len(answers) > 1 else answers
    for key in keys:
        if isinstance(error, KilledWorker):
            # The trial is innocent on machines that are taken away; a later run has it again.
            session.stopped(key)
        else:
            session.failed(key, f"{type(error).__name__}: {error}")
