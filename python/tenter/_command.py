"""Parts of the command that answer with JSON, run in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tenter._errors import Error, InputError, RunError
from tenter._values import setting


def tool(arguments: Sequence[str], allowed: Sequence[int] = (0,)) -> str:
    """Runs the command and gives what it prints; other exit codes than `allowed` raise."""
    command = [sys.executable, "-m", "tenter", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in allowed:
        return done.stdout
    message = done.stderr.strip().removeprefix("error: ") or f"exit code {done.returncode}"
    kind: type[Error] = InputError if done.returncode == 2 else RunError
    raise kind(message)


def _json(arguments: Sequence[str], allowed: Sequence[int] = (0,)) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(tool([*arguments, "--format", "json"], allowed))
    return answer


def bench(
    collective: str,
    *,
    fabric: str | os.PathLike[str],
    begin: str | int = 8,
    end: str | int = "64M",
    factor: int = 2,
    set: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """The table of nccl-tests for a fabric: a preset or a file. Sizes are those of nccl-tests."""
    arguments = ["bench", collective, "-b", str(begin), "-e", str(end), "-f", str(factor)]
    arguments += ["--fabric", os.fspath(fabric)]
    for path, value in (set or {}).items():
        arguments += ["--set", setting(path, value)]
    return _json(arguments)


def compare(
    *folders: str | os.PathLike[str], query: str | None = None, more_is_better: bool = False
) -> dict[str, Any]:
    """Trials side by side; with a `query`, what they answer to it, group by group."""
    arguments = ["compare", *(os.fspath(folder) for folder in folders)]
    if query is not None:
        arguments += ["--query", query]
    if more_is_better:
        arguments += ["--more-is-better"]
    return _json(arguments)


def study(*names: str, quick: bool = False) -> dict[str, Any]:
    """Runs published studies; each row has what was published, what was measured and a verdict."""
    arguments = ["study", "run", *names, *(["--quick"] if quick else [])]
    return _json(arguments, allowed=(0, 1))
