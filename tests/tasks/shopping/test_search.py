"""Search: ranking, ties, filters, sorting, pages, facets, both languages."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import tantivy

from hexathlon.tasks.bilingual import LANGUAGES
from hexathlon.tasks.catalogue import WINDOW, Catalogue, open_catalogue
from hexathlon.tasks.catalogue.opening import open_index
from hexathlon.tasks.catalogue.store import open_store
from hexathlon.tasks.catalogue.tokens import tokenize

SIZE = 6_000


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def catalogue(cache: Path) -> Catalogue:
    return open_catalogue(1, SIZE, cache)


def test_a_product_is_found_by_its_title_in_both_languages(catalogue: Catalogue) -> None:
    for number in range(0, SIZE, 211):
        product = catalogue.product_at(number)
        for language in LANGUAGES:
            place = catalogue.rank(product.id, product.title[language], language=language)
            assert place is not None and place <= 240, "its family and the sibling come first"


def test_chinese_words_are_found_inside_runs(catalogue: Catalogue) -> None:
    page = catalogue.search("保温", language="zh", per_page=100)
    assert page.total
    assert all(
        "保温" in hit.title or "保温" in "".join(catalogue.product(hit.product_id).features["zh"])
        for hit in page.hits
    )


def test_deep_attributes_cannot_be_searched(catalogue: Catalogue) -> None:
    """A word that occurs only in specifications or reviews finds nothing."""
    assert catalogue.search("ldac", language="en").total == 0
    assert catalogue.search("minke kryptonite", language="en").total == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_ranking_is_exhaustive_bm25_with_ties_in_catalogue_order(
    catalogue: Catalogue, cache: Path, language: str
) -> None:
    """Skipping inside the library must never change the window."""
    index = open_index(open_store(1, SIZE, cache).folder, language)  # type: ignore[arg-type]
    schema, searcher = index.schema, index.searcher()
    assert searcher.num_segments == 1
    for number in range(0, SIZE, 307):
        product = catalogue.product_at(number)
        words = list(dict.fromkeys(tokenize(" ".join(product.features[language]))))[:3]  # type: ignore[index]
        query = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", word, "freq"))
                for word in words
            ]
        )
        hits = searcher.search(query, SIZE, count=True).hits
        everything = sorted(((-score, address.doc) for score, address in hits))
        window = catalogue._engine.window(" ".join(words), language)  # type: ignore[arg-type]
        assert window.tolist() == [doc for _, doc in everything[:WINDOW]]


def test_pages_share_out_the_window(catalogue: Catalogue) -> None:
    seen = []
    first = catalogue.search("navy", language="en", per_page=40)
    for page in range(1, first.pages + 1):
        seen += [
            hit.product_id
            for hit in catalogue.search("navy", language="en", page=page, per_page=40).hits
        ]
    assert len(seen) == len(set(seen)) == first.total <= WINDOW
    assert catalogue.search("navy", language="en", page=first.pages + 1, per_page=40).hits == ()


def test_orders(catalogue: Catalogue) -> None:
    for sort, key in (
        ("price", lambda hit: hit.price_cents),
        ("-price", lambda hit: -hit.price_cents),
        ("-rating", lambda hit: -hit.rating),
    ):
        hits = catalogue.search("steel", language="en", sort=sort, per_page=100).hits  # type: ignore[arg-type]
        keys = [(key(hit), catalogue.number(hit.product_id)) for hit in hits]
        assert keys == sorted(keys) and len(hits) > 20
    with pytest.raises(ValueError, match="no order 'name'; there are relevance, price"):
        catalogue.search("steel", language="en", sort="name")  # type: ignore[arg-type]


def test_filters_are_exact_and_do_not_affect_the_score(catalogue: Catalogue) -> None:
    colour = catalogue.product(catalogue.family(catalogue.families("jackets")[0])[0]).options[
        "colour"
    ][0]

    def passes(number: int) -> bool:
        product = catalogue.product_at(number)
        return (
            product.category == "jackets"
            and colour in product.options["colour"]
            and product.price_cents <= 38_000
            and product.rating >= 3.5
            and product.shipping.days <= 8
        )

    filters = {"price_max": 38_000, "rating_min": 3.5, "delivery_max": 8, "colour": colour}
    jackets = [n for n in range(SIZE) if catalogue.product_at(n).category == "jackets"]
    ranked = catalogue._engine.window("grey jackets", "en", (f"c{_code('jackets')}",)).tolist()
    assert sorted(ranked) == jackets, "the category's own word is in every document"
    page = catalogue.search(
        "grey jackets", language="en", category="jackets", filters=filters, per_page=100
    )
    found = [catalogue.number(hit.product_id) for hit in page.hits]
    assert found == [number for number in ranked if passes(number)][:100]
    assert page.total == sum(map(passes, jackets)) > 0


def test_filters_by_brand_and_seller(catalogue: Catalogue) -> None:
    product = catalogue.product_at(100)
    for filters in ({"brand": product.brand.en}, {"brand": product.brand.zh}):
        page = catalogue.search("", language="en", filters=filters, per_page=100)
        assert {catalogue.product(h.product_id).brand for h in page.hits} == {product.brand}
    page = catalogue.search("", language="zh", filters={"seller": product.seller.id})
    assert {catalogue.product(h.product_id).seller for h in page.hits} == {product.seller}


@pytest.mark.parametrize(
    ("category", "filters", "message"),
    [
        ("boats", {}, "no category 'boats'; there are backpacks"),
        (None, {"colour": "red"}, "no filter 'colour' without a category; there are brand"),
        ("tea", {"leaf": "purple"}, "leaf has no value 'purple'; it has green"),
        ("tea", {"caffeine": "0"}, "no filter 'caffeine' in tea"),
        (None, {"brand": "Nobody"}, "no brand 'Nobody'"),
        (None, {"seller": "nobody"}, "no seller 'nobody'"),
        (None, {"price_max": "cheap"}, "needs a number, not 'cheap'"),
        (None, {"price_max": float("nan")}, "needs a number from 0 on"),
    ],
)
def test_wrong_filters_say_what_there_is(
    catalogue: Catalogue, category: str | None, filters: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        catalogue.search("x", language="en", category=category, filters=filters)


@pytest.mark.parametrize(("page", "per_page"), [(0, 10), (1, 0), (1, 101)])
def test_wrong_pages_are_refused(catalogue: Catalogue, page: int, per_page: int) -> None:
    with pytest.raises(ValueError, match="page is 1 or more"):
        catalogue.search("x", language="en", page=page, per_page=per_page)


def test_facets_count_the_window(catalogue: Catalogue) -> None:
    page = catalogue.search("jacket", language="en", category="jackets", per_page=100)
    everything = [
        catalogue.product_at(number)
        for number in catalogue._engine.window("jacket", "en", (f"c{_code('jackets')}",)).tolist()
    ]
    assert page.facets["category"] == {"jackets": page.total}
    for name in ("fabric", "hood"):
        counted = page.facets[name]
        assert sum(counted.values()) == page.total
        for slug, count in counted.items():
            assert count == sum(product.attributes[name] == slug for product in everything)
    assert catalogue.search("qqqq", language="en").facets == {}


def _code(slug: str) -> int:
    from hexathlon.tasks.catalogue.goods import category_code

    return category_code(slug)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "!!!",
        "a" * 10_000,
        "\x00\ud7ff",
        "AND OR NOT",
        'title:"x"~2 +y -z',
        "*",
        "😀",
        "İI",
    ],
)
def test_any_text_is_a_query(catalogue: Catalogue, query: str) -> None:
    page = catalogue.search(query, language="en")
    assert page.total <= WINDOW


def test_words_are_the_same_for_products_and_queries() -> None:
    assert tokenize("Stainless-STEEL bottles, 2.4 GHz") == (
        "stainless",
        "steel",
        "bottle",
        "2.4",
        "ghz",
    )
    assert tokenize("30h") == tokenize("30 h") == ("30", "h")
    assert tokenize("不锈钢杯") == ("不锈", "锈钢", "钢杯")
    assert tokenize("钛") == ("钛",)
    assert tokenize("ＵＳＢ") == ("usb",)
    assert tokenize("glass bus iris") == ("glass", "bus", "iris")


def test_threads_share_one_catalogue(catalogue: Catalogue) -> None:
    words = ["navy", "steel", "glass", "wool", "jacket", "tea", "black", "lamp"] * 3
    alone = [catalogue.search(word, language="en").hits for word in words]
    found: dict[int, object] = {}

    def look(place: int) -> None:
        found[place] = catalogue.search(words[place], language="en").hits

    threads = [threading.Thread(target=look, args=(place,)) for place in range(len(words))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [found[place] for place in range(len(words))] == alone


def test_an_open_catalogue_survives_a_fork(catalogue: Catalogue) -> None:
    expected = [hit.product_id for hit in catalogue.search("teal", language="en").hits]
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        hits = catalogue.search("teal bottle", language="en").hits
        again = catalogue.search("teal", language="en").hits
        os.write(writer, b"ok" if hits and [h.product_id for h in again] == expected else b"no")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 2) == b"ok"
    os.close(reader)
    os.close(writer)


def test_many_processes_read_one_index(catalogue: Catalogue, cache: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from hexathlon.tasks.catalogue import open_catalogue;"
        f"c = open_catalogue(1, {SIZE}, Path(sys.argv[1]));"
        "print([h.product_id for h in c.search('grey wool', language='en').hits])"
    )
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    readers = [
        subprocess.Popen([sys.executable, "-c", code, str(cache)], stdout=subprocess.PIPE,
                         text=True, env=environment)
        for _ in range(3)
    ]  # fmt: skip
    expected = [hit.product_id for hit in catalogue.search("grey wool", language="en").hits]
    for reader in readers:
        assert reader.communicate(timeout=600)[0].strip() == str(expected)


def test_windows_are_read_only(catalogue: Catalogue) -> None:
    window = catalogue._engine.window("navy", "en")
    with pytest.raises(ValueError, match="read-only"):
        window[0] = 1
    assert isinstance(window, np.ndarray)
