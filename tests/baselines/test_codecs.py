"""Every dialect round-trips every call; malformed text stays unchanged."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexathlon.baselines.codecs import CODEC_NAMES, get_codec
from hexathlon.baselines.codecs.base import DialectCall, format_calls, parse_calls, with_thought
from hexathlon.baselines.codecs.registry import UnknownCodec
from hexathlon.envs.messages import parse_text

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,20}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8"), max_size=40)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
calls = st.lists(
    st.builds(DialectCall, names, st.dictionaries(texts, values, max_size=4)),
    min_size=1,
    max_size=3,
)
prose = st.text(st.characters(codec="utf-8"), max_size=80).filter(
    lambda text: (
        parse_calls(text) is None
        and not any(mark in text for mark in ("<tool_call>", "think>", "```"))
    )
)
TOOLS = [
    {
        "name": "look",
        "description": "Look at it.",
        "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
    }
]


# Drawing an example costs more than checking it, so every codec gets the same ones.


@given(calls=calls)
def test_calls_survive_the_round_trip(calls: list[DialectCall]) -> None:
    action = format_calls(calls)
    for name in CODEC_NAMES:
        codec = get_codec(name)
        assert codec.decode(codec.encode(action)) == action, name


@given(text=prose)
def test_prose_survives_the_round_trip(text: str) -> None:
    for name in CODEC_NAMES:
        codec = get_codec(name)
        assert codec.decode(codec.encode(text)) == text, name


@given(calls=calls, thought=st.text(st.sampled_from("aZ7 ?.-:\n中"), max_size=30))
def test_thoughts_are_not_part_of_the_action(calls: list[DialectCall], thought: str) -> None:
    action = format_calls(calls)
    for name in CODEC_NAMES:
        codec = get_codec(name)
        message = with_thought(thought, codec.encode(action))
        assert codec.decode(message) == action, name
        assert (thought == "") == (message == codec.encode(action)), name


@given(text=st.text(max_size=200), tail=st.text(max_size=20))
def test_codecs_never_raise_on_replies(text: str, tail: str) -> None:
    for name in CODEC_NAMES:
        codec = get_codec(name)
        for content in (
            text,
            f"<tool_call>{text}",
            f"Action: {tail}\nAction Input:{text}",
            f"```{text}```",
        ):
            action = codec.decode({"role": "assistant", "content": content})
            assert isinstance(action, str), name
            parse_text(action)


@given(call=calls.map(lambda many: many[0]))
def test_the_environment_reads_what_a_codec_decodes(call: DialectCall) -> None:
    for name in CODEC_NAMES:
        codec = get_codec(name)
        read = parse_text(codec.decode(codec.encode(format_calls([call]))))
        assert [(one.name, one.arguments, one.problem) for one in read.calls] == [(*call, "")], name


BARE = ("compact", "lines")
DESCRIBING = [name for name in CODEC_NAMES if not get_codec(name).native and name not in BARE]


@pytest.mark.parametrize("name", BARE)
def test_compact_dialects_have_no_system_prompt(name: str) -> None:
    assert get_codec(name).system_prompt("Be brief.", TOOLS) == ""


def test_multiline_text_is_a_block_in_lines_and_json_in_compact() -> None:
    action = format_calls([DialectCall("run", {"command": "ls\n\n  pwd\n", "bar": "|", "n": 1})])
    block = get_codec("lines").encode(action)
    assert block["content"] == 'run\ncommand: |\n  ls\n  \n    pwd\n  \nbar: "|"\nn: 1'
    assert get_codec("lines").decode(block) == action
    line = get_codec("compact").encode(action)
    assert line["content"] == 'run\ncommand: "ls\\n\\n  pwd\\n"\nbar: |\nn: 1'
    assert get_codec("compact").decode(line) == action


def test_compact_dialect_leaves_texts_unquoted_if_they_round_trip() -> None:
    action = '{"name": "run_query", "arguments": {"sql": "SELECT 1", "limit": 3, "note": "3"}}'
    wire = get_codec("compact").encode(action)
    assert wire["content"] == 'run_query\nsql: SELECT 1\nlimit: 3\nnote: "3"'
    assert get_codec("compact").decode(wire) == action


@pytest.mark.parametrize("name", DESCRIBING)
def test_text_dialects_describe_the_tools(name: str) -> None:
    prompt = get_codec(name).system_prompt("Be brief.", TOOLS)
    assert prompt.startswith("Be brief.")
    assert "look" in prompt and "Look at it." in prompt and '"at"' in prompt
    assert get_codec(name).system_prompt("Be brief.", ()) == "Be brief."


def test_native_dialect_keeps_the_prompt() -> None:
    assert get_codec("openai").system_prompt("Be brief.", TOOLS) == "Be brief."


def content(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


LOOK = '{"name": "look", "arguments": {"at": "it"}}'
GOOD = {
    "hermes": [
        f"<tool_call>\n{LOOK}\n</tool_call>",
        f"<tool_call>{LOOK}",  # the closing tag was the stop string
        f"<think>\nmaybe <tool_call>\n</think>\n\nYes.\n<tool_call>{LOOK}</tool_call>",
        f"so it is</think><tool_call>{LOOK}</tool_call>",
        '<tool_call>{"name": "look", "arguments": "{\\"at\\": \\"it\\"}"}</tool_call>',
    ],
    "react": [
        'Thought: hm\nAction: look\nAction Input: {"at": "it"}',
        'Action:  look \nAction Input:\n{"at": "it"}\nObservation: invented',
        'Action: look\nAction Input: {"at": "it"}\nFinal Answer: done',
    ],
    "json": [LOOK, f"  {LOOK}\n", f"Here:\n```json\n{LOOK}\n```", f"```\n{LOOK}\n```"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in GOOD for text in GOOD[name]])
def test_replies_of_real_models_are_parsed(name: str, text: str) -> None:
    assert get_codec(name).decode(content(text)) == LOOK


def test_a_closing_tag_inside_an_argument_does_not_end_the_call() -> None:
    call = format_calls([DialectCall("say", {"text": "</tool_call><tool_call>"})])
    assert get_codec("hermes").decode(content(f"<tool_call>{call}</tool_call>")) == call


MALFORMED = [
    ("hermes", '<tool_call>{"name": "look", "arguments": {</tool_call>', "not valid JSON"),
    ("hermes", '<tool_call>{"arguments": {}}</tool_call>', 'needs a "name"'),
    ("react", "Action: look\nAction Input: {at: it}", "arguments of 'look' are not valid JSON"),
    ("json", '```json\n{"name": "look", "arguments": \n```', "not valid JSON"),
]


@pytest.mark.parametrize(("name", "text", "problem"), MALFORMED)
def test_a_malformed_call_is_answered_by_the_environment(
    name: str, text: str, problem: str
) -> None:
    read = parse_text(get_codec(name).decode(content(text)))
    assert [problem in call.problem for call in read.calls] == [True]


def test_malformed_native_arguments_are_kept_verbatim() -> None:
    function = {"name": "look", "arguments": '{"at": '}
    message = {"content": None, "tool_calls": [{"id": "x", "function": function}]}
    action = get_codec("openai").decode(message)
    assert json.loads(action) == function
    assert "arguments of 'look' are not valid JSON" in parse_text(action).calls[0].problem


def test_tool_results_carry_call_ids() -> None:
    codec = get_codec("openai")
    message = codec.encode(format_calls([DialectCall("look", {}), DialectCall("look", {})]))
    answers = codec.answer(message, ["one", "two"])
    assert [(a["role"], a["tool_call_id"], a["content"]) for a in answers] == [
        ("tool", "call_0", "one"),
        ("tool", "call_1", "two"),
    ]
    short = codec.answer(message, ["the turn could not be read"])
    assert [a["tool_call_id"] for a in short] == ["call_0", "call_1"]


def test_observations_in_text_dialects() -> None:
    called = content(f"<tool_call>{LOOK}</tool_call>")
    assert "<tool_response>\nseen\n" in get_codec("hermes").answer(called, ["seen"])[0]["content"]
    assert get_codec("hermes").answer(content("hm"), ["what?"])[0]["content"] == "what?"
    assert get_codec("react").answer(called, ["seen"])[0]["content"] == "Observation: seen"
    assert get_codec("json").answer(called, ["a", "b"])[0]["content"] == "a\n\nb"


def test_unknown_dialect_suggests_the_nearest() -> None:
    with pytest.raises(UnknownCodec, match="did you mean 'hermes'"):
        get_codec("hermse")
