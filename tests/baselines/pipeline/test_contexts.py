"""Contexts of rollouts, and the filters and shapings that read them."""

from dataclasses import replace

import pytest

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.catalogue import CONTEXTS, FILTERS, SHAPINGS
from hexathlon.baselines.pipeline.contexts import Context, written
from hexathlon.baselines.tokens.conversation import cut_of
from hexathlon.tasks.seeding import generator_for
from support.samples import sample


def contexts(name: str, success: float, rollouts: int, **parameters: object) -> list[Context]:
    return CONTEXTS[name](success, rollouts, generator_for("contexts"), **parameters)


def test_solutions_are_written_without_their_last_action():
    actions = ["one", "two", "three"]
    assert written(Context("Begin:", 0.4), actions) == "Begin:\none"
    assert written(Context("Begin:", 0.99), actions) == "Begin:\none\ntwo"
    assert written(Context("Begin:", 0.3), actions) == "", "a share of no action gives no hint"
    assert written(Context("Be quick."), []) == "Be quick."
    assert written(Context(), actions) == ""


def test_guides_are_for_tasks_that_rarely_succeed():
    hint = Context("A solution begins with:", 0.5)
    assert contexts("guide", 0.1, 4) == [Context(), Context(), hint, hint]
    assert contexts("guide", 0.3, 4) == [Context()] * 4
    assert contexts("guide", 0.1, 3, plain=0.0) == [hint] * 3
    with pytest.raises(ValueError, match="share less than 1, got share=1.0"):
        contexts("guide", 0.1, 4, share=1.0)


def test_strategies_take_turns():
    chosen = contexts("strategies", 0.5, 8, texts=["a", "b"], dropout=0.5)
    assert chosen[:4] == [Context()] * 4
    assert sorted(context.text for context in chosen[4:]) == ["a", "a", "b", "b"]
    assert chosen == contexts("strategies", 0.5, 8, texts=["a", "b"], dropout=0.5)
    with pytest.raises(ValueError, match="got 0, 0.5"):
        contexts("strategies", 0.5, 8, texts=[])


def test_modes_are_forced_and_free():
    chosen = [context.text for context in contexts("modes", 0.5, 5, texts=["a", "b"], each=2)]
    assert chosen == ["a", "a", "b", "b", ""]
    assert len(contexts("modes", 0.5, 3, texts=["a", "b"], each=2)) == 3
    with pytest.raises(ValueError, match="each=0"):
        contexts("modes", 0.5, 3, each=0)


def test_efforts_and_budgets_take_turns():
    texts = [context.text for context in contexts("efforts", 0.5, 3, levels=[0.5, 1])]
    assert texts == ["Effort: 0.5", "Effort: 1", "Effort: 0.5"]
    asked = [sample([1.0], lengths=[6], context=texts[0]), sample([1.0], lengths=[2])]
    (shaped,) = SHAPINGS["effort"]([Group("t", tuple(asked))], share=1.0)
    assert shaped.rewards.tolist() == pytest.approx([0.0, 1.0])  # the mean of 6 and 2 is 4
    whole = replace(asked[0], context=texts[1])
    (shaped,) = SHAPINGS["effort"]([Group("t", (whole, asked[1]))], share=0.1)
    assert shaped.rewards[0] == pytest.approx(0.5)
    limits = [context.text for context in contexts("budgets", 0.5, 3, budgets=[8, 16])]
    assert limits == ["Budget: 8 tokens", "Budget: 16 tokens", "Budget: 8 tokens"]
    for name, parameters in (("efforts", {"levels": [0.0]}), ("budgets", {"budgets": [0]})):
        with pytest.raises(ValueError, match=r"got \[0"):
            contexts(name, 0.5, 3, **parameters)


def test_examples_are_for_tasks_that_rarely_succeed():
    example = Context("An example of a similar task and its solution:", example=True)
    assert contexts("examples", 0.2, 4, plain=0.25) == [Context(), *[example] * 3]
    assert contexts("examples", 0.3, 2) == [Context()] * 2
    solved = written(example, ["never", "these"], "Task one.\n\nadd 1\nsubmit")
    assert solved == f"{example.text}\nTask one.\n\nadd 1\nsubmit"
    assert written(example, [], "") == "", "no example was solved"
    with pytest.raises(ValueError, match="got below=2"):
        contexts("examples", 0.2, 4, below=2)


def test_the_part_of_a_prompt_that_a_context_added():
    assert cut_of([1, 2, 7, 8, 3], [1, 2, 3]) == (2, 4)
    assert cut_of([1, 2, 2, 3], [1, 2, 3]) == (2, 3), "several cuts give the same rest"
    assert cut_of([1, 2], [1, 2]) == (2, 2)
    with pytest.raises(ValueError, match="cannot train with generate.context"):
        cut_of([1, 9, 7, 3], [1, 2, 3])


def test_contexts_are_cut_out_or_copied_without():
    hinted = replace(sample([1.0]), context="a", hints=((1, 2),), key="t#0")
    plain = sample([0.0])
    group = Group("t", (hinted, plain))
    (cut,) = FILTERS["hint_free"]([group])
    assert cut.samples[0].ids.tolist() == [0, 2, 3, 4] and cut.samples[0].hints == ()
    assert cut.samples[0].behaviour.tolist() == [0.0, -1.0, -1.0, 0.0]
    assert cut.samples[1].ids.tolist() == plain.ids.tolist()
    (both,) = FILTERS["with_plain_copies"]([group])
    assert both.samples[:2] == group.samples
    assert both.samples[2].ids.tolist() == [0, 2, 3, 4]
    assert both.samples[2].key == "t#0 without context"


def labelled(*rows: tuple[float, str]) -> Group:
    return Group("t", tuple(sample([reward], context=text) for reward, text in rows))


def test_generations_earn_their_gain():
    group = labelled((1.0, "second"), (0.0, ""), (0.0, ""), (1.0, "third"), (0.0, "third"))
    (shaped,) = SHAPINGS["generation_gain"]([group], factor=0.5)
    # Means: none 0, "second" 1, "third" 1/2.
    assert shaped.rewards.tolist() == pytest.approx([1.5, 0.0, 0.0, 0.75, -0.25])
    alike = labelled((1.0, ""), (0.0, ""))
    assert SHAPINGS["generation_gain"]([alike])[0].rewards.tolist() == [1.0, 0.0]


def test_contexts_that_help_earn_a_bonus():
    group = labelled((1.0, "a"), (0.0, "a"), (1.0, "b"), (0.0, ""), (1.0, ""), (0.0, ""))
    (shaped,) = SHAPINGS["context_gain"]([group], bonus=0.25)
    assert shaped.rewards.tolist() == [1.25, 0.0, 1.25, 0.0, 1.0, 0.0]
    worse = labelled((0.0, "a"), (1.0, "a"), (1.0, ""))
    assert SHAPINGS["context_gain"]([worse])[0].rewards.tolist() == [0.0, 1.0, 1.0]
    alone = labelled((1.0, "a"), (0.0, "a"))
    assert SHAPINGS["context_gain"]([alone])[0].rewards.tolist() == [1.0, 0.0]
