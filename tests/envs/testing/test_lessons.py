"""Policies that imitate solved tasks, and the neighbours of a solution."""

import json

import pytest

from hexathlon.envs.testing.lessons import Lessons
from hexathlon.envs.testing.likeness import Texts
from hexathlon.envs.testing.perturbing import neighbours
from hexathlon.envs.testing.solving import Solved
from hexathlon.envs.testing.subject import Subject, Target
from hexathlon.evaluators.anchors import IMITATING_AGENTS
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import Script, play
from support.toy import ADD, SUBMIT, ToyEnv, ToySource

SOURCE = ToySource()
BUY = '{"name": "buy", "arguments": {"item": "%s"}}'


def lesson(index: int, opening: str, *actions: str) -> Solved:
    task = SOURCE.build(SOURCE.address("train", index))
    return Solved(task.model_copy(update={"instruction": opening}), opening, actions, 1.0, "")


LESSONS = Lessons(
    [
        lesson(0, "Buy a red kettle, please.", BUY % "P101-3"),
        lesson(1, "Buy a blue rug, please.", BUY % "P102-1"),
        lesson(2, "Leave the shop.", SUBMIT),
    ]
)


def actions(policy: str, opening: str, index: int = 9) -> list[str]:
    task = lesson(index, opening).task
    return played(LESSONS.script(policy, task, opening))


def played(script: Script) -> list[str]:
    made: list[str] = []
    play(script, lambda action: made.append(action) or "Done.")
    return made


def test_the_constant_policy_ends_as_most_lessons_do():
    assert [json.loads(action)["name"] for action in actions("constant", "Anything.")] == ["buy"]


def test_the_neighbour_is_the_lesson_that_shares_most_words():
    assert actions("neighbour", "Buy a blue kettle rug.") == [BUY % "P102-1"]
    assert actions("neighbour", "Leave the shop now.") == [SUBMIT]


def test_overlap_copies_from_the_line_most_similar_to_the_instruction():
    opening = "Buy a red rug, please.\nP777-2: a green lamp\nP888-9: a red rug\nC-88: red rug"
    task = lesson(9, "Buy a red rug, please.").task
    assert played(LESSONS.script("overlap", task, opening)) == [BUY % "P888-9"]


def test_identity_sees_nothing_of_the_opening():
    assert actions("identity", "Buy a blue rug.") == actions("identity", "Leave the shop.")


def test_every_imitating_agent_has_a_policy_and_others_are_refused():
    assert all(actions(name, "Leave the shop.") for name in IMITATING_AGENTS)
    with pytest.raises(ValueError, match="no policy 'clever'"):
        actions("clever", "Anything.")
    with pytest.raises(ValueError, match="no lessons"):
        Lessons([]).script("constant", lesson(0, "").task, "")


def test_similar_texts_share_rare_words():
    texts = Texts(["a red kettle and a rug", "a blue kettle", "the blue rug", "红色的水壶"])
    assert texts.nearest("which kettle is blue?") == 1
    assert texts.nearest_others(1)[1] in ([0], [2])


def test_neighbours_leave_out_repeat_swap_and_change_one_thing():
    task = SOURCE.build(SOURCE.address("dev", 0))
    made = list(neighbours(task, [ADD % 9, ADD % 4, SUBMIT], {}))
    kinds = [each.kind for each in made]
    assert kinds.count("drop:add") == 2 and kinds.count("drop:submit") == 1
    assert kinds.count("swap:add") == 2 and kinds.count("repeat:submit") == 1
    altered = [each.actions for each in made if each.kind == "alter:add.amount"]
    assert altered == [
        (ADD % 8, ADD % 4, SUBMIT),
        (ADD % 9, ADD % 3, SUBMIT),
        (ADD % 9, ADD % 5, SUBMIT),
    ], "9 is the schema's maximum"


@pytest.mark.parametrize(("target", "source"), [(ToyEnv, "toy"), ("hexathlon/SQL-v1", "sql")])
def test_episodes_without_grading_have_the_same_actions_and_score_0(target: Target, source: str):
    ids = [get_source(source).address("train", index) for index in range(3)]
    graded = Subject(target).solve(ids)
    ungraded = Subject(target).solve(ids, grading=False)
    assert [each.reward for each in graded] == [1.0] * 3
    assert ungraded == [each._replace(reward=0.0) for each in graded]
