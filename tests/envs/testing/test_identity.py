"""How episodes end must not be predictable from ids: last calls and their common values."""

import json
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from hexathlon.envs.testing import check_environment
from hexathlon.envs.testing.forecasting import endings
from hexathlon.envs.testing.identity_checks import names_tell_nothing, unscored
from hexathlon.envs.testing.report import CheckFailed
from hexathlon.envs.testing.solving import Solved
from hexathlon.envs.testing.subject import Subject
from hexathlon.envs.tools import tool
from hexathlon.tasks.registry import get_source, register_source
from support.faults.base import Renamed
from support.faults.sources import SideInName
from support.toy import ADD, ToyEnv

SOURCE = get_source("roleplay")
TASK = SOURCE.build(SOURCE.address("test", 0))


def ended(*calls: dict[str, str]) -> list[tuple[str, str]]:
    """Return an episode for each call of `finish`, its last one."""
    actions = [json.dumps({"name": "finish", "arguments": arguments}) for arguments in calls]
    return [("look", action) for action in actions]


YES, NO = {"answer": "yes", "kind": "a"}, {"answer": "no", "kind": "b"}


def test_an_ending_is_the_last_call_with_its_common_values():
    found = endings(ended(YES, YES, YES, NO, NO, NO, {"answer": "rare", "kind": "a"}))
    assert found[0] == "finish finish.answer='yes' finish.kind='a'"
    assert found[3] == "finish finish.answer='no' finish.kind='b'"
    assert found[6] == "finish finish.kind='a'"


def test_an_argument_that_is_not_scored_is_not_part_of_an_ending():
    found = endings(ended(YES, YES, YES, NO, NO, NO), {"finish.kind"})
    assert set(found) == {"finish finish.answer='yes'", "finish finish.answer='no'"}


ROOMS = [f"{first}{second}" for first in "abcdefghijkl" for second in "mnopqrstuv"]
ROOM_TASKS = 5


class Solutions:
    """A subject whose episodes are solved already.

    Args:
        wording: The instruction for a template and the number of the room.
    """

    source = SimpleNamespace(tolerated={})
    make = staticmethod(lambda: SimpleNamespace(close=lambda: None))

    def __init__(self, wording: Callable[[str, int], str]) -> None:
        self.solved = [
            Solved(
                TASK.model_copy(update={"id": f"rooms/{template}/easy/test/{number:05}"}),
                wording(template, number), (json.dumps({"name": template, "arguments": {}}),),
                1.0, "",
            )
            for number in range(len(ROOMS) * ROOM_TASKS) for template in ("heat", "cool")
        ]  # fmt: skip


def told(template: str, number: int) -> str:
    """Name the room at length, and the kind of work in one word."""
    room = ROOMS[number // ROOM_TASKS]
    return f"{template} {room}a {room}b {room}c"


def untold(template: str, number: int) -> str:
    return told("change", number)


def test_a_template_that_the_wording_tells_is_not_reported():
    """Although the openings most alike, those on the same room, mostly end in the other way."""
    names_tell_nothing(Solutions(told))


def test_a_template_that_the_wording_hides_is_reported():
    with pytest.raises(CheckFailed, match="predicts the ending (heat|cool)"):
        names_tell_nothing(Solutions(untold))


SIDES = {"count": "possible", "void": "impossible"}


class SideInArgument(SideInName):
    """Two templates that end with different values of an argument declared unscored."""

    name = "side-in-argument"
    tolerated = {**SideInName.tolerated, "alter:report.reason": "stated, not scored"}

    def build(self, task_id, salt=None):
        task = super().build(task_id.replace("/void/", "/count/"), salt)
        return task.model_copy(update={"id": task_id})

    def oracle(self, task):
        full, rest = divmod(task.params["target"], 9)
        for amount in [9] * full + [rest] * bool(rest):
            yield ADD % amount
        yield json.dumps({"name": "report", "arguments": {"reason": SIDES[task.template]}})


class DeclaredForOne(SideInArgument):
    """The declaration names one template."""

    name = "declared-for-one"
    tolerated = {**SideInName.tolerated, "count/alter:report.reason": "stated, not scored"}


class UnscoredReason(ToyEnv):
    default_taskset = "side-in-argument"
    scored = ()

    @tool
    def tool_report(self, reason: str) -> str:
        if self.task.template in self.scored and reason != SIDES[self.task.template]:
            self.counter = -1_000
        return super().tool_submit()


class ScoredReason(UnscoredReason):
    scored = ("count", "void")


class ScoredInOne(UnscoredReason):
    default_taskset = "declared-for-one"
    scored = ("void",)


class Underscored(Renamed):
    """Toy tasks with template names that are not words."""

    name = "underscored"

    def address(self, split, index, level=None):
        return super().address(split, index, level).replace("/count/", "/count_up/")

    def build(self, task_id, salt=None):
        task = super().build(task_id.replace("/count_up/", "/count/"), salt)
        return task.model_copy(update={"id": task_id})


class UnderscoredEnv(ToyEnv):
    default_taskset = "underscored"


class ShowsTemplate(UnderscoredEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} Kind: {task.template}."


for _source in (SideInArgument, DeclaredForOne, Underscored):
    register_source(_source.name, _source)


@pytest.mark.parametrize(
    ("env", "status"),
    [(UnscoredReason, "passed"), (ScoredReason, "failed"), (ScoredInOne, "failed")],
)
def test_a_declared_argument_is_left_out_only_if_no_change_of_it_costs_the_score(env, status):
    (result,) = check_environment(env, only=["names_tell_nothing"], tasks=300).results
    assert result.status == status, result
    if status == "failed":
        assert "predicts the ending report report.reason=" in result.detail
    subject = Subject(env, tasks=60)
    assert unscored(subject, subject.solved) == ({"report.reason"} if status == "passed" else set())


@pytest.mark.parametrize(("env", "status"), [(UnderscoredEnv, "passed"), (ShowsTemplate, "failed")])
def test_the_name_of_a_template_is_not_shown(env, status):
    (result,) = check_environment(env, only=["id_hidden"], tasks=8).results
    assert result.status == status, result
    if status == "failed":
        assert "the template's name count_up was shown in underscored/count_up/" in result.detail
