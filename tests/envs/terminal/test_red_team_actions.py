"""Turns and outputs made to stop the harness itself: each is answered in little time."""

import json
import time
from collections.abc import Iterator

import pytest

from hexathlon.envs.sandbox.shell import command_lines
from hexathlon.envs.terminal.env import TerminalEnv
from hexathlon.envs.terminal.tampering import is_trick, looks_for_grader
from hexathlon.envs.terminal.text import clean
from support.terminal import act

GENERATED = "terminal/log_breaches/tiny/test/00000"
HUGE = "1" + "0" * 400


def raw(name: str, arguments: str) -> str:
    return f'{{"name": "{name}", "arguments": {{{arguments}}}}}'


TURNS = {
    "a number that is none": raw("run", '"command": "echo", "timeout": NaN'),
    "an endless time": raw("run", '"command": "echo", "timeout": 1e999'),
    "a huge whole number": raw("run", f'"command": "echo", "timeout": {HUGE}'),
    "a huge wait": raw("send_keys", f'"keys": "a", "quiet_ms": {HUGE}'),
    "a whole number with a point": raw("send_keys", '"keys": "a", "rows": 30.0, "columns": 90.0'),
    "waits with a point": raw("send_keys", '"keys": "a", "quiet_ms": 20.0'),
    "half a character": raw("run", '"command": "echo \\ud800"'),
    "half a key": raw("send_keys", '"keys": "\\udfff<Enter>", "wait_for": "\\ud800", "timeout": 1'),
    "half a name": raw("write_file", '"path": "/tmp/\\ud800", "text": "\\udc00"'),
    "a name with an end": act("write_file", path="/tmp/a\0b", text=""),
    "a long name": act("write_file", path="/a" * 500, text=""),
    "a device": act("write_file", path="/dev/full", text="x"),
    "the terminals": act("read_file", path="/dev/ptmx"),
    "a process's memory": act("read_file", path="/proc/self/mem"),
    "lines without end": "\n" * 65_000 + "true",
    "blanks without end": ";" + " " * 65_000 + "true",
    "quotes without end": "echo " + "'" * 65_001,
    "braces without end": "echo " + "{" * 60_000,
    "a huge move": act(
        "send_keys", keys="printf '\\033[999999999L\\033[99999999999999999;1H'<Enter>"
    ),
    "a huge repetition": act("send_keys", keys="printf 'a\\033[999999999b'<Enter>"),
    "a title without end": act("send_keys", keys="printf '\\033]0;'; yes | head -c 3000000<Enter>"),
    "questions to the terminal": act(
        "send_keys", keys="for i in {1..9000}; do printf '\\033[c\\033[6n'; done<Enter>"
    ),
    "random bytes": act("send_keys", keys="head -c 300000 /dev/urandom<Enter>"),
    "one long line": act("run", command="head -c 250000 /dev/zero | tr '\\0' a"),
    "overwritten lines": act("run", command="yes | head -c 250000 | tr '\\n' '\\r'"),
    "open escapes": act("run", command="for i in {1..60000}; do printf '\\033]'; done"),
}  # fmt: skip


@pytest.fixture(scope="module")
def env() -> Iterator[TerminalEnv]:
    made = TerminalEnv(sandbox="namespaces", limits={"seconds_per_action": 5.0})
    if not made._opener().probe().available:
        pytest.skip("no namespaces")
    yield made
    made.close()


@pytest.mark.parametrize("name", TURNS)
def test_a_turn_is_answered(env: TerminalEnv, name: str) -> None:
    env.reset(seed=0, options={"task": GENERATED})
    began = time.monotonic()
    shown, _, terminated, truncated, _ = env.step(TURNS[name])
    assert time.monotonic() - began < 15.0
    assert (terminated, truncated) == (False, False)
    json.dumps(shown).encode()
    assert "after" in env.step(act("run", command="echo after"))[0]


COMMANDS = ("\n", " ", "sudo ", "then\n", "mount  ", "name  ", "'", "`", "$(", "set -", ". ", "\t;")


@pytest.mark.parametrize("part", COMMANDS)
def test_commands_are_searched_in_linear_time(part: str) -> None:
    began = time.monotonic()
    text = f";{part * (60_000 // len(part))}x"
    looks_for_grader(text)
    command_lines(text, 0, b"word")
    assert time.monotonic() - began < 5.0


OUTPUTS = (b"a", b"\r", b"a\r", b"\x1b]", b"\x1bP", b"\x1b[", b"\x1b[0", b"\x1b ", b"\n\r", b"\xff")


@pytest.mark.parametrize("part", OUTPUTS)
def test_output_is_cleaned_in_linear_time(part: bytes) -> None:
    began = time.monotonic()
    clean(part * (262_144 // len(part)))
    clean(b"\x1b[" + part[-1:] * 262_144)
    assert time.monotonic() - began < 5.0


@pytest.mark.parametrize(
    "part", [b"def __eq__(", b"/tests/", b"pytest_", b"pytest_a ", b"os._exit"]
)
def test_files_are_searched_in_linear_time(part: bytes) -> None:
    began = time.monotonic()
    is_trick("/app/a.py", part * (1_000_000 // len(part)))
    assert time.monotonic() - began < 5.0


def test_overwritten_text_is_what_a_terminal_shows() -> None:
    assert clean(b"10%\r50%\rdone\r\nnext\rN\nend\r") == "done\nN\nend"
