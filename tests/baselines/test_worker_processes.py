"""Work distributed over processes: order, errors, interruptions, lost processes."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexathlon.baselines.agents.base import AgentMismatch
from hexathlon.baselines.engines.served.settings import usable_cores
from hexathlon.baselines.harness.config import load_config
from hexathlon.baselines.harness.errors import CommandError, UsageError
from hexathlon.baselines.harness.processes import processes_for, workers_of
from hexathlon.baselines.harness.rescore import rescore_run
from hexathlon.baselines.harness.run import evaluate
from hexathlon.baselines.harness.selftest import run_selftest
from hexathlon.baselines.harness.verify import verify_run
from hexathlon.baselines.rollout.processes import ProcessLost, WorkerProcesses, working
from hexathlon.baselines.rollout.rollout import FatalError
from hexathlon.evaluators.records import check_chain
from hexathlon.evaluators.records.plan import read_plan
from support.events import records


class Squares:
    """Squares numbers; some of them do something else."""

    def __call__(self, item: int) -> int:
        if item == -1:
            raise FatalError("no more squares") from AgentMismatch("minus one")
        if item == -2:
            os.kill(os.getpid(), signal.SIGKILL)
        return item * item

    def close(self) -> None:
        """Nothing to release."""


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerProcesses[int, int]]:
    with WorkerProcesses[int, int](2, Squares) as processes:
        yield processes


def test_results_come_in_order_and_items_are_taken_lazily(pool) -> None:
    taken = []

    def items():
        for number in range(300):
            taken.append(number)
            yield number

    results = []
    for result in pool.ordered(items(), ahead=5):
        results.append(result)
        assert len(taken) <= len(results) + 5
    assert results == [number * number for number in range(300)]


class Places(Squares):
    """Returns the process of each item."""

    def __call__(self, item: int) -> int:
        return os.getpid()


def test_items_of_a_group_go_to_one_process() -> None:
    with WorkerProcesses[int, int](2, Places) as processes:
        places = list(processes.ordered(range(400), group=lambda item: item // 10))
    assert len(set(places)) == 2
    groups = [set(places[first : first + 10]) for first in range(0, 400, 10)]
    assert sum(len(found) > 1 for found in groups) <= 2, "only the last of each process is shared"


def test_few_items_ahead_are_not_grouped(pool) -> None:
    """Otherwise all processes but one would wait."""
    results = pool.ordered(range(100), ahead=2, group=lambda item: 0)
    assert list(results) == [number * number for number in range(100)]


def test_an_error_arrives_with_its_cause(pool) -> None:
    with pytest.raises(FatalError, match="no more squares") as caught:
        list(pool.ordered([-1]))
    assert isinstance(caught.value.__cause__, AgentMismatch)
    assert list(pool.ordered([3])) == [9]


def test_a_killed_process_is_named() -> None:
    with (
        WorkerProcesses[int, int](2, Squares) as processes,
        pytest.raises(ProcessLost, match=r"process \d+ was killed by SIGKILL.*fewer --workers"),
    ):
        list(processes.ordered([1, 2, -2, 3, 4, 5, 6]))


def test_one_worker_stays_in_this_process() -> None:
    with working(Squares, 1) as ordered:
        assert list(ordered([2, 3])) == [4, 9]


def test_numbers_of_processes() -> None:
    assert workers_of(4, 100) == 4
    assert workers_of(4, 3) == 3
    assert workers_of(0, 10) == 1
    assert workers_of(0, 100_000) == usable_cores()
    assert workers_of(0, 100_000, ["toy/Toy-v0"]) == 1


def played(run: Path, workers: int, **flags):
    settings = {"model": "agent:random", "envs": ("SQL", "RolePlay"), "tasks": 8, "fsync": "never"}
    config, execution = load_config({**settings, **flags, "workers": workers})
    return evaluate(config, execution, run, open_players=processes_for)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    assert played(place / "one", 1).played == 16
    assert played(place / "two", 2).played == 16
    return place


def plain(run: Path):
    assert check_chain(run, read_plan(run)["plan_hash"]) == []
    return [{**record, "timing": None} for record in records(run)]


def test_two_processes_write_the_records_of_one(runs: Path) -> None:
    assert plain(runs / "two") == plain(runs / "one")


def test_two_processes_verify_and_rescore_as_one_does(runs: Path, tmp_path: Path) -> None:
    one, two = [verify_run(runs / "one", workers=count) for count in (1, 2)]
    assert one == two
    assert one.sound
    assert one.replayed == 16
    first, second = [
        rescore_run(runs / "two", tmp_path / f"{count}", workers=count) for count in (1, 2)
    ]
    assert (first.records, first.changes) == (second.records, second.changes) == (16, 0)
    assert plain(tmp_path / "1") == plain(tmp_path / "2")


def test_two_processes_test_an_event_as_one_does() -> None:
    one, two = [
        run_selftest("Shopping", 16, workers=count, kinds=["oracle", "mutants"]) for count in (1, 2)
    ]
    assert one == two


def test_processes_are_not_for_models(tmp_path: Path) -> None:
    from support.chat_server import ChatServer

    with ChatServer() as server, pytest.raises(UsageError, match=r"--workers is for built-in"):
        played(tmp_path / "run", 2, model=f"endpoint:{server.url}#scripted", dialect="json")


def test_a_run_whose_process_was_killed_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hexathlon.baselines.rollout import processes

    sent = processes.WorkerProcesses._send
    count = 0

    def send(self, index, item):
        nonlocal count
        count += 1
        if count == 6:
            self._processes[index].kill()
            self._processes[index].join(60)
        sent(self, index, item)

    with monkeypatch.context() as patch:
        patch.setattr(processes.WorkerProcesses, "_send", send)
        with pytest.raises(CommandError, match="was killed by SIGKILL.*resume"):
            played(tmp_path / "run", 2)
    assert len(records(tmp_path / "run")) < 16
    assert played(tmp_path / "run", 2).recorded == 16


def test_an_interruption_ends_the_processes(tmp_path: Path) -> None:
    from hexathlon.baselines.rollout import processes

    seen = []
    received = processes.WorkerProcesses._received

    def receive(self, index):
        result = received(self, index)
        seen.extend(self._processes)
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGINT)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes.WorkerProcesses, "_received", receive)
        # A process started in the background of a script ignores the signal.
        previous = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                played(tmp_path / "run", 2, tasks=50)
        finally:
            signal.signal(signal.SIGINT, previous)
    assert seen
    for process in seen:
        with pytest.raises(ValueError, match="closed"):
            process.is_alive()  # it was joined and closed
    assert len(records(tmp_path / "run")) < 100
    assert check_chain(tmp_path / "run", read_plan(tmp_path / "run")["plan_hash"]) == []
