"""Tries the interface of `tenter ui` with requests that are made from its description.

Requests are the same each time. None may be answered with a fault of the server (5xx), and the
server must live on. The stream of events is left out, because it has no end.

    python tools/fuzz_interface.py TENTER SCHEMATHESIS
"""

import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

# For each request and phase; more take minutes.
EXAMPLES = 3
PATIENCE_S = 120


def begin(tenter: str, folder: Path) -> tuple[subprocess.Popen[str], str, str]:
    """Starts a server on a free port; returns it, its address and its token."""
    command = [tenter, "ui", str(folder), "--port", "0", "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = ""
    for line in server.stdout or []:
        said += line
        if found := re.search(r"(http://\S+)/\?token=(\w+)", line):
            return server, found.group(1), found.group(2)
    raise SystemExit(f"the server has ended: {said}")


def fuzz(schemathesis: str, url: str, token: str, folder: Path) -> int:
    """Sends the requests; returns 0 where none was answered with a fault."""
    command = [schemathesis, "run", f"{url}/api/v1/openapi.json"]
    command += ["--url", url, "--header", f"Origin: {url}"]
    command += ["--header", f"Authorization: Bearer {token}"]
    command += ["--checks", "not_a_server_error", "--phases", "coverage,fuzzing"]
    command += ["--max-examples", str(EXAMPLES), "--generation-deterministic"]
    command += ["--exclude-path", "/api/v1/events", "--no-color"]
    ran = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=PATIENCE_S, check=False
    )
    cases = re.search(r"\d+ generated.*", ran.stdout)
    if ran.returncode != 0 or cases is None:
        print(ran.stdout + ran.stderr, file=sys.stderr)
        return 1
    print(f"interface of tenter ui: {cases.group()}")
    return 0


def main() -> int:
    """Runs all of it in a folder that is removed."""
    tenter, schemathesis = (str(Path(one).absolute()) for one in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server, url, token = begin(tenter, folder / "trials")
        try:
            code = fuzz(schemathesis, url, token, folder)
            if server.poll() is not None:
                print("the server has ended", file=sys.stderr)
                code = 1
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
    return code


if __name__ == "__main__":
    sys.exit(main())
