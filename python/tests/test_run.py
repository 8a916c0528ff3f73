"""Scenarios, runs, trials and their tables."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
import time
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pytest

import tenter


def test_a_scenario_is_written_in_several_ways(scenario: tenter.Scenario, tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(scenario.plan().yaml)
    digests = {
        tenter.run(scenario).digest,
        tenter.run(file).digest,
        tenter.run(tenter.Scenario(str(file))).digest,
        tenter.run(tenter.Scenario.from_yaml(file.read_text())).digest,
    }
    assert len(digests) == 1


def test_a_query_has_the_same_answer_from_memory_and_folder(
    scenario: tenter.Scenario, tmp_path: Path
) -> None:
    query = "max(flows.fct_ns), count(flows) by job_name where not warm_up"
    kept = tenter.run(scenario, folder=tmp_path / "trial")
    answer = kept.query(query)
    assert answer.columns == ["job_name", "max(flows.fct_ns)", "count(flows)"]
    assert answer.units == {"max(flows.fct_ns)": "ns"}
    assert answer["max(flows.fct_ns)"] == [max(kept.flows["fct_ns"])]
    opened = tenter.open(tmp_path / "trial")
    for trial in (opened, tenter.run(scenario)):
        assert [list(row) for row in trial.query(query)] == [list(row) for row in answer]
    with pytest.raises(tenter.InputError, match="did you mean `fct_ns`"):
        kept.query("max(flows.fct_n)")
    with pytest.raises(tenter.InputError, match="flows=True"):
        tenter.run(scenario, flows=False).query(query)


def test_results_do_not_depend_on_threads_or_on_what_is_kept(scenario: tenter.Scenario) -> None:
    one = tenter.run(scenario, threads=1)
    two = tenter.run(scenario, threads=2, flows=False, samples=False)
    assert one.digest == two.digest
    with pytest.raises(tenter.InputError, match="flows=True"):
        _ = two.flows


def test_a_stored_table_is_read_once_where_its_rows_are_gone_through(tmp_path: Path) -> None:
    many = tenter.Scenario(
        fabric={"kind": "single-switch", "hosts": 72},
        jobs=[{"collectives": [{"collective": "all-to-all", "size": "128KiB"}]}],
    )
    tenter.run(many, folder=tmp_path / "trial")
    flows = tenter.open(tmp_path / "trial").flows
    expected = list(flows)
    # More rows than are values of Python at a time.
    assert len(expected) == 72 * 71 > 4096
    rows = iter(flows)
    first = next(rows)
    (tmp_path / "trial" / "flows.parquet").unlink()
    assert [first, *rows] == expected


def test_tables_are_streams_of_arrow(scenario: tenter.Scenario) -> None:
    trial = tenter.run(scenario)
    jobs = pyarrow.table(trial.jobs)
    assert jobs.column_names == trial.jobs.columns
    assert jobs.schema.metadata[b"tenter.digest"].decode() == trial.digest
    assert jobs["jct_ns"].to_pylist() == trial.jobs["jct_ns"]
    assert trial.jobs.units["jct_ns"] == "ns"
    flows = trial.flows
    # A stream is made anew for each consumer.
    assert polars.DataFrame(flows).height == polars.DataFrame(flows).height == len(flows)
    assert [row["job_name"] for row in trial.jobs] == ["train"]
    for name in tenter._core.table_names:
        assert len(trial.table(name).columns) > 0


def test_a_part_of_a_table_is_selected(scenario: tenter.Scenario, tmp_path: Path) -> None:
    trial = tenter.run(scenario, folder=tmp_path / "trial")
    opened = tenter.open(tmp_path / "trial")
    for flows in (trial.flows, opened.flows):
        whole = polars.DataFrame(flows)
        least, most = whole["fct_ns"].min(), whole["fct_ns"].median()
        assert isinstance(least, float)
        assert isinstance(most, float)
        rank = whole.sort("fct_ns")["src_rank"][0]
        where = {"fct_ns": (least, most), "src_rank": rank}
        part = flows.select(["src_rank", "fct_ns"], where=where)
        expected = whole.filter(
            polars.col("fct_ns").is_between(least, most) & (polars.col("src_rank") == rank)
        ).select("src_rank", "fct_ns")
        assert part.columns == ["src_rank", "fct_ns"]
        assert 0 < len(part) == expected.height < whole.height
        assert polars.DataFrame(part).equals(expected)
        assert part["fct_ns"] == expected["fct_ns"].to_list()
        assert len(part.select(where={"job_name": "other"})) == 0
        assert len(flows.select(where={"job_name": "train"})) == whole.height
    assert polars.DataFrame(trial.flows).equals(polars.DataFrame(opened.flows))
    assert pyarrow.table(opened.flows).schema.metadata[b"tenter.digest"].decode() == trial.digest
    lean = tenter.run(scenario, folder=tmp_path / "lean", flows=False)
    assert len(lean.flows) == len(trial.flows)


def test_a_wrong_selection_has_a_remedy(scenario: tenter.Scenario) -> None:
    flows = tenter.run(scenario).flows
    for columns, where, remedy in (
        (["fct"], None, "choose one of"),
        (None, {"fct": 1}, "choose one of"),
        (None, {"fct_ns": "1us"}, "give a number"),
        (None, {"fct_ns": (2, 1)}, "the least and the greatest"),
        (None, {"job_name": 1}, "give a text"),
        ("fct_ns", None, "give a list"),
    ):
        with pytest.raises(tenter.InputError, match=remedy):
            flows.select(columns, where)


def test_consumers_share_the_memory(scenario: tenter.Scenario) -> None:
    trial = tenter.run(scenario)
    first = pyarrow.table(trial.flows)["tx_frames"].chunk(0).buffers()[1].address
    second = pyarrow.table(trial.flows)["tx_frames"].chunk(0).buffers()[1].address
    assert first == second
    frames = polars.DataFrame(trial.flows)
    del trial
    gc.collect()
    assert frames["tx_frames"].sum() > 0


def test_a_trial_is_opened_again(scenario: tenter.Scenario, tmp_path: Path) -> None:
    trial = tenter.run(scenario, folder=tmp_path / "trial")
    again = tenter.open(tmp_path / "trial")
    assert again.digest == trial.digest
    assert again.summary == trial.summary
    for name in ("jobs", "flows", "ports", "samples"):
        assert pyarrow.table(again.table(name)).equals(pyarrow.table(trial.table(name))), name
    report = trial.report(tmp_path / "report.html")
    assert report.read_text().startswith("<!DOCTYPE html>")


def test_a_plan_tells_what_a_run_costs(scenario: tenter.Scenario) -> None:
    plan = scenario.plan()
    assert plan.name == "small"
    assert plan.seed == 1
    assert plan.memory_bytes > 0
    trial = tenter.run(scenario)
    hops = trial.summary["engine"]["packet_hops"]
    assert plan.packet_hops == pytest.approx(hops, rel=0.5)
    assert "fabric" in tenter.explain(scenario)


LARGE = """
fabric: {kind: torus, sizes: [8, 256, 7], hosts_per_switch: 2}
jobs: [{ranks: 4, collectives: [{collective: permutation, size: 4KiB}]}]
"""


@pytest.mark.parametrize(
    ("max_time", "max_memory", "reason"),
    [("60s", "100MB", "100MB are allowed"), ("5ms", "16GiB", "5ms of processor time")],
)
def test_calls_have_a_budget(
    scenario: tenter.Scenario, tmp_path: Path, max_time: str, max_memory: str, reason: str
) -> None:
    tenter.run(scenario, folder=tmp_path / "small")
    (tmp_path / "small" / "config.yaml").write_text(LARGE)
    large = tenter.Scenario.from_yaml(LARGE)
    with pytest.raises(tenter.Error, match=reason):
        large.plan(max_time=max_time, max_memory=max_memory)
    with pytest.raises(tenter.Error, match=reason):
        tenter.explain(large, max_time=max_time, max_memory=max_memory)
    with pytest.raises(tenter.Error, match=reason):
        tenter.run(large, max_time=max_time, max_memory=max_memory)
    with pytest.raises(tenter.Error, match=reason):
        tenter.open(tmp_path / "small", max_time=max_time, max_memory=max_memory)
    with pytest.raises(tenter.Error, match=f"(?s){reason}.*allows more"):
        tenter.sweep(
            {"axes": {"seed": [1, 2]}},
            scenario=large,
            folder=tmp_path / "sweep",
            max_time=max_time,
            max_memory=max_memory,
        )
    with pytest.raises(tenter.InputError, match="max_time"):
        scenario.plan(max_time="5")


def test_settings_replace_and_remove(scenario: tenter.Scenario) -> None:
    faster = scenario.set({"fabric.host_rate": "800Gbps", "fabric.uplink_rate": "800Gbps"})
    assert tenter.run(faster).jobs["jct_ns"] < tenter.run(scenario).jobs["jct_ns"]
    assert tenter.run(faster.set({"fabric.host_rate": None, "fabric.uplink_rate": None}))
    assert scenario.seed(7).plan().seed == 7


def test_progress_is_told(long_scenario: tenter.Scenario) -> None:
    told: list[float] = []

    def hear(at: dict[str, float]) -> None:
        told.append(at["packet_hops"])
        if at["packet_hops"] > 0:
            raise StopIteration

    with pytest.raises(StopIteration):
        tenter.run(long_scenario, progress=hear)
    assert told == sorted(told)


def test_control_c_ends_a_run_within_a_second(long_scenario: tenter.Scenario) -> None:
    # A shell starts what it puts into the background with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = 0.0

    def interrupt() -> None:
        nonlocal sent
        time.sleep(0.5)
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        tenter.run(long_scenario)
    assert time.monotonic() - sent < 1


def test_runs_of_several_threads_are_apart(scenario: tenter.Scenario) -> None:
    digests: list[str] = []
    threads = [
        threading.Thread(target=lambda: digests.append(tenter.run(scenario).digest))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(digests) == 4
    assert len(set(digests)) == 1


def test_a_forked_process_runs_too(scenario: tenter.Scenario) -> None:
    expected = tenter.run(scenario).digest
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, tenter.run(scenario).digest.encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reader, 100).decode() == expected


def test_errors_survive_pickling() -> None:
    with pytest.raises(tenter.ScenarioError) as caught:
        tenter.Scenario({"fabric": {"kind": "leaf-spin"}}).plan()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.problems == caught.value.problems


def test_tables_show_themselves(scenario: tenter.Scenario) -> None:
    trial = tenter.run(scenario)
    assert "jct_ns" in repr(trial.jobs)
    assert ">train</td>" in trial._repr_html_()
    assert trial.digest in repr(trial)
    assert trial.summary["jobs"][0]["job_name"] == "train"


def test_pandas_and_duckdb_take_tables(scenario: tenter.Scenario) -> None:
    trial = tenter.run(scenario)
    flows = trial.flows
    frame = pandas.DataFrame.from_arrow(flows)
    assert list(frame.columns) == flows.columns
    assert frame["fct_ns"].tolist() == flows["fct_ns"]
    assert frame["job_name"].unique().tolist() == ["train"]
    relation = duckdb.query("select count(*), max(fct_ns) from flows")
    assert relation.fetchall() == [(len(flows), max(flows["fct_ns"]))]
