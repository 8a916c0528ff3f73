"""Exceptions; each message names the place and the remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One problem of a scenario; line and column count from 1."""

    message: str
    help: str | None = None
    source: str | None = None
    line: int | None = None
    column: int | None = None


class Error(Exception):
    """Base of all exceptions of Tenter."""

    def __init__(self, message: str, problems: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(Problem(**problem) for problem in problems)

    @property
    def help(self) -> str | None:
        """The remedy of the first problem."""
        return self.problems[0].help if self.problems else None

    @property
    def path(self) -> str | None:
        """The file of the first problem, or `--set`."""
        return self.problems[0].source if self.problems else None

    @property
    def line(self) -> int | None:
        """The line of the first problem."""
        return self.problems[0].line if self.problems else None

    @property
    def column(self) -> int | None:
        """The column of the first problem."""
        return self.problems[0].column if self.problems else None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), [vars(problem) for problem in self.problems])


class InputError(Error, ValueError):
    """An argument does not fit, or a run does not fit into memory."""


class ScenarioError(InputError):
    """A scenario does not hold; `problems` has all of its problems."""


class FolderError(Error, OSError):
    """A file or a folder cannot be read or written."""


class RunError(Error, RuntimeError):
    """A simulation failed."""


class InternalError(RunError):
    """A defect of Tenter."""
