"""`hexathlon play` on a screen of 80 x 24, and verdicts in words."""

import re

import pytest

from hexathlon.envs.gui.env import GUIEnv
from hexathlon.envs.shopping.hints import HINTS
from hexathlon.envs.testing.subject import Subject
from hexathlon.envs.web.env import WebEnv
from hexathlon.evaluators.verdict import Verdict
from hexathlon_cli.playing.calls import (
    ArgumentsMissing,
    complete_call,
    listed_in,
    numbered,
    read_line,
)
from hexathlon_cli.playing.words import explained
from support.left_open import id_of
from support.screens import Screen

EVENTS = {"SQL": "filter_rows"} | dict.fromkeys(
    ("Shopping", "RolePlay", "Terminal", "Web", "GUI"), ""
)
"""Events, and the templates of their tasks."""

INTERNAL = re.compile(
    r"\b(visible|hidden|shopping strict|steps passed|fault_|no_query|not_handed_in|terms)\b"
)


@pytest.mark.parametrize("event", EVENTS)
def test_the_question_ends_right_above_the_prompt(event: str) -> None:
    options = ["--level", "tiny", "--seed", "5", "--language", "en", "--template", EVENTS[event]]
    with Screen("hexathlon", "play", event, *options) as screen:
        screen.until()
        pages = 0
        while screen.text.endswith("-- Enter for more --"):
            screen.type("")
            pages += 1
            assert pages < 10
        if event == "SQL":
            assert pages == 0, "rules, tools and question fit on one screen"
            assert "Task sql/" in screen.text and "Type /tools" in screen.text
        assert max(map(len, screen.lines)) < 80


def test_sql_is_played_as_a_person_types() -> None:
    options = ("--level", "tiny", "--seed", "5", "--template", "filter_rows")
    with Screen("hexathlon", "play", "SQL", *options) as screen:
        screen.until()
        assert re.search(r"1\. \w+ \(\d+ rows\) 2\. \w+ ", screen.type("list_tables"))
        table = re.findall(r"1\. (\w+) \(", screen.text)[-1]
        assert table in screen.type("describe #1")
        assert "n 1 (1 row)" in screen.type("select 1 as n")
        assert screen.type("submit").endswith("sql>"), "the argument is prompted for"
        said = screen.type("SELECT 'nothing of the kind'")
        assert "Not right." in said and "A correct solution:" in said and "submit SELECT" in said
        assert not INTERNAL.search(said)


def test_text_that_is_no_call_is_answered_without_json() -> None:
    options = ("--level", "tiny", "--seed", "5", "--template", "filter_rows")
    with Screen("hexathlon", "play", "SQL", *options) as screen:
        screen.until()
        said = screen.type("what now")
        assert "That is not a tool and its arguments" in said and "JSON" not in said
        assert "undone" in screen.type("/undo")


LISTING = [
    {
        "name": "move",
        "description": "",
        "parameters": {
            "properties": {"x": {"type": "number"}, "to": {"type": "string", "maxLength": 9}},
            "required": ["x", "to"],
        },
    },
    {
        "name": "run_query",
        "description": "",
        "parameters": {"properties": {"sql": {"type": "string"}}, "required": ["sql"]},
    },
]


def test_missing_arguments_are_prompted_for() -> None:
    with pytest.raises(ArgumentsMissing) as caught:
        read_line("move 3", LISTING, {})
    assert (caught.value.given, caught.value.names) == ({"x": 3}, ["to"])
    given = {"x": "4", "to": "#2"}
    action = complete_call(LISTING[0], given, {"1": "P7", "2": "P8"})
    assert action == '{"name": "move", "arguments": {"x": 4, "to": "P8"}}'


@pytest.mark.parametrize("line", ["SELECT 1", "  with a as (select 1) select * from a", "Select 2"])
def test_plain_sql_is_a_query(line: str) -> None:
    assert '"name": "run_query"' in read_line(line, LISTING, {})
    assert read_line(line, LISTING[:1], {}) == line, "prose where no tool takes a query"
    assert read_line("selected items", LISTING, {}) == "selected items"


def test_list_items_get_numbers() -> None:
    tables = "2 tables\nFilms (24 rows)\nPeople (1,027 rows)"
    assert numbered(tables) == "2 tables\n1. Films (24 rows)\n2. People (1,027 rows)"
    assert listed_in(tables) == {"1": "Films", "2": "People"}
    assert numbered(" 1. P7AA  $5\n 2. P7BB  $6") == " 1. P7AA  $5\n 2. P7BB  $6"
    assert numbered("One line (3 rows)") == "One line (3 rows)"


