"""Searches with Optuna."""

from __future__ import annotations

import concurrent.futures
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy
import polars
import pytest

import tenter

SPACE: dict[str, object] = {
    "fabric.spines": {"from": 1, "to": 4},
    "load balancing": {
        "ecmp": {},
        "spray": {
            "fabric.load_balancing": {"kind": "random-spray"},
            "endpoint.nic.loss_recovery": {"kind": "selective-repeat", "reorder": 64},
        },
    },
}


def shape(values: dict[str, float], plan: tenter.Plan) -> Mapping[str, float]:
    """A price for what a fabric consists of."""
    return {"price": 10 * values["switches"] + values["cables"]}


def looked(scenario: tenter.Scenario, folder: Path, **more: Any) -> tenter.Search:
    """A search for a cheap and fast fabric."""
    return tenter.search(
        scenario,
        SPACE,
        objectives={"price": "less", "jct_ns": "less"},
        derive=shape,
        folder=folder,
        **{"points": 10, **more},
    )


def tried(search: tenter.Search) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """What was tried and measured, in order."""
    return [(point.chosen, point.values) for point in search.points]


def test_a_search_depends_on_its_seed_alone(scenario: tenter.Scenario, tmp_path: Path) -> None:
    here = looked(scenario, tmp_path / "here")
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        there = looked(scenario, tmp_path / "there", executor=executor)
    assert tried(here) == tried(there)
    assert len(here.points) == 10
    other = looked(scenario, tmp_path / "here", seed=2)
    assert tried(other) != tried(here)


def test_a_search_goes_on_where_it_was(scenario: tenter.Scenario, tmp_path: Path) -> None:
    first = looked(scenario, tmp_path, points=8)
    told: list[int] = []
    second = looked(scenario, tmp_path, points=12, progress=lambda done: told.append(len(done)))
    assert told == [4, 8, 12]
    assert tried(second)[:8] == tried(first)
    assert second.sweep is not None
    # Every trial of the last sweep is in the ledger by then.
    assert second.sweep._document["kept"] == second.sweep._document["done"]
    rows = polars.read_parquet(second.sweep.results)
    assert rows["variant"].n_unique() == 12


def test_the_front_is_of_points_that_no_other_beats(
    scenario: tenter.Scenario, tmp_path: Path
) -> None:
    search = looked(scenario, tmp_path, points=16)
    front = [(point.values["price"], point.values["jct_ns"]) for point in search.front]
    assert front == sorted(front)
    assert [time for _, time in front] == sorted((time for _, time in front), reverse=True)
    for point in search.points:
        values = (point.values["price"], point.values["jct_ns"])
        assert any(a <= values[0] and b <= values[1] for a, b in front)
    assert search.best is not None
    assert search.best.values["price"] == front[0][0]
    picture = ElementTree.fromstring(search.draw(tmp_path / "front.svg"))
    assert len(picture.findall("{http://www.w3.org/2000/svg}circle")) == 16
    assert "<table>" in search._repr_html_()
    assert "best" in repr(search)


def test_limits_hold_against_a_reference(scenario: tenter.Scenario, tmp_path: Path) -> None:
    search = tenter.search(
        scenario,
        SPACE,
        objectives={"cables": "less"},
        readings=[{"name": "slowdown", "query": "max(jobs.jct_ns)"}],
        reference={"fabric.spines": 4},
        at_most={"slowdown": 1.02},
        points=8,
        folder=tmp_path,
    )
    within = [point for point in search.points if point.within]
    assert within
    assert all(point.values["slowdown"] <= 1.02 for point in within)
    assert search.best is not None
    assert search.best.values["cables"] == min(point.values["cables"] for point in within)
    full = [point for point in search.points if point.chosen["fabric.spines"] == 4]
    ecmp = [point for point in full if point.chosen["load balancing"] == "ecmp"]
    assert all(point.values["slowdown"] == 1 for point in ecmp)


def test_what_does_not_hold_has_failed(scenario: tenter.Scenario, tmp_path: Path) -> None:
    search = tenter.search(
        scenario,
        {"fabric.spines": [2, -1, 3]},
        objectives={"jct_ns": "less"},
        first=[{"fabric.spines": -1}],
        points=6,
        folder=tmp_path,
    )
    failed = [point for point in search.points if point.error is not None]
    assert failed[0].number == 0
    assert "spines" in str(failed[0].error)
    assert search.best is not None
    assert search.best.chosen["fabric.spines"] in (2, 3)


def test_an_earlier_search_is_known(scenario: tenter.Scenario, tmp_path: Path) -> None:
    earlier = looked(scenario, tmp_path)
    later = looked(scenario, tmp_path, earlier=earlier, points=4)
    assert [point.number for point in later.points] == [10, 11, 12, 13]


def test_an_earlier_search_has_the_objectives_and_the_space(
    scenario: tenter.Scenario, tmp_path: Path
) -> None:
    earlier = looked(scenario, tmp_path, points=2)
    with pytest.raises(tenter.InputError, match="no value `watts`.*the objectives and limits"):
        tenter.search(
            scenario, SPACE, objectives={"watts": "less"}, earlier=earlier, folder=tmp_path
        )
    space = {**SPACE, "jobs[0].iterations": [1, 2]}
    with pytest.raises(tenter.InputError, match=r"`jobs\[0\].iterations`.*the same space"):
        tenter.search(
            scenario, space, objectives={"cables": "less"}, earlier=earlier, folder=tmp_path
        )


