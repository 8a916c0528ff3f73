"""The command `tenter`."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Runs the command with the arguments of the process."""
    from tenter import _core

    # The command handles signals itself, as it does without Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    sys.stdout.flush()
    sys.exit(_core.command(["tenter", *sys.argv[1:]]))
