"""Sources of one template whose tasks are drawn from a seed."""

import pytest

from hexathlon.tasks.drawn import DrawnSource, own_share
from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.task import SPLITS, ToolSchema

TOOLS = (ToolSchema(name="say", description="Say a number.", parameters={"type": "object"}),)


class Doubles(DrawnSource):
    name, version, tools = "doubles", "1", TOOLS
    levels = ("easy", "hard")

    def draw(self, split, level, rng):
        number = int(rng.choice(own_share(range(100), split)))
        return f"Double {number}.", {"double": 2 * number}

    def oracle(self, task):
        yield str(task.params["double"])


SOURCE = Doubles()


def test_a_task_is_a_function_of_its_id():
    task_id = SOURCE.address("dev", 3)
    task = SOURCE.build(task_id)
    assert task == Doubles().build(task_id) != SOURCE.build(SOURCE.address("dev", 5))
    assert (task.id, task.family, task.level) == ("doubles/drawn/hard/dev/00001", "doubles", "hard")
    assert task.checks[0].name == "doubles" and task.checks[0].params == task.params
    assert task.canary and task.canary not in task.instruction


def test_levels_share_the_split_and_train_has_no_end():
    assert SOURCE.size("dev") == 100 and SOURCE.size("dev", "easy") == 50
    assert SOURCE.size("dev", "tiny") == 0 and SOURCE.size("train", "easy") is None
    ids = [SOURCE.address("dev", index) for index in range(100)]
    assert len(set(ids)) == 100
    assert ids[::2] == [SOURCE.address("dev", index, "easy") for index in range(50)]


def test_splits_share_no_value():
    shares = [set(own_share(range(100), split)) for split in SPLITS]
    assert sum(map(len, shares)) == len(set.union(*shares)) == 100


@pytest.mark.parametrize(
    "task_id", ["doubles/other/easy/dev/00000", "doubles/drawn/tiny/dev/00000", "toy/a/easy/dev/0"]
)
def test_unknown_ids_are_refused_with_an_example(task_id):
    with pytest.raises(UnknownTask, match="doubles has tasks such as doubles/drawn/easy/dev/00000"):
        SOURCE.build(task_id)


def test_held_out_tasks_follow_the_salt_and_need_one():
    task_id = SOURCE.address("heldout", 0)
    assert SOURCE.build(task_id, "a").hash != SOURCE.build(task_id, "b").hash
    with pytest.raises(UnknownTask, match="requires a salt"):
        SOURCE.build(task_id)
