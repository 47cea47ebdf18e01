"""Values that agree with the answers of their tasks are told from those that do so by chance."""

import random

import pytest

from hexathlon.envs.testing.agreement import agreement, words_in

DRAWN = random.Random(3)
TRUTH = [DRAWN.choice("ABCDEFG") for _ in range(40)]
YES_OR_NO = [DRAWN.choice(["True", "False"]) for _ in range(40)]


def choices(answer: str) -> list[str]:
    return [answer, *DRAWN.sample([each for each in "ABCDEFG" if each != answer], 3)]


@pytest.mark.parametrize(
    "shown",
    [
        [{"x": [answer]} for answer in TRUTH],
        [{"x": choices(answer)} for answer in TRUTH],
        [{"w": ["A"], "x": ["A" if place < 3 else TRUTH[place]]} for place in range(40)],
    ],
)
def test_answers_and_lists_that_contain_them_are_found(shown: list[dict[str, list[str]]]) -> None:
    assert agreement(shown, TRUTH) == "x"


def test_two_values_are_found_in_many_tasks_and_not_in_few() -> None:
    shown = [{"x": [answer]} for answer in YES_OR_NO]
    assert agreement(shown, YES_OR_NO) == "x"
    assert agreement(shown[:10], YES_OR_NO[:10]) == ""


@pytest.mark.parametrize(
    "shown",
    [
        [{"x": list("ABCDEFG")} for _ in TRUTH],
        [{"x": [DRAWN.choice("ABCDEFG")]} for _ in TRUTH],
        [{"x": DRAWN.sample("ABCDEFG", 4)} for _ in TRUTH],
        [{} for _ in TRUTH],
    ],
)
def test_all_choices_and_random_ones_are_no_finding(shown: list[dict[str, list[str]]]) -> None:
    assert agreement(shown, TRUTH) == ""


def test_a_constant_answer_is_no_finding() -> None:
    assert agreement([{"x": ["A"]}] * 40, ["A"] * 40) == ""


def test_words_are_split_at_everything_else() -> None:
    assert words_in("Door 7! (or_8)") == ["Door", "7", "or", "8"]
