"""Runs the notebooks of this folder and exports each as a page: `export.py FOLDER [NAME…]`.

The pages and what they need are in the folder, for `python3 -m http.server -d FOLDER`; nothing is
fetched from elsewhere. A cell that fails ends the export.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import marimo

HERE = Path(__file__).parent
# Pages take the program of their pictures from a server of marimo's makers.
ELSEWHERE = re.compile(r"https://cdn\.jsdelivr\.net/npm/@marimo-team/frontend@[^/]+/dist")


def export(notebook: Path, folder: Path) -> None:
    """Runs a notebook in a folder and writes its page there."""
    start = time.monotonic()
    # It leaves its trials, and marimo its cache, beside itself.
    copy = shutil.copy(notebook, folder)
    page = folder / f"{notebook.stem}.html"
    command = [sys.executable, "-m", "marimo", "export", "html", copy, "-o", str(page), "-f"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{notebook.name} failed:\n{done.stdout}{done.stderr}")
    page.write_text(ELSEWHERE.sub(".", page.read_text()))
    print(f"{notebook.name}: {time.monotonic() - start:.0f} s, {page}")


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    static = Path(marimo.__file__).parent / "_static"
    shutil.copytree(static, folder)
    (folder / "index.html").unlink()
    for notebook in sorted(HERE.glob("*.py")):
        if notebook != Path(__file__) and (not sys.argv[2:] or notebook.stem in sys.argv[2:]):
            export(notebook, folder)


if __name__ == "__main__":
    main()
