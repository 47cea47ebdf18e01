"""Rubric files: accepted ones, rejected ones, and the error messages."""

import pytest

from hexathlon.evaluators.judges.lint import compound_word, lint
from hexathlon.evaluators.judges.rubric import RubricError
from hexathlon.evaluators.judges.rubric_files import (
    get_rubric,
    parse_rubric,
    read_rubric,
    register_rubric,
    rubric_names,
)

GOOD = """
id = "courtesy"
aggregator = "healthbench"

[[criteria]]
id = "thanks"
text = "The reply thanks the customer."
weight = 2
why = "Thanks can be put in many ways."
controls = [
    { label = "met", reply = "Thank you for coming." },
    { label = "not_met", reply = "Good day." },
]

[[criteria]]
id = "short"
text = "No turn has more than 20 words."
weight = 1
check = { name = "at_most_words", params = { words = 20 } }
"""


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


def test_sound_rubric_has_no_findings():
    rubric = parse_rubric(GOOD, "courtesy.toml")
    assert [criterion.id for criterion in rubric.judged] == ["thanks"]
    assert [criterion.id for criterion in rubric.decided] == ["thanks", "short"]
    assert lint(rubric) == []
    assert rubric.criterion("short").check.params == {"words": 20}


@pytest.mark.parametrize("old, new, said", [
    ("why =", "whi =", "criterion 'thanks' has no setting 'whi'"),
    ('why = "Thanks can be put in many ways."', "", "explain in 'why' why code cannot decide"),
    ("weight = 2", "weight = -2", "a soft criterion needs a weight above 0, got -2"),
    ("weight = 2", 'weight = 2\nkind = "pitfall"', "a pitfall criterion needs a weight below 0"),
    ("weight = 2", "weight = nan", "thanks"),
    ("weight = 2", "weight = 0", "above 0"),
    ("thanks the customer.", "thanks and greets the customer.", r"two things at once \('and'\)"),
    ("thanks the customer.", "thanks the customer?", "is a question"),
    ('id = "short"', 'id = "thanks"', "the id is used twice"),
    ('id = "short"', 'id = "Short"', "criterion 'Short'.id"),
    ('"healthbench"', '"helthbench"', "unknown 'helthbench'; known: checkpoint_tree"),
    ('"at_most_words"', '"at_most_wrods"', "there is no predicate 'at_most_wrods'"),
    ("words = 20", 'words = "20"', "'words' has the wrong type"),
    ("words = 20", "word = 20", "at_most_words takes words, got"),
    ('label = "met"', 'label = "yes"', "a control has the label 'yes'"),
    ("weight = 1", 'weight = 1\nparent = "thanks"', "only a checkpoint tree has parents"),
    ("weight = 1", 'weight = 1\nchoices = ["bad", "good"]', "between met and not_met"),
    ("id = ", "id == ", "is not TOML"),
])  # fmt: skip
def test_defects_are_named(old, new, said):
    with pytest.raises(RubricError, match=said) as caught:
        parse_rubric(changed(old, new), "courtesy.toml")
    assert "courtesy.toml" in str(caught.value)


def test_all_defects_are_reported_together():
    text = changed("thanks the customer.", "thanks and greets?").replace('"healthbench"', '"x"')
    with pytest.raises(RubricError) as caught:
        parse_rubric(text, "two.toml")
    assert "two things" in str(caught.value) and "unknown 'x'" in str(caught.value)


def test_missing_controls_are_a_remark():
    rubric = parse_rubric(changed('    { label = "not_met", reply = "Good day." },\n', ""), "x")
    assert [str(one) for one in lint(rubric)] == [
        "criterion 'thanks': has no planted controls for both 'not_met' and 'met'"
    ]


def test_the_hash_covers_every_word_and_nothing_else():
    rubric = parse_rubric(GOOD, "x")
    assert parse_rubric(GOOD + "\n# a remark\n", "elsewhere.toml").hash == rubric.hash
    for old, new in [("thanks the", "thanked the"), ("weight = 2", "weight = 3"),
                     ("words = 20", "words = 21"), ("Good day.", "Good day!")]:  # fmt: skip
        assert parse_rubric(changed(old, new), "x").hash != rubric.hash


@pytest.mark.parametrize("text, word", [
    ("The reply names the price and the colour.", "and"),
    ("The reply names the price or the colour.", "or"),
    ("The reply names the price as well as the colour.", "as well as"),
    ("The reply names the price; it is polite.", ";"),
    ("回复说出价格并且有礼貌。", "并且"),
    ("The reply names 'salt and pepper'.", ""),
    ("The reply has between 3 and 5 sentences.", ""),
    ("The reply mentions an island.", ""),
    ("The order stands.", ""),
])  # fmt: skip
def test_compound_statements_are_detected(text, word):
    assert compound_word(text) == word


def test_ordinal_criteria_have_their_own_menu():
    text = changed('"healthbench"', '"ordinal"').partition('[[criteria]]\nid = "short"')[0]
    text = text.replace("weight = 2", 'weight = 2\nchoices = ["poor", "fair", "good"]')
    text = text.replace('"met"', '"good"').replace('"not_met"', '"poor"')
    one = parse_rubric(text, "x").criteria[0]
    assert one.menu == ("poor", "fair", "good")
    assert [one.value_of(label) for label in one.menu] == [0.0, 0.5, 1.0]
    assert one.value_of("cannot_tell") is None


def test_shipped_rubrics_are_sound():
    assert {"roleplay", "shopkeeper"} <= set(rubric_names())
    for name in rubric_names():
        assert lint(get_rubric(name)) == [], name


def test_rubrics_can_be_registered_by_name(tmp_path):
    path = tmp_path / "courtesy.toml"
    path.write_text(GOOD)
    register_rubric("courtesy-of-a-test", path)
    assert get_rubric("courtesy-of-a-test") == read_rubric(path)
    with pytest.raises(ValueError, match="is taken"):
        register_rubric("courtesy-of-a-test", tmp_path / "other.toml")
    with pytest.raises(RubricError, match="there is no rubric 'nothing'. Known: "):
        get_rubric("nothing")
    with pytest.raises(RubricError, match="cannot read the rubric"):
        read_rubric(tmp_path / "missing.toml")
