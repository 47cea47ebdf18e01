"""The command line: real processes, exit codes, no traceback for bad input."""

import importlib.util
import inspect
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexathlon.baselines.harness.config import (
    ClusterChoice,
    EvalConfig,
    ExecutionConfig,
    SamplingConfig,
)
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon_cli.app import run
from hexathlon_cli.eval import eval_
from hexathlon_cli.resume import resume
from support.chat_server import ChatServer
from support.events import FIRST, TOY, register_toy, unregister

TESTS = Path(__file__).resolve().parents[1]
"""Import path of `python -m support.toy_command`."""
TOY_COMMAND = (sys.executable, "-m", "support.toy_command")
COMMAND = (sys.executable, "-m", "hexathlon")
DEADLINE = 300.0


def hexathlon(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command with the toy event; a traceback is always a defect."""
    done = subprocess.run(
        [*TOY_COMMAND, *arguments],
        cwd=TESTS,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def oracle_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "oracle"
    arguments = ("--envs", "Toy", "--tasks", "8", "--out", str(run), "--with-anchors")
    done = hexathlon("eval", "agent:oracle", *arguments)
    assert done.returncode == 0, done.stderr
    assert "100.0%" in done.stdout
    return run


def test_help_names_every_command() -> None:
    done = hexathlon("--help")
    assert done.returncode == 0
    for name in (
        "list", "show", "play", "eval", "resume", "rescore", "verify", "compare", "report",
        "leaderboard", "selftest", "doctor",
    ):  # fmt: skip
        assert re.search(rf"^  {name} ", done.stdout, re.MULTILINE), name


def test_help_loads_nothing_but_typer() -> None:
    code = (
        "import sys, hexathlon_cli\n"
        "try: hexathlon_cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'gymnasium', 'numpy', 'pydantic', 'rich', 'httpx', 'hexathlon', 'asyncio'}\n"
        "sys.exit(sorted(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_version_is_the_packages_own() -> None:
    import hexathlon as package

    assert hexathlon("--version").stdout == f"hexathlon {package.__version__}\n"


def test_shells_complete_commands() -> None:
    """The shell's request after `hexathlon le` and a tab."""
    asked = {
        **os.environ,
        "_HEXATHLON_COMPLETE": "complete_bash",
        "COMP_WORDS": "hexathlon le",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        COMMAND, env=asked, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "leaderboard\n", "")


def test_completion_is_installed_for_the_shell_it_is_called_from(tmp_path: Path) -> None:
    home = {**os.environ, "HOME": str(tmp_path)}
    line = f"{shlex.join(COMMAND)} --install-completion; true"  # not the last: bash stays
    done = subprocess.run(
        ["bash", "-c", line], env=home, capture_output=True, text=True, timeout=DEADLINE, check=True
    )
    assert "completion installed" in done.stdout, done.stderr
    (script,) = (tmp_path / ".bash_completions").iterdir()
    assert script.name == "hexathlon.sh"
    assert "_HEXATHLON_COMPLETE" in script.read_text("utf-8")


def test_every_setting_is_a_flag_and_every_flag_a_setting() -> None:
    settings = {
        *EvalConfig.model_fields, *ExecutionConfig.model_fields, *SamplingConfig.model_fields,
        *(f"limit_{name}" for name in TrialLimits.model_fields),
        "max_reply_tokens",
    } - {"limits", "sampling"}  # fmt: skip
    command = {"out", "config", "with_anchors", "force_new", "dry_run"}
    fleet = {"workers", "slots", "pool"}  # of the table [cluster]; the others need a file
    assert {name.removesuffix("s") for name in ClusterChoice.model_fields} >= {
        name.removesuffix("s") for name in fleet
    }
    assert set(inspect.signature(eval_).parameters) == settings | command | fleet
    resumed = set(inspect.signature(resume).parameters) - {"run", "with_anchors"}
    assert resumed == set(ExecutionConfig.model_fields) | fleet


def test_a_dry_run_prints_what_would_be_stored_and_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('envs = ["Toy"]\nseeds = 3\nout = "there"\n[limits]\nturns = 5\n')
    done = hexathlon("eval", "agent:noop", "--config", str(file), "--tasks", "4", "--dry-run")
    shown = json.loads(done.stdout)
    assert shown["config"]["tasks"] == 4 and shown["config"]["seeds"] == 3
    assert shown["config"]["limits"]["turns"] == 5
    assert shown["command"] == {"out": "there", "with_anchors": False}
    assert list(tmp_path.iterdir()) == [file]


def test_anchors_are_stored_beside_the_run(oracle_run: Path) -> None:
    names = {path.name for path in (oracle_run / "anchors").iterdir()}
    assert {"dump", "majority", "noop", "random"} <= names and "oracle" not in names
    report = hexathlon("report", str(oracle_run), "--format", "json")
    data = json.loads(report.stdout)
    assert data["ceiling"] == {TOY: 1.0}
    assert data["floor"][TOY]["score"] == 0.0


def test_an_honest_run_verifies_and_a_forged_one_does_not(oracle_run: Path, tmp_path: Path) -> None:
    done = hexathlon("verify", str(oracle_run))
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 of 8 trials replayed identically" in done.stdout
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / "plan.json").write_bytes((oracle_run / "plan.json").read_bytes())
    text = (oracle_run / "records.jsonl").read_text()
    (forged / "records.jsonl").write_text(text.replace('"reward":1.0', '"reward":0.5', 1))
    done = hexathlon("verify", str(forged))
    assert done.returncode == 3
    assert "line 1" in done.stderr and "rejected" in done.stdout


