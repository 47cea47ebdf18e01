"""Comparison of a probe's output with the expected one."""

import pytest

from hexathlon.tasks.terminal.judging import difference


@pytest.mark.parametrize(
    ("expect", "code", "output", "found"),
    [
        ({"text": "a\nb"}, 0, b"a\nb\n\n", ""),
        ({"text": "a\nb\n"}, 0, b"a\nb ", "text"),
        ({"text": "a"}, 1, b"a", "exit"),
        ({"text": "a", "exit": 3}, 3, b"a", ""),
        ({"exit": "nonzero"}, 0, b"", "exit"),
        ({"exit": "nonzero"}, 9, b"", ""),
        ({"text": ""}, 0, b"\xff", "encoding"),
        ({"lines": ["b", "a"]}, 0, b"a\nb\n", ""),
        ({"lines": ["b", "a"]}, 0, b"a\nb\nb\n", "lines"),
        ({"json": {"x": [1, 2.0]}}, 0, b'{"x": [1.0, 2]}', ""),
        ({"json": {"x": 1}}, 0, b'{"x": true}', "json"),
        ({"json": {"x": None}}, 0, b'{"x": 0}', "json"),
        ({"json": {"x": 1}}, 0, b'{"x": 1, "y": 2}', "json"),
        ({"json": [1]}, 0, b"[1", "not_json"),
        ({"json": [1]}, 0, b"[" * 100_000, "not_json"),
        ({"number": 5}, 0, b" 5.0\n", ""),
        ({"number": 5}, 0, b"5 or 6", "not_a_number"),
        ({"number": 5}, 0, b"nan", "number"),
        ({"number": 5, "tolerance": 0.5}, 0, b"5.4", ""),
    ],
)
def test_difference(expect, code, output, found):
    assert difference(expect, code, output) == found
