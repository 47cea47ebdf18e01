"""Renaming in demonstrations: names are replaced consistently, and nothing else changes."""

import json
from collections import Counter

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.warmstart.demonstrations import Demonstration
from hexathlon.baselines.warmstart.renaming import renamed

NAMES = ("goat", "sheep", "horse", "donkey", "llama", "camel", "rabbit", "otter", "badger", "mole")


def shown(name: str, number: int) -> Demonstration:
    query = {"sql": f"SELECT {name}Id, {name.upper()} FROM {name}s"}
    return Demonstration(
        f"farm/{number}",
        "",
        (),
        f"List the {name}s. The {name}'s id is wanted.",
        (
            (json.dumps({"name": "describe", "arguments": {"table": f"{name}s"}}), f"{name}Id"),
            (json.dumps({"name": "submit", "arguments": query}), ""),
        ),
        1.0,
        (f"the {name}s", ""),
    )


SHOWN = [shown(name, number) for number, name in enumerate(NAMES)]


def test_a_name_is_replaced_everywhere_and_the_language_stays() -> None:
    for before, after in zip(SHOWN, renamed(SHOWN, 1.0, 0), strict=True):
        name = before.opening.split()[2].rstrip("s.")
        word = after.opening.split()[2].rstrip("s.")
        assert word != name and word.isalpha()
        assert after.opening == f"List the {word}s. The {word}'s id is wanted."
        described, handed_in = (json.loads(action) for action, _ in after.turns)
        assert described == {"name": "describe", "arguments": {"table": f"{word}s"}}
        assert handed_in["name"] == "submit"
        assert handed_in["arguments"]["sql"] == f"SELECT {word}Id, {word.upper()} FROM {word}s"
        assert after.turns[0][1] == f"{word}Id"
        assert after.thoughts == (f"the {word}s", "")
        assert (after.task, after.reward) == (before.task, before.reward)


def test_renaming_follows_share_and_seed() -> None:
    many = [shown(NAMES[number % 10], number) for number in range(400)]
    changed = sum(one != other for one, other in zip(many, renamed(many, 0.3, 1), strict=True))
    assert 90 <= changed <= 150
    assert renamed(many, 0.3, 1) == renamed(many, 0.3, 1) != renamed(many, 0.3, 2)
    assert renamed(many, 0.0, 1) == many


def test_renamed_copies_have_the_same_content() -> None:
    told = renamed(SHOWN, 1.0, 3, copies=9)
    assert told[: len(SHOWN)] == renamed(SHOWN, 1.0, 3)
    assert [one.task for one in told] == 9 * [one.task for one in SHOWN]
    assert len({one.opening for one in told}) == len(told)
    names = [one.opening.split()[2].rstrip("s.") for one in told]
    first, later = names[: len(SHOWN)], names[len(SHOWN) :]
    assert not set("jqxyz") & set("".join(first)), "the names contain few letters"
    assert set("jqxyz") <= set("".join(later)), "every letter occurs in some copy"
    assert renamed(SHOWN, 0.0, 3, copies=2) == 2 * SHOWN


def test_further_copies_rename_everything_and_some_names_share_initials() -> None:
    plants = ("oak", "elm", "ash", "pine", "reed", "rush", "fern", "moss", "vine", "rose")

    def of(first: int) -> Demonstration:
        pair = (NAMES[first], plants[first])
        query = {"sql": f"SELECT {pair[0]} FROM {pair[1]}"}
        asked = f"Which {pair[0]} is beside the {pair[1]}"
        action = json.dumps({"name": "submit", "arguments": query})
        return Demonstration(f"farm/{first}", "", (), asked, ((action, ""),), 1.0, ("",))

    given = [of(first) for first in range(10)]
    told = renamed(given, 1.0, 0, copies=25)[len(given) :]
    alike = 0
    for before, after in zip(24 * given, told, strict=True):
        _, one, *_, other = after.opening.split()
        assert not {one, other} & {*NAMES, *plants}, (before.opening, after.opening)
        assert json.loads(after.turns[0][0])["arguments"]["sql"] == f"SELECT {one} FROM {other}"
        alike += one[0] == other[0]
    assert 0.4 < alike / len(told) < 0.75


def test_common_words_are_not_names() -> None:
    same = [shown("goat", number) for number in range(20)]
    assert renamed(same, 1.0, 0) == same


def test_generated_names_are_distinct() -> None:
    words = Counter(one.opening.split()[2] for one in renamed(SHOWN, 1.0, 3))
    assert max(words.values()) == 1


def chinese(name: str, number: int) -> Demonstration:
    answer = {"reply": f"是{name}。", "value": name}
    return Demonstration(
        f"card/{number}",
        "",
        (),
        f"你只有一个表亲，叫{name}。你表亲叫什么？",
        ((json.dumps({"name": "answer", "arguments": answer}, ensure_ascii=False), ""),),
        1.0,
        (f"叫{name}。",),
    )