def test_rescore_compare_and_report(oracle_run: Path, tmp_path: Path) -> None:
    done = hexathlon("rescore", str(oracle_run), "--out", str(tmp_path / "again"))
    assert (done.returncode, "0 of 8 rewards changed" in done.stdout) == (0, True)
    noop = str(oracle_run / "anchors" / "noop")
    done = hexathlon("compare", str(oracle_run), noop)
    assert done.returncode == 0 and "agent:noop" in done.stdout
    (row,) = json.loads(hexathlon("compare", str(oracle_run), noop, "--json").stdout)
    assert row["difference"] == 1.0 and row["p_holm"] < 0.05
    out = tmp_path / "report.md"
    done = hexathlon("report", str(oracle_run), "--format", "markdown", "--out", str(out))
    assert done.returncode == 0 and out.read_text().startswith("# agent:oracle\n")


def test_resuming_a_finished_run_returns_at_once(oracle_run: Path) -> None:
    done = hexathlon("resume", str(oracle_run))
    assert done.returncode == 0
    assert "8 of 8 trials were recorded before" in done.stderr


def test_reference_runs_of_a_finished_run_are_played_later(tmp_path: Path) -> None:
    run = tmp_path / "run"
    flags = ("--envs", "Toy", "--tasks", "4", "--split", "dev", "--limit-turns", "9", "--team", "x")
    assert hexathlon("eval", "agent:noisy:0.5", *flags, "--out", str(run)).returncode == 0
    done = hexathlon("resume", str(run), "--with-anchors")
    assert done.returncode == 0 and "4 of 4 trials were recorded before" in done.stderr
    data = json.loads(hexathlon("report", str(run), "--format", "json").stdout)
    assert data["ceiling"] == {TOY: 1.0} and data["floor"][TOY]["score"] == 0.0
    assert (
        hexathlon("leaderboard", "build", str(run), "--out", str(tmp_path / "site")).returncode == 0
    )
    (board,) = json.loads((tmp_path / "site" / "board.json").read_text())["boards"]
    assert (board["floor"], board["ceiling"]) == (0.0, 1.0)


