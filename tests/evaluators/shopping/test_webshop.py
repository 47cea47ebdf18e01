"""WebShop's reward: golden values of its published formula, and the strict purchase."""

import copy

import pytest

from hexathlon.evaluators.shopping.webshop import (
    normalise_colour,
    title_score,
    webshop,
    webshop_reward,
    webshop_strict,
)

GOAL = {
    "asin": "B1",
    "query": "query 1",
    "product_category": "a › b › c",
    "name": "Mens D.O.N. Issue 2 Gca Basketball Sneakers Shoes Casual - Off White",
    "attributes": ["tea tree", "essential oils", "natural ingredients"],
    "goal_options": ["grey", "XL"],
    "price_upper": 40.0,
}
BOUGHT = {
    "asin": "B1",
    "query": "query 1",
    "product_category": "a › b › c",
    "name": GOAL["name"],
    "Title": "",
    "BulletPoints": [],
    "Description": "",
    "Attributes": ["tea tree", "essential oil", "natural ingredients"],
    "price": 35.0,
    "chosen": {"color": "grey", "size": "XL"},
}


def reward(goal=GOAL, **changes) -> float:
    return webshop_reward({**BOUGHT, **changes}, goal)[0]


def test_complete_match_scores_one():
    assert reward() == 1.0


def test_attributes_are_searched_in_the_texts():
    texts = {
        "Attributes": [],
        "BulletPoints": ["This shampoo has essential oils and smells like lemons"],
        "Description": "Best shampoo on the market, made with natural ingredients",
    }
    assert reward(**texts) == pytest.approx(5 / 6)


def test_options_count_individually():
    goal = {**GOAL, "goal_options": ["grey", "XL", "pack of 12"]}
    assert reward(goal) == pytest.approx(6 / 7)
    assert reward(goal, chosen={}) == pytest.approx(4 / 7)


def test_fuzzy_option_counts_only_above_85():
    goal = {**GOAL, "goal_options": ["cool powder snow"]}
    assert reward(goal, chosen={"color": "powder snow"}) == 1.0
    assert reward(goal, chosen={"color": "pink"}) == pytest.approx(4 / 5)


def test_price_counts_as_one_hit():
    assert reward(price=40.0) == 1.0
    assert reward(price=40.01) == pytest.approx(5 / 6)


def test_the_type_factor_has_its_four_steps():
    other = {"query": "query 2", "product_category": "a › d › e"}
    assert reward(**other) == 1.0  # the titles agree
    assert reward(**other, name="completely different tweezers") == 0.0
    goal = {**GOAL, "name": "one two three four five six seven eight nine ten eleven twelve"}
    assert reward(goal, **other, name="one") == pytest.approx(0.1)
    assert reward(goal, **other, name="one two") == pytest.approx(0.5)
    assert reward(goal, name="one two", query="query 2") == 1.0  # three categories in common


def test_title_score_is_the_share_of_nouns():
    assert title_score("x", "of the") == 0.2
    assert title_score("red shoe for men", "shoe with laces") == 0.5


def test_colour_words_represent_the_option():
    assert normalise_colour("z01-navy blue") == "blue"
    assert normalise_colour("xl") == "xl"


@pytest.mark.parametrize(
    ("changes", "term"),
    [
        ({"product_category": "a › d › e"}, "category"),
        ({"asin": "B2", "Attributes": ["tea tree"]}, "attribute"),
        ({"chosen": {"color": "grey"}}, "option"),
        ({"chosen": {"color": "dark grey", "size": "XL"}}, "option"),
        ({"price": 41.0}, "price"),
    ],
)
def test_strict_requires_every_part_exactly(changes, term):
    state = {"bought": {**copy.deepcopy(BOUGHT), **changes}, "opened": ["B1", "B2"]}
    verdict = webshop_strict(None, {"goal": GOAL}, state, ())
    assert verdict.score == 0.0 and verdict.terms[term] == 0.0


def test_strict_requires_an_opened_page():
    state = {"bought": BOUGHT, "opened": ["B1"]}
    assert webshop_strict(None, {"goal": GOAL}, state, ()).score == 1.0
    assert webshop_strict(None, {"goal": GOAL}, {**state, "opened": []}, ()).score == 0.0


def test_no_purchase_scores_zero_under_both_rules():
    for rule in (webshop, webshop_strict):
        assert rule(None, {"goal": GOAL}, {"bought": None}, ()).score == 0.0