def test_chinese_names_are_replaced_per_character() -> None:
    names = ("陆文远", "白星如", "秦安和", "孟浩之", "方静山", "顾书兰", "许善平", "严青松")
    cards = [chinese(name, number) for number, name in enumerate(names)]
    new = set()
    for name, after in zip(names, renamed(cards, 1.0, 0), strict=True):
        word = after.thoughts[0][1:-1]
        assert len(word) == len(name) and word != name and word.isalpha()
        assert all(sign not in word for sign in "你只有一个表亲叫")
        assert after.opening == f"你只有一个表亲，叫{word}。你表亲叫什么？"
        said = json.loads(after.turns[0][0])["arguments"]
        assert said == {"reply": f"是{word}。", "value": word}
        new |= set(word) - set(name)
    assert new & set("".join(names)), "some letters come from other names"
    assert new - set("".join(names)), "some letters occur in no name"


def page(name: str, number: int) -> Demonstration:
    screen = f'link "{name.title()} walk" [{number}] link "Back" [{number + 1}]'
    action = json.dumps({"name": "click", "arguments": {"bid": str(number)}})
    thought = f'link "{name.title()} walk" [{number}]'
    return Demonstration(f"web/{number}", "", (), screen, ((action, screen),), 1.0, (thought,))


def note(name: str, number: int) -> Demonstration:
    action = json.dumps({"name": "input_text", "arguments": {"text": name, "index": number}})
    screen = f'Write "{name}". textbox "Title" [{number}]'
    return Demonstration(f"gui/{number}", "", (), screen, ((action, ""),), 1.0, ())


def test_names_quoted_in_thoughts_are_replaced_on_request() -> None:
    pages = [page(name, number) for number, name in enumerate(NAMES, 1)]
    assert renamed(pages, 1.0, 0) == pages, "actions contain no names"
    for before, after in zip(pages, renamed(pages, 1.0, 0, quoted=0.5), strict=True):
        name = before.opening.split('"')[1].split()[0]
        word = after.opening.split('"')[1].split()[0]
        assert word != name and word.istitle()
        assert "walk" in after.opening and "Back" in after.opening, "words common to all pages stay"
        assert after.thoughts == (before.thoughts[0].replace(name, word),)
        assert after.turns[0][0] == before.turns[0][0]


def test_numbers_of_elements_are_replaced_on_request() -> None:
    pages = [page(name, number) for number, name in enumerate(NAMES, 1)]
    numbers = []
    for before, after in zip(pages, renamed(pages, 1.0, 0, quoted=0.5, renumber=True), strict=True):
        number = json.loads(after.turns[0][0])["arguments"]["bid"]
        numbers.append(number)
        assert after.thoughts[0].endswith(f"[{number}]")
        assert f"[{number}]" in after.opening and f"[{number}]" in after.turns[0][1]
        assert after.task == before.task
    assert len(set(numbers)) > 5
    assert numbers != [str(number) for number in range(1, 11)]


def test_numbers_of_actions_that_are_integers_follow_those_of_the_screen() -> None:
    screens = [note(name, number) for number, name in enumerate(NAMES, 1)]
    for after in renamed(screens, 1.0, 0, renumber=True):
        index = json.loads(after.turns[0][0])["arguments"]["index"]
        assert after.opening.endswith(f"[{index}]")


def test_words_in_many_demonstrations_are_names_on_request() -> None:
    screens = [note("Otter", number) for number in range(1, 5)]
    assert renamed(screens, 1.0, 0) == screens
    for after in renamed(screens, 1.0, 0, rare=1.0):
        text = json.loads(after.turns[0][0])["arguments"]["text"]
        assert text != "Otter" and text in after.opening


def test_some_names_begin_with_a_capital_on_request() -> None:
    screens = [note(name, number) for number, name in enumerate(NAMES, 1)]
    pieces = ["ab", "cd", "ef"]
    texts = {json.loads(after.turns[0][0])["arguments"]["text"]
             for after in renamed(screens, 1.0, 0, 5, pieces, capitals=0.5)}  # fmt: skip
    assert {text[0].isupper() for text in texts} == {True, False}
    usual = renamed(screens, 1.0, 0, 5, pieces)
    assert all(json.loads(after.turns[0][0])["arguments"]["text"].islower() for after in usual)


def test_labels_of_a_screen_are_names_on_request() -> None:
    screens = [note(name, number) for number, name in enumerate(NAMES, 1)]
    further = renamed(screens, 1.0, 0, 2, ["ab", "cd"], quoted=1.0, labels=True)[len(screens) :]
    for after in further:
        assert "Title" not in after.opening and after.opening.startswith("Write ")
