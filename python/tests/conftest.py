"""What tests share."""

from __future__ import annotations

import pytest

import tenter


@pytest.fixture
def scenario() -> tenter.Scenario:
    """Four hosts, two spines, and an all-reduce that takes some milliseconds to simulate."""
    return tenter.Scenario(
        name="small",
        fabric={"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2},
        jobs=[{"name": "train", "collectives": [{"collective": "all-reduce", "size": "1MiB"}]}],
    )


@pytest.fixture
def long_scenario() -> tenter.Scenario:
    """A run of many seconds."""
    return tenter.Scenario(
        fabric={"kind": "leaf-spine", "leaves": 16, "hosts_per_leaf": 8, "spines": 8},
        jobs=[{"collectives": [{"collective": "all-to-all", "size": "4GiB"}]}],
    )
