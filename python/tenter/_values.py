"""Python values as scenarios write them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from tenter._errors import InputError


def plain(value: object, place: str) -> Any:
    """The value as JSON has it; `place` is what errors call it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"`{place}` is {value}, which no scenario can have: give a number")
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(item, f"{place}[{index}]") for index, item in enumerate(value)]
    item = getattr(value, "item", None)
    if callable(item):
        # A scalar of NumPy.
        return plain(item(), place)
    raise InputError(
        f"`{place}` is a {type(value).__name__}, which no scenario can have: "
        "give text, numbers, lists or mappings"
    )


def setting(path: str, value: object) -> str:
    """A setting as `--set` has it; `None` removes the key."""
    if value is None:
        return f"{path}=default"
    if isinstance(value, str):
        return f"{path}={value}"
    return f"{path}={json.dumps(plain(value, path))}"


def document(value: Mapping[str, object], place: str) -> str:
    """A mapping as JSON."""
    return json.dumps(plain(value, place))


def whole(name: str, value: int | None, least: int, most: int) -> int | None:
    """A whole number within bounds, or `None`."""
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputError(f"`{name}` is {value!r}: give a whole number from {least} to {most}")
    if not least <= value.__index__() <= most:
        raise InputError(f"`{name}` is {value}: give a whole number from {least} to {most}")
    return value.__index__()
