"""Scenarios and plans."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeAlias, Unpack

from tenter import _core
from tenter._errors import InputError
from tenter._values import document, setting, whole

if TYPE_CHECKING:
    from tenter.keys import ScenarioKeys

Source: TypeAlias = "Scenario | str | os.PathLike[str] | Mapping[str, object]"


class Scenario:
    """A fabric, its hosts and its jobs.

    `Scenario("file.yaml")` reads a file, `Scenario(fabric={...}, jobs=[...])` takes sections, and
    `Scenario({...})` takes a mapping of them. The keys are those of YAML. Quantities are text with
    a unit (`"400Gbps"`, `"5us"`, `"16MiB"`). Nothing is checked before `plan`.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, object] | None = None,
        /,
        **sections: Unpack[ScenarioKeys],
    ) -> None:
        if source is None:
            text = document(dict(sections), "scenario")
            self._core = _core.Scenario.parse(text, "json", "scenario")
        elif isinstance(source, Mapping):
            text = document({**source, **sections}, "scenario")
            self._core = _core.Scenario.parse(text, "json", "scenario")
        elif isinstance(source, (str, os.PathLike)):
            self._core = _core.Scenario.read(_file(source))
            if sections:
                text = document(dict(sections), "scenario")
                self._core = self._core.with_keys("keywords", text)
        else:
            raise InputError(
                f"a scenario is a file, a mapping or keywords, not a {type(source).__name__}"
            )

    @classmethod
    def _of(cls, core: _core.Scenario) -> Self:
        scenario = cls.__new__(cls)
        scenario._core = core
        return scenario

    @classmethod
    def from_yaml(cls, text: str) -> Self:
        """A scenario in YAML, of which JSON is a part."""
        return cls._of(_core.Scenario.parse(text, "yaml", "scenario"))

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """A scenario in TOML."""
        return cls._of(_core.Scenario.parse(text, "toml", "scenario"))

    @classmethod
    def preset(cls, name: str, /, **sections: Unpack[ScenarioKeys]) -> Self:
        """The fabric and the hosts of a preset, with further sections such as `jobs`."""
        core = _core.Scenario.preset(name)
        if sections:
            core = core.with_keys("keywords", document(dict(sections), "scenario"))
        return cls._of(core)

    def set(self, settings: Mapping[str, object] | None = None, /, **paths: object) -> Self:
        """A copy with other values: `set({"jobs[0].iterations": 2})`. `None` removes a key."""
        core = self._core
        for path, value in {**(settings or {}), **paths}.items():
            core = core.with_setting(setting(path, value))
        return self._of(core)

    def seed(self, seed: int) -> Self:
        """A copy with another seed."""
        checked = whole("seed", seed, 0, 2**64 - 1)
        return self if checked is None else self._of(self._core.with_seed(checked))

    def plan(self, *, max_time: str | None = None, max_memory: str | None = None) -> Plan:
        """Fills in every default and checks everything.

        Raises `ScenarioError` with all problems at once. What takes more processor time than
        `max_time` (`"60s"`; 5 s unless given) or more memory than `max_memory` (`"16GiB"`; what
        the machine has free unless given) is refused; so it is in each call on the plan.
        """
        return Plan(self._core.resolve(max_time, max_memory))


class Plan:
    """A scenario in which every number stands."""

    def __init__(self, core: _core.Plan) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """Name of the scenario; may be empty."""
        return self._core.name

    @property
    def seed(self) -> int:
        """Seed of every random stream."""
        return self._core.seed

    @property
    def yaml(self) -> str:
        """The scenario with every default filled in; it is a scenario itself."""
        return self._core.yaml

    @property
    def warnings(self) -> list[str]:
        """What is odd about the scenario."""
        return self._core.warnings

    @property
    def memory_bytes(self) -> int:
        """Memory that a run is expected to take."""
        return self._core.memory_bytes

    @property
    def packet_hops(self) -> float:
        """Packet-hops that a run is expected to have."""
        return self._core.packet_hops

    def explain(self) -> dict[str, Any]:
        """Derived values, bill of materials, power, and the cost of a run."""
        explanation: dict[str, Any] = json.loads(self._core.explain())
        return explanation


def _file(source: str | os.PathLike[str]) -> str:
    name = os.fspath(source)
    if "\n" in name:
        raise InputError("this is the text of a scenario: read it with Scenario.from_yaml")
    return name


def scenario_of(source: Source) -> Scenario:
    """The scenario that an argument means."""
    return source if isinstance(source, Scenario) else Scenario(source)


def explain(
    source: Source,
    *,
    set: Mapping[str, object] | None = None,
    max_time: str | None = None,
    max_memory: str | None = None,
) -> dict[str, Any]:
    """What a scenario means and what a run costs, without running it.

    `max_time` and `max_memory` are those of `Scenario.plan`.
    """
    asked = scenario_of(source).set(set)
    return asked.plan(max_time=max_time, max_memory=max_memory).explain()
