"""Tables in the terminal: words and numbers are not broken where there is room for them."""

import re

import pytest

from hexathlon.baselines.harness.tables import ReportTable
from hexathlon_cli.output import print_table

SCORES = ReportTable(
    "Score of agent:noisy:0.2",
    ("event", "tasks", "trials", "score", "95% interval", "floor", "ceiling", "norm.", "partial"),
    tuple(
        (name, "16", "16", "81.2%", "43.9…100.0%", "0.0% random", "100.0%", "100.0%", "95.1%")
        for name in ("RolePlay v0", "Shopping v0")
    ),
)


def printed(columns: int, capsys: pytest.CaptureFixture[str], monkeypatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # as on a terminal, whatever reads the output
    print_table(SCORES)
    plain = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    return [line.rstrip() for line in plain.splitlines()]


def test_a_wide_terminal_gets_a_line_for_each_row(capsys, monkeypatch) -> None:
    lines = printed(120, capsys, monkeypatch)
    for row in SCORES.rows:
        assert [line.split() for line in lines].count(" ".join(row).split()) == 1


def test_the_scores_fit_eighty_columns_without_broken_words(capsys, monkeypatch) -> None:
    lines = printed(80, capsys, monkeypatch)
    assert max(map(len, lines)) <= 80
    words = {word for line in lines for word in line.split()}
    for row in (SCORES.headings, *SCORES.rows):
        assert {word for cell in row for word in cell.split()} <= words
