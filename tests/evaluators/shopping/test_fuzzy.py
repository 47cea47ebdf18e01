"""token_set_ratio compared with values of the packages that define it."""

import pytest

from hexathlon.evaluators.shopping.fuzzy import token_set_ratio


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        # Computed with thefuzz 0.22.1 over rapidfuzz 3.14.6.
        ("tea tree", "tea tree", 100),
        ("machine washable", "Washable, by machine", 100),
        ("essential oils", "essential oil", 96),
        ("it's", "tea tea", 29),
        ("blue cotton_blend natural", "b/c 2-pack", 34),
        ("é tea", "tea", 100),
        ("", "tea", 0),
        ("-", "tea", 0),
    ],
)
def test_values_agree_with_the_packages(first, second, ratio):
    assert token_set_ratio(first, second) == ratio == token_set_ratio(second, first)
