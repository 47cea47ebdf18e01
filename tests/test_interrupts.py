"""Ctrl-C: a process interrupted in any event and phase stops within a step and loses nothing."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from hexathlon.evaluators.records import check_chain
from hexathlon.evaluators.records.plan import read_plan
from hexathlon.tasks.seeding import generator_for
from support.chat_server import ChatServer

TESTS = Path(__file__).resolve().parent
DEADLINE = 240.0
STOPS_WITHIN = 60.0
"""Seconds from the signal to the end of the process, on a machine that is busy with other tests."""

EVENTS = ("SQL", "Shopping", "RolePlay", "Terminal", "Web", "GUI")
PHASES = ("start-up", "reset", "step", "scoring", "writing", "closing")
SHORT = (
    ("SQL", "start-up"), ("SQL", "step"), ("SQL", "scoring"), ("SQL", "writing"),
    ("SQL", "closing"), ("Shopping", "reset"), ("RolePlay", "step"), ("Terminal", "step"),
    ("GUI", "step"),
)  # fmt: skip
"""Interruptions in every test run; the slow tests make 320."""

EVALUATION = ("--tasks", "40", "--seeds", "20")


class Interrupted(NamedTuple):
    """A process that was interrupted in a phase."""

    code: int
    seconds: float
    """From the signal to the end of the process."""

    said: str
    steps_after: int
    """Steps begun after the signal."""

    recorded: list[str]
    """Hashes of the records that were written."""


def start(phase: str, number: int, journal: Path, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "support.announcing", phase, str(number), str(journal)]
    return subprocess.Popen(
        [*command, *arguments],
        cwd=TESTS,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        # Tests that a shell runs in the background inherit an ignored SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def interrupt(phase: str, number: int, delay: float, journal: Path, *arguments: str) -> Interrupted:
    """Start a command, and interrupt it `delay` seconds after the phase has begun for the n-th
    time.
    """
    process = start(phase, number, journal, *arguments)
    assert process.stdout is not None
    try:
        ready, _, _ = select.select([process.stdout], [], [], DEADLINE)
        begun = process.stdout.readline() if ready else ""
        if begun != "begun\n":
            process.kill()
            raise AssertionError(f"{phase} did not begin: {process.communicate()}")
        select.select([], [], [], delay)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        _, said = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
        process.wait()
    seconds = time.monotonic() - sent
    after = sum(float(at) > sent for at in entries(journal, "step"))
    return Interrupted(process.returncode, seconds, said, after, written(journal))


def entries(journal: Path, kind: str) -> list[str]:
    lines = journal.read_text().splitlines() if journal.exists() else []
    return [line.split()[1] for line in lines if line.startswith(kind)]


def written(journal: Path) -> list[str]:
    """The hashes of the records that a process has written."""
    return entries(journal, "record")


def assert_stopped(done: Interrupted, most_steps: int = 1, codes: tuple[int, ...] = (130,)) -> None:
    assert done.code in codes, done
    assert done.seconds < STOPS_WITHIN, done
    assert done.steps_after <= most_steps, done
    for noise in ("Traceback", "Exception ignored", "Warning", "never retrieved"):
        assert noise not in done.said, done


def assert_nothing_lost(run: Path, recorded: list[str] | None) -> None:
    """Every record that was written is there, in one chain, with at most one more.

    Without a journal (None) only the chain is checked.
    """
    if not (run / "plan.json").exists():
        assert not recorded
        return
    file = run / "records.jsonl"
    lines = file.read_bytes().splitlines() if file.exists() else []
    kept = [json.loads(line)["hash"] for line in lines]
    if recorded is not None:
        assert kept[: len(recorded)] == recorded and len(kept) - len(recorded) <= 1
    assert check_chain(run, read_plan(run)["plan_hash"]) == []


def interrupt_evaluation(folder: Path, event: str, phase: str, number: int) -> Interrupted:
    draw = generator_for("interrupts", event, phase, number)
    turn = 1 if phase == "start-up" else int(draw.integers(1, 40))
    delay = float(draw.uniform(0.0, 2.0 if phase == "start-up" else 0.03))
    limits, codes = EVALUATION, (130,)
    if phase == "closing":  # the environments close when the run is over, which can be too late
        turn, limits, codes = 1, ("--tasks", "2"), (130, 0)
    run = folder / "run"
    done = interrupt(
        phase, turn, delay, folder / "journal",
        "eval", "agent:oracle", "--envs", event, *limits, "--workers", "1", "--out", str(run),
    )  # fmt: skip
    assert_stopped(done, codes=codes)
    if done.code == 0:
        assert len(done.recorded) == 2 and "interrupted" not in done.said, done
    # The journal of a start-up is empty, but on a quiet machine the run has begun within the delay.
    assert_nothing_lost(run, None if phase == "start-up" else done.recorded)
    return done


@pytest.mark.parametrize(("event", "phase"), SHORT)
def test_an_evaluation_stops_within_a_step(tmp_path: Path, event: str, phase: str) -> None:
    interrupt_evaluation(tmp_path, event, phase, 0)


def test_a_second_interruption_ends_a_step_that_hangs(tmp_path: Path) -> None:
    run = tmp_path / "run"
    flags = ("--envs", "Toy", *EVALUATION, "--out", str(run))
    process = start("hang", 30, tmp_path / "journal", "eval", "agent:oracle", *flags)
    assert process.stdout is not None and process.stderr is not None
    try:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline() == "\n"
        assert "press Ctrl-C again" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
        process.wait()
    # The command's last line appears if the step is interrupted before the process has ended.
    assert process.returncode == 130
    assert not said or re.fullmatch("interrupted; recorded trials are kept, .*\n", said)
    assert_nothing_lost(run, written(tmp_path / "journal"))


@pytest.mark.parametrize("phase", ["executed", "replaced"])
def test_the_exit_code_is_that_of_an_interruption(tmp_path: Path, phase: str) -> None:
    process = start(phase, 0, tmp_path / "journal", "list")
    assert process.communicate(timeout=DEADLINE) == ("", "")
    assert process.returncode == 130


RECIPE = """
name = "toy"
steps = 50
save_every = 1
[tasks]
env = "harness/Toy-v0"
source = "toy"
turns = 5
[policy.shape]
vocabulary = 300
width = 32
layers = 2
heads = 2
kv_heads = 1
feed_forward = 64
context = 256
[clone]
demonstrations = 64
[clone.settings]
steps = 10
batch = 16
[rollout]
groups = 3
members = 4
max_tokens = 12
[credit.estimator]
name = "reinforce"
parameters = { baseline = 0.5 }
[evaluation]
tasks = 4
every = 2
"""
CLONING_STEPS = 10


def interrupt_training(folder: Path, phase: str, number: int) -> Interrupted:
    draw = generator_for("interrupts", "training", phase, number)
    recipe, out = folder / "toy.toml", folder / "run"
    recipe.write_text(RECIPE)
    turn = int(draw.integers(1, CLONING_STEPS if phase == "cloning" else 12))
    done = interrupt(
        phase, turn + (CLONING_STEPS if phase == "update" else 0), float(draw.uniform(0.0, 0.3)),
        folder / "journal", "train", str(recipe), "--out", str(out),
    )  # fmt: skip
    assert_stopped(done)
    for state in (out / "states").glob("*"):
        assert state.name.isdigit() and (state / "state.json").exists()
    for name in ("before", "after"):
        if (out / name / "records.jsonl").exists():
            assert check_chain(out / name, read_plan(out / name)["plan_hash"]) == []
    return done


def test_training_stops_within_a_step(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")
    interrupt_training(tmp_path, "rollout", 0)


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as served:
        yield served


def interrupt_endpoint(folder: Path, server: ChatServer, model: str, number: int) -> Interrupted:
    draw = generator_for("interrupts", model, number)
    run = folder / "run"
    done = interrupt(
        "request", int(draw.integers(1, 60)), float(draw.uniform(0.0, 0.05)), folder / "journal",
        "eval", f"endpoint:{server.url}#{model}", "--envs", "Toy", *EVALUATION,
        "--dialect", "json", "--concurrency", "8", "--out", str(run),
    )  # fmt: skip
    assert_stopped(done, most_steps=8)
    assert_nothing_lost(run, done.recorded)
    return done


@pytest.mark.parametrize("model", ["solver", "slow"])
def test_trials_that_wait_for_a_model_stop_at_once(
    tmp_path: Path, server: ChatServer, model: str
) -> None:
    interrupt_endpoint(tmp_path, server, model, 0)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("repeat", range(1, 9))
def test_forty_interruptions(tmp_path: Path, server: ChatServer, repeat: int) -> None:
    """Eight parts, in all ten minutes of processor time; each lists those that failed."""
    failed, taken = [], []

    def attempt(what: str, interrupted: Callable[[Path], Interrupted]) -> None:
        folder = tmp_path / str(len(taken))
        folder.mkdir()
        try:
            taken.append(interrupted(folder).seconds)
        except AssertionError as error:
            taken.append(0.0)
            failed.append(f"{what}: {error}")

    for event in EVENTS:
        for phase in PHASES:
            evaluation = partial(interrupt_evaluation, event=event, phase=phase, number=repeat)
            attempt(f"{event} {phase} {repeat}", evaluation)
    endpoint = partial(interrupt_endpoint, server=server, model="solver", number=repeat)
    attempt(f"endpoint {repeat}", endpoint)
    for phase in ("cloning", "rollout", "update"):
        training = partial(interrupt_training, phase=phase, number=repeat)
        attempt(f"training {phase} {repeat}", training)
    sys.stdout.write(f"{len(taken) - len(failed)} of {len(taken)}, at most {max(taken):.1f} s\n")
    assert len(taken) == 40 and not failed, "\n".join(failed)
