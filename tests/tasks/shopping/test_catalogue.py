"""The catalogue: records, families with designed targets, constraints, phrases."""

import hashlib
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from hexathlon.tasks.bilingual import LANGUAGES, BilingualText
from hexathlon.tasks.catalogue import Catalogue, Constraint, open_catalogue
from hexathlon.tasks.catalogue.coding import Coder
from hexathlon.tasks.catalogue.goods import CATEGORIES
from hexathlon.tasks.catalogue.goods.notation import NotationError, read_category
from hexathlon.tasks.catalogue.matching import holds_on, row_mask
from hexathlon.tasks.catalogue.noise import mix, mix_array
from hexathlon.tasks.catalogue.tokens import tokenize

SIZE = 4_000


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def catalogue(cache: Path) -> Catalogue:
    return open_catalogue(3, SIZE, cache)


def test_every_category_is_there_and_families_share_out_the_catalogue(
    catalogue: Catalogue,
) -> None:
    assert len(CATEGORIES) >= 12
    members = [catalogue.family(family) for family in range(catalogue.family_count)]
    assert sum(map(len, members)) == SIZE == len({each for family in members for each in family})
    assert all(20 <= len(family) <= 120 for family in members)
    assert all(catalogue.families(slug) for slug in catalogue.categories)


@pytest.mark.parametrize("size", [1_000, 1_001, 1_777, 2_500])
def test_any_size_is_met_exactly_with_every_category(size: int, cache: Path) -> None:
    catalogue = open_catalogue(9, size, cache)
    sizes = [len(catalogue.family(family)) for family in range(catalogue.family_count)]
    assert sum(sizes) == size
    assert min(sizes) >= 20 and max(sizes) <= 120
    assert all(catalogue.families(slug) for slug in catalogue.categories)


def test_sizes_out_of_range_are_refused(cache: Path) -> None:
    with pytest.raises(ValueError, match="not 999"):
        open_catalogue(0, 999, cache)


def test_every_designed_target_is_the_only_answer_and_every_constraint_matters(
    catalogue: Catalogue,
) -> None:
    degrees: Counter[int] = Counter()
    kinds: Counter[str] = Counter()
    for family in range(catalogue.family_count):
        designs = catalogue.designs(family)
        assert len(designs) >= 3
        for design in designs:
            constraints = catalogue.constraints_of(design.product_id, design.axes)
            assert catalogue.unique_target(family, constraints) == design.product_id
            assert all(catalogue.near_misses(family, constraints).values())
            degrees[len(constraints)] += 1
            kinds.update(each.kind for each in constraints)
    assert all(degrees[degree] >= 20 for degree in range(2, 8))
    wanted = {"attribute", "specification", "review", "option", "price", "rating", "seller"}
    assert wanted | {"shipping", "returns"} <= set(kinds)


def test_brand_line_and_kind_make_a_design_unique_in_the_whole_catalogue(
    catalogue: Catalogue,
) -> None:
    anchors = ("category", "kind", "brand", "series")
    for family in range(0, catalogue.family_count, 7):
        design = catalogue.designs(family)[0]
        constraints = catalogue.constraints_of(design.product_id, (*anchors, *design.axes))
        assert catalogue.matching(constraints) == [design.product_id]
        misses = catalogue.near_misses(family, constraints)
        assert misses[1], "the sibling family fails on the kind alone"


def test_siblings_differ_only_in_kind(catalogue: Catalogue) -> None:
    for family in range(0, catalogue.family_count, 2):
        first = catalogue.product(catalogue.family(family)[0])
        second = catalogue.product(catalogue.family(catalogue.sibling(family))[0])
        assert first.kind != second.kind
        assert (first.category, first.brand, first.series) == (
            second.category,
            second.brand,
            second.series,
        )


def test_lines_are_named_once_per_category(catalogue: Catalogue) -> None:
    names = []
    for family in range(0, catalogue.family_count, 2):
        product = catalogue.product(catalogue.family(family)[0])
        names.append((product.category, product.brand.en, product.series.en))
    assert len(set(names)) == len(names)


def test_rows_and_records_agree_on_every_constraint(catalogue: Catalogue) -> None:
    """Two ways to the same answer: vectorised over codes, and from the decoded record."""
    decoder = catalogue._decoder
    for family in range(0, catalogue.family_count, 11):
        header = decoder.header(family)
        donor = catalogue.family(family)[5]
        axes = [*catalogue.axes(family), "kind", "brand", "series"]
        for constraint in catalogue.constraints_of(donor, axes):
            if constraint.kind == "price":
                continue
            mask = row_mask(decoder, header, constraint)
            for product_id, told in zip(catalogue.family(family), mask.tolist(), strict=True):
                product = catalogue.product(product_id)
                assert told == any(
                    holds_on(product, variant, constraint) for variant in product.variants
                )


