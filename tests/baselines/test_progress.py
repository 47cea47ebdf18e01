"""Progress is silent at first, a bar on a terminal, lines in a log."""

import io

import pytest

from hexathlon.baselines.harness import progress as progress_module
from hexathlon.baselines.harness.progress import Progress, Waiting, log_interval


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_short_operation_is_silent() -> None:
    clock, stream = Clock(), Terminal()
    with Progress("playing", 10, stream, clock) as progress:
        clock.now = 1.1
        progress.advance()
    assert (stream.getvalue(), progress.done) == ("", 1)


def test_log_gets_periodic_lines() -> None:
    clock, stream = Clock(), io.StringIO()
    with Progress("playing", 1000, stream, clock) as progress:
        for second in range(60):
            clock.now = float(second)
            progress.advance("3 passed")
    lines = stream.getvalue().splitlines()
    assert lines == [f"playing: {n} of 1,000 3 passed" for n in range(3, 61, 2)]


def test_terminal_gets_a_transient_bar() -> None:
    clock, stream = Clock(), Terminal()
    with Progress("playing", 4, stream, clock) as progress:
        clock.now = 3.0
        for _ in range(3):
            progress.advance("2 passed")
        progress._bar.refresh()
        assert "playing" in stream.getvalue()
    assert progress.done == 3
    assert stream.getvalue().endswith("\x1b[2K")  # the line is erased


def test_a_bar_may_learn_its_total_later() -> None:
    clock, stream = Clock(), Terminal()
    with Progress("playing", None, stream, clock) as progress:
        clock.now = 3.0
        progress.advance()
        progress.total = 7
        progress.advance()
        progress._bar.refresh()
        assert "2/7" in stream.getvalue()


def test_a_terminal_gets_the_bar_before_a_long_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "_QUIET", 0.05)
    stream = Terminal()
    with Progress("playing", 4, stream) as progress:
        assert progress._timer is not None
        progress._timer.join()
        progress._bar.refresh()
        assert "playing" in stream.getvalue() and "0/4" in stream.getvalue()
        progress.advance()
        progress._bar.refresh()
        assert "1/4" in stream.getvalue()
    quick = Terminal()
    with Progress("playing", 4, quick) as progress:
        pass
    assert progress._timer is not None
    progress._timer.join()
    assert quick.getvalue() == ""


def test_a_long_run_logs_less_often() -> None:
    assert [log_interval(seconds) for seconds in (0, 60, 120, 300, 3600)] == [2, 2, 2, 5, 15]


def test_a_long_wait_is_named_once_and_a_short_one_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Waiting("opening a model", seconds=60.0):
        pass
    assert capsys.readouterr().err == ""
    with Waiting("opening a model", seconds=0.0) as waiting:
        waiting.join()
    assert capsys.readouterr().err == "opening a model …\n"
