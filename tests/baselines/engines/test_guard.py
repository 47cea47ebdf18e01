"""The guard of a server: it exits with the process that started it, and forwards the server's
status.
"""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hexathlon.baselines.engines.served as served

GUARD = Path(served.__file__).with_name("guard.py")
DEADLINE = 240.0
SERVER = """
import json, os, signal, subprocess, sys, time
if sys.argv[1] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
worker = subprocess.Popen(["sleep", "600"])
print(json.dumps([os.getppid(), os.getpid(), worker.pid]), flush=True)
time.sleep(600)
"""
CALLER = """
import subprocess, sys
command = [sys.executable, "-I", sys.argv[1], "0.5", sys.executable, "-c", *sys.argv[2:]]
subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True).wait()
"""


def guarded(*command: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", GUARD, "0.5", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def ended(handle: int) -> bool:
    return bool(select.select([handle], [], [], DEADLINE)[0])


@pytest.mark.parametrize("manner", ["polite", "stubborn"])
def test_a_server_ends_when_its_caller_is_killed(manner: str) -> None:
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, GUARD, SERVER, manner], stdout=subprocess.PIPE
    )
    assert caller.stdout is not None
    pids = json.loads(caller.stdout.readline())
    handles = [os.pidfd_open(pid) for pid in pids]
    caller.send_signal(signal.SIGKILL)
    caller.communicate()
    assert [ended(handle) for handle in handles] == [True] * 3
    for handle in handles:
        os.close(handle)


@pytest.mark.parametrize(
    ("program", "status"),
    [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 9)", 128 + 9)],
)
def test_the_status_of_the_server_is_passed_on(program: str, status: int) -> None:
    with guarded(sys.executable, "-c", program) as process:
        assert process.wait(DEADLINE) == status


def test_the_server_answers_a_request_to_end() -> None:
    program = (
        "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(5)); "
        "print('ready', flush=True); time.sleep(600)"
    )
    with guarded(sys.executable, "-c", program) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        os.killpg(process.pid, signal.SIGTERM)
        assert process.wait(DEADLINE) == 5
