"""What a search may vary, and how Optuna names it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from optuna import distributions

from tenter._errors import InputError
from tenter._values import plain

Number = int | float
# A range by a factor has no more values.
STEPS = 4096


class Axis:
    """One thing that is varied: values of a path, or named bundles of settings."""

    distribution: Any

    def __init__(self, name: str) -> None:
        self.name = name

    def value(self, parameter: Any) -> Any:
        """What stands for a parameter of Optuna in a scenario."""
        raise NotImplementedError

    def parameter(self, value: Any) -> Any:
        """The parameter of Optuna that stands for a value."""
        raise NotImplementedError

    def settings(self, value: Any) -> dict[str, object]:
        """The settings of a value."""
        return {self.name: value}

    def refuse(self, value: object) -> InputError:
        return InputError(f"`{self.name}` cannot be {value!r}: its values are {self}")


class _Choice(Axis):
    """One of some values without an order."""

    def __init__(self, name: str, values: list[Any]) -> None:
        super().__init__(name)
        if not values:
            raise InputError(f"`{name}` has no values: give a list of them")
        self.values = {json.dumps(plain(value, name)): value for value in values}
        self.distribution = distributions.CategoricalDistribution(list(self.values))

    def value(self, parameter: Any) -> Any:
        return self.values[parameter]

    def parameter(self, value: Any) -> Any:
        label = json.dumps(plain(value, self.name))
        if label not in self.values:
            raise self.refuse(value)
        return label

    def __str__(self) -> str:
        return ", ".join(self.values)


class _Bundles(_Choice):
    """One of some bundles of settings, each with a name."""

    def __init__(self, name: str, bundles: Mapping[str, object]) -> None:
        super().__init__(name, list(bundles))
        self.bundles = bundles

    def settings(self, value: Any) -> dict[str, object]:
        bundle = self.bundles[value]
        if not isinstance(bundle, Mapping):
            raise InputError(
                f"`{self.name}`: `{value}` must be a mapping of paths and values; "
                "a range has `from` and `to`"
            )
        return dict(bundle)


class _Range(Axis):
    """Numbers from one to another, all in one unit."""

    def __init__(self, name: str, keys: Mapping[str, object]) -> None:
        super().__init__(name)
        unknown = set(keys) - {"from", "to", "step", "factor", "log"}
        if unknown:
            word = min(unknown)
            raise InputError(f"`{name}` has no key `{word}`: choose from, to, step, factor or log")
        self.unit = ""
        least, self.unit = self._number(keys["from"])
        most, unit = self._number(keys["to"])
        if unit != self.unit:
            raise InputError(
                f"`{name}` goes from {self.unit or 'a number'} to {unit}: use one unit"
            )
        if least > most:
            raise InputError(f"`{name}`: `from` is above `to`")
        self.steps: list[Number] | None = None
        if keys.get("factor") is not None:
            self.steps = self._steps(least, most, keys["factor"])
            self.distribution = distributions.IntDistribution(0, len(self.steps) - 1)
            return
        step = None if keys.get("step") is None else self._number(keys["step"])[0]
        log = bool(keys.get("log", False))
        if log and step is not None:
            raise InputError(f"`{name}` has a step and is logarithmic: give `factor` for steps")
        if log and least <= 0:
            raise InputError(f"`{name}` is logarithmic: `from` must be above 0")
        if isinstance(least, int) and isinstance(most, int) and isinstance(step, int | None):
            self.distribution = distributions.IntDistribution(least, most, log=log, step=step or 1)
        else:
            self.distribution = distributions.FloatDistribution(least, most, log=log, step=step)

    def _number(self, value: object) -> tuple[Number, str]:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if not math.isfinite(value):
                raise InputError(f"`{self.name}` has the number {value}: give a finite one")
            return value, ""
        match = re.fullmatch(r"\s*(\d+)\s*([A-Za-z]+(?:/s)?)\s*", str(value))
        if match is None:
            raise InputError(
                f"`{self.name}`: {value!r} is neither a number nor a whole one with a unit; "
                "a smaller unit has finer steps"
            )
        return int(match[1]), match[2]

    def _steps(self, least: Number, most: Number, factor: object) -> list[Number]:
        if not isinstance(factor, (int, float)) or not 1 < factor < math.inf or least <= 0:
            raise InputError(f"`{self.name}`: a factor is above 1, and `from` above 0")
        steps = [least]
        while steps[-1] * factor <= most:
            if len(steps) == STEPS:
                raise InputError(
                    f"`{self.name}` has more than {STEPS} values: give a greater `factor`, or `log`"
                )
            steps.append(steps[-1] * factor)
        # Quantities are whole numbers of their unit.
        return list(dict.fromkeys(round(step) for step in steps)) if self.unit else steps

    def value(self, parameter: Any) -> Any:
        number = parameter if self.steps is None else self.steps[parameter]
        return f"{number}{self.unit}" if self.unit else number

    def parameter(self, value: Any) -> Any:
        number, unit = self._number(value)
        if unit != self.unit:
            raise self.refuse(value)
        if self.steps is None:
            if not self.distribution._contains(number):
                raise self.refuse(value)
            return number
        if number not in self.steps:
            raise self.refuse(value)
        return self.steps.index(number)

    def __str__(self) -> str:
        if self.steps is not None:
            return ", ".join(str(self.value(index)) for index in range(len(self.steps)))
        return f"{self.value(self.distribution.low)} to {self.value(self.distribution.high)}"


def axis(name: str, values: object) -> Axis:
    """What a space says of one name."""
    if isinstance(values, Mapping):
        if "from" in values and "to" in values:
            return _Range(name, values)
        return _Bundles(name, values)
    if isinstance(values, (list, tuple, range)):
        return _Choice(name, list(values))
    raise InputError(
        f"`{name}` is a {type(values).__name__}: give a list of values, a range with `from` and "
        "`to`, or bundles of settings by name"
    )
