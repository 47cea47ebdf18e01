"""WebArena's rules including their flaws, and the strict rules that avoid them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexathlon.evaluators.web.texts import clean, includes, states_only
from hexathlon.evaluators.web.visualwebarena import visualwebarena
from hexathlon.evaluators.web.webarena import webarena, webarena_strict
from hexathlon.tasks.registry import get_source

SITES = {
    name: f"http://{name.replace('_', '-')}.example"
    for name in ("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia")
}


def rules(*types, **given_rules):
    empty = {"answers": {}, "note": "", "url": "", "url_rule": "", "contents": [], "images": [],
             "intent": "What is the colour of the cheapest bag?"}  # fmt: skip
    return {**empty, "types": list(types), **given_rules}


def state(answer=None, url="", probes=(), **more):
    report = None if answer is None else {"text": answer}
    return {"answer": report, "url": url, "probes": list(probes), "sites": SITES, **more}


def score(verifier, params, final):
    verdict = verifier(None, params, final, ())
    return None if verdict.status == "unscored" else verdict.score


def must(*references):
    return rules("string_match", answers={"must_include": list(references)})


# Answers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "own", "strict"),
    [
        ("red", 1, 1),
        ("The colour is Red.", 1, 1),
        ('"red"', 1, 1),
        ("not red", 1, 0),
        ("it isn't red", 1, 0),
        ("red or green or blue", 1, 0),
        ("maybe red", 1, 0),
        ("red, green, blue", 1, 0),
        ("I hired a painter", 1, 0),
        ("the credit card was declined", 1, 0),
        ("green", 0, 0),
        ("", 0, 0),
    ],
)
def test_additional_text_in_an_answer(answer, own, strict):
    assert score(webarena, must("red"), state(answer)) == own
    assert score(webarena_strict, must("red"), state(answer)) == strict


@pytest.mark.parametrize(
    ("reference", "answer", "own", "strict"),
    [
        ("5", "5", 1, 1), ("5", "15", 0, 0), ("5", "$5", 1, 1), ("5", "5%", 1, 1),
        ("5", "rated 5/5", 0, 0), ("10", "2010", 1, 0), ("10", "it is 10", 1, 1),
        ("no", "I know nothing", 1, 0), ("yes", "Yes.", 1, 1), ("1000", "1,000", 0, 1),
    ],
)  # fmt: skip
def test_short_references(reference, answer, own, strict):
    assert score(webarena, must(reference), state(answer)) == own
    assert score(webarena_strict, must(reference), state(answer)) == strict


def test_every_reference_has_to_be_included():
    assert score(webarena, must("red", "blue"), state("red and blue")) == 1
    assert score(webarena_strict, must("red", "blue"), state("blue, red")) == 1
    assert score(webarena, must("red", "blue"), state("red")) == 0


def test_exact_answers():
    params = rules("string_match", answers={"exact_match": "Quest Band"})
    assert score(webarena, params, state("'quest band'")) == 1
    assert score(webarena, params, state("the quest band")) == 0
    assert score(webarena_strict, params, state("Quest  Band")) == 1


def test_a_judge_is_asked_only_if_it_could_matter():
    params = rules(
        "string_match", "url_match", answers={"fuzzy_match": ["12 minutes"]}, url="http://x"
    )
    assert score(webarena, params, state("12 min", url="http://y")) == 0
    assert score(webarena, params, state("12 min", url="http://x")) is None
    for judged, expected in ((True, 1), (False, 0)):
        final = state("12 min", url="http://x", judgements={"fuzzy_match 0": judged})
        assert score(webarena, params, final) == expected
    verdict = webarena(None, params, state("12 min", url="http://x"), ())
    assert verdict.terms["needs_judge"] == 1 and "12 minutes" not in str(verdict.evidence)


def test_a_refusal_passes_by_the_original_rule_only():
    params = rules("string_match", answers={"fuzzy_match": "N/A"}, note="there is no such shop")
    assert score(webarena, params, state("N/A")) == 1
    assert score(webarena_strict, params, state("N/A")) == 0
    assert score(webarena_strict, params, state("N/A, the shop does not exist")) is None


@given(st.text(alphabet="abr ed,.!'\"", max_size=30))
def test_strict_implies_included(answer):
    if states_only(["red"], answer, ""):
        assert "red" in clean(answer)
        assert includes("red", answer)


@given(st.lists(st.sampled_from(["red", "green", "blue", "teal"]), min_size=2, unique=True))
def test_lists_of_candidates_never_pass_strictly(colours):
    for join in (" or ", ", ", " ", "/"):
        assert not states_only(["red"], join.join(colours), "which colour is it")


# URLs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "own", "strict"),
    [
        ("http://gitlab.example/a/b", 1, 1),
        ("http://gitlab.example/a/b/?sort=asc", 1, 0),
        ("http://gitlab.example/a/b?sort=asc", 1, 1),
        ("http://gitlab.example/a/bc", 1, 0),
        ("http://evil.example/http://gitlab.example/a/b", 1, 0),
        ("http://evil.gitlab.example/a/b", 1, 0),
        ("http://gitlab.example/a", 0, 0),
        ("http://gitlab.example/c?state=open", 1, 1),
        ("http://gitlab.example/c", 0, 0),
    ],
)
def test_urls(url, own, strict):
    wanted = "__GITLAB__/c?state=open" if "/c" in url else "__GITLAB__/a/b"
    params = rules("url_match", url=wanted)
    assert score(webarena, params, state("", url=url)) == own
    assert score(webarena_strict, params, state("", url=url)) == strict


def test_several_urls():
    params = rules("url_match", url="__MAP__/a?x=1 |OR| __MAP__/b?x=2")
    assert score(webarena, params, state("", url="http://map.example/a?x=2")) == 1
    assert score(webarena_strict, params, state("", url="http://map.example/a?x=2")) == 0
    assert score(webarena_strict, params, state("", url="http://map.example/b?x=2")) == 1


# Pages -------------------------------------------------------------------------------------------


def test_page_contents():
    params = rules(
        "program_html",
        contents=[{"must_include": ["12 |OR| dozen", "caf&eacute;"]}, {"exact_match": "Done"}],
    )
    assert score(webarena, params, state(probes=["a dozen, caf&amp;eacute;", " done "])) == 1
    assert score(webarena_strict, params, state("", probes=["112 caf&amp;eacute;", "done"])) == 0
    assert score(webarena, params, state(probes=["nothing", "done"])) == 0
    assert score(webarena, params, state(probes=["dozen caf&amp;eacute;", None])) is None


def test_strict_needs_an_end():
    params = rules("program_html", contents=[{"must_include": ["x"]}])
    assert score(webarena, params, state(probes=["x"])) == 1
    assert score(webarena_strict, params, state(probes=["x"])) == 0


# VisualWebArena ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "wanted", "text", "expected"),
    [
        ("must_include", ["7 |OR| seven"], "page 17", 0),
        ("must_include", ["7 |OR| seven"], "page 7", 1),
        ("must_exclude", ["30000", "30,000"], "sold for 25,000", 1),
        ("must_exclude", ["30000", "30,000"], "sold for 30,000", 0),
        ("one_of", ["red", "blue"], "it is blue", 1),
        ("required_values", [">= 300", "< 1000"], "1,001", 0),
        ("required_values", [">= 300", "< 1000"], "999", 1),
        ("required_values", [">= 300"], "many", 0),
        ("exact_match", "X", "x", 1),
        ("fuzzy_match", "a red car", "a car", None),
    ],
)
def test_visual_contents(kind, wanted, text, expected):
    params = rules("program_html", contents=[{kind: wanted}])
    assert score(visualwebarena, params, state(probes=[text])) == expected


def test_visual_urls_and_images():
    params = rules("url_match", url="__SHOPPING__/a", url_rule="EXACT")
    assert score(visualwebarena, params, state(url="http://shopping.example/a/")) == 1
    assert score(visualwebarena, params, state(url="http://shopping.example/a/b")) == 0
    params = rules("page_image_query", images=[{}])
    assert score(visualwebarena, params, state()) is None


# The published set -------------------------------------------------------------------------------


@pytest.fixture
def published(shared_data, monkeypatch):
    if not (shared_data / "webarena").is_dir():
        pytest.skip("../shared/data/webarena is not there")
    monkeypatch.setenv("HEXATHLON_DATA", str(shared_data))
    return [item.checks[0].params for item in get_source("webarena").items]


def passing(verifier, published, answer):
    return sum(score(verifier, params, state(answer)) == 1 for params in published)


def test_flaws_of_the_published_set(published):
    assert passing(webarena, published, "N/A") == 36
    assert passing(webarena_strict, published, "N/A") == 0
    numbers = " ".join(map(str, range(3000))) + " yes no"
    assert passing(webarena, published, numbers) == 52
    assert passing(webarena_strict, published, numbers) == 0
    references = [params["answers"].get("must_include", ()) for params in published]
    short = [each for each in references if any(len(reference) <= 2 for reference in each)]
    assert len(short) == 41


def test_published_answers_pass(published):
    for params in published:
        answers = params["answers"]
        if params["types"] != ["string_match"] or "fuzzy_match" in answers:
            continue
        given_answer = answers.get("exact_match") or " and ".join(answers["must_include"])
        assert score(webarena, params, state(given_answer)) == 1, params
        stated = given_answer.partition(" |OR| ")[0]
        assert score(webarena_strict, params, state(stated)) == 1, params
