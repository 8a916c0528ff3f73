"""Searches by ask and tell with Optuna, over sweeps."""

from __future__ import annotations

import html
import math
import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tenter._errors import InputError, ScenarioError
from tenter._front import draw
from tenter._scenario import Plan, Scenario, Source, scenario_of
from tenter._sweep import Sweep, sweep
from tenter._table import html_table
from tenter._values import whole

if TYPE_CHECKING:
    import optuna

    from tenter._space import Axis

Reading = Mapping[str, object]
Direction = Literal["less", "more"]
Derive = Callable[[dict[str, float], Plan], Mapping[str, float]]

# The variant that readings are divided by.
REFERENCE = "reference"
# What is read of a point where nothing else is asked for: the slowest job.
SLOWEST: Reading = {"name": "jct_ns", "query": "max(jobs.jct_ns)"}


@dataclass(frozen=True)
class Point:
    """One design that a search has tried."""

    number: int
    chosen: dict[str, Any]
    """What was chosen for each name of the space."""
    settings: dict[str, Any]
    """The same as settings of the scenario."""
    values: dict[str, float] = field(default_factory=dict)
    """Readings, the bill of materials, and what was derived from them; empty where it failed."""
    within: bool = False
    """Whether it keeps all limits."""
    error: str | None = None
    """Why it failed."""


class Search:
    """What a search has found."""

    def __init__(
        self,
        points: list[Point],
        objectives: Mapping[str, Direction],
        limits: tuple[Mapping[str, float], Mapping[str, float]],
        last: Sweep | None,
    ) -> None:
        self.points = points
        """All points, in the order in which they were asked for."""
        self.objectives = dict(objectives)
        """What is made less or more."""
        self.sweep = last
        """All points as variants of one sweep, which has their tables."""
        self._limits = limits

    @property
    def best(self) -> Point | None:
        """The best point by the first objective, then by the next, of those within the limits."""
        within = [point for point in self.points if point.within]
        return min(within, key=lambda point: (*self._signed(point), point.number), default=None)

    @property
    def front(self) -> list[Point]:
        """Points that no other point beats by every objective, whether within limits or not."""
        done = {self._signed(point): point for point in reversed(self.points) if point.values}
        best = [
            values
            for values in sorted(done)
            if not any(
                other != values and all(a <= b for a, b in zip(other, values, strict=True))
                for other in done
            )
        ]
        return [done[values] for values in best]

    def _signed(self, point: Point) -> tuple[float, ...]:
        """The objectives of a point, less being better."""
        values = point.values
        return tuple(values[n] if d == "less" else -values[n] for n, d in self.objectives.items())

    def draw(self, file: str | os.PathLike[str] | None = None) -> str:
        """Draws the points by the first two objectives, with their front, as SVG."""
        names = list(self.objectives)[:2]
        done = [point for point in self.points if point.values]
        if len(names) < 2 or not done:
            raise InputError("a picture needs two objectives and a point that did not fail")
        at = [(point.values[names[0]], point.values[names[1]]) for point in done]
        most, least = self._limits
        text = draw(
            [(*xy, p.within, _words(p.chosen)) for xy, p in zip(at, done, strict=True)],
            [(p.values[names[0]], p.values[names[1]]) for p in self.front],
            (names[0], names[1]),
            (most.get(names[0], least.get(names[0])), most.get(names[1], least.get(names[1]))),
        )
        if file is not None:
            Path(file).write_text(text, encoding="utf-8")
        return text

    def __repr__(self) -> str:
        failed = sum(point.error is not None for point in self.points)
        best = self.best
        found = "none within the limits" if best is None else f"best {_words(best.chosen)}"
        return f"<Search of {len(self.points)} points, {failed} failed, {found}>"

    def _repr_html_(self) -> str:
        front = self.front
        names = list(dict.fromkeys(name for point in self.points for name in point.chosen))
        rows = (
            [
                *(str(point.chosen[name]) for name in names),
                *(point.values[name] for name in self.objectives),
                "yes" if point.within else "",
            ]
            for point in front
        )
        picture = self.draw() if len(self.objectives) > 1 and front else ""
        table = html_table([*names, *self.objectives, "within limits"], rows)
        return f"<p>{html.escape(repr(self).strip('<>'))}</p>{picture}{table}"


