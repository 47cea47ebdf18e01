"""Tokenised conversations: append-only and correctly marked for all templates."""

import pytest

pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hypothesis import given, settings
from hypothesis import strategies as st

from hexathlon.baselines.tokens.conversation import TokenConversation
from hexathlon.baselines.tokens.render import ChatRenderer, TemplateError
from hexathlon.baselines.tokens.requests import Span, TokenReply
from hexathlon.baselines.tokens.tree import PathOutcome
from support.templates import REWRITING, TEMPLATES, tokenizer

TOOLS = [{"name": "look", "description": "Look.", "parameters": {"type": "object"}}]
words = st.text(alphabet=st.sampled_from("abc XYZ\n\t.,:{}\"'<>é漢🙂"), max_size=24)
turns = st.lists(st.tuples(words, words.filter(str.strip), st.booleans()), max_size=4)


def reply(ids, version=0):
    return TokenReply(ids, [-0.5] * len(ids), "stop", [Span(version, 0, len(ids))])


def said(renderer, text, ends):
    """Return tokens a policy might sample, which may differ from the encoding of their text."""
    ids = [token for part in text.split(" ") for token in renderer.tokenizer.encode(part)]
    return [*ids, renderer.end_of_turn] if ends else ids or [renderer.tokenizer.encode("x")[0]]


@pytest.mark.parametrize("name", sorted(TEMPLATES))
@given(opening=words.filter(str.strip), turns=turns, tools=st.booleans())
@settings(max_examples=40)
def test_every_prompt_extends_the_tokens_seen_so_far(name, opening, turns, tools):
    renderer = ChatRenderer(tokenizer(name))
    conversation = TokenConversation(renderer, TOOLS if tools else ())
    seen = conversation.open([{"role": "user", "content": opening}])
    for text, observation, ends in turns:
        sampled = said(renderer, text, ends)
        conversation.say(reply(sampled))
        assert conversation.ids == [*seen, *sampled]
        prompt = conversation.hear([{"role": "user", "content": observation}])
        assert prompt[: len(seen) + len(sampled)] == [*seen, *sampled]
        seen = prompt


@pytest.mark.parametrize("name", sorted(TEMPLATES))
@given(opening=words.filter(str.strip), turns=turns)
@settings(max_examples=40)
def test_each_sampled_token_is_trained_exactly_once(name, opening, turns):
    renderer = ChatRenderer(tokenizer(name))
    conversation = TokenConversation(renderer)
    conversation.open([{"role": "user", "content": opening}])
    drawn = []
    for text, observation, ends in turns:
        drawn.append(said(renderer, text, ends))
        conversation.say(reply(drawn[-1], version=len(drawn)))
        conversation.hear([{"role": "user", "content": observation}])
    samples = conversation.tree.samples(PathOutcome(rewards=(0.0,) * len(drawn)))
    if not drawn:
        assert samples == []
        return
    (sample,) = samples
    assert sample.ids.tolist() == conversation.ids
    assert sample.ids[sample.sampled].tolist() == [token for turn in drawn for token in turn]
    for number, turn in enumerate(drawn):
        mine = sample.turn == number
        assert sample.ids[mine].tolist() == turn
        assert set(sample.version[mine].tolist()) == {number + 1}
    assert not (sample.sampled & sample.observed).any()


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_observations_are_separated_from_scaffold(name):
    renderer = ChatRenderer(tokenizer(name))
    conversation = TokenConversation(renderer)
    conversation.open([{"role": "user", "content": "Which rows?"}])
    conversation.say(reply(said(renderer, "look", True)))
    conversation.hear([{"role": "user", "content": "4 tables: airport (6 rows)"}])
    (sample,) = conversation.tree.samples(PathOutcome(rewards=(1.0,)))
    text = renderer.tokenizer.decode(sample.ids[sample.observed].tolist())
    assert text.strip() == "4 tables: airport (6 rows)"


@pytest.mark.parametrize("name", sorted(set(TEMPLATES) - REWRITING))
def test_appending_equals_rendering_the_whole_conversation(name):
    """For a template that never rewrites, the tokens are those of the whole conversation."""
    made = tokenizer(name)
    renderer = ChatRenderer(made)
    conversation = TokenConversation(renderer)
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Rows?"}]
    assert conversation.open(messages) == renderer.encode(
        made.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    )
    for number in range(3):
        messages.append({"role": "assistant", "content": f"look {number}"})
        ids = [*renderer.encode(f"look {number}"), renderer.end_of_turn]
        conversation.say(reply(ids))
        messages.append({"role": "user", "content": f"{number} rows"})
        result = conversation.hear(messages[-1:])
        whole = made.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        assert result == renderer.encode(whole)


