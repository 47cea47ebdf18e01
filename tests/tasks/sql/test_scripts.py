"""Scripts: tool calls that fit the task's own tool schemas, in a sensible order."""

import json

import pytest

from hexathlon.tasks.source import play
from hexathlon.tasks.sql.bench import bench_for
from hexathlon.tasks.sql.screening import same_answer
from hexathlon.tasks.sql.source import source
from hexathlon.tasks.task import Task

SOURCE = source()
TASKS = [SOURCE.address("dev", index) for index in range(0, 180, 12)]
ASKING = ["sql/ask_period/easy/dev/00000", "sql/ask_measure/medium/dev/00001"]
TWINS = ["sql/held_first/easy/dev/00000", "sql/term_second/hard/dev/00000"]
WRITES = ["sql/write_reassign/easy/dev/00000", "sql/script_update_join/easy/dev/00000"]


def calls(script, answer: str = "fine") -> list[dict]:
    seen: list[dict] = []

    def respond(text: str) -> str | None:
        seen.append(json.loads(text))
        return None if seen[-1]["name"].startswith("submit") else answer

    play(script, respond)
    return seen


def check_calls(task: Task, made: list[dict]) -> None:
    tools = {tool.name: tool.parameters for tool in task.tools}
    for call in made:
        assert call["name"] in tools, call["name"]
        parameters = tools[call["name"]]
        assert set(parameters.get("required", ())) <= set(call["arguments"])
        assert set(call["arguments"]) <= set(parameters["properties"])
    assert made[-1]["name"].startswith("submit")
    assert len(made) <= task.limits.turns


@pytest.mark.parametrize("task_id", [*TASKS, *ASKING, *TWINS, *WRITES])
def test_every_script_uses_the_tasks_tools_and_ends_with_a_submission(task_id: str):
    task = SOURCE.build(task_id)
    check_calls(task, calls(SOURCE.oracle(task)))
    alternatives, mutants = SOURCE.alternatives(task), SOURCE.mutants(task)
    assert alternatives
    assert len(mutants) >= 3
    for script in (*alternatives.values(), *mutants.values(), *SOURCE.policies(task).values()):
        check_calls(task, calls(script))


def test_the_oracle_looks_before_it_answers():
    made = calls(SOURCE.oracle(SOURCE.build("sql/group_sum/hard/dev/00000")))
    names = [call["name"] for call in made]
    assert names[0] == "list_tables"
    assert "describe_table" in names and "read_document" in names
    assert names[-2:] == ["run_query", "submit"]


@pytest.mark.parametrize("task_id", ASKING)
def test_the_oracle_asks_for_open_slots_and_again_without_an_answer(task_id: str):
    task = SOURCE.build(task_id)
    ((_, slot),) = task.params["user"]["slots"].items()
    told = [call["name"] for call in calls(SOURCE.oracle(task), f"It is {slot['value']}.")]
    untold = [call["name"] for call in calls(SOURCE.oracle(task), "What?")]
    assert told.count("ask_user") == 1
    assert untold.count("ask_user") == 2


@pytest.mark.parametrize("task_id", ASKING)
def test_the_open_slot_is_not_in_the_question_and_its_question_is_understood(task_id: str):
    task = SOURCE.build(task_id)
    ((_, slot),) = task.params["user"]["slots"].items()
    assert all("{value}" in sentence for sentence in slot["say"])
    asked = next(c for c in calls(SOURCE.oracle(task)) if c["name"] == "ask_user")
    question = asked["arguments"]["question"].lower()
    assert any(phrase in question for phrase in slot["ask"])
    if "figure" not in task.params["user"]["slots"]:
        assert slot["value"] not in task.instruction


@pytest.mark.parametrize("task_id", TWINS)
def test_twins_ask_in_the_same_words_and_differ_in_their_records(task_id: str):
    task = SOURCE.build(task_id)
    assert task.twin is not None
    twin = SOURCE.build(task.twin)
    assert twin.twin == task.id
    impossible, possible = sorted((task, twin), key=lambda each: each.checks[0].name)
    assert impossible.checks[0].name == "sql_impossible"
    assert possible.checks[0].name == "sql_result"
    evidence = impossible.checks[0].params["evidence"][0]
    assert evidence not in impossible.instruction
    assert impossible.instruction == possible.instruction
    assert impossible.tools == possible.tools
    mine, other = impossible.params["supplement"], possible.params["supplement"]
    assert evidence in json.dumps(mine) and evidence in json.dumps(other)
    assert mine != other and len(json.dumps(mine)) == len(json.dumps(other))
    same = ("world", "population", "hidden", "documents", "user")
    assert all(impossible.params[key] == possible.params[key] for key in same)


def test_neither_template_of_a_pair_is_always_the_impossible_one():
    checks = [SOURCE.build(f"sql/held_first/tiny/dev/{i:05d}").checks[0].name for i in range(12)]
    assert set(checks) == {"sql_impossible", "sql_result"}


def test_trivial_policies_answer_no_question():
    for index in range(0, 60, 6):
        task = SOURCE.build(SOURCE.address("dev", index))
        own = ("estate_", "dialect_", "budget_")  # no worlds; see test_estates.py, test_engines.py
        if task.checks[0].name != "sql_result" or task.template.startswith(own):
            continue
        bench, gold = bench_for(task.params["world"]), task.checks[0].params["gold"]
        for name, script in SOURCE.policies(task).items():
            sql = calls(script)[-1]["arguments"].get("sql")
            if sql is None or name == "first_table":
                continue
            wrong = [
                not same_answer(population.answer(sql), population.answer(gold), False)
                for population in bench.hidden
            ]
            assert any(wrong), (task.id, name)
