"""Tables of trials."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tenter import _core
from tenter._errors import InputError

ROWS_SHOWN = 10
# Rows that are values of Python at the same time.
ROWS_READ = 4096

Condition: TypeAlias = bool | int | float | str | tuple[float, float]


class Table:
    """Rows in named columns, which any consumer of Arrow takes without a copy.

    `polars.DataFrame(table)`, `pyarrow.table(table)` and `pandas.DataFrame.from_arrow(table)` do;
    DuckDB finds it by the name of its variable. None of them is needed to read it.
    """

    def __init__(self, core: _core.Table) -> None:
        self._core = core

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._core)

    @property
    def columns(self) -> list[str]:
        """Names of the columns; they end in the unit."""
        return self._core.columns

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns that have one."""
        return self._core.units

    @property
    def meanings(self) -> dict[str, str]:
        """What the columns mean."""
        return self._core.meanings

    def select(
        self,
        columns: Iterable[str] | None = None,
        where: Mapping[str, Condition] | None = None,
    ) -> Table:
        """The same table with some of its columns, and the rows whose values fit.

        `where` has a value for each column that is looked at, or a pair of the least and the
        greatest: `{"job_name": "train", "fct_ns": (0, 5e4)}`. Nothing is read yet; of a table that
        lies in a folder, parts in which no row fits are passed over.
        """
        if isinstance(columns, str):
            raise InputError(f"`columns` is the text {columns!r}: give a list, [{columns!r}]")
        names = None if columns is None else list(columns)
        return Table(self._core.select(names, None if where is None else dict(where)))

    def __getitem__(self, column: str) -> list[Any]:
        return self._core.column(column)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows as mappings."""
        names = self.columns
        for columns in self._core.parts(ROWS_READ):
            for values in zip(*columns, strict=True):
                yield dict(zip(names, values, strict=True))

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists."""
        return {name: self[name] for name in self.columns}

    def _head(self) -> dict[str, list[Any]]:
        """The first values of the columns that have any."""
        first: list[list[Any]] = next(iter(self._core.parts(ROWS_SHOWN)), [])
        head = zip(self.columns, first, strict=bool(first))
        return {name: values for name, values in head if any(of is not None for of in values)}

    def __repr__(self) -> str:
        rows, columns = len(self), len(self.columns)
        lines = [f"Table of {rows} rows and {columns} columns"]
        width = max((len(name) for name in self.columns), default=0)
        for name, values in self._head().items():
            shown = ", ".join(_text(value) for value in values[:4])
            more = ", …" if rows > 4 else ""
            lines.append(f"  {name:<{width}}  {shown}{more}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = self._head()
        size = f"<p>{len(self)} rows, {len(self.columns)} columns</p>"
        return html_table(list(head), zip(*head.values(), strict=True)) + size


def html_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows under their names, numbers to the right."""
    cell = "padding:0.15em 0.7em;text-align:"
    heads = "".join(f'<th style="{cell}left">{html.escape(name)}</th>' for name in names)
    body = []
    for row in rows:
        cells = []
        for value in row:
            side = "right" if isinstance(value, (int, float)) else "left"
            cells.append(f'<td style="{cell}{side}">{html.escape(_text(value))}</td>')
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:,.6g}"
    return "" if value is None else str(value)