def test_the_toy_event_passes_its_self_test() -> None:
    done = hexathlon("selftest", "--env", "Toy", "--tasks", "4")
    assert done.returncode == 0, done.stderr
    assert "mutants" in done.stdout and "holds" in done.stdout


BAD = [
    (("evl",), "Did you mean 'eval'"),
    (("eval", "--taks", "3"), "--tasks"),
    (("eval",), "choose what to evaluate"),
    (("eval", "agent:oracle", "--envs", "Toy"), "--out DIR"),
    (("eval", "agent:oracle", "--envs", "Toi", "--out", "x"), "did you mean 'Toy'"),
    (("eval", "agent:oracel", "--envs", "Toy", "--out", "x"), "Did you mean 'oracle'"),
    (("eval", "agent:oracel", "--envs", "Toy", "--dry-run"), "Did you mean 'oracle'"),
    (("eval", "agent:noop", "--envs", "Toi", "--dry-run"), "did you mean 'Toy'"),
    (("eval", "agent:noop", "--envs", "Toy", "--team", "x" * 81, "--out", "x"), "80 characters"),
    (("eval", "agent:noop", "--envs", "Toy", "--split", "tets", "--out", "x"), "'test'"),
    (("eval", "agent:noop", "--envs", "Toy", "--tasks", "many", "--out", "x"), "whole number"),
    (("eval", "--config", "none.toml"), "cannot read the configuration"),
    (("resume", "nowhere"), "expected a run directory"),
    (("verify", "nowhere"), "expected a run directory"),
    (("report", "nowhere"), "expected a run directory"),
    (("rescore", "nowhere", "--out", "x"), "expected a run directory"),
    (("compare", "nowhere"), "at least two runs"),
    (("show", "Toi"), "did you mean 'Toy'"),
    (("show", "toy/count/tiny/test/x"), "is not an index"),
    (("show", "toy/other/tiny/test/00001"), "only the template"),
    (("play", "Toy", "--level", "esay"), "did you mean 'easy'"),
    (("play", "Toy", "--task", "toy/count/tiny/test"), "it has 4 parts"),
    (("selftest", "--env", "Toy", "--tasks", "0"), "at least 1"),
    (("selftest",), "--env"),
]


@pytest.fixture(scope="module")
def toy_event() -> Iterator[None]:
    register_toy("cli/Toy-v0")
    yield
    unregister("cli/Toy-v0")