def test_a_point_without_a_number_has_failed(scenario: tenter.Scenario, tmp_path: Path) -> None:
    def derive(values: dict[str, float], plan: tenter.Plan) -> Mapping[str, float]:
        return {"price": float("nan") if values["switches"] > 4 else values["switches"]}

    search = tenter.search(
        scenario,
        {"fabric.spines": [1, 2, 3]},
        objectives={"price": "less", "jct_ns": "less"},
        derive=derive,
        first=[{"fabric.spines": 3}, {"fabric.spines": 1}],
        points=2,
        folder=tmp_path,
    )
    assert "`price` is nan" in str(search.points[0].error)
    assert len(search.front) == 1
    assert "<svg" in search.draw()


def test_numbers_of_numpy_may_be_derived(scenario: tenter.Scenario, tmp_path: Path) -> None:
    def derive(values: dict[str, float], plan: tenter.Plan) -> Mapping[str, Any]:
        return {"price": numpy.int64(3), "mass": numpy.float32(0.5)}

    search = tenter.search(
        scenario,
        {"fabric.spines": [1]},
        objectives={"price": "less"},
        at_most={"mass": numpy.float64(1.0)},
        derive=derive,
        points=1,
        folder=tmp_path,
    )
    values = search.points[0].values
    assert (values["price"], values["mass"]) == (3.0, 0.5)
    assert {type(values[name]) for name in ("price", "mass")} == {float}


def test_sizes_are_searched_in_their_unit(scenario: tenter.Scenario, tmp_path: Path) -> None:
    search = tenter.search(
        scenario,
        {
            "jobs[0].collectives[0].size": {"from": "64KiB", "to": "512KiB", "factor": 2},
            "endpoint.host.start_up": {"from": "1us", "to": "900us", "log": True},
        },
        objectives={"jct_ns": "more"},
        first=[{"jobs[0].collectives[0].size": "512KiB", "endpoint.host.start_up": "900us"}],
        points=8,
        folder=tmp_path,
    )
    sizes = {point.chosen["jobs[0].collectives[0].size"] for point in search.points}
    assert sizes <= {"64KiB", "128KiB", "256KiB", "512KiB"}
    assert search.best is not None
    assert search.best.number == 0


def test_a_search_without_optuna_names_the_remedy(
    scenario: tenter.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(tenter.InputError, match=r"pip install 'tenter\[optuna\]'"):
        looked(scenario, tmp_path)


MISUSES: list[tuple[str, dict[str, object], dict[str, Any], str]] = [
    ("no space", {}, {}, "empty"),
    ("no values", {"fabric.spines": []}, {}, "no values"),
    ("one value", {"fabric.spines": 2}, {}, "a list of values"),
    ("no bundle", {"fabric.spines": {"two": 2}}, {}, "`from` and `to`|mapping of paths"),
    ("a wrong key", {"fabric.spines": {"from": 1, "to": 2, "by": 1}}, {}, "`by`"),
    ("two units", {"fabric.rate": {"from": "1Gbps", "to": "1Tbps"}}, {}, "use one unit"),
    ("backwards", {"fabric.spines": {"from": 2, "to": 1}}, {}, "`from` is above `to`"),
    ("no objective", SPACE, {"objectives": {}}, "objective"),
    ("a wrong way", SPACE, {"objectives": {"jct_ns": "minimize"}}, "less or more"),
    ("a value that is none", SPACE, {"objectives": {"jct": "less"}}, "jct_ns"),
    ("a first that is none", SPACE, {"first": [{"spines": 2}]}, "fabric.spines"),
    ("a first beyond", SPACE, {"first": [{"fabric.spines": 9}]}, "cannot be 9"),
    ("no points", SPACE, {"points": 0}, "points"),
    ("no number", {"fabric.spines": {"from": 1, "to": float("nan")}}, {}, "a finite one"),
    ("no factor", {"fabric.spines": {"from": 1, "to": 4, "factor": float("nan")}}, {}, "above 1"),
    ("many", {"endpoint.host.start_up": {"from": 1, "to": 9, "factor": 1.0001}}, {}, "4096"),
    ("no limit", SPACE, {"at_most": {"jct_ns": float("nan")}}, "give a number"),
    ("a limit in words", SPACE, {"at_most": {"jct_ns": "5ms"}}, "`jct_ns` is '5ms': give a number"),
    ("no derivation", SPACE, {"derive": lambda *_: {"price": None}}, "let it give a number"),
]


@pytest.mark.parametrize("name, space, more, told", MISUSES, ids=[name for name, *_ in MISUSES])
def test_a_misuse_is_told(
    name: str,
    space: dict[str, object],
    more: dict[str, Any],
    told: str,
    scenario: tenter.Scenario,
    tmp_path: Path,
) -> None:
    with pytest.raises(tenter.InputError, match=told):
        tenter.search(
            scenario,
            space,
            **{"objectives": {"jct_ns": "less"}, "points": 1, "folder": tmp_path, **more},
        )
