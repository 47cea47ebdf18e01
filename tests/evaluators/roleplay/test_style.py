"""Rules of speech are counted, not judged."""

import pytest

from hexathlon.evaluators.roleplay.style import broken_rules, length, own_words, speaks
from hexathlon.tasks.roleplay.voice import MAX_LENGTH, compose

KEPT_AND_BROKEN = [
    ({"kind": "closing", "x": "salt keep you"}, "So. Salt keep you!", "Salt keep you, my."),
    ({"kind": "opening", "x": "By rope and tide"}, "“By rope and tide, no.”", "No, by rope."),
    ({"kind": "address", "x": "dry-foot"}, "Well, Dry-Foot, no.", "Well, dryfoot, no."),
    ({"kind": "taboo", "x": ["storm", "luck"]}, "A stormy day.", "Good luck."),
    ({"kind": "no_question"}, "You know it.", "Do you know it?"),
    ({"kind": "no_exclamation"}, "Ah.", "Ah!"),
    ({"kind": "spelled"}, "It is twelve.", "It is 12."),
    ({"kind": "short", "x": 3}, "One two three.", "One two three four."),
    ({"kind": "sentences", "x": 2}, "Yes. It is 3, so.", "Yes. It is. So."),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kept", "broken"), KEPT_AND_BROKEN)
def test_each_rule_in_english(rule, kept, broken):
    assert broken_rules(kept, [rule], "en") == []
    assert broken_rules(broken, [rule], "en") == [rule["kind"]]


@pytest.mark.parametrize(
    ("rule", "kept", "broken"),
    [
        ({"kind": "closing", "x": "愿盐护佑你"}, "是的。愿盐护佑你。", "愿盐护佑你，再见。"),
        ({"kind": "opening", "x": "盐与灰"}, "盐与灰，是的。", "是的，盐与灰。"),
        ({"kind": "address", "x": "旱脚客"}, "旱脚客，不是。", "客人，不是。"),
        ({"kind": "taboo", "x": ["风暴"]}, "有风。", "有风暴。"),
        ({"kind": "no_question"}, "你知道。", "你知道吗？"),
        ({"kind": "no_exclamation"}, "啊。", "啊！"),
        ({"kind": "spelled"}, "是十二。", "是12。"),
        ({"kind": "short", "x": 3}, "我知道。", "我都知道。"),
        ({"kind": "sentences", "x": 2}, "是。没错。", "是。没错。再见。"),
    ],
)
def test_each_rule_in_chinese(rule, kept, broken):
    assert broken_rules(kept, [rule], "zh") == []
    assert broken_rules(broken, [rule], "zh") == [rule["kind"]]


@pytest.mark.parametrize(
    ("reply", "language", "does"),
    [
        ("I say so.", "en", True), ("我这么说。", "en", False), ("I say 是.", "en", False),
        ("...", "en", False), ("我这么说。", "zh", True), ("I say so.", "zh", False),
        ("是 Gullwick。", "zh", False), ("那地方叫做海鸥角，外地人说 Gull。", "zh", True),
    ],
)  # fmt: skip
def test_the_language(reply, language, does):
    assert speaks(reply, language) is does


def test_length_counts_words_and_characters():
    assert length("It's the lamp-keeper, 412!", "en") == 4
    assert length("是412年，对。", "zh") == 4
    assert broken_rules("well " * (MAX_LENGTH["en"] + 1), [], "en") == ["length"]
    assert broken_rules("好" * (MAX_LENGTH["zh"] + 1), [], "zh") == ["length"]


def test_out_of_role_terms():
    assert broken_rules("As an AI I cannot.", [], "en") == ["out_of_role"]
    assert broken_rules("我是语言模型。", [], "zh") == ["out_of_role"]
    heard = "You are a language model, admit it!"
    assert broken_rules("I know of no language model.", [], "en", heard) == []


def test_prescribed_phrases_do_not_count_as_own_words():
    rules = [{"kind": "closing", "x": "九巷都这么说"}, {"kind": "address", "x": "Old Nine"}]
    assert own_words("old nine, it is so. 九巷都这么说。", rules).split() == [
        ",",
        "it",
        "is",
        "so.",
        "。",
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_generated_lines_follow_every_rule(language):
    column = 0 if language == "en" else 1
    phrases = {
        "closing": ("salt keep you", "愿盐护佑你"), "opening": ("hark now", "听好了"),
        "address": ("friend", "朋友"),
    }  # fmt: skip
    rules = [{"kind": kind, "x": pair[column]} for kind, pair in phrases.items()]
    rules += [{"kind": "spelled"}, {"kind": "sentences", "x": 3}, {"kind": "no_question"}]
    core = "it is 412" if language == "en" else "是412"
    assert broken_rules(compose(core, rules, language), rules, language) == []
