"""Packet-level simulation of AI and HPC network fabrics.

`run` runs a scenario and gives a `Trial`, `sweep` compares variants over values and seeds,
`search` looks for the best settings, and `explain` tells what a scenario means and what a run
costs. Tables are Arrow streams.
"""

from tenter._command import bench, compare, study
from tenter._core import version as version
from tenter._errors import (
    Error,
    FolderError,
    InputError,
    InternalError,
    Problem,
    RunError,
    ScenarioError,
)
from tenter._scenario import Plan, Scenario, explain
from tenter._search import Point, Search, search
from tenter._sweep import Sweep, sweep
from tenter._table import Table
from tenter._trial import Trial, open, run

__version__ = version.split()[0]

__all__ = [
    "Error",
    "FolderError",
    "InputError",
    "InternalError",
    "Plan",
    "Point",
    "Problem",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Search",
    "Sweep",
    "Table",
    "Trial",
    "bench",
    "compare",
    "explain",
    "open",
    "run",
    "search",
    "study",
    "sweep",
    "version",
]
