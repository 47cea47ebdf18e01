"""Arguments are checked against the schema before a tool runs."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexathlon.envs.messages import ParsedCall, cut_middle, parse_message, parse_text, scrub
from hexathlon.envs.tools import ToolTable, argument_problem, schemas_of, tool
from hexathlon.tasks.task import ToolSchema

SCHEMA = {
    "type": "object",
    "properties": {
        "sql": {"type": "string", "maxLength": 10},
        "limit": {"type": "integer", "minimum": 1, "maximum": 5},
        "ratio": {"type": "number"},
        "kind": {"enum": ["a", "b"]},
        "tags": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
        "maybe": {"type": ["string", "null"]},
    },
    "required": ["sql"],
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"sql": ""},
        {"sql": "x", "limit": 5, "ratio": 1, "kind": "b", "tags": ["x"], "maybe": None},
        {"sql": "x", "limit": 3.0, "ratio": 0.5},
    ],
)
def test_fitting_arguments_pass(arguments):
    assert argument_problem("run", arguments, SCHEMA) == ""


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "needs the argument 'sql'"),
        ({"sql": 3}, "must be of type string"),
        ({"sql": "x" * 11}, "at most 10 characters"),
        ({"sql": "x", "limit": 6}, "must lie in 1…5"),
        ({"sql": "x", "limit": 2.5}, "must be of type integer"),
        ({"sql": "x", "limit": True}, "must be of type integer"),
        ({"sql": "x", "kind": "c"}, "must be one of a, b"),
        ({"sql": "x", "tags": ["a", "b", "c"]}, "at most 2 items"),
        ({"sql": "x", "tags": [1]}, "must be of type string"),
        ({"sql": "x", "maybe": 3}, "must be of type string or null"),
        ({"sql": "x", "other": 3}, "has no argument 'other'"),
    ],
)
def test_others_are_answered_with_the_usage(arguments, problem):
    said = argument_problem("run", arguments, SCHEMA)
    assert problem in said
    assert "Use run(sql: string, limit: integer (optional)" in said


def test_unknown_tools_are_answered_with_the_near_one():
    table = ToolTable((ToolSchema(name="run_query", description="", parameters=SCHEMA),))
    assert "Did you mean 'run_query'" in table.problem(ParsedCall("", "runquery", {}))


@pytest.mark.parametrize("limit", [200, 300, 1_000])
def test_cut_texts_fit_and_account_for_every_character(limit):
    text = "".join(chr(0x4E00 + i % 500) for i in range(1_001))
    short, cut = cut_middle(text, limit)
    assert len(short) <= limit
    head, tail = short.split("\n[… ")[0], short.split(" …]\n")[1]
    assert text.startswith(head) and text.endswith(tail)
    assert len(head) + len(tail) + cut == len(text)
    assert f"{cut:,} characters cut" in short
    assert cut_middle(text, 1_001) == (text, 0)


def test_scrub_replaces_what_no_encoding_carries():
    assert scrub("a\ud800b") == "a\ufffdb"
    assert scrub("naïve 🙂") == "naïve 🙂"


def test_text_that_does_not_start_like_json_is_prose():
    assert parse_text(' I would call {"name": "x"}').calls == ()
    assert parse_text(' {"name": "x"} ').calls[0].name == "x"


@pytest.mark.parametrize(
    "message",
    [None, 3, {}, {"role": "user"}, {"role": "assistant", "tool_calls": 5},
     {"role": "assistant", "tool_calls": [{"name": 3}]},
     {"role": "assistant", "tool_calls": [{"name": "x", "arguments": "["}]}],
)  # fmt: skip
def test_malformed_messages_become_problems(message):
    assert parse_message(message).calls[0].problem


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "tool_calls": [{"id": "7", "type": "function", "function": {
            "name": "add", "arguments": '{"amount": 2}'}}]},
        {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Two."},
                     {"type": "tool_use", "id": "7", "name": "add", "input": {"amount": 2}}]},
        {"content": "Two.", "tool_calls": [
            {"id": "7", "name": "add", "arguments": {"amount": 2}}]},
    ],
    ids=["openai", "anthropic", "plain"],
)  # fmt: skip
def test_messages_of_providers_are_read_as_they_are(message):
    action = parse_message({"role": "assistant", **message})
    assert action.calls == (ParsedCall("7", "add", {"amount": 2}),)
    assert action.text == ("Two." if message["content"] else "")


class Radio:
    @tool
    def tune(self, station: str, volume: int = 3):
        """Tune in."""

    @tool
    def tool_band(self, band: Literal["am", "fm"], presets: list[float]):
        """Choose a band.

        This is not shown.
        """


def test_schemas_come_from_signatures_and_docstrings():
    band, tune = schemas_of(Radio)
    assert (tune.name, tune.description) == ("tune", "Tune in.")
    assert tune.parameters == {
        "type": "object",
        "properties": {"station": {"type": "string"}, "volume": {"type": "integer"}},
        "required": ["station"],
    }
    assert (band.name, band.description) == ("band", "Choose a band.")
    assert band.parameters["properties"] == {
        "band": {"enum": ["am", "fm"]},
        "presets": {"type": "array", "items": {"type": "number"}},
    }


@pytest.mark.parametrize(
    ("parameter", "doc", "reason"),
    [(int, "", "needs a docstring"), (bytes, "Play.", "must be annotated with str, int")],
)
def test_tools_that_cannot_be_described_are_named(parameter, doc, reason):
    def play(self, what):
        pass

    play.__doc__, play.__annotations__ = doc, {"what": parameter}
    with pytest.raises(TypeError, match=f"'play' .*{reason}|{reason}"):
        schemas_of(type("Broken", (), {"play": tool(play)}))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_are_finite(number):
    schema = {"type": "object", "properties": {"far": {"type": "number"}, "any": {}}}
    assert "must be a finite number" in argument_problem("scroll", {"far": number}, schema)
    assert argument_problem("scroll", {"far": 1e308, "any": number}, schema) == ""


@given(
    st.dictionaries(
        st.sampled_from(["sql", "note", "other"]),
        st.one_of(st.text(max_size=8), st.integers(), st.none(), st.just("x" * 9)),
    )
)
def test_texts_are_checked_by_length_as_by_their_schema(arguments):
    schema = {
        "type": "object",
        "properties": {"sql": {"type": "string", "maxLength": 8}, "note": {"type": "string"}},
        "required": ["sql", "note"],
    }
    table = ToolTable((ToolSchema(name="run", description="Run.", parameters=schema),))
    assert table._texts["run"] is not None
    call = ParsedCall("", "run", arguments)
    assert table.problem(call) == argument_problem("run", arguments, schema)


@pytest.mark.parametrize(
    "parameters",
    [
        {"properties": {"a": {"type": "string", "enum": ["b"]}}, "required": ["a"]},
        {"properties": {"a": {"type": "string"}}, "required": []},
        {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]},
    ],
)
def test_other_arguments_are_always_checked_by_their_schema(parameters):
    schema = ToolSchema(name="run", description="Run.", parameters=parameters)
    assert ToolTable((schema,))._texts == {"run": None}
