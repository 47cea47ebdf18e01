"""`play --jsonl`: a program plays, one line in and one line out."""

import doctest
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hexathlon.baselines.harness.environments import find_environment
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.taskset import TaskSet
from hexathlon_cli.app import run
from hexathlon_cli.playing import jsonl
from hexathlon_cli.playing.choice import TaskChoice, TaskQueue

COMMAND = (sys.executable, "-m", "hexathlon")
SECRETS = ("sql/", "filter_rows", "score", "reward", "terms", "hash", "gold", "canary", "seed")


class LinePlayer:
    """A program at the other end of the pipes."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "play", *arguments, "--jsonl"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.heard: list[str] = []

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        self.heard.append(self.process.stdout.readline())
        reply: dict[str, Any] = json.loads(self.heard[-1])
        return reply

    def say(self, line: object) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line if isinstance(line, str) else json.dumps(line)}\n")
        self.process.stdin.flush()
        return self.hear()

    def end(self) -> tuple[int, str, str]:
        said, complaints = self.process.communicate(timeout=60)
        return self.process.returncode, said, complaints


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def test_one_line_in_and_one_line_out_and_the_verdict_only_in_a_file(tmp_path: Path) -> None:
    """The first task is solved by the oracle, the second answered wrongly, the third left
    unfinished.
    """
    verdicts = tmp_path / "verdicts.jsonl"
    first = TaskSet("sql", "test", "tiny").task_id(0)
    task = get_source("sql").build(first)
    options = ("--task", first, "--tasks", "3", "--verdicts", str(verdicts))
    player = LinePlayer("SQL", *options)
    opening = player.hear()
    assert set(opening) == {"task", "tasks", "system_prompt", "tools", "observation", "done"}
    assert (opening["task"], opening["tasks"], opening["done"]) == (1, 3, False)
    assert opening["observation"] == task.instruction
    assert [tool["name"] for tool in opening["tools"]] == [tool.name for tool in task.tools]
    script = get_source("sql").oracle(task)
    action = next(script)
    while True:
        reply = player.say(action)
        if reply["done"]:
            break
        action = script.send(reply["observation"])
    assert reply["left"] == 2
    assert "over" in player.say(call("list_tables"))["error"]
    assert player.say("no JSON")["error"].startswith("the line is not JSON: expected")
    assert player.say('"next"')["task"] == 2
    assert player.say('"I do not know."')["turn"] == 1, "prose is a turn"
    assert "error" in player.say("5")
    assert player.say(call("submit", sql="SELECT 1"))["done"]
    assert player.say('"next"')["task"] == 3
    player.say(call("list_tables"))
    assert player.end() == (0, "", "")
    rows = [json.loads(line) for line in verdicts.read_text("utf-8").splitlines()]
    assert [(row["task"], row["id"], row["score"]) for row in rows] == [
        (1, first, 1.0), (2, first, 0.0), (3, first, 0.0),
    ]  # fmt: skip
    told = "".join(player.heard).replace(json.dumps(opening["system_prompt"]), "")
    assert not [word for word in SECRETS if word in told]


def test_a_seed_fixes_the_tasks() -> None:
    def openings(seed: str) -> list[str]:
        kind = ("--level", "tiny", "--template", "filter_rows")
        player = LinePlayer("SQL", *kind, "--seed", seed, "--tasks", "2")
        player.hear()
        player.say(call("submit", sql="SELECT 1"))
        player.say('"next"')
        assert player.say(call("submit", sql="SELECT 1"))["left"] == 0
        assert player.end()[0] == 0
        return player.heard

    assert openings("4") == openings("4")
    assert openings("4") != openings("5")


def test_no_task_of_a_finite_set_comes_twice(tmp_path: Path) -> None:
    """More tasks are requested than there are: all are played, and a note says so."""
    verdicts = tmp_path / "verdicts.jsonl"
    options = ("--taskset", "chinook", "--tasks", "5000", "--verdicts", str(verdicts))
    player = LinePlayer("SQL", *options, "--seed", "1")
    opening = player.hear()
    assert opening["tasks"] == 37
    while player.say(call("submit", sql="SELECT 1"))["left"]:
        player.say('"next"')
    code, _, complaints = player.end()
    assert code == 0
    assert complaints == (
        "chinook:test has 37 tasks, fewer than the 5,000 requested; all of them are played\n"
    )
    rows = [json.loads(line) for line in verdicts.read_text("utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len(rows) == 37


def test_the_tasks_of_a_template_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    info = find_environment("SQL")
    queue = TaskQueue(info, TaskChoice(None, None, "dev", "tiny", "filter_rows", "en", 3))
    count = queue.at_most(100_000)
    said = f"sql:dev:tiny has {count:,} tasks of templates 'filter_rows'…, fewer than the 100,000"
    assert said in capsys.readouterr().err
    drawn = [queue.options(number)["task"] for number in range(3)]
    assert len(set(drawn)) == 3 and all("/filter_rows" in task for task in drawn)


def test_verdicts_that_cannot_be_written_are_an_error() -> None:
    player = LinePlayer("SQL", "--level", "tiny", "--verdicts", "/dev/full")
    player.hear()
    code, said, complaints = player.end()
    assert (code, said) == (1, "")
    assert complaints == "error: cannot write the verdicts /dev/full: no space left on device\n"


def test_the_options_of_programs_are_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["play", "SQL", "--tasks", "3"]) == 1
    assert "need --jsonl" in capsys.readouterr().err
    assert run(["play", "SQL", "--jsonl", "--verdicts", "/nowhere/file"]) == 1
    assert "cannot write the verdicts /nowhere/file" in capsys.readouterr().err
    assert run(["play", "SQL", "--jsonl", "--split", "heldout"]) == 1
    assert "Known: train, dev, test" in capsys.readouterr().err


def test_examples_hold() -> None:
    assert doctest.testmod(jsonl).failed == 0


@pytest.mark.parametrize("event", ["Web", "GUI"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_tasks_come_in_the_chosen_language(event: str, language: str) -> None:
    for seed in range(4):
        choice = TaskChoice(None, None, "test", "easy", "", language, seed)
        task_id = TaskQueue(find_environment(event), choice).options(0)["task"]
        text = get_source(event.lower()).build(task_id).instruction
        chinese = sum("\u4e00" <= letter <= "\u9fff" for letter in text)
        assert (chinese > len(text) / 4) == (language == "zh")