@pytest.mark.usefixtures("toy_event")
@pytest.mark.parametrize(("arguments", "said"), BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_gives_exit_code_1_and_a_fix(
    arguments: tuple[str, ...], said: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(list(arguments)) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_command_without_arguments_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["leaderboard"]):
        assert run(arguments) == 1
        shown = capsys.readouterr()
        assert "Usage: hexathlon" in shown.err + shown.out
        assert "error" not in shown.err + shown.out


def test_a_closed_pipe_is_not_an_error(oracle_run: Path) -> None:
    command = [*TOY_COMMAND, "report", str(oracle_run)]
    process = subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait(DEADLINE) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.usefixtures("toy_event")
def test_a_path_that_is_not_a_run_is_named(
    tmp_path: Path, oracle_run: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    run_folder = str(oracle_run)
    for arguments, said in (
        (("eval", "agent:noop", "--envs", "Toy", "--out", "file"), "file is a file"),
        (("verify", "file"), "expected a run directory"),
        (("report", "file"), "expected a run directory"),
        (("rescore", run_folder, "--out", run_folder), "is in use: expected a new directory"),
        (("leaderboard", "build", "nowhere"), "there is no directory nowhere"),
        (("leaderboard", "build", "empty"), "expected a run directory"),
    ):
        assert run(list(arguments)) == 1, arguments
        assert said in capsys.readouterr().err


def test_a_folder_of_runs_means_the_runs_in_it(
    oracle_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["leaderboard", "build", str(oracle_run.parent), "--out", str(tmp_path / "s")]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"oracle +100\.0%.* ceiling", shown)
    assert re.search(r"noop +0\.0%.* floor", shown)


@pytest.mark.parametrize(
    "model",
    [
        "endpoint:https://me:s3cret@host/v1#m",
        "endpoint:me:s3cret@host/v1#m",
        "endpoint:https://host/v1?key=s3cret#m",
        "https://me:s3cret@host/v1",
    ],
)
@pytest.mark.parametrize("flag", [("--dry-run",), ("--out", "run")], ids=["dry", "real"])
@pytest.mark.usefixtures("toy_event")
def test_a_password_in_an_address_is_neither_stored_nor_shown(
    model: str, flag: tuple[str, ...], tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(["eval", model, "--envs", "Toy", *flag]) == 1
    shown = capsys.readouterr()
    assert "endpoint" in shown.err and "s3cret" not in shown.err + shown.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("toy_event")
def test_the_team_is_stored_in_the_plan_and_survives_resuming(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    what = ("--envs", "cli/Toy-v0", "--tasks", "2", "--out", str(out))
    assert run(["eval", "agent:oracle", *what, "--team", "North"]) == 0
    plan = json.loads((out / "plan.json").read_text())
    assert plan["team"] == "North" and "team" not in plan["config"]
    assert run(["resume", str(out)]) == 0
    capsys.readouterr()
    assert run(["eval", "agent:oracle", *what, "--team", "South"]) == 1
    assert "team ('North' stored, 'South' now)" in capsys.readouterr().err


@pytest.mark.usefixtures("toy_event")
def test_the_list_says_what_is_missing_instead_of_failing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder in (None, tmp_path):
        monkeypatch.delenv("HEXATHLON_DATA", raising=False)
        if folder is not None:
            monkeypatch.setenv("HEXATHLON_DATA", str(folder))
        assert run(["list"]) == 0
        shown = capsys.readouterr().out
        assert re.search(r"SQL +chinook +– +– +37", shown)
        assert re.search(r"SQL +sql +∞ +12,480 +1,872", shown)
        assert re.search(r"SQL +spider .*spider", shown)
        assert run(["list", "--json"]) == 0
        events = {event["id"]: event for event in json.loads(capsys.readouterr().out)}
        sizes = events["hexathlon/SQL-v1"]["sizes"]
        assert "HEXATHLON_DATA" in sizes["bird"]["needs"] or "bird" in sizes["bird"]["needs"]
        assert sizes["dbbench"] == {"train": 0, "dev": 0, "test": 300}


def test_the_process_prints_only_the_message() -> None:
    done = hexathlon("evl")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: No such command 'evl'. Did you mean 'eval'?")


def test_a_directory_that_is_not_a_checkpoint_is_a_usage_error(tmp_path: Path) -> None:
    done = hexathlon("eval", str(tmp_path), "--envs", "Toy", "--out", str(tmp_path / "run"))
    if importlib.util.find_spec("torch") is None:
        assert done.returncode == 4
        assert "pip install 'hexathlon[train]'" in done.stderr
    else:
        assert done.returncode == 1
        assert "has no config.json" in done.stderr


def test_a_server_that_does_not_answer_gives_exit_code_4(tmp_path: Path) -> None:
    model = "endpoint:http://127.0.0.1:9/v1#m"
    flags = ("--dialect", "auto", "--request-retries", "0", "--out", str(tmp_path / "run"))
    done = hexathlon("eval", model, "--envs", "Toy", *flags)
    assert done.returncode == 4
    assert "connection" in done.stderr


@pytest.mark.usefixtures("toy_event")
def test_too_many_unscored_trials_give_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--envs", "cli/Toy-v0", "--tasks", "3", "--dialect", "json", "--out")
    quick = ("--retries", "0", "--request-retries", "0", "--limit-turns", "1")
    broken, locked = str(tmp_path / "broken"), str(tmp_path / "locked")
    with ChatServer() as server:
        assert run(["eval", f"endpoint:{server.url}#broken", *flags, broken, *quick]) == 2
        shown = capsys.readouterr()
        assert "more than --max-unscored allows" in shown.err
        assert "is not ranked" in shown.out
        assert run(["resume", broken, "--max-unscored", "1"]) == 0
        assert run(["eval", f"endpoint:{server.url}#locked", *flags, locked]) == 1
        assert "auth" in capsys.readouterr().err


def test_an_interrupted_run_is_continued(tmp_path: Path) -> None:
    flags = ("--envs", "Toy", "--tasks", "40", "--seeds", "100", "--out", str(tmp_path / "run"))
    process = subprocess.Popen(
        [*TOY_COMMAND, "eval", "agent:oracle", *flags],
        cwd=TESTS,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that a shell runs in the background inherit an ignored SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    file = tmp_path / "run" / "records.jsonl"
    deadline = time.monotonic() + DEADLINE
    while not (file.exists() and file.read_bytes().count(b"\n") > 20):
        assert time.monotonic() < deadline and process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert "`hexathlon resume` continues" in said and "Traceback" not in said
    assert hexathlon("resume", str(tmp_path / "run")).returncode == 0
    assert file.read_bytes().count(b"\n") == 4000


def test_list_and_show() -> None:
    assert "harness/Toy-v0" in hexathlon("list").stdout
    events = json.loads(hexathlon("list", "--json").stdout)
    assert {"hexathlon/SQL-v1", TOY} <= {event["id"] for event in events}
    assert "unbounded" in hexathlon("show", "Toy").stdout
    shown = json.loads(hexathlon("show", FIRST, "--json").stdout)
    assert shown["checks"] == ["toy_count"] and "params" not in shown and "canary" not in shown
    assert "add(amount: integer)" in hexathlon("show", FIRST).stdout


def test_the_doctor_names_what_is_missing_and_how_to_get_it() -> None:
    probes = json.loads(hexathlon("doctor", "--json").stdout)
    named = {probe["name"]: probe for probe in probes}
    assert {"python", "cores", "memory", "sqlite", "namespaces", "bubblewrap", "chromium"} <= set(
        named
    )
    assert named["python"]["state"] == "yes"
    assert all(probe["remedy"] for probe in probes if probe["state"] == "no")


def read_until(terminal: int, wanted: str, seen: list[str]) -> None:
    deadline = time.monotonic() + DEADLINE
    while wanted not in "".join(seen):
        left = deadline - time.monotonic()
        assert left > 0, f"waited for {wanted!r}, saw {''.join(seen)!r}"
        if select.select([terminal], [], [], left)[0]:
            seen.append(os.read(terminal, 65536).decode())


def test_play_on_a_terminal() -> None:
    terminal, other = pty.openpty()
    command = [*TOY_COMMAND, "play", "Toy", "--task", FIRST]
    process = subprocess.Popen(command, cwd=TESTS, stdin=other, stdout=other, stderr=other)
    os.close(other)
    seen: list[str] = []
    try:
        for said, expected in (
            (None, "Type /tools for their arguments"),
            ("add amount=3", "The counter stands at 3"),
            ('{"name": "add", "arguments": {"amount": 4}}', "The counter stands at 7"),
            ("/undo", "The last turn is undone"),
            ("add amount=1", "The counter stands at 4"),
            ("hello there", "That is not a tool and its arguments"),
            ("/tools", "Finish."),
            ("submit", "Not right."),
            ("", ""),
        ):
            if said is not None:
                os.write(terminal, f"{said}\n".encode())
            read_until(terminal, expected, seen)
            seen.clear()
        assert process.wait(DEADLINE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def test_play_ends_with_its_input() -> None:
    done = subprocess.run(
        [*TOY_COMMAND, "play", "Toy", "--task", FIRST],
        cwd=TESTS, input="add amount=2\n", capture_output=True, text=True, timeout=DEADLINE,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "The counter stands at 2" in done.stdout