@pytest.mark.parametrize("name", ["reasoning", "headers", "instruct", "bars"])
def test_tool_results_follow_calls(name):
    renderer = ChatRenderer(tokenizer(name))
    results = [
        {"role": "tool", "content": "first result", "tool_call_id": "call00001"},
        {"role": "tool", "content": "second result", "tool_call_id": "call00002"},
    ]
    segments = renderer.extend(said(renderer, "look", True), results, TOOLS)
    text = renderer.tokenizer.decode([token for segment in segments for token in segment.ids])
    assert "first result" in text
    assert "second result" in text


def test_reasoning_tokens_are_kept():
    """The template would drop reasoning of earlier turns; the policy's tokens are kept."""
    made = tokenizer("reasoning")
    renderer = ChatRenderer(made)
    conversation = TokenConversation(renderer)
    conversation.open([{"role": "user", "content": "Rows?"}])
    ids = [*renderer.encode("hm\n</think>\n\n4"), renderer.end_of_turn]
    conversation.say(reply(ids))
    conversation.hear([{"role": "user", "content": "Sure?"}])
    assert "hm\n</think>" in made.decode(conversation.ids)


def test_truncated_reply_is_closed_by_the_template():
    renderer = ChatRenderer(tokenizer("chatml"))
    whole = renderer.extend(said(renderer, "look", True), [{"role": "user", "content": "go on"}])
    cut = renderer.extend(said(renderer, "look", False), [{"role": "user", "content": "go on"}])
    joined = [token for segment in cut for token in segment.ids]
    assert joined == [renderer.end_of_turn, *(t for segment in whole for t in segment.ids)]


def test_a_rewritten_history_opens_a_branch_with_its_reason():
    renderer = ChatRenderer(tokenizer("chatml"))
    conversation = TokenConversation(renderer)
    conversation.open([{"role": "user", "content": "Rows?"}])
    conversation.say(reply(said(renderer, "look", True)))
    conversation.restart([{"role": "user", "content": "Summary: 4 rows."}], "history summarised")
    conversation.say(reply(said(renderer, "four", True)))
    samples = conversation.tree.samples(PathOutcome(rewards=(0.0, 1.0)))
    assert len(samples) == 2
    assert [node.reason for node in conversation.tree.nodes if node.reason] == [
        "history summarised"
    ]
    assert sorted({int(t) for s in samples for t in s.turn[s.sampled]}) == [0, 1]


def test_shared_turns_are_trained_with_the_first_branch():
    from hexathlon.baselines.tokens.tree import Node, TokenTree

    tree = TokenTree()
    root = tree.add(Node((1, 2), "prompt"))
    shared = tree.add(Node((3,), "sampled", root, 0, (-1.0,), (0,)))
    for token in (4, 5):
        seen = tree.add(Node((9,), "observation", shared))
        tree.add(Node((token,), "sampled", seen, 1, (-2.0,), (0,)))
    first, second = tree.samples(PathOutcome(rewards=(0.0, 1.0)))
    assert first.sampled.tolist() == [False, False, True, False, True]
    assert second.sampled.tolist() == [False, False, False, False, True]
    assert second.ids.tolist() == [1, 2, 3, 9, 5]


def test_a_rollout_may_consist_of_its_corrected_turn():
    """A correction of the first turn can end the episode; the policy then sampled nothing."""
    from hexathlon.baselines.tokens.tree import Node, TokenTree

    tree = TokenTree()
    root = tree.add(Node((1, 2), "prompt"))
    tree.add(Node((3,), "observation", tree.add(Node((4, 5), "corrected", root, 0))))
    (only,) = tree.samples(PathOutcome(rewards=(1.0,)))
    assert only.sampled.tolist() == [False, False, True, True, False]
    assert only.observed.tolist() == [False, False, False, False, True]


def test_template_error_names_the_conversation():
    renderer = ChatRenderer(tokenizer("folded"))
    with pytest.raises(TemplateError, match=r"user, user: roles must alternate"):
        renderer.open([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])


def test_sampled_tokens_need_log_probabilities():
    from hexathlon.baselines.tokens.tree import Node

    with pytest.raises(ValueError, match="expected 2 log-probabilities for 2 sampled"):
        Node((1, 2), "sampled", log_probabilities=(-1.0,))
