"""The stubs say what the native module has."""

from __future__ import annotations

import subprocess
import sys


def test_the_stubs_are_those_of_the_native_module() -> None:
    command = [
        sys.executable,
        "-m",
        "mypy.stubtest",
        "--concise",
        "--ignore-disjoint-bases",
        "tenter._core",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
