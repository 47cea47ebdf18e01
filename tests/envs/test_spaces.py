"""The text and message spaces are first-class Gymnasium spaces."""

import copy
import multiprocessing
import pickle

import pytest
from gymnasium.vector.utils import (
    batch_space,
    concatenate,
    create_empty_array,
    create_shared_memory,
    iterate,
    read_from_shared_memory,
    write_to_shared_memory,
)
from hypothesis import given
from hypothesis import strategies as st

from hexathlon.envs.spaces import Unicode, message_space, messages_space


@given(st.text(st.characters(), max_size=50))
def test_holds_every_string_up_to_its_length(text):
    assert (text in Unicode(20)) == (len(text) <= 20)


@pytest.mark.parametrize("other", [None, 3, b"x", ["x"]])
def test_holds_nothing_but_strings(other):
    assert other not in Unicode(20)


def test_samples_are_members_and_follow_the_seed():
    def draw(seed):
        space = Unicode(12, examples=["abc", "far too long for this"], seed=seed)
        return [space.sample() for _ in range(50)]

    assert all(text in Unicode(12) for text in draw(1))
    assert draw(1) == draw(1) != draw(2)
    assert "abc" in draw(1)


def test_equality_pickle_and_bounds():
    assert Unicode(5) == Unicode(5) != Unicode(6)
    assert pickle.loads(pickle.dumps(Unicode(5, seed=3))).sample() == Unicode(5, seed=3).sample()
    with pytest.raises(ValueError, match="must not be negative"):
        Unicode(-1)
    with pytest.raises(ValueError, match="neither mask"):
        Unicode(5).sample(mask=1)


def test_batches_as_a_tuple():
    space = Unicode(5)
    batch = batch_space(space, 3)
    assert ("a", "b", "") in batch
    out = create_empty_array(space, 3)
    assert concatenate(space, ["a", "b", "c"], out) == ("a", "b", "c")
    assert list(iterate(batch, ("a", "b", "c"))) == ["a", "b", "c"]


@given(st.lists(st.text(max_size=8), min_size=3, max_size=3))
def test_travels_through_shared_memory(texts):
    space = Unicode(8)
    memory = create_shared_memory(space, 3, multiprocessing.get_context("spawn"))
    for index, text in enumerate(texts):
        write_to_shared_memory(space, index, text, memory)
    assert read_from_shared_memory(space, memory, 3) == tuple(texts)


def test_messages_sample_members_and_need_every_key():
    message = message_space()
    message.seed(0)
    sample = message.sample()
    assert sample in message
    del sample["tool_calls"]
    assert sample not in message
    many = messages_space()
    many.seed(0)
    assert many.sample() in many
    assert [] not in many


def test_a_deep_copy_samples_independently():
    space = Unicode(30, examples=("one", "two"), seed=5)
    space.sample()
    copied = copy.deepcopy(space)
    assert copied == space and copied.examples == space.examples
    first = [copied.sample() for _ in range(20)]
    assert [space.sample() for _ in range(20)] == first
