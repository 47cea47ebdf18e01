"""A stand-in for the Python interpreter of a vLLM environment; it serves fixed tokens.

`fake_vllm(folder)` writes a program that takes the place of `HEXATHLON_VLLM_PYTHON`. Called as a
server it is `TokenServer` in a process of its own; the arguments and variables that it was started
with are in `started-PORT.json` in its working directory. With `--reject` it exits at once.
"""

import json
import os
import sys
import threading
from pathlib import Path

VERSION = "0.0.fake"


def fake_vllm(folder: Path) -> Path:
    """Write the program and return its path."""
    tests = Path(__file__).resolve().parents[1]
    program = folder / "fake-vllm"
    paths = os.pathsep.join([str(tests), *filter(None, sys.path)])
    program.write_text(
        f'#!/bin/sh\nFAKE_OUTER_PATH="$PYTHONPATH" PYTHONPATH="{paths}" '
        f'exec "{sys.executable}" -m support.fake_vllm "$@"\n'
    )
    program.chmod(0o755)
    return program


def main(arguments: list[str]) -> int:
    """Print the version, or serve until the process ends."""
    if arguments[0] == "-I":
        sys.stdout.write(f"{VERSION}\n")
        return 0
    if "--reject" in arguments:
        sys.stderr.write("api_server.py: error: unrecognized arguments: --reject\n")
        return 2
    from support.token_server import TokenServer

    port = int(arguments[arguments.index("--port") + 1])
    kept = ("VLLM_", "OMP_", "TORCHDYNAMO")
    variables = {name: value for name, value in os.environ.items() if name.startswith(kept)}
    variables["PYTHONPATH"] = os.environ["FAKE_OUTER_PATH"]
    Path(f"started-{port}.json").write_text(json.dumps([arguments, variables]))
    with TokenServer(port):
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
