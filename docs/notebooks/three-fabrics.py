"""Compares three fabrics on the same jobs."""

import marimo

app = marimo.App(app_title="Three fabrics, the same jobs")


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
    # Three fabrics, the same jobs

    Two jobs share 64 NICs at 400G behind 8 leaves and 8 spines: an all-to-all of 32 ranks, as experts exchange tokens, and a ring all-reduce of 32 ranks, as gradients are summed.
    Both are placed at random, so that nearly all of their traffic crosses the spines.
    Which fabric ends them sooner: **ECMP**, which keeps a flow on one link; **packet spray**, which gives every packet a link; or a **scheduled fabric**, in which the receiving port grants credits?
    """)
    return


@app.cell
def _(tenter):
    base = tenter.Scenario(
        fabric={
            "kind": "leaf-spine",
            "leaves": 8,
            "hosts_per_leaf": 8,
            "spines": 8,
            "flow_control": "pfc",
            "switch": {"profile": "jericho3-ramon3"},
        },
        jobs=[
            {
                "name": "experts",
                "ranks": 32,
                "placement": "random",
                "free_hosts": True,
                "collectives": [{"collective": "all-to-all", "size": "8MiB"}],
            },
            {
                "name": "gradients",
                "ranks": 32,
                "placement": "random",
                "free_hosts": True,
                "collectives": [{"collective": "all-reduce", "size": "8MiB"}],
            },
        ],
    )
    fabrics = {
        "ECMP": {},
        "packet spray": {
            "fabric.load_balancing": {"kind": "random-spray"},
            "endpoint.nic.loss_recovery": {"kind": "selective-repeat", "reorder": 256},
        },
        "scheduled": {"fabric.switching": {"kind": "scheduled", "cell": "none"}},
    }
    trials = {name: tenter.run(base, set=settings) for name, settings in fabrics.items()}
    return base, fabrics, trials


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## How long each job takes

    The ideal ratio is the time over that on a full mesh of links at port speed: 1 means that the fabric costs nothing.
    """)
    return


@app.cell
def _(polars, trials):
    jobs = polars.concat(
        polars.DataFrame(trial.jobs).select(
            polars.lit(name).alias("fabric"),
            polars.col("job_name").alias("job"),
            (polars.col("jct_ns") / 1e3).round(1).alias("JCT (us)"),
            polars.col("ideal_ratio").round(3).alias("ideal ratio"),
        )
        for name, trial in trials.items()
    )
    jobs
    return (jobs,)


@app.cell
def _(altair, fabrics, jobs):
    order = list(fabrics)
    altair.Chart(jobs).mark_bar().encode(
        x=altair.X("ideal ratio:Q"),
        y=altair.Y("fabric:N", sort=order, title=None),
        row=altair.Row("job:N", title=None),
        color=altair.Color("fabric:N", sort=order, legend=None),
        tooltip=["fabric", "job", "JCT (us)", "ideal ratio"],
    ).properties(width=480, height=90)
    return (order,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Why: the flows

    A job waits for its slowest flow.
    The curves show which share of the flows of the all-to-all was done by when: with ECMP one flow in ten shares its link with too many others, and ends late.
    """)
    return


@app.cell
def _(altair, order, polars, trials):
    def shares(name, trial):
        flows = polars.DataFrame(trial.flows).filter(polars.col("job_name") == "experts")
        times = flows["fct_ns"].sort() / 1e3
        # A point for each per cent, and the last one.
        picked = [round(share / 100 * (len(times) - 1)) for share in range(101)]
        return polars.DataFrame(
            {"fabric": name, "FCT (us)": times[picked], "share (%)": list(range(101))}
        )

    curves = polars.concat(shares(name, trial) for name, trial in trials.items())
    altair.Chart(curves).mark_line(interpolate="step-after").encode(
        x=altair.X("FCT (us):Q"),
        y=altair.Y("share (%):Q", title="flows done (%)"),
        color=altair.Color("fabric:N", sort=order, title="fabric"),
    ).properties(width=480, height=260)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Where: the uplinks

    The same bytes pass the 64 links from leaves to spines, a tick for each.
    ECMP fills some of them with ten times as much as others; packet spray and the scheduled fabric fill those of a leaf alike.
    """)
    return


@app.cell
def _(altair, order, polars, trials):
    def uplinks(name, trial):
        ports = polars.DataFrame(trial.ports)
        up = polars.col("node_name").str.starts_with("leaf") & polars.col(
            "peer_name"
        ).str.starts_with("spine")
        return ports.filter(up).select(
            polars.lit(name).alias("fabric"),
            (polars.col("tx_bytes") / 1e6).alias("sent (MB)"),
        )

    links = polars.concat(uplinks(name, trial) for name, trial in trials.items())
    altair.Chart(links).mark_tick(thickness=2).encode(
        x=altair.X("sent (MB):Q", title="sent by an uplink (MB)"),
        y=altair.Y("fabric:N", sort=order, title=None),
        color=altair.Color("fabric:N", sort=order, legend=None),
    ).properties(width=480, height=140)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Is it chance?

    ECMP depends on the hash, and placement on the seed.
    A sweep repeats the comparison with five seeds and pairs the fabrics seed by seed; the p-value is that of a sign test.
    """)
    return


@app.cell
def _(base, fabrics, tenter):
    sweep = tenter.sweep(
        {
            "variants": fabrics,
            "seeds": 5,
            "readings": [
                {"name": name, "query": f"max(jobs.jct_ns) where job_name = '{name}'"}
                for name in ("experts", "gradients")
            ],
        },
        scenario=base,
        folder="sweeps/three-fabrics",
    )
    sweep
    return


if __name__ == "__main__":
    app.run()