def test_price_bounds_separate_the_tiers_for_every_variant(catalogue: Catalogue) -> None:
    for family in range(catalogue.family_count):
        if "price" not in catalogue.axes(family):
            continue
        for product_id in catalogue.family(family)[::3]:
            (constraint,) = catalogue.constraints_of(product_id, ["price"])
            product = catalogue.product(product_id)
            assert product.price_cents == min(v.price_cents for v in product.variants)
            assert all(holds_on(product, variant, constraint) for variant in product.variants)


def test_violations_name_what_a_purchase_would_break(catalogue: Catalogue) -> None:
    family = next(f for f in range(catalogue.family_count) if "colour" in catalogue.axes(f))
    design = next(d for d in catalogue.designs(family) if "colour" in d.axes)
    constraints = catalogue.constraints_of(design.product_id, design.axes)
    position = design.axes.index("colour")
    product = catalogue.product(design.product_id)
    right = [v for v in product.variants if v.options["colour"] == constraints[position].value]
    wrong = [v for v in product.variants if v.options["colour"] != constraints[position].value]
    others = [c for c in constraints if c.kind == "option" and c.name != "colour"]
    for variant in right:
        if all(variant.options[c.name] == c.value for c in others):
            assert catalogue.satisfies(product.id, variant.id, constraints)
            assert variant.stock
    for variant in wrong:
        assert position in catalogue.violations(product.id, variant.id, constraints)


def test_stock_runs_out_somewhere_but_never_for_a_designed_target(catalogue: Catalogue) -> None:
    some = [catalogue.product_at(number) for number in range(0, SIZE, 13)]
    stocks = [variant.stock for product in some for variant in product.variants]
    assert 0 in stocks and 0 < sum(stock == 0 for stock in stocks) < len(stocks) / 3


def test_deep_facts_occur_only_in_their_place(catalogue: Catalogue) -> None:
    """Facts of the specification or reviews occur nowhere else on the page."""
    for number in range(0, SIZE, 37):
        product = catalogue.product_at(number)
        grammar = catalogue.category(product.category)
        for item in grammar.attributes:
            value = item.values[item.code(product.attributes[item.name])]
            for language in LANGUAGES:
                page = " ".join((product.title[language], *product.features[language]))
                table = dict(product.specification[language])
                told = f"{item.label[language]}{': ' if language == 'en' else '：'}"
                assert (told + value.text[language] in page) == (item.place in ("title", "feature"))
                assert (table.get(item.label[language]) == value.text[language]) == (
                    item.place != "review"
                )
                if item.place == "review":
                    says = value.says_en if language == "en" else value.says_zh
                    written = " ".join(review.text[language] for review in product.reviews)
                    assert sum(each in written for each in says) >= 2


def test_reviews_never_speak_for_another_value(catalogue: Catalogue) -> None:
    for number in range(0, SIZE, 37):
        product = catalogue.product_at(number)
        written = " ".join(review.text.en for review in product.reviews)
        for item in catalogue.category(product.category).attributes:
            for value in item.values:
                if value.slug != product.attributes[item.name]:
                    assert not any(each in written for each in value.says_en)


def test_a_product_is_the_same_in_another_process(catalogue: Catalogue, cache: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from hexathlon.tasks.catalogue import open_catalogue;"
        f"c = open_catalogue(3, {SIZE}, Path(sys.argv[1]));"
        "p = c.product_at(1234); sys.stdout.buffer.write("
        "repr((p, p.title, p.description, p.features, p.specification, p.reviews, p.variants,"
        "c.search('navy jacket', language='en'), c.search('藏青 外套', language='zh'))).encode())"
    )
    fresh = cache / "fresh"
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code, str(place)], capture_output=True, check=True,
            env={"PYTHONHASHSEED": salt, "PYTHONPATH": ":".join(filter(None, sys.path))},
        ).stdout
        for place, salt in ((cache, "1"), (fresh, "2"))
    ]  # fmt: skip
    product = catalogue.product_at(1234)
    assert outputs[0] == outputs[1]
    assert repr(product.reviews).encode() in outputs[0]


def test_ids_are_opaque_unique_and_reversible() -> None:
    coder = Coder(12345)
    ids = [coder.encode(number) for number in range(5_000)]
    assert len(set(ids)) == len(ids)
    assert [coder.decode(each) for each in ids] == list(range(5_000))
    assert all(coder.decode(text) is None for text in ("", "P", "X0000000", "P00000I", "P000000U"))
    shared = sum(a[:3] == b[:3] for a, b in zip(ids, ids[1:], strict=False))
    assert shared < len(ids) / 100, "neighbours must not look alike"


