"""Bad input gives a one-sentence error and an exit code: no traceback, no library message."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import hexathlon
from hexathlon_cli.app import run
from support.bad_inputs import CASES, make_place
from support.events import register_toy, unregister

TESTS = Path(__file__).resolve().parents[1]
TOY_COMMAND = (sys.executable, "-m", "support.toy_command")
DEADLINE = 240.0
RAW = re.compile(
    r"Traceback|validation error|Input should|Field required|Extra inputs|\[type=|\[Errno|"
    r"Error\(|codec can't|errors\.pydantic|object at 0x"
)
"""Library text that means nothing to a user."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every kind of invalid file, and the toy event."""
    register_toy("cli/Toy-v0")
    folder = tmp_path_factory.mktemp("place")
    sound = tmp_path_factory.mktemp("sound")
    out = str(sound / "run")
    assert run(["eval", "agent:oracle", "--envs", "Toy", "--tasks", "3", "--out", out]) == 0
    labels = sound / "labels.jsonl"
    assert run(["judge", "labels", "--out", str(labels), "--items", "30"]) == 0
    make_place(folder, sound / "run", labels)
    yield folder
    unregister("cli/Toy-v0")


def checked(message: str) -> str:
    """The message of a reported error: one line, sometimes with a pointer to the help."""
    lines = message.strip().splitlines()
    if lines and re.fullmatch(r"See `hexathlon.* --help`\.", lines[-1]):
        lines.pop()
    assert len(lines) == 1, message
    assert not RAW.search(lines[0]), message
    return lines[0]


@pytest.mark.parametrize(("line", "code", "said"), CASES, ids=[case[0] for case in CASES])
def test_a_bad_command_line_gives_a_one_sentence_error(
    line: str, code: int, said: str, place: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(place)
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)
    before = sorted(place.iterdir())
    assert run(shlex.split(line)) == code
    shown = capsys.readouterr()
    assert checked(shown.err).startswith(f"error: {said}")
    assert shown.out == ""
    assert sorted(place.iterdir()) == before, "nothing is written"


def test_the_catalogue_is_large() -> None:
    assert len({line for line, _, _ in CASES}) >= 150


def sql(**arguments: Any) -> None:
    gymnasium.make("hexathlon/SQL-v1", **arguments).close()


def reset(**options: Any) -> None:
    env = gymnasium.make("hexathlon/SQL-v1")
    try:
        env.reset(seed=0, options=options)
    finally:
        env.close()


def evaluated(out: Path, **settings: Any) -> None:
    hexathlon.evaluate("agent:noop", out, **{"envs": ["SQL"], "tasks": 1, **settings})


