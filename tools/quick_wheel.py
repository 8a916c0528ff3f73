"""Packs the wheel of the Python package around a native module that is compiled already.

    python3 tools/quick_wheel.py MODULE FOLDER

The wheel is for this machine and for tests alone: maturin makes the one that is handed out, from a
compilation of its own. What a wheel says of itself comes from `python/pyproject.toml`.
"""

import base64
import hashlib
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python"


def files(module: Path) -> dict[str, bytes]:
    """What is in the wheel, by its path there, without the record."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))["project"]
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]
    name, version = project["name"], workspace["package"]["version"]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    info = f"{name}-{version}.dist-info"
    endings = {".py", ".pyi", ".typed"}
    sources = [path for path in (PACKAGE / name).rglob("*") if path.suffix in endings]
    inside = {path.relative_to(PACKAGE).as_posix(): path.read_bytes() for path in sources}
    inside[f"{name}/_core.abi3.so"] = module.read_bytes()
    head = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    head += [f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}"]
    for extra, requirements in project["optional-dependencies"].items():
        head.append(f"Provides-Extra: {extra}")
        head += [f"Requires-Dist: {one} ; extra == '{extra}'" for one in requirements]
    inside[f"{info}/METADATA"] = "\n".join([*head, ""]).encode()
    tags = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-abi3-{platform}\n"
    inside[f"{info}/WHEEL"] = tags.encode()
    scripts = [f"{script} = {entry}\n" for script, entry in project["scripts"].items()]
    inside[f"{info}/entry_points.txt"] = f"[console_scripts]\n{''.join(scripts)}".encode()
    return inside


def record(inside: dict[str, bytes], path: str) -> bytes:
    """The record of a wheel: a digest and a length for each file, and a line for itself."""
    lines = []
    for name, content in inside.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{path},,\n"]).encode()


def main() -> None:
    """Writes the wheel."""
    module, folder = Path(sys.argv[1]), Path(sys.argv[2])
    inside = files(module)
    info = next(name for name in inside if name.endswith("/WHEEL")).removesuffix("/WHEEL")
    path = f"{info}/RECORD"
    inside[path] = record(inside, path)
    tag = inside[f"{info}/WHEEL"].decode().rsplit("Tag: ", 1)[1].strip()
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{info.removesuffix('.dist-info')}-{tag}.whl", "w") as wheel:
        for name, content in inside.items():
            wheel.writestr(name, content)


if __name__ == "__main__":
    main()
