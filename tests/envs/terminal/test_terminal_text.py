"""Command output as shown to the agent."""

import pytest

from hexathlon.envs.sandbox.execution import Execution, Screen
from hexathlon.envs.sandbox.limits import Stop
from hexathlon.envs.terminal.text import clean, execution_text, screen_text


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"plain\n\ttab\n", "plain\n\ttab\n"),
        (b"\x1b[31mred\x1b[0m \x1b]0;title\x07x", "red x"),
        (b"10%\r55%\r100%\ndone\r\n", "100%\ndone\n"),
        (b"bell\x07 null\x00", "bell^G null^@"),
        ("é\x9b €".encode(), "é<9b> €"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\x1b(Bset", "set"),
    ],
)
def test_output_is_cleaned(data, shown):
    assert clean(data) == shown


def test_exit_status_and_reasons():
    assert execution_text(Execution(b"out", 0, 0.1)) == "out\n[exit status 0]"
    assert execution_text(Execution(b"", 3, 0.1)) == "[exit status 3]"
    late = Execution(b"a\n", 137, 9.0, stop=Stop.TIME)
    assert execution_text(late) == "a\n[exit status 137; stopped at its time limit]"
    gone = Execution(b"", None, 1.0, stop=Stop.SHELL_ENDED, restarted=True)
    assert execution_text(gone) == (
        "[the shell ended; a new shell was started, its variables and jobs are gone]"
    )


@pytest.mark.parametrize("stop", list(Stop))
def test_every_stop_has_words(stop):
    shown = execution_text(Execution(b"", 1, 0.0, stop=stop))
    assert shown.startswith("[exit status 1; ") and len(shown) > 20


def test_cut_output_is_counted_at_the_cut():
    cut = Execution(b"headtail", 0, 0.1, cut_at=4, cut_bytes=1_234_567)
    assert execution_text(cut) == "head\n[… 1,234,567 bytes cut …]\ntail\n[exit status 0]"


def test_a_screen_shows_the_cursor_position():
    assert screen_text(Screen(("a", "", "b"), 2, 1)) == "a\n\nb\n[cursor in row 3, column 2]"
