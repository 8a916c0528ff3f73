"""The Python of the pages runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "python.md", ROOT / "README.md", ROOT / "python" / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_the_snippets_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert snippets, f"{page} shows no Python"
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, str(page), "exec"), names)  # noqa: S102