def search(
    scenario: Source,
    space: Mapping[str, object],
    *,
    objectives: Mapping[str, Direction],
    readings: Sequence[Reading] = (SLOWEST,),
    reference: Mapping[str, object] | None = None,
    derive: Derive | None = None,
    at_most: Mapping[str, float] | None = None,
    at_least: Mapping[str, float] | None = None,
    points: int = 40,
    batch: int = 4,
    seeds: int = 1,
    seed: int = 1,
    first: Iterable[Mapping[str, object]] = (),
    earlier: Search | None = None,
    sampler: optuna.samplers.BaseSampler | None = None,
    folder: str | os.PathLike[str] = "searches/search",
    workers: int | None = None,
    executor: object | None = None,
    progress: Callable[[Sequence[Point]], object] | None = None,
) -> Search:
    """Looks for the best settings of a scenario with Optuna.

    `space` names what is varied: a path with a list of values or with a range (`{"from": 1,
    "to": 8}` with `step`, `factor` or `log`), or any name with bundles of settings. Each point has
    as values its `readings` (those of a sweep, over `seeds`; divided by those of the settings
    `reference`, if there are any), `switches`, `cables` and `watts` of its bill of materials, and
    what `derive` makes of these. `objectives` says which are made `"less"` or `"more"`, `at_most`
    and `at_least` which are limited. `first` are points to begin with, and `earlier` is a search
    whose points Optuna knows from the start.

    Points are asked for in batches of a fixed size and told in their order: results depend on
    `seed` and `batch`, and not on workers or an executor. Trials that have run are taken from the
    ledger in `folder`, so that a search with more points goes on where it was.
    """
    names = [str(reading.get("name")) for reading in readings]
    hunt = _Hunt(
        scenario_of(scenario), space, objectives, names, derive, at_most or {}, at_least or {}
    )
    keys: dict[str, object] = {"name": Path(folder).name, "seeds": seeds}
    keys["readings"] = [
        {**reading, **({} if reference is None else {"against": REFERENCE})} for reading in readings
    ]
    known = {} if reference is None else {REFERENCE: _removing(reference)}

    def run(variants: Mapping[str, object]) -> Sweep:
        return sweep(
            {**keys, "variants": {**known, **variants}},
            scenario=hunt.scenario,
            folder=folder,
            workers=workers,
            executor=executor,
        )

    total, size = whole("points", points, 1, 10**6), whole("batch", batch, 1, 10**6)
    assert total is not None and size is not None
    study = hunt.study(sampler or _sampler(seed), earlier)
    for chosen in first:
        study.enqueue_trial(hunt.parameters(chosen))
    done: list[Point] = []
    while len(done) < total:
        asked = [
            study.ask({name: axis.distribution for name, axis in hunt.axes.items()})
            for _ in range(min(size, total - len(done)))
        ]
        done += hunt.tell(study, asked, run)
        if progress is not None:
            progress(done)
    ran = {_name(point.number): _removing(point.settings) for point in done if point.values}
    limits = (hunt.at_most, hunt.at_least)
    return Search(done, objectives, limits, run(ran) if ran else None)


