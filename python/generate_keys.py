"""Writes `tenter/keys.py`: the sections of a scenario as typed mappings, from its JSON Schema."""

from __future__ import annotations

import json
import keyword
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "tenter" / "keys.py"
HEADER = '''"""Sections of scenarios as typed mappings, for editors and type checkers.

Written by `generate_keys.py` from the JSON Schema of scenarios. Quantities are text with a unit.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

Quantity: TypeAlias = str
'''


class Writer:
    """Writes a class for each mapping of a schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.classes: dict[str, str] = {}
        self.names: dict[tuple[tuple[str, str, str], ...], str] = {}

    def type_of(self, schema: dict[str, Any], name: str) -> str:
        if "$ref" in schema:
            kind = schema["$ref"].rsplit("/", 1)[-1]
            if kind in ("time", "rate", "size"):
                return "Quantity"
            return self.type_of(self.schema["$defs"][kind], camel(kind))
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                parts = [
                    self.type_of(part, name + suffix(part, index))
                    for index, part in enumerate(schema[choice])
                ]
                return union(parts)
        if "const" in schema:
            return literal([schema["const"]])
        if "enum" in schema:
            return literal(schema["enum"])
        kinds = schema.get("type", "any")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return union([self.plain(kind, schema, name) for kind in kinds])

    def plain(self, kind: str, schema: dict[str, Any], name: str) -> str:
        if kind == "array":
            inner = self.type_of(schema.get("items", {}), singular(name))
            return f"list[{inner}]"
        if kind == "object":
            if not schema.get("properties"):
                return "dict[str, Any]"
            return self.mapping(schema, name)
        types = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
        return types.get(kind, "Any")

    def mapping(self, schema: dict[str, Any], name: str) -> str:
        fields = tuple(
            (key, self.type_of(value, name + camel(key)), value.get("description", ""))
            for key, value in schema["properties"].items()
        )
        known = self.names.get(fields)
        if known is not None:
            return known
        free = name
        number = 2
        while free in self.classes:
            free, number = f"{name}{number}", number + 1
        self.names[fields] = free
        self.classes[free] = self.body(free, list(fields))
        return free

    def body(self, name: str, fields: list[tuple[str, str, str]]) -> str:
        if any(keyword.iskeyword(key) or not key.isidentifier() for key, _, _ in fields):
            inner = "".join(f'    "{key}": {quoted(kind)},\n' for key, kind, _ in fields)
            return f'{name} = TypedDict("{name}", {{\n{inner}}}, total=False)\n'
        lines = [f"class {name}(TypedDict, total=False):"]
        for key, kind, meaning in fields:
            lines.append(f"    {key}: {kind}")
            lines += document(meaning)
        return "\n".join(lines) + "\n"


def union(parts: list[str]) -> str:
    """The parts without repetition, words in one literal."""
    types = dict.fromkeys(part for whole in parts for part in whole.split(" | "))
    words = [part[8:-1] for part in types if part.startswith("Literal[")]
    others = [part for part in types if not part.startswith("Literal[")]
    return " | ".join([*others, *([f"Literal[{', '.join(words)}]"] if words else [])])


def quoted(kind: str) -> str:
    return json.dumps(kind)


def document(meaning: str) -> list[str]:
    meaning = meaning.replace("\\", "\\\\").replace('"""', "'''")
    wrapped = textwrap.wrap(meaning, 90)
    if not wrapped:
        return []
    if meaning.endswith('"'):
        wrapped[-1] += " "
    if len(wrapped) == 1:
        return [f'    """{wrapped[0]}"""']
    return [f'    """{wrapped[0]}', *(f"    {line}" for line in wrapped[1:]), '    """']


def literal(words: list[Any]) -> str:
    shown = dict.fromkeys(
        json.dumps(word) if isinstance(word, str) else str(word) for word in words
    )
    return f"Literal[{', '.join(shown)}]"


def camel(key: str) -> str:
    return "".join(part.capitalize() for part in re.split(r"[^a-z0-9]+", key.lower()))


def singular(name: str) -> str:
    if name.endswith("sses"):
        return name.removesuffix("es")
    return name.removesuffix("s")


def suffix(part: dict[str, Any], index: int) -> str:
    """What tells a variant apart: the word that chooses it."""
    for key in ("kind", "algorithm", "collective", "application", "type", "mode"):
        chosen = part.get("properties", {}).get(key, {})
        words = [chosen["const"]] if "const" in chosen else chosen.get("enum", [])
        if words:
            return camel(str(words[0]))
    return str(index) if index else ""


def text() -> str:
    schema = json.loads(schema_text())
    writer = Writer(schema)
    root = writer.mapping(schema, "")
    writer.classes["ScenarioKeys"] = writer.classes.pop(root).replace(
        "class (TypedDict", "class ScenarioKeys(TypedDict"
    )
    classes = "\n\n".join(writer.classes.values())
    return f"{HEADER}\n\n{classes}"


def schema_text() -> str:
    """Returns what `tenter schema` has printed into the file named on the command line, or the schema of the package."""
    files = [word for word in sys.argv[1:] if not word.startswith("-")]
    if files:
        return Path(files[0]).read_text()
    from tenter import _core

    return _core.schema()


def main() -> None:
    new = text()
    if "--check" in sys.argv:
        if FILE.read_text() != new:
            sys.exit(
                f"{FILE} is not what the schema says: run python -P python/{Path(__file__).name} where the wheel is installed"
            )
        return
    FILE.write_text(new)


if __name__ == "__main__":
    main()