def test_unknown_things_are_named(catalogue: Catalogue) -> None:
    with pytest.raises(KeyError, match="no product 'nothing'"):
        catalogue.product("nothing")
    with pytest.raises(KeyError, match="has no variant"):
        catalogue.product_at(0).variant("x")
    with pytest.raises(KeyError, match="no category 'boats'; there are"):
        catalogue.families("boats")
    with pytest.raises(IndexError):
        catalogue.product_at(SIZE)
    with pytest.raises(ValueError, match="not an operator"):
        Constraint("price", "price", "!=", 3)  # type: ignore[arg-type]


def test_a_catalogue_pickles_by_its_address(catalogue: Catalogue) -> None:
    assert pickle.loads(pickle.dumps(catalogue)) is catalogue
    product = catalogue.product_at(17)
    copy = pickle.loads(pickle.dumps(product))
    assert copy == product and copy.reviews == product.reviews


def test_constraints_survive_json(catalogue: Catalogue) -> None:
    design = catalogue.designs(0)[0]
    for constraint in catalogue.constraints_of(design.product_id, design.axes):
        assert Constraint.from_json(constraint.as_json()) == constraint


def test_every_constraint_can_be_said_in_both_languages(catalogue: Catalogue) -> None:
    for family in range(0, catalogue.family_count, 5):
        product = catalogue.product(catalogue.family(family)[0])
        axes = (*catalogue.axes(family), "category", "kind", "brand", "series")
        for constraint in catalogue.constraints_of(product.id, axes):
            for language in LANGUAGES:
                for gap in (True, False):
                    said = catalogue.phrases_for(constraint, language, product.category, gap=gap)
                    assert said and all(each and "{" not in each for each in said)
                assert catalogue.slot_name(constraint, language, product.category)


_LITTLE = frozenset("a an the with and or of to for in on at is up has it no not as than".split())


def test_shoppers_use_other_words_than_the_shop() -> None:
    """A request cannot be typed verbatim into the search box."""
    for category in CATEGORIES:
        for item in category.attributes:
            if item.order != "none":
                continue  # numbers and their units must be shared
            for value in item.values:
                for language in LANGUAGES:
                    own = _words(value.text[language])
                    asks = value.asks_en if language == "en" else value.asks_zh
                    assert asks, (category.slug, item.name, value.slug)
                    for ask in asks:
                        assert not own & _words(ask), (category.slug, value.slug, ask)


def _words(text: str) -> set[str]:
    return {word for word in tokenize(text) if word not in _LITTLE and not word[0].isdigit()}


def test_no_phrase_stands_for_two_values() -> None:
    for category in CATEGORIES:
        said = [
            ask
            for item in category.attributes
            for value in item.values
            for ask in value.asks_en + value.asks_zh
        ]
        repeated = [ask for ask, times in Counter(said).items() if times > 1]
        assert not repeated, (category.slug, repeated)


def test_words_are_in_their_language() -> None:
    for category in CATEGORIES:
        for item in category.properties():
            for value in item.values:
                for text in (value.text.en, *value.asks_en, *value.says_en):
                    assert not any(letter >= "\u3400" for letter in text), text
                for text in (*value.asks_zh, *value.says_zh):
                    assert any(letter >= "\u3400" for letter in text), text


def test_noise_is_the_same_one_by_one_and_in_arrays() -> None:
    import numpy as np

    numbers = np.arange(100)
    assert mix_array(7, 5, numbers).tolist() == [mix(7, 5, number) for number in range(100)]


def test_golden_record(catalogue: Catalogue) -> None:
    """A change here changes every task: raise the version of the shopping source."""
    assert mix(1, 2, 3) == 9613205829653846581
    assert BilingualText("a", "b")["zh"] == "b"
    product = catalogue.product_at(1234)
    told = repr((product, product.title, product.specification, product.reviews, product.variants))
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == "cfbaf419bd700f10"


def test_a_bad_category_file_names_its_section() -> None:
    text = (
        "[category x] X | 某\ndepartment: D | 部\nprice: 1 2\n"
        "[kinds]\na | A | 甲\n[attribute glow nowhere] Glow | 光\nb | B | 乙\n"
    )
    with pytest.raises(NotationError, match="glow: 'nowhere' is not a place"):
        read_category(text)
    with pytest.raises(NotationError, match="3, 5 or 7 fields"):
        read_category(text.replace("nowhere", "title").replace("b | B | 乙", "b | B | 乙 | c"))
