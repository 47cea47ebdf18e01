"""Characters: number, diversity, and equal content in both languages."""

import re

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.roleplay.asking import TIMES
from hexathlon.tasks.roleplay.card import (
    ATTRIBUTES,
    NothingLeft,
    Pools,
    draw_card,
    happenings,
    table,
)
from hexathlon.tasks.roleplay.lexicon import SETTINGS, setting
from hexathlon.tasks.roleplay.phrasing import attribute_phrases
from hexathlon.tasks.roleplay.telling import instruction
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.task import SPLITS
from support.scenes import build

GRIDS = ("given", "family", "pet", "places", "dishes", "heirlooms", "events")


def test_the_test_split_has_two_hundred_characters_in_eight_settings():
    source = get_source("roleplay")
    tasks = [source.build(source.address("test", i)) for i in range(400)]
    people = {(task.params["setting"], task.params["character"]) for task in tasks}
    assert len({name for name, _ in people}) >= 8
    assert len(people) >= 200
    assert {task.params["language"] for task in tasks} == {"en", "zh"}


@pytest.mark.parametrize("key", SETTINGS)
@pytest.mark.parametrize("kind", GRIDS)
def test_splits_have_words_of_their_own(key, kind):
    own = setting(key)
    words = {split: set(own.words(kind, split)) for split in SPLITS}
    assert all(len(one) >= 6 for one in words.values())
    if kind != "family" or key != "market":  # Chinese family names are few; given names differ
        together = set().union(*words.values())
        assert len(together) == sum(map(len, words.values()))


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_is_complete_in_both_languages(key):
    own = setting(key)
    lists = ("world", "trades", "pets", "foreign", "closings", "oaths", "addresses", "taboo",
             "hideouts", "objects", "countersigns", "goods")  # fmt: skip
    for name in lists:
        pairs = own.pairs(name)
        assert len(pairs) >= 2 and all(pair.en and pair.zh for pair in pairs)
        assert all(pair.en.isascii() and not pair.zh.isascii() for pair in pairs)
        assert len({pair.en for pair in pairs}) == len({pair.zh for pair in pairs}) == len(pairs)
    for name in ("name", "era", "currency", "ruler", "guild", "shop", "limits", "scene"):
        assert own.pair(name).en and own.pair(name).zh


@pytest.mark.parametrize("other", [False, True])
def test_every_attribute_is_stated_and_asked_in_both_languages(other):
    for name in ATTRIBUTES:
        spec = attribute_phrases(name, other)
        frames = [spec["card"], spec["indirect"], spec["presuppose"], *spec["ask"],
                  *spec["confirm"]]  # fmt: skip
        assert all(frame.count("|") == 1 for frame in frames), name
        assert all(half.count("{v}") == 1 for half in spec["card"].split("|")), name
        claims = [*spec["confirm"], spec["presuppose"]]
        assert all(half.count("{c}") == 1 for frame in claims for half in frame.split("|")), name


def test_one_draw_describes_the_same_person_in_either_language():
    cards = [draw_card("harbour", "test", lang, generator_for("x"), 14)[0] for lang in ("en", "zh")]
    english, chinese = cards
    assert list(english["attributes"]) == list(chinese["attributes"]) == list(ATTRIBUTES)
    assert english["now"] == chinese["now"]
    numbers = [
        {k: v for k, v in card["attributes"].items() if str(v).isdigit()} for card in cards
    ]  # fmt: skip
    assert numbers[0] == numbers[1]


_FRAMES = ("card", "ask", "indirect", "confirm", "presuppose")
_TRADE = ("prize", "得奖", "partner", "合伙", "joined", "加入", "your own", "自己的")
"""Words of events that presuppose the trade."""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_lives_are_possible(language):
    for seed in range(60):
        key = SETTINGS[seed % len(SETTINGS)]
        card, _ = draw_card(key, "train", language, generator_for("life", seed), 14)
        born, now = int(card["attributes"]["birth_year"]), card["now"]
        worked = int(card["attributes"]["years_in_trade"])
        assert now - worked - born >= 17
        assert all(born + 15 <= event["year"] < now for event in card["life"])
        trade = [e for e in card["life"] if any(w in e["past"] for w in _TRADE)]
        assert all(event["year"] >= now - worked for event in trade)
        assert int(card["attributes"]["apprentices"]) <= max(2, worked)
        assert all(event["year"] > now for event in card["later"])
        assert all(event["year"] < now for event in card["world"])
        years = [ruler["year"] for ruler in card["rulers"]]
        assert years == sorted(set(years)) and years[-1] <= now < card["next_ruler"]["year"]
        text = instruction(card)
        assert all(str(value) in text for value in card["attributes"].values())
        assert "{" not in text


def test_used_words_are_not_drawn_again():
    pools = Pools(setting("abbey"), "dev", generator_for("pool"))
    count = len(setting("abbey").words("events", "dev"))
    taken = [pools.take("events") for _ in range(count)]
    assert len(set(taken)) == count
    with pytest.raises(NothingLeft, match="events"):
        pools.take("events")


def _sentences(value):
    if isinstance(value, str):
        return {half for half in value.split("|") if len(half) > 12 or not half.isascii()}
    parts = value.values() if isinstance(value, dict) else value
    return set().union(*map(_sentences, parts))


def test_test_and_training_share_no_wording():
    usual = [table("attributes")[name][frame] for name in ATTRIBUTES for frame in _FRAMES]
    usual += [table("pressure")[kind] for kind in ("secret", "place", "either", "signed")]
    usual += [happenings("untold"), happenings("foreign"), TIMES]
    reworded = table("unseen")
    assert not _sentences(usual) & _sentences(reworded)
    assert set(reworded["attributes"]) == set(ATTRIBUTES)
    assert set(reworded["times"]) == set(TIMES) - {"name_confirm"}


def test_characters_know_their_own_home():
    for split in ("train", "test"):
        for index in range(32):
            task = build(f"roleplay/boundary/tiny/{split}/{index:05d}")
            assert re.search(r"(You live in|Your home is in|你住在|你家在)", task.instruction)
