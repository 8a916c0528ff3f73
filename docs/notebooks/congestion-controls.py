"""Sweeps four congestion controls over the load, and shows slowdowns by size."""

import marimo

app = marimo.App(app_title="Four congestion controls")


@app.cell
def _():
    import altair
    import marimo as mo
    import polars

    import tenter

    return altair, mo, polars, tenter


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # Four congestion controls

    Sixteen hosts at 100G behind four leaves send each other flows of a published size distribution, that of a Hadoop cluster of Facebook, at random times.
    The fabric is lossless: a full queue pauses what comes before it, and small flows wait behind large ones.

    Senders may slow down before that happens.
    **DCQCN** follows marks of the switches, **TIMELY** and **Swift** follow the round-trip time, and **HPCC** follows telemetry of the switches.
    Which of them keeps small flows fast, and what does it cost the large ones?
    """)
    return


@app.cell
def _(tenter):
    base = tenter.Scenario(
        fabric={
            "kind": "leaf-spine",
            "leaves": 4,
            "hosts_per_leaf": 4,
            "spines": 4,
            "host_rate": "100Gbps",
            "uplink_rate": "100Gbps",
            "switch": {
                "buffer": {"size": "16MB"},
                "classes": [{"class": 0, "lossless": True, "ecn": "hpcc-100g"}, {"class": 6}],
            },
        },
        jobs=[
            {
                "name": "hadoop",
                "workload": {
                    "sizes": "facebook-hadoop-homa",
                    "arrivals": "poisson",
                    "load": 0.6,
                    "pairs": [{"from": ["0-15"], "to": ["0-15"]}],
                    "duration": "4ms",
                },
            }
        ],
        observe={"samples": False},
    )
    control = "endpoint.nic.congestion_control"
    controls = {
        "none": {},
        "DCQCN": {control: {"kind": "dcqcn", "preset": "paper-2015", "scale_from": "40Gbps"}},
        "TIMELY": {
            control: {"kind": "timely", "low": "20us", "high": "200us", "base_round_trip": "5us"},
            "endpoint.nic.message_size": "16KiB",
        },
        "Swift": {control: "swift", "endpoint.nic.acknowledge": "per-packet"},
        "HPCC": {
            control: {"kind": "hpcc", "base_round_trip": "5us"},
            "endpoint.nic.acknowledge": "per-packet",
        },
    }
    order = list(controls)
    return base, controls, order


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Over the load

    One sweep runs each of them at four loads with three seeds.
    Flows are drawn from the seed alone, so that all of them carry the same flows.
    """)
    return


@app.cell
def _(base, controls, tenter):
    load = "jobs[0].workload.load"
    sweep = tenter.sweep(
        {
            "variants": controls,
            "axes": {load: [0.2, 0.4, 0.6, 0.8]},
            "seeds": 3,
            "readings": [
                {"name": "median FCT", "query": "median(flows.fct_ns)"},
                {"name": "P99 FCT", "query": "p99(flows.fct_ns)"},
            ],
        },
        scenario=base,
        folder="sweeps/congestion-controls",
    )
    return (sweep,)


@app.cell
def _(altair, order, polars, sweep):
    readings = polars.DataFrame(
        {
            "load": float(row["case"].split("=")[-1]),
            "control": row["variant"],
            "reading": row["metric"].removesuffix(" (ns)"),
            "us": row["measured"] / 1e3,
        }
        for row in sweep.rows
    )
    altair.Chart(readings).mark_line(point=True).encode(
        x=altair.X("load:Q", scale=altair.Scale(domain=[0.2, 0.8])),
        y=altair.Y("us:Q", scale=altair.Scale(type="log"), title="FCT (us)"),
        color=altair.Color("control:N", sort=order, title=None),
        column=altair.Column("reading:N", sort=["median FCT", "P99 FCT"], title=None),
    ).properties(width=210, height=240)
    return (readings,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Half of the flows are below 1 KB, and HPCC and TIMELY keep the median near that of an idle fabric.
    The tail tells another story.
    A pair of hosts has eight queue pairs, which flows take in turn: one that finds its queue pair busy waits behind the flow before it, at the rate to which that has been slowed.
    TIMELY comes back slowly from low rates, and pays for its short queues here.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## By size, at a load of 0.6

    The *slowdown* of a flow is its completion time over that of the same flow alone on its path.
    The chart shows its 99th percentile in each tenth of the size distribution; the last tenth carries most of the bytes.
    """)
    return


@app.cell
def _(base, controls, polars, tenter):
    def by_size(name, settings):
        longer = {**settings, "jobs[0].workload.duration": "30ms"}
        sizes = tenter.run(base, set=longer, flows=False).summary["flow_sizes"]
        return [
            {
                "control": name,
                "flows up to (bytes)": row["to_bytes"],
                "median": row["slowdown_p50"],
                "P99": row["slowdown_p99"],
            }
            for row in sizes
            if row["bucket"] is not None
        ]

    slowdowns = polars.DataFrame(
        [row for name, settings in controls.items() for row in by_size(name, settings)]
    )
    return (slowdowns,)


@app.cell
def _(altair, order, slowdowns):
    altair.Chart(slowdowns).mark_line(point=True).encode(
        x=altair.X("flows up to (bytes):O", title="flows up to (bytes), a tenth of all each"),
        y=altair.Y("P99:Q", scale=altair.Scale(type="log"), title="P99 slowdown"),
        color=altair.Color("control:N", sort=order, title=None),
    ).properties(width=470, height=300)
    return


@app.cell
def _(polars, slowdowns):
    slowdowns.pivot("control", index="flows up to (bytes)", values="P99").with_columns(
        polars.selectors.float().round(1)
    )
    return


if __name__ == "__main__":
    app.run()
