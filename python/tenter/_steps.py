"""Collectives that are built step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenter._errors import InputError
from tenter._values import whole

RANKS = 2**20


class Steps:
    """A collective of one's own: what each rank sends to whom, and what must have arrived before.

    `send` adds a step and gives its place, for later steps to wait for; `collective` is what a job
    runs.
    """

    def __init__(self) -> None:
        self._steps: list[dict[str, Any]] = []

    def __len__(self) -> int:
        return len(self._steps)

    def send(self, rank: int, peer: int, size: int | str, after: Iterable[int] = ()) -> int:
        """Adds a transfer of `size` bytes, or of a text such as `"1MiB"`, and gives its place.

        It starts when the steps at the places `after`, whose peer is `rank`, have arrived.
        """
        waits = list(after)
        for place in waits:
            if not 0 <= place < len(self._steps):
                known = f"0 to {len(self) - 1}" if self else "none yet"
                raise InputError(f"there is no step {place} to wait for: steps are {known}")
            arrives = self._steps[place]["peer"]
            if arrives != rank:
                raise InputError(
                    f"step {place} arrives at rank {arrives}, so rank {rank} cannot wait for it"
                )
        step: dict[str, Any] = {
            "rank": whole("rank", rank, 0, RANKS),
            "peer": whole("peer", peer, 0, RANKS),
            "bytes": size if isinstance(size, str) else f"{whole('size', size, 1, 2**63)}B",
        }
        self._steps.append({**step, "after": waits} if waits else step)
        return len(self) - 1

    def collective(self, **keys: object) -> dict[str, Any]:
        """The collective of a job, with further keys such as `compute`."""
        return {"collective": "steps", "steps": list(self._steps), **keys}

    def __repr__(self) -> str:
        return f"<Steps: {len(self)} transfers>"
