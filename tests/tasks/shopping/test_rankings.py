"""Rankings by surface features do not find targets: equal bounds, aversions, and the screen."""

import re
from collections import Counter
from itertools import islice

import numpy as np
import pytest

from hexathlon.envs.shopping.pages import item_text, specification_text
from hexathlon.tasks.catalogue import Constraint, Product, open_catalogue
from hexathlon.tasks.catalogue.goods import CATEGORIES
from hexathlon.tasks.catalogue.tokens import tokenize
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.shopping.bounds import equal_bounds
from hexathlon.tasks.shopping.giveaway import told
from hexathlon.tasks.shopping.rankings import chance_of_first, open_shelf
from hexathlon.tasks.shopping.rewording import (
    ANY_NUMBER,
    askable,
    plain_phrases,
    reworded,
    rewordings,
)
from hexathlon.tasks.shopping.world.facts import category_of
from hexathlon.tasks.shopping.world.fitting import can_exist, left_out
from hexathlon.tasks.shopping.world.settings import open_settings
from hexathlon.tasks.task import Task

SOURCE = get_source("shopping")


@pytest.fixture(scope="module")
def purchases() -> list[Task]:
    """A few purchases of medium."""
    ids = (SOURCE.address("dev", 2 * i, "medium") for i in range(80))
    built = (SOURCE.build(task_id) for task_id in islice(ids, 0, 72, 2))
    return [task for task in built if task.params["world"] == "store"]


def target_of(task: Task) -> str:
    plan = task.checks[0].params["plan"]
    record = plan["lines"][0][0] if plan["lines"] else plan["answer"]["records"][0]
    return str(record).partition("-")[0]


def test_no_ranking_has_the_target_first(purchases):
    assert len(purchases) >= 12
    for task in purchases:
        catalogue, target = open_settings(task.params).catalogue, target_of(task)
        family = catalogue.product(target).family
        shelf = open_shelf(catalogue, family, task.params["language"])
        wanted = next(iter(task.checks[0].params["wanted"]), ())
        conditions = [Constraint.from_json(item["constraint"]) for item in wanted]
        position = [product.id for product in shelf.products].index(target)
        for name, scores in shelf.rankings(told(task.instruction, task.params), conditions):
            assert chance_of_first(scores, position) <= 0.04, (task.id, name)


def test_rankings_count_words_as_a_shopper_sees_them():
    catalogue = open_catalogue(5, 1_000)
    shelf = open_shelf(catalogue, 0, "en")
    product = shelf.products[3]
    request = " ".join([product.title.en, *product.features["en"]])
    scores = dict(shelf.by_words(request))["page: number"]
    assert scores[3] == scores.max()
    assert shelf.distances[3, 3] == 0 and (shelf.distances == shelf.distances.T).all()
    dear = Constraint("price", "price", ">=", product.price_cents)
    kept = shelf.kept_by([dear])
    assert kept[3] and kept.sum() == sum(
        p.price_cents >= product.price_cents for p in shelf.products
    )


def test_the_chance_of_a_tie_is_shared():
    scores = np.array([3.0, 1.0, 3.0, -np.inf])
    assert [chance_of_first(scores, i) for i in range(4)] == [0.5, 0.0, 0.5, 0.0]
    assert chance_of_first(np.array([-np.inf]), 0) == 0.0


def test_equal_bounds_exclude_the_same_goods():
    checked = 0
    for category in CATEGORIES:
        for item in category.attributes:
            slugs = [value.slug for value in item.values]
            if item.order == "none" or not all(re.fullmatch(r"[\d.]+", slug) for slug in slugs):
                continue
            op = ">=" if item.order == "more" else "<="
            for rank, slug in enumerate(slugs):
                bound = Constraint("specification", item.name, op, slug)
                for number in equal_bounds(bound, category):
                    assert number not in slugs
                    for other, value in enumerate(slugs):
                        held = other >= rank if op == ">=" else other <= rank
                        said = (
                            float(value) >= float(number)
                            if op == ">="
                            else (float(value) <= float(number))
                        )
                        assert held == said, (category.slug, item.name, slug, number, value)
                    checked += 1
    assert checked > 100


def test_equal_bounds_of_delivery_and_nothing_else():
    tents = next(category for category in CATEGORIES if category.slug == "tents")
    assert equal_bounds(Constraint("shipping", "days", "<=", 4), tents) == ("5", "6", "7")
    assert equal_bounds(Constraint("shipping", "days", "<=", 7), tents) == ()
    assert equal_bounds(Constraint("price", "price", "<=", 5_000), tents) == ()
    assert equal_bounds(Constraint("rating", "rating", ">=", 40), tents) == ()


def test_a_request_states_no_number_of_the_target_for_a_scale(purchases):
    checked = 0
    for task in purchases:
        for item in next(iter(task.checks[0].params["wanted"]), ()):
            constraint = Constraint.from_json(item["constraint"])
            catalogue = open_settings(task.params).catalogue
            category = catalogue.product(target_of(task)).category
            numbers = equal_bounds(constraint, category_of(category))
            if numbers and "user" not in task.params:
                assert any(number in task.instruction for number in numbers), task.id
                checked += 1
    assert checked >= 5


