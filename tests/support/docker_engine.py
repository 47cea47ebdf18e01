"""A separate Docker engine for tests, started by the tests themselves, without network or firewall
rules.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SECONDS = 60.0


@contextmanager
def docker_engine() -> Iterator[str]:
    """Start an engine, yield its URL, stop and remove it; skip if none can run."""
    pytest.importorskip("docker", reason="the extra [docker] is not installed")
    given = os.environ.get("HEXATHLON_TEST_DOCKER_HOST")
    if given:
        yield given
        return
    program = shutil.which("dockerd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if program is None:
        pytest.skip("no docker engine is installed here (Debian: apt-get install docker.io)")
    if os.geteuid() != 0:
        pytest.skip("a docker engine has to be started by root")
    folder = Path(tempfile.mkdtemp(prefix="hexdocker"))
    url = f"unix://{folder}/docker.sock"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                program, "--data-root", folder / "root", "--exec-root", folder / "exec",
                "--pidfile", folder / "pid", "-H", url, "--iptables=false", "--ip6tables=false",
                "--bridge=none", "--storage-driver=overlay2",
            ],
            stdout=log,
            stderr=log,
        )  # fmt: skip
    try:
        _wait(url, process, folder)
        yield url
    finally:
        process.terminate()
        process.wait(60)
        subprocess.run(["umount", "-R", folder / "root"], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(url: str, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(url.removeprefix("unix://"))
                connection.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
                if b"200 OK" in connection.recv(4096):
                    return
            except OSError:
                time.sleep(0.05)
    lines = (folder / "log").read_text(errors="replace").splitlines()[-3:]
    pytest.skip(f"the docker engine does not start here: {lines}")