CALLS: list[tuple[Callable[[Path], Any], str]] = [
    (lambda out: sql(split="nope"), "there is no split 'nope'"),
    (lambda out: sql(split=None), "split must be one of train, dev, test, heldout, got None"),
    (lambda out: sql(level="x"), "there is no level 'x'"),
    (lambda out: sql(level=3), "level must be one of tiny, easy, medium, hard, got 3"),
    (lambda out: sql(limits={"turns": -1}), "turns must be at least 1, got -1"),
    (lambda out: sql(limits={"trns": 1}), "'trns'"),
    (lambda out: sql(limits=5), "limits must be a mapping"),
    (lambda out: sql(action_format="nope"), "action_format must be 'text' or 'message'"),
    (lambda out: reset(tsk="x"), "unknown reset option 'tsk'; did you mean 'task'?"),
    (lambda out: reset(task=5), "option 'task' must be a string, got 5"),
    (lambda out: reset(task="nope"), "there is no task 'nope': it has 1 part"),
    (lambda out: reset(task="sql/x", split="test"), "'task' names one task"),
    (lambda out: reset(taskset="nope"), "there is no task source 'nope'"),
    (lambda out: reset(split="nope"), "there is no split 'nope'"),
    (lambda out: reset(split="heldout"), "the held-out split requires a salt"),
    (lambda out: reset(level="x"), "there is no level 'x'"),
    (lambda out: reset(index="x"), "option 'index' must be a whole number of at least 0, got 'x'"),
    (lambda out: reset(index=-1), "option 'index' must be a whole number of at least 0, got -1"),
    (lambda out: reset(split="test", index=10**6), "there is no index 1000000"),
    (lambda out: reset(taskset="chinook", split="train"), "chinook:train has no tasks"),
    (lambda out: evaluated(out, tasks=-1), "tasks must be at least 0, got -1"),
    (lambda out: evaluated(out, taks=1), "there is no setting 'taks'; did you mean 'tasks'?"),
    (lambda out: evaluated(out, split="nope"), "there is no split 'nope'"),
    (lambda out: evaluated(out, envs="Nope"), "there is no environment 'Nope'"),
    (lambda out: evaluated(out, envs=[]), "nothing to evaluate"),
    (lambda out: evaluated(out, envs=3), "envs must be a list, got 3"),
    (lambda out: evaluated(out, concurrency=0), "concurrency must be at least 1, got 0"),
    (lambda out: evaluated(out, limits={"turns": 0}), "limits.turns must be at least 1, got 0"),
    (lambda out: hexathlon.evaluate(5, out), "expected a string such as 'agent:oracle'"),  # type: ignore[arg-type]
    (lambda out: hexathlon.make_agent("agent:nope"), "there is no agent 'nope'"),
    (lambda out: hexathlon.make_agent("agent:noop", dialcet="json"), "no setting 'dialcet'"),
    (lambda out: hexathlon.load_run(out), "has no plan.json"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "said"), CALLS, ids=[f"{place} {said}" for place, (_, said) in enumerate(CALLS)]
)
def test_a_bad_call_raises_a_one_sentence_error(
    call: Callable[[Path], Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match=re.escape(said)) as caught:
        call(tmp_path / "run")
    assert type(caught.value) not in (KeyError, AttributeError, ZeroDivisionError, AssertionError)
    assert not RAW.search(str(caught.value))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("sql-tniy", "there is no recipe 'sql-tniy'; did you mean 'sql-tiny'?"),
        ({"name": "x", "stepz": 3}, "there is no setting 'stepz'"),
        ({"name": "x", "steps": -1}, "steps must be at least 0, got -1"),
        ({"name": "x", "tasks": {"env": "Nope"}}, "there is no environment 'Nope'"),
    ],
    ids=["name", "key", "value", "event"],
)
def test_a_bad_recipe_raises_a_one_sentence_error(recipe: Any, said: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="recipes need the extra `train`")
    with pytest.raises(Exception, match=re.escape(said)) as caught:
        hexathlon.train(recipe, tmp_path / "run")
    assert not RAW.search(str(caught.value))


def process(line: str, **how: Any) -> "subprocess.CompletedProcess[str]":
    """Run a shell command line in which `hexathlon` is the toy command."""
    command = line.replace("hexathlon", shlex.join(TOY_COMMAND), 1)
    return subprocess.run(
        ["bash", "-c", command], cwd=TESTS, capture_output=True, text=True, timeout=DEADLINE,
        check=False, **how,
    )  # fmt: skip


def test_a_full_disk_is_named_once() -> None:
    done = process("hexathlon show Toy > /dev/full")
    assert done.returncode == 1
    said = "error: cannot write to standard output: no space left on device"
    assert checked(done.stderr).startswith(said)


@pytest.mark.parametrize("line", ["hexathlon list >&-", "hexathlon list <&- >&- 2>&-"])
def test_closed_streams_are_not_an_error(line: str) -> None:
    done = process(line)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_ascii_terminal_gets_replacement_characters() -> None:
    done = process("hexathlon list", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"sql[ |]+\?[ |]+12,480", done.stdout)


def test_a_torn_record_gives_a_warning(place: Path) -> None:
    done = process(f"hexathlon report {shlex.quote(str(place / 'torn-records'))}")
    assert done.returncode == 0
    (line,) = done.stderr.strip().splitlines()
    assert re.match(r"warning: .*records\.jsonl, line 3: \d+ bytes of an unfinished record", line)


def test_a_set_with_fewer_tasks_than_asked_for_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["eval", "agent:noop", "--envs", "SQL", "--taskset", "chinook", "--dry-run"]
    assert run([*line, "--tasks", "5000"]) == 0
    assert "chinook:test has 37 tasks, fewer than the 5,000 requested" in capsys.readouterr().err
    assert run([*line, "--tasks", "30"]) == 0
    assert capsys.readouterr().err == ""


def test_an_unknown_recipe_is_answered_without_pytorch() -> None:
    code = (
        "import sys\n"
        "from hexathlon_cli.app import run\n"
        "assert run(['train', 'sql-tniy']) == 1\n"
        "sys.exit(sorted({'torch', 'transformers'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "did you mean 'sql-tiny'?" in checked(done.stderr)
