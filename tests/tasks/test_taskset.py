"""Task sets: lazy, hashed, split, held out by commitment."""

import pytest

from hexathlon.tasks.errors import TaskError, UnknownTask, UnknownTaskSource
from hexathlon.tasks.registry import get_source, register_source, source_names
from hexathlon.tasks.source import parse_address, play
from hexathlon.tasks.taskset import TaskSet, build_task, commitment
from support.toy import ToySource


class Counting(ToySource):
    """Counts the tasks built."""

    built = 0

    def build(self, task_id, salt=None):
        self.built += 1
        return super().build(task_id, salt)


def test_ids_cost_nothing_and_tasks_are_built_once():
    source = Counting()
    tasks = TaskSet(source, "test")
    assert len(list(tasks.ids())) == len(tasks) == 40
    assert source.built == 0
    assert tasks[3] is tasks[3]
    assert source.built == 1


def test_any_prefix_covers_the_levels():
    levels = [parse_address(i).level for i in TaskSet("toy", "train").ids(4)]
    assert sorted(levels) == ["easy", "hard", "medium", "tiny"]


def test_train_is_unbounded():
    tasks = TaskSet("toy", "train")
    assert tasks.size is None
    with pytest.raises(TaskError, match="is unbounded"):
        len(tasks)
    assert tasks[10**6].id.endswith("/train/250000")


def test_asking_for_too_many_is_an_error():
    with pytest.raises(TaskError, match="has 40 tasks, but 41 were requested"):
        TaskSet("toy", "test").ids(41)
    with pytest.raises(IndexError):
        TaskSet("toy", "test")[-1]


def test_splits_differ():
    texts = [
        {TaskSet("toy", split)[i].hash for i in range(20)} for split in ("train", "dev", "test")
    ]
    assert not texts[0] & texts[1] and not texts[1] & texts[2]


def test_held_out_tasks_follow_the_salt_and_its_commitment():
    first = TaskSet("toy", "heldout", salt="s3cret")
    again = TaskSet("toy", "heldout", salt="s3cret")
    other = TaskSet("toy", "heldout", salt="another")
    assert [first[i].hash for i in range(5)] == [again[i].hash for i in range(5)]
    assert first[0].hash != other[0].hash
    assert first.content_hash == again.content_hash != other.content_hash
    assert commitment("s3cret") != commitment("another")
    assert "s3cret" not in commitment("s3cret")


@pytest.mark.parametrize("arguments", [("heldout", None, None), ("test", None, "salt")])
def test_salt_is_only_accepted_for_the_held_out_split(arguments):
    split, level, salt = arguments
    with pytest.raises(TaskError, match="held-out split requires a salt"):
        TaskSet("toy", split, level, salt)


def test_content_hash_distinguishes_sets():
    hashes = {
        TaskSet("toy", split, level).content_hash
        for split in ("train", "dev", "test")
        for level in (None, "easy", "hard")
    }
    assert len(hashes) == 9
    changed = ToySource()
    changed.version = "2"
    assert TaskSet(changed, "test").content_hash != TaskSet("toy", "test").content_hash


@pytest.mark.parametrize(
    ("task_id", "reason"),
    [
        ("toy/count/hard/test", "four|4 parts"),
        ("toy/count/extreme/test/00001", "not a level"),
        ("toy/count/hard/exam/00001", "not a split"),
        ("toy/count/hard/test/one", "not an index"),
        ("toy/other/hard/test/00001", "only the template"),
    ],
)
def test_unknown_ids_say_why(task_id, reason):
    with pytest.raises(UnknownTask, match=reason):
        build_task(task_id)


def test_a_task_of_another_split_is_refused():
    with pytest.raises(UnknownTask, match="not in toy:dev"):
        TaskSet("toy", "dev").get("toy/count/hard/test/00001")


def test_unknown_source_names_the_near_one():
    with pytest.raises(UnknownTaskSource, match="did you mean 'spider'"):
        get_source("spyder")
    assert "toy" in source_names()
    with pytest.raises(TaskError, match="is taken"):
        register_source("toy", "other:factory")


def test_play_counts_actions_and_closes_the_script():
    source, seen = ToySource(), []
    task = source.build("toy/count/easy/test/00001")
    count = play(source.oracle(task), lambda a: seen.append(a) or "The counter moved")
    assert count == len(seen) == -(-task.params["target"] // 9) + 1
    assert play(source.oracle(task), lambda a: None) == 1