VERDICTS = [
    (Verdict(score=1.0, terms={"visible": 1.0, "hidden": 1.0}), ["Right: everything"]),
    (Verdict(score=0.0, terms={"no_query": 1.0}), ["Not right.", "No query was submitted."]),
    (
        Verdict(score=0.0, partial=0.5, terms={"visible": 0.0, "hidden": 0.0, "rows": 1.0}),
        ["About 50% of what counts is right", "database that you saw", "number of rows"],
    ),
    (
        Verdict(score=0.0, terms={"visible": 1.0, "hidden": 0.0, "values": 1.0}),
        ["On another database", "different values", "What is right: The result on the database"],
    ),
    (
        Verdict(score=0.0, terms={"asked": 1.0, "nothing_else": 0.0}),
        ["Something else in the database was changed"],
    ),
    (Verdict(score=0.0, terms={"visible": 1.0, "asked": 0.0}), ["should have asked about"]),
    (Verdict(score=0.0, terms={"error_syntax": 1.0}), ["The query fails when it is run."]),
    (
        Verdict(score=0.0, terms={"shopping_strict": 0.0, "fault_price": 1.0, "price": 0.0}),
        ["The price is outside the requested range."],
    ),
    (
        Verdict(score=0.0, terms={"fault_style": 1.0}, evidence={"failed": [[2, "style:address"]]}),
        ["Line 3: it breaks a rule of the character's voice (address)."],
    ),
    (Verdict(score=0.0, terms={"steps_passed": 0.0}), ["Not all tests"]),
    (Verdict(score=0.0, status="unscored"), ["No verdict"]),
]


@pytest.mark.parametrize(("verdict", "said"), VERDICTS)
def test_verdicts_are_explained_in_words(verdict: Verdict, said: list[str]) -> None:
    told = "\n".join(explained(verdict, HINTS))
    assert all(sentence in told for sentence in said), told
    assert not INTERNAL.search(told) and "_" not in told


SHIFT = {"changes": 0.0, "ended": 0.0, "status": 0.0, "data": 0.0, "request 1": 1.0}
WORDED = [
    (
        WebEnv,
        Verdict(score=0.0, terms={"changes": 0.0, "status": 1.0, "evidence": 0.0},
                evidence={"faults": ["bank.standing_orders 7: due_day has another value"]}),
        ["The sites did not change", "bank, standing orders 7: due day has another value.",
         "A page that shows the answer was not opened.", "What is right: The reported status"],
    ),
    (
        GUIEnv,
        Verdict(score=0.0, terms={**SHIFT, "request 2": 0.0, "request 3": 0.0},
                evidence={"faults": [f"notes.notes {n}: text was changed" for n in range(10)]}),
        ["Of 3 requests, these are not right: 2, 3.", "not for every request", "and 2 more"],
    ),
    (
        GUIEnv,
        Verdict(score=0.0, terms={"documents": 1.0, "nothing_else": 0.0}),
        ["Other files were changed", "What is right: Every document"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("env", "verdict", "said"), WORDED)
def test_changed_rows_and_requests_are_told_in_words(
    env: type[WebEnv | GUIEnv], verdict: Verdict, said: list[str]
) -> None:
    told = "\n".join(explained(verdict, env.hints))
    assert all(sentence in told for sentence in said), told
    assert "_" not in told and "database" not in told


def test_without_a_report_its_parts_are_not_called_wrong() -> None:
    told = "\n".join(explained(Verdict(score=0.0, terms=SHIFT), GUIEnv.hints))
    assert "status was not reported" in told
    assert "answer" not in told and "reported status is wrong" not in told


@pytest.mark.parametrize("event", ["SQL", "Shopping", "RolePlay", "Web", "GUI"])
def test_every_near_miss_is_told_why(event: str) -> None:
    """Of each event's first tasks; the terminal's verdict is that of its tests, told above."""
    subject = Subject(id_of(event), tasks=5)
    env = subject.make()
    try:
        for task in subject.tasks:
            for name, script in subject.source.mutants(task).items():
                subject.play(env, task, script)
                first, *why = explained(env.verdict(), env.hints)
                assert first.startswith("Not right.")
                assert any(line.startswith("- ") for line in why), (task.id, name)
                assert not INTERNAL.search(" ".join(why)), why
    finally:
        env.close()
