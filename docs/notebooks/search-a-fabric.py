"""Looks for the cheapest fabric that keeps three jobs within 5 % of the full one."""

import marimo

app = marimo.App(app_title="The cheapest fabric that is good enough")


@app.cell
def _():
    import marimo as mo
    import polars

    import tenter

    return mo, polars, tenter


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # The cheapest fabric that is good enough

    Three jobs share 96 NICs at 100G, placed at random.
    The *full* fabric has 12 leaves and 8 spines: as much above the leaves as below.
    Is all of it needed?
    Fewer spines, larger leaves, two cables to each spine, or packet spray may do as well: 128 designs.
    """)
    return


@app.cell
def _(tenter):
    nics = 96
    collectives = {
        "experts": ("all-to-all", "4MiB"),
        "gradients": ("all-reduce", "8MiB"),
        "shards": ("all-gather", "8MiB"),
    }
    scenario = tenter.Scenario(
        fabric={
            "kind": "leaf-spine",
            "leaves": 12,
            "hosts_per_leaf": 8,
            "spines": 8,
            "host_rate": "100Gbps",
            "uplink_rate": "100Gbps",
            "flow_control": "pfc",
            "power": "edr-100g",
        },
        jobs=[
            {
                "name": name,
                "ranks": nics // 3,
                "placement": "random",
                "free_hosts": True,
                "collectives": [{"collective": collective, "size": size}],
            }
            for name, (collective, size) in collectives.items()
        ],
    )
    space = {
        "fabric.spines": {"from": 1, "to": 8},
        "fabric.links_per_pair": [1, 2],
        "leaves": {
            str(leaves): {"fabric.leaves": leaves, "fabric.hosts_per_leaf": nics // leaves}
            for leaves in (4, 6, 8, 12)
        },
        "balancing": {
            "ECMP": {},
            "spray": {
                "fabric.load_balancing": {"kind": "random-spray"},
                "endpoint.nic.loss_recovery": {"kind": "selective-repeat", "reorder": 256},
            },
        },
    }
    return collectives, nics, scenario, space


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What a fabric costs

    Switches, cables and watts come from the bill of materials of `tenter explain`.
    The prices are made up, in US dollars: a switch, each port in use, each cable, and five years of power.
    Switches of this kind have 36 ports, which some designs exceed.
    """)
    return


@app.cell
def _(collectives, nics):
    def price(values, plan):
        ports = 2 * values["cables"] - nics
        parts = 3_000 * values["switches"] + 250 * ports + 150 * values["cables"]
        power = values["watts"] * 5 * 365 * 24 * 0.00015
        switches = plan.explain()["bill"]["switches"]
        return {
            "ports of a switch": max(sum(count for count, _ in of["ports"]) for of in switches),
            "price (USD)": parts + power,
            "slowest job over full": max(values[job] for job in collectives),
        }

    return (price,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## The search

    Optuna asks for four designs at a time; each of them runs, and its completion times are divided by those of the full fabric.
    Price and slowdown are both made less, and a design is good enough when its switches have the ports and no job takes 5 % longer than on the full fabric, which is the first design.
    """)
    return


@app.cell
def _(collectives, price, scenario, space, tenter):
    search = tenter.search(
        scenario,
        space,
        objectives={"price (USD)": "less", "slowest job over full": "less"},
        readings=[
            {"name": job, "query": f"max(jobs.jct_ns) where job_name = '{job}'"}
            for job in collectives
        ],
        reference={"fabric.spines": 8},
        derive=price,
        at_most={"slowest job over full": 1.05, "ports of a switch": 36},
        points=32,
        first=[
            {
                "fabric.spines": 8,
                "fabric.links_per_pair": 1,
                "leaves": "12",
                "balancing": "ECMP",
            }
        ],
        folder="searches/a-fabric",
    )
    return (search,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    The line joins the designs that no other beats by both price and time, the Pareto front.
    Below the dashed line no job takes 5 % longer; hollow points exceed a limit.
    """)
    return


@app.cell
def _(mo, search):
    mo.Html(search.draw())
    return


@app.cell
def _(polars, search):
    front = polars.DataFrame(
        {
            **{name.rsplit(".")[-1]: str(value) for name, value in point.chosen.items()},
            "switches": point.values["switches"],
            "cables": point.values["cables"],
            "watts": round(point.values["watts"]),
            "price (USD)": round(point.values["price (USD)"]),
            "slowest job": round(point.values["slowest job over full"], 3),
            "good enough": point.within,
        }
        for point in search.front
    )
    front
    return (front,)


@app.cell(hide_code=True)
def _(mo, search):
    best, full = search.best.values, search.points[0].values
    share = 1 - best["price (USD)"] / full["price (USD)"]
    mo.md(f"""
    **The cheapest design that is good enough** has {best["switches"]} switches and {best["cables"]} cables and draws {best["watts"]:,.0f} W; the full fabric has {full["switches"]} and {full["cables"]} and draws {full["watts"]:,.0f} W.
    It costs {best["price (USD)"]:,.0f} USD, {100 * share:.0f} % less.
    """)
    return


if __name__ == "__main__":
    app.run()