@dataclass
class _Hunt:
    """A search under way."""

    scenario: Scenario
    space: Mapping[str, object]
    objectives: Mapping[str, Direction]
    readings: list[str]
    derive: Derive | None
    at_most: Mapping[str, float]
    at_least: Mapping[str, float]

    def __post_init__(self) -> None:
        self.optuna = _optuna()
        from tenter._space import axis

        self.axes: dict[str, Axis] = {name: axis(name, of) for name, of in self.space.items()}
        if not self.axes:
            raise InputError("the space of a search is empty: name what is varied")
        if not self.objectives:
            raise InputError("a search has no objective: name what is made `less` or `more`")
        for name, direction in self.objectives.items():
            if direction not in ("less", "more"):
                raise InputError(f"the objective `{name}` is {direction!r}: choose less or more")
        for name, limit in [*self.at_most.items(), *self.at_least.items()]:
            if not _is_number(limit) or math.isnan(limit):
                raise InputError(f"the limit of `{name}` is {limit!r}: give a number")

    def study(
        self, sampler: optuna.samplers.BaseSampler, earlier: Search | None
    ) -> optuna.study.Study:
        words = {"less": "minimize", "more": "maximize"}
        logging = self.optuna.logging
        verbosity = logging.get_verbosity()
        logging.set_verbosity(logging.WARNING)
        try:
            study: optuna.study.Study = self.optuna.create_study(
                sampler=sampler, directions=[words[way] for way in self.objectives.values()]
            )
        finally:
            logging.set_verbosity(verbosity)
        for point in [] if earlier is None else earlier.points:
            if point.values:
                study.add_trial(self.known(point))
        return study

    def known(self, point: Point) -> optuna.trial.FrozenTrial:
        """A point of an earlier search, as Optuna takes it."""
        for wanted in [*self.objectives, *self.at_most, *self.at_least]:
            if wanted not in point.values:
                raise InputError(
                    f"the points of `earlier` have no value `{wanted}`, but {', '.join(point.values)}: "
                    "give it readings and `derive` with the objectives and limits of this one"
                )
        if missing := [name for name in self.axes if name not in point.chosen]:
            raise InputError(
                f"the points of `earlier` have nothing for `{missing[0]}`: give both searches the "
                "same space"
            )
        trial: optuna.trial.FrozenTrial = self.optuna.trial.create_trial(
            values=self.judged(point.values),
            params=self.parameters(point.chosen),
            distributions={name: axis.distribution for name, axis in self.axes.items()},
            constraints=self.excess(point.values) or None,
        )
        return trial

    def parameters(self, chosen: Mapping[str, object]) -> dict[str, Any]:
        """What Optuna calls the choices of a point."""
        for name in chosen:
            if name not in self.axes:
                raise InputError(f"`{name}` is not in the space: it has {', '.join(self.axes)}")
        return {name: self.axes[name].parameter(value) for name, value in chosen.items()}

    def tell(
        self,
        study: optuna.study.Study,
        asked: list[optuna.trial.Trial],
        run: Callable[[Mapping[str, object]], Sweep],
    ) -> list[Point]:
        """Runs points together and tells their values in the order in which they were asked."""
        plans: dict[int, Plan] = {}
        points: dict[int, Point] = {}
        for trial in asked:
            chosen = {name: axis.value(trial.params[name]) for name, axis in self.axes.items()}
            settings: dict[str, Any] = {}
            for name, axis in self.axes.items():
                settings |= axis.settings(chosen[name])
            number = trial.number
            points[number] = Point(number, chosen, settings)
            try:
                plans[number] = self.scenario.set(settings).plan()
            except ScenarioError as error:
                points[number] = Point(number, chosen, settings, error=str(error))
        ran = run({_name(n): _removing(points[n].settings) for n in plans}) if plans else None
        for trial in asked:
            number = trial.number
            if ran is not None and number in plans:
                points[number] = self.point(points[number], plans[number], ran)
            self.answer(study, trial, points[number])
        return list(points.values())

    def point(self, point: Point, plan: Plan, ran: Sweep) -> Point:
        """A point with what came of it."""
        name = _name(point.number)
        why = [failure["error"] for failure in ran.failures if failure["variant"] == name]
        values = self.read(ran, name)
        if why or values is None:
            error = why[0] if why else "a reading has no value"
            return Point(point.number, point.chosen, point.settings, error=error)
        values |= _bill(plan)
        if self.derive is not None:
            derived = self.derive(dict(values), plan)
            for key, value in derived.items():
                if not _is_number(value):
                    raise InputError(f"`derive` gives {value!r} for `{key}`: let it give a number")
                values[key] = float(value)
        for wanted in [*self.objectives, *self.at_most, *self.at_least]:
            if wanted not in values:
                raise InputError(f"`{wanted}` is no value of a point: it has {', '.join(values)}")
            if not math.isfinite(values[wanted]):
                error = f"`{wanted}` is {values[wanted]}, which nothing can be compared with"
                return Point(point.number, point.chosen, point.settings, error=error)
        within = all(excess <= 0 for excess in self.excess(values).values())
        return Point(point.number, point.chosen, point.settings, values, within)

    def read(self, ran: Sweep, variant: str) -> dict[str, float] | None:
        """The readings of a variant by their names; `None` where one has no value."""
        rows = [row for row in ran.rows if row["variant"] == variant]
        values = {name: row["measured"] for name, row in zip(self.readings, rows, strict=True)}
        return None if any(value is None for value in values.values()) else values

    def answer(self, study: optuna.study.Study, trial: optuna.trial.Trial, point: Point) -> None:
        judged = self.judged(point.values) if point.values else []
        if not judged:
            study.tell(trial, state=self.optuna.trial.TrialState.FAIL)
            return
        for name, excess in self.excess(point.values).items():
            trial.set_constraint(name, excess)
        study.tell(trial, judged)

    def judged(self, values: Mapping[str, float]) -> list[float]:
        return [values[name] for name in self.objectives]

    def excess(self, values: Mapping[str, float]) -> dict[str, float]:
        """How far values are beyond their limits; not above zero within them."""
        over = {f"{name} at most": values[name] - most for name, most in self.at_most.items()}
        under = {f"{name} at least": least - values[name] for name, least in self.at_least.items()}
        return over | under


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise InputError("a search needs Optuna: pip install 'tenter[optuna]'") from error
    return optuna


def _sampler(seed: int) -> optuna.samplers.BaseSampler:
    """Points that are still to be told count as bad, so that those of a batch are apart."""
    sampler: optuna.samplers.BaseSampler = _optuna().samplers.TPESampler(
        seed=seed, multivariate=True, constant_liar=True
    )
    return sampler


def _name(number: int) -> str:
    return f"{number:04}"


def _removing(settings: Mapping[str, object]) -> dict[str, object]:
    """Settings as a sweep writes them, where `default` removes a key."""
    return {path: "default" if value is None else value for path, value in settings.items()}


def _is_number(value: object) -> bool:
    """Whether it is a number of Python or of another package, such as `numpy.int64`."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _bill(plan: Plan) -> dict[str, float]:
    """What a fabric consists of; its power where a profile of power is named."""
    bill = plan.explain()["bill"]
    values = {
        "switches": sum(line["count"] for line in bill["switches"]),
        "cables": sum(line["count"] for line in bill["cables"]),
    }
    if (power := bill.get("power")) is not None:
        values["watts"] = power["static_watts"]
    return values


def _words(chosen: Mapping[str, object]) -> str:
    return ", ".join(f"{name.rsplit('.', 1)[-1]} {value}" for name, value in chosen.items())
