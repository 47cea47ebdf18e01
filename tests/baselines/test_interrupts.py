"""Interruptions that Python would lose, and runs that stop between two steps."""

import asyncio
import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hexathlon.baselines import interrupts
from hexathlon.baselines.harness.config import ExecutionConfig, load_config
from hexathlon.baselines.harness.run import evaluate
from hexathlon.envs.base import Environment
from hexathlon.tasks.sql.world.backends.base import QueryLimits
from hexathlon.tasks.sql.world.backends.choice import open_database
from hexathlon.tasks.sql.world.backends.connection import SqliteConnection, _Watch
from hexathlon.tasks.sql.world.backends.guards import Authorizer
from hexathlon.tasks.sql.world.backends.sqlite import _pool
from support.events import records


@pytest.fixture(autouse=True)
def raising() -> Iterator[None]:
    """Tests that a shell runs in the background inherit an ignored SIGINT."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, previous)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def interrupt_process() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Finalized:
    def __del__(self) -> None:
        interrupt()


def first(owner: type, name: str, act: Callable[[], Any], patch: pytest.MonkeyPatch) -> list[int]:
    """Make the first call of a method run `act` first; return the list of calls."""
    calls = [0]
    original = getattr(owner, name)

    def called(*arguments: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] == 1:
            act()
        return original(*arguments, **named)

    patch.setattr(owner, name, called)
    return calls


def play(folder: Path) -> None:
    flags = {"model": "agent:oracle", "envs": ("SQL",), "level": "tiny", "tasks": 4}
    evaluate(load_config(flags)[0], ExecutionConfig(fsync="never"), folder)


@pytest.mark.parametrize(
    ("owner", "method", "act"),
    [
        (_Watch, "__call__", interrupt),
        (Authorizer, "__call__", interrupt),
        (Environment, "step", Finalized),
    ],
    ids=["progress handler", "authorizer", "finalizer"],
)
def test_an_interruption_inside_a_callback_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, method: str, act: Any
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    _pool.clear()  # so that statements are compiled again
    with monkeypatch.context() as patch:
        calls = first(owner, method, act, patch)
        with pytest.raises(KeyboardInterrupt):
            play(broken)
    assert calls[0] and len(records(broken)) < 4
    play(broken)
    play(whole)
    kept, expected = ([{**row, "timing": 0} for row in records(run)] for run in (broken, whole))
    assert kept == expected


@pytest.mark.parametrize("owner", [_Watch, Authorizer])
def test_a_statement_passes_on_what_sqlite_drops(
    monkeypatch: pytest.MonkeyPatch, owner: type
) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE numbers (value)")
        rows = [(number,) for number in range(1000)]
        connection.executemany("INSERT INTO numbers VALUES (?)", rows)
        connection.commit()
        image = connection.serialize()
    with closing(SqliteConnection(image)) as connection:
        calls = first(owner, "__call__", interrupt, monkeypatch)
        statement = "SELECT sum(a.value * b.value) FROM numbers AS a, numbers AS b"
        with pytest.raises(KeyboardInterrupt):
            connection.run(statement, QueryLimits())
        assert calls[0]
        assert connection.run("SELECT count(*) FROM numbers", QueryLimits()).rows == [(1000,)]


def test_a_statement_on_duckdb_passes_a_signal_on() -> None:
    pytest.importorskip("duckdb", reason="pip install 'hexathlon[duckdb]'")
    params = {"database": {"kind": "tables", "tables": [
        {"name": "numbers", "columns": [["value", "INTEGER"]], "rows": [[n] for n in range(1000)]}
    ]}}  # fmt: skip
    with closing(open_database(params, "duckdb")) as database:
        many = ", ".join(f"numbers AS t{number}" for number in range(5))
        statement = f"SELECT sum(t0.value * t1.value % 7) FROM {many}"
        database.run("SELECT 1", QueryLimits(seconds=60.0))  # loads the tables
        timer = threading.Timer(0.5, interrupt_process)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            database.run(statement, QueryLimits(seconds=60.0))
        timer.join()


def test_deferred_waits_for_a_check() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts.deferred():
        with interrupts.deferred():
            interrupt()
            reached.append("end of the inner block")
        interrupts.check()
        reached.append("never")
    assert reached == ["end of the inner block"]
    interrupts.check()  # the flag is cleared with the block


def test_the_end_of_a_deferring_block_raises() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts.deferred():
        interrupt()


def test_a_second_interruption_is_raised_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts.deferred():
        interrupt()
        interrupt()
        raise AssertionError("the second signal was not raised")


def test_a_flag_of_the_previous_handler_is_noticed_and_passed_on() -> None:
    class Remembering:
        requested = False

        def __call__(self, number: int, frame: Any) -> None:
            raise AssertionError("a deferred signal reached the previous handler")

    handler = Remembering()
    signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.deferred():
            interrupt()
        assert handler.requested
        with pytest.raises(KeyboardInterrupt), interrupts.deferred():
            interrupts.check()  # as if the command's own exception had been swallowed
            raise AssertionError("the flag was not noticed")
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_process_that_ignores_the_signal_keeps_ignoring_it() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts.deferred():
            interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_other_threads_are_not_affected() -> None:
    raised: list[BaseException] = []

    def work() -> None:
        try:
            with interrupts.deferred():
                interrupts.check()
        except BaseException as error:
            raised.append(error)

    with pytest.raises(KeyboardInterrupt), interrupts.deferred():
        interrupt()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert raised == []


def test_a_waiting_coroutine_is_cancelled_and_cleans_up() -> None:
    cleaned = []

    async def waits() -> None:
        try:
            asyncio.get_running_loop().call_later(0.01, interrupt)
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    with pytest.raises(KeyboardInterrupt):
        interrupts.run(waits())
    assert cleaned == [True]


def test_a_coroutine_that_swallows_its_cancellation_stops_at_the_next_check() -> None:
    async def stubborn() -> None:
        interrupt()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            interrupts.check()
        raise AssertionError("the check let it pass")

    with pytest.raises(KeyboardInterrupt):
        interrupts.run(stubborn())


def test_work_submitted_after_the_interruption_is_not_started() -> None:
    async def work() -> None:
        raise AssertionError("this was begun after the interruption")

    with pytest.raises(KeyboardInterrupt), interrupts.deferred():
        interrupt()
        interrupts.run(work())


def test_a_cancellation_with_another_cause_stays_a_cancellation() -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        interrupts.run(cancelled())


def test_a_runner_is_used_again() -> None:
    async def interrupted() -> None:
        interrupt()
        await asyncio.sleep(60)

    async def answer() -> int:
        return 42

    with asyncio.Runner() as runner:
        with pytest.raises(KeyboardInterrupt):
            interrupts.run(interrupted(), runner)
        assert interrupts.run(answer(), runner) == 42