def test_an_aversion_names_nothing_that_the_target_has(purchases):
    named = 0
    for task in purchases:
        catalogue, language = open_settings(task.params).catalogue, task.params["language"]
        product = catalogue.product(target_of(task))
        said = re.search(
            r"\(([^)]*, [^)]*)\)|（([^）]*、[^）]*)）", told(task.instruction, task.params)
        )
        if said is None:
            continue
        page = [*(value for _, value in product.specification[language])]
        page += [
            part for line in product.features[language] for part in re.split(r": |：|, |、", line)
        ]
        for value in re.split(r", |、", said[1] or said[2]):
            assert value not in page, (task.id, value)
            named += 1
    assert named >= 6


_LITTLE = frozenset("a an the with and or of to for in on at is up has it no not as than".split())


def test_customers_phrases_belong_to_values_and_use_other_words_than_the_shop():
    said: Counter[tuple[str, str]] = Counter()
    for (slug, name, value), phrases in rewordings().items():
        item = category_of(slug).attribute(name)
        if value == ANY_NUMBER:
            assert item.order != "none" and all("{}" in each for part in phrases for each in part)
            continue
        text = item.values[item.code(value)].text
        for language, asks in zip(("en", "zh"), phrases, strict=True):
            own = {word for word in tokenize(text[language]) if word not in _LITTLE}
            for ask in asks:
                assert ask and not own & set(tokenize(ask)), (slug, name, value, ask)
                said[slug, ask] += 1
    assert said and set(said.values()) == {1}


def test_phrases_in_the_shoppers_words_are_replaced():
    said = ("as before", "as before too")
    poles = Constraint("attribute", "poles", "==", "aluminium")
    assert reworded(poles, "en", "tents", said) != said
    assert reworded(poles, "en", "tents", said[:1]) == list(said[:1])
    pitch = Constraint("attribute", "pitch", "==", "quick")
    assert reworded(pitch, "en", "tents", said[:1]) == ["pitches with one pull"]
    weight = Constraint("specification", "weight", "<=", "2.5")
    assert all("2.5" in each for each in reworded(weight, "zh", "tents", said))
    unknown = Constraint("attribute", "poles", "==", "unknown")
    assert reworded(unknown, "zh", "tents", said) == list(said)


def test_plain_phrases_belong_to_values():
    for slug, name, value in plain_phrases():
        item = category_of(slug).attribute(name)
        assert item.values[item.code(value)].slug == value


def product_with(category: str, kind: str, **attributes: str) -> Product:
    """Return a product of which only kind and attributes are known."""
    product = object.__new__(Product)
    for field, value in (("category", category), ("kind", kind), ("attributes", attributes)):
        object.__setattr__(product, field, value)
    return product


@pytest.mark.parametrize(
    ("goods", "missing", "stated"),
    [
        (("coffee_makers", "drip", {"control": "dial"}), {"pressure", "milk"}, "tank"),
        (("coffee_makers", "espresso", {"control": "dial"}), {"filter", "jug"}, "pressure"),
        (("headphones", "studio", {"link": "jack"}), {"battery", "codec"}, "driver"),
        (("headphones", "studio", {"link": "dongle"}), {"codec"}, "battery"),
        (("face_creams", "night", {"sun": "30"}), {"sun"}, "keep"),
        (("tea", "loose", {"leaf": "black", "caffeine": "0"}), {"caffeine"}, "steeps"),
        (("pet_beds", "cat", {"form": "flat", "height": "8"}), {"height", "load"}, "fill"),
    ],
)
def test_what_goods_cannot_have_is_neither_shown_nor_asked_for(goods, missing, stated):
    category, kind, attributes = goods
    product = product_with(category, kind, **attributes)
    assert missing <= left_out(product) and stated not in left_out(product)
    assert not any(askable(product, (name,)) for name in missing)
    assert askable(product, (stated,))


def test_nobody_asks_for_what_is_only_a_drawback():
    assert not askable(product_with("bottles", "mug", leaks="drips"), ("leaks",))
    assert askable(product_with("bottles", "mug", leaks="tight"), ("leaks",))


def test_goods_that_cannot_exist_are_not_sold():
    assert not can_exist(product_with("pet_beds", "mat", form="cave"))
    assert can_exist(product_with("pet_beds", "mat", form="flat"))


def test_pages_leave_out_what_goods_cannot_have(purchases):
    """Of the goods of whole families, no page states a property that is left out."""
    checked = 0
    for task in purchases:
        catalogue, language = open_settings(task.params).catalogue, task.params["language"]
        for product_id in catalogue.family(catalogue.product(target_of(task)).family):
            product = catalogue.product(product_id)
            names = category_of(product.category).by_name
            labels = {names[name].label[language] for name in left_out(product)}
            shown = [item_text(product, language), specification_text(product, language)]
            lines = [line.lstrip("- ") for text in shown for line in text.splitlines()]
            assert labels.isdisjoint(re.split(": |：", line)[0] for line in lines)
            checked += len(labels)
    assert checked >= 20
