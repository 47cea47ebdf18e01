"""Input typed into `hexathlon play`, and the resulting action."""

import json

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon_cli.app import run
from hexathlon_cli.playing.calls import ReadingProblem, read_line

TOOLS = {
    "run_query": {"properties": {"sql": {"type": "string"}}, "required": ["sql"]},
    "sample": {
        "properties": {"table": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["table"],
    },
    "move": {
        "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
        "required": ["x", "y"],
    },
    "list_tables": {"type": "object"},
}
LISTING = [
    {"name": name, "description": "", "parameters": schema} for name, schema in TOOLS.items()
]


@pytest.mark.parametrize(
    ("line", "name", "arguments"),
    [
        ("list_tables", "list_tables", {}),
        ("run_query SELECT 1", "run_query", {"sql": "SELECT 1"}),
        (
            "run_query sql=SELECT a FROM t WHERE b = 2",
            "run_query",
            {"sql": "SELECT a FROM t WHERE b = 2"},
        ),
        ("run_query SELECT a FROM t WHERE b=2", "run_query", {"sql": "SELECT a FROM t WHERE b=2"}),
        ("run_query sql=1", "run_query", {"sql": "1"}),
        ("sample track", "sample", {"table": "track"}),
        ("sample table=play list limit=3", "sample", {"table": "play list", "limit": 3}),
        ("sample limit=many table=a", "sample", {"limit": "many", "table": "a"}),
        ("move x=1.5 y=-2", "move", {"x": 1.5, "y": -2}),
        ("list", "list_tables", {}),
    ],
)
def test_a_line_becomes_a_call(line: str, name: str, arguments: dict[str, object]) -> None:
    assert json.loads(read_line(line, LISTING, {})) == {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    "line",
    ["hello there", "I would move it", '{"name": "x", "arguments": {}}', "say list_tables"],
)
def test_anything_else_is_passed_on_as_typed(line: str) -> None:
    assert read_line(line, LISTING, {}) == line


def test_missing_arguments_are_named_with_both_ways_to_type_them() -> None:
    with pytest.raises(ReadingProblem, match=r"missing: y\. Type move X Y or move x=… y=…"):
        read_line("move 1", LISTING, {})
    with pytest.raises(ReadingProblem, match=r"Type run_query SQL$"):
        read_line("run_query", LISTING, {})


@pytest.mark.parametrize("line", ["run_query", "move somewhere", "list_tables now"])
def test_arguments_a_tool_cannot_take_are_rejected_and_not_sent(line: str) -> None:
    with pytest.raises(ReadingProblem):
        read_line(line, LISTING, {})


def test_a_set_without_training_tasks_is_played_from_its_test_split(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = iter(["/nowhere", "/task", "run_query SELECT COUNT(*) AS n FROM Genre", "/quit"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    assert run(["play", "SQL", "--taskset", "chinook", "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("Task chinook/") == 2
    assert "There is no command '/nowhere'" in shown
    assert "n\n25\n(1 row)" in shown


def test_missing_data_is_named_with_exit_code_4(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HEXATHLON_DATA", raising=False)
    monkeypatch.setattr(get_source("spider"), "_items", {})  # files that other tests have read
    assert run(["play", "SQL", "--taskset", "spider"]) == 4
    assert run(["play", "SQL", "--task", "spider/x/easy/dev/00001"]) == 4
    assert capsys.readouterr().err.count("set HEXATHLON_DATA") == 2


SHELL = [
    {"name": "run", "parameters": {"properties": {"command": {"type": "string"}}}},
    {
        "name": "write_file",
        "parameters": {
            "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
            "required": ["path", "text"],
        },
    },
]


@pytest.mark.parametrize(
    ("line", "name", "arguments"),
    [
        ("ls", "run", {"command": "ls"}),
        ("file a | sort -k1 #2", "run", {"command": "file a | sort -k1 #2"}),
        ("run x=1; echo $x", "run", {"command": "x=1; echo $x"}),
        ("write_file /app/a.txt two words", "write_file",
         {"path": "/app/a.txt", "text": "two words"}),
    ],
)  # fmt: skip
def test_plain_lines_go_to_their_tool(line, name, arguments) -> None:
    assert json.loads(read_line(line, SHELL, {}, "run")) == {"name": name, "arguments": arguments}
