"""Collectives that are built step by step."""

from __future__ import annotations

import pytest

import tenter


def ring(ranks: int, size: int) -> tenter.Steps:
    """An all-gather round a ring."""
    steps = tenter.Steps()
    arrived: dict[int, int] = {}
    for _ in range(ranks - 1):
        sent = {
            (rank + 1) % ranks: steps.send(
                rank, (rank + 1) % ranks, size, [arrived[rank]] if rank in arrived else ()
            )
            for rank in range(ranks)
        }
        arrived = sent
    return steps


def test_a_ring_of_steps_is_the_ring(scenario: tenter.Scenario) -> None:
    steps = ring(4, 1 << 20)
    assert len(steps) == 12
    own = scenario.set({"jobs[0].collectives": [steps.collective()]})
    known = {"collective": "all-gather", "algorithm": "ring", "size": "4MiB"}
    theirs = scenario.set({"jobs[0].collectives": [known]})
    assert tenter.run(own).jobs["jct_ns"] == tenter.run(theirs).jobs["jct_ns"]


def test_steps_that_cannot_be_are_refused() -> None:
    steps = tenter.Steps()
    first = steps.send(0, 1, "1MiB")
    with pytest.raises(tenter.InputError, match="no step 7"):
        steps.send(1, 2, "1MiB", after=[7])
    with pytest.raises(tenter.InputError, match="arrives at rank 1"):
        steps.send(2, 3, "1MiB", after=[first])
    with pytest.raises(tenter.InputError, match="`size` is 0"):
        steps.send(1, 2, 0)
    assert len(steps) == 1
