"""Ids of soft tokens, and the prefixes that rollouts draw."""

import numpy as np
import pytest

from hexathlon.baselines.tokens.patches import BLANK, FIRST_PATCH
from hexathlon.baselines.tokens.soft import (
    DRAWN,
    FIRST_SOFT,
    MOST_SOFT,
    SoftPrefixes,
    is_soft,
    soft_ids,
    soft_parts,
    without_soft,
)

KEYS = [("Env", f"task/{task}", 7, trial) for task in range(50) for trial in range(8)]


@pytest.mark.parametrize("number", [0, 1, DRAWN - 1, DRAWN, 2 * DRAWN - 1])
def test_ids_contain_number_and_place(number) -> None:
    ids = np.array(soft_ids(number, MOST_SOFT))
    assert is_soft(ids).all() and ids.min() >= FIRST_SOFT and ids.max() < FIRST_PATCH
    numbers, places = soft_parts(ids)
    assert set(numbers.tolist()) == {number} and places.tolist() == list(range(MOST_SOFT))


def test_words_and_patches_are_no_soft_tokens() -> None:
    ids = (0, 150_000, FIRST_SOFT - 1, FIRST_PATCH, FIRST_PATCH + BLANK)
    assert not is_soft(np.array(ids)).any()
    assert without_soft((*soft_ids(5, 3), *ids, FIRST_SOFT)) == ids


def test_a_rollout_draws_its_prefix_from_its_seed() -> None:
    one, again = SoftPrefixes(1, 4, 0.5), SoftPrefixes(1, 4, 0.5)
    drawn = [one.drawn(*key) for key in KEYS]
    assert drawn == [again.drawn(*key) for key in reversed(KEYS)][::-1]
    assert drawn != [SoftPrefixes(2, 4, 0.5).drawn(*key) for key in KEYS]
    given = [ids for ids in drawn if ids]
    assert len(set(given)) == len(given) and {len(ids) for ids in given} == {4}
    assert 0.4 < len(given) / len(KEYS) < 0.6
    assert all(soft_parts(np.array(ids))[0].max() < DRAWN for ids in given)


def test_a_smaller_share_takes_prefixes_away_and_changes_none() -> None:
    prefixes = SoftPrefixes(3, 2, 1.0)
    everyone = [prefixes.drawn(*key) for key in KEYS]
    prefixes.share = 0.3
    some = [prefixes.drawn(*key) for key in KEYS]
    assert all(everyone) and all(
        few in ((), all_) for few, all_ in zip(some, everyone, strict=True)
    )
    assert any(some) and not all(some)
    prefixes.share = 0.0
    assert not any(prefixes.drawn(*key) for key in KEYS)
