"""Figures of pages as text."""

import pytest

from hexathlon.leaderboard import figures


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, "\u2013"), (0.0, "0.0"), (0.1234, "12.3"), (1.0, "100.0"), (-0.25, "\u221225.0")],
)
def test_percent(share, text):
    assert figures.percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "\u2013"), (0, "0"), (0.123, "0.12"), (7, "7"), (940.2, "940"), (1234, "1.2k"),
     (23_456, "23k"), (3_400_000, "3.4M")],
)  # fmt: skip
def test_amount(value, text):
    assert figures.amount(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "\u2013"), (0, "0 ms"), (0.0002, "< 1 ms"), (0.25, "250 ms"), (2.5, "2.5 s"),
     (140, "140 s")],
)  # fmt: skip
def test_seconds(value, text):
    assert figures.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "\u2013"), (0, "$0.00"), (0.0123, "$0.012"), (1.5, "$1.50")]
)
def test_money(value, text):
    assert figures.money(value) == text
