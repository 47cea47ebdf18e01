"""Descriptors passed out of a sandbox: connections to local sockets, and open files."""

import time
from collections.abc import Iterator

import pytest

from hexathlon.envs.sandbox.base import SandboxPathError
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.init_sandbox import InitSandbox
from hexathlon.envs.sandbox.ladder import backend

SERVER = """
import socket
server = socket.socket(socket.AF_UNIX)
server.bind("/tmp/echo")
server.listen()
while True:
    link, _ = server.accept()
    link.sendall(link.recv(100).upper())
    link.close()
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[InitSandbox]:
    namespaces = backend("namespaces")
    if not namespaces.probe().available:
        pytest.skip(namespaces.probe().reason)
    image = SandboxImage(files={"/srv/server.py": Entry(SERVER.encode())})
    with namespaces.open(image) as opened:
        assert isinstance(opened, InitSandbox)
        yield opened


def test_connects_to_a_socket_inside(sandbox):
    if sandbox.execute("test -x /usr/bin/python3").exit_status:
        pytest.skip("needs /usr/bin/python3")
    with pytest.raises(SandboxPathError, match="No such file"):
        sandbox.connect("/tmp/echo")
    sandbox.execute("/usr/bin/python3 /srv/server.py </dev/null >/dev/null 2>&1 &")
    deadline = time.monotonic() + 60
    while True:
        try:
            link = sandbox.connect("/tmp/echo")
            break
        except SandboxPathError:
            assert time.monotonic() < deadline
    with link:
        link.settimeout(60)
        link.sendall(b"hello")
        assert link.recv(100) == b"HELLO"
    with pytest.raises(SandboxPathError):
        sandbox.connect("/srv/server.py")


def test_opens_a_file_for_reading(sandbox):
    sandbox.write("/srv/data", b"one")
    with open(sandbox.open_file("/srv/data"), "rb") as file:
        assert file.read() == b"one"
        sandbox.execute("printf two >/srv/data")
        file.seek(0)
        assert file.read() == b"two"
        with pytest.raises(OSError):
            file.write(b"x")
    for path in ("/srv/none", "/srv", "/dev/null"):
        with pytest.raises(SandboxPathError):
            sandbox.open_file(path)
