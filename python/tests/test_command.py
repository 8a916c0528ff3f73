"""What the package asks of the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tenter


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command leaves is left there."""
    monkeypatch.chdir(tmp_path)


def test_a_benchmark_has_the_table_of_nccl_tests() -> None:
    table = tenter.bench("all_reduce", fabric="rail-64", begin="1M", end="4M", factor=4)
    assert [row["size"] for row in table["results"]] == [1 << 20, 4 << 20]


def test_trials_are_compared(scenario: tenter.Scenario, tmp_path: Path) -> None:
    for spines in (1, 2):
        tenter.run(scenario, set={"fabric.spines": spines}, folder=tmp_path / f"{spines}")
    compared = tenter.compare(tmp_path / "1", tmp_path / "2")
    assert len(compared["trials"]) == 2
    asked = tenter.compare(tmp_path / "1", tmp_path / "2", query="p99(flows.fct_ns) by job_name")
    row = asked["comparison"][0]
    assert (row["name"], row["against"], row["pairs"]) == ("2", "1", 1)
    assert row["ratio"] == pytest.approx(row["value"] / row["against_value"])


def test_a_study_is_run() -> None:
    answer = tenter.study("evolved-ethernet/walk-through", quick=True)
    (study,) = answer["studies"]
    assert study["study"] == "evolved-ethernet/walk-through"
    assert {case["verdict"] for case in study["cases"]} <= {"match", "info", "not judged"}


def test_the_package_has_the_command_with_its_completions_and_manual(tmp_path: Path) -> None:
    tool = Path(sys.executable).parent / "tenter"
    told = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == f"tenter {tenter.version}\n"
    for shell in ("bash", "zsh", "fish", "elvish", "powershell"):
        shown = subprocess.run([tool, "completions", shell], capture_output=True, check=True)
        assert b"tenter" in shown.stdout, shell
    subprocess.run([tool, "man", tmp_path], capture_output=True, check=True)
    assert (tmp_path / "tenter-run.1").read_text().startswith(".")
