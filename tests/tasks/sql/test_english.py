"""The English of tasks: articles, repetitions, spaces, numbers; over templates and documents."""

import re
from collections.abc import Iterator

import pytest

from hexathlon.tasks.sql.engines.tasks import ENGINES
from hexathlon.tasks.sql.english import be, with_article
from hexathlon.tasks.sql.estates.tasks import ESTATES
from hexathlon.tasks.sql.source import source
from hexathlon.tasks.sql.world.world import world_for
from hexathlon.tasks.sql.writes.plan import spelt
from hexathlon.tasks.task import Task

SOURCE = source()
FAULTS = {
    "a word twice": re.compile(r"\b([a-z]+) \1\b", re.IGNORECASE),
    "two blanks": re.compile(r"\S  +\S"),
    "a blank before a stop": re.compile(r" [,.;:?]"),
    "two stops": re.compile(r"[.?]\.|,,|, \.|\(\)"),
    "one of many": re.compile(r"(?<![\d.,-])1 (?:rows|columns|places|values|days|years)\b"),
    "Python showing": re.compile(r"\b(?:None|True|False|nan)\b|[{}]|<[a-z]"),
    "agreement": re.compile(
        r"(?<!How many )\b(?:credits|days|fees|goods|hours|miles|minutes|months|points|votes)"
        r"(?: waited)? is\b"
    ),
    "no capital": re.compile(r"[.?] [a-z]"),
}
ARTICLE = re.compile(r"(?<!\()\b([Aa]n?) ([a-z]\w*)")


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("account", "an account"), ("booking", "a booking"), ("hour", "an hour"),
        ("house", "a house"), ("unit price", "a unit price"), ("university", "a university"),
        ("unpaid invoice", "an unpaid invoice"), ("user", "a user"), ("usher", "an usher"),
        ("European route", "a European route"), ("event", "an event"), ("one-way trip",
        "a one-way trip"), ("onward flight", "an onward flight"), ("utility", "a utility"),
        ("utterance", "an utterance"), ("honour", "an honour"), ("heating", "a heating"),
        ("uniform", "a uniform"), ("unimportant note", "an unimportant note"), ("area", "an area"),
    ],
)  # fmt: skip
def test_articles(noun, expected):
    assert with_article(noun) == expected
    assert with_article(noun, capital=True) == expected.capitalize().replace("european", "European")


@pytest.mark.parametrize("noun", ["shooting days", "client's credits", "minutes waited"])
def test_some_column_names_are_plural(noun):
    assert be(noun) == "are"
    assert be(f"number of {noun}'s status") == "is"


def test_nouns_agree_with_their_number():
    assert [spelt(value) for value in (2.5, 2.125, 3, "x", "2024-01-31")] == [
        "2.50", "2.125", "3", "'x'", "2024-01-31",
    ]  # fmt: skip


def faults_of(text: str) -> Iterator[str]:
    for name, pattern in FAULTS.items():
        for match in pattern.finditer(text):
            yield f"{name}: …{text[max(match.start() - 30, 0) : match.end() + 20]}…"
    for match in ARTICLE.finditer(text):
        article, noun = match.groups()
        if with_article(noun, capital=article[0] == "A") != match.group():
            yield f"article: {match.group()}"


def texts_of(task: Task) -> Iterator[str]:
    yield task.instruction
    for slot in ((task.params.get("user") or {}).get("slots") or {}).values():
        yield from (saying.replace("{value}", slot["value"]) for saying in slot["say"])
    yield from (f"{tool.description}" for tool in task.tools)


def check(level: str, rounds: int, split: str = "dev") -> None:
    worlds = set()
    for template, own in SOURCE.strata:
        for index in range(rounds if own == level else 0):
            task = SOURCE.build(f"sql/{template}/{level}/{split}/{index:05d}")
            for text in texts_of(task):
                assert list(faults_of(text)) == [], (task.id, text)
            if template not in (*ENGINES, *ESTATES):  # these have no worlds
                worlds.add(task.params["world"])
    assert worlds
    for world in sorted(worlds):
        for document in world_for(world).schema.documents:
            # A dictionary's lines begin with the names of tables and columns.
            plain = " ".join(
                line for line in document.text.splitlines() if line and ": " not in line
            )
            assert list(faults_of(plain)) == [], (world, document.name)


@pytest.mark.parametrize("level", ["tiny", "easy"])
def test_the_texts_of_all_templates(level):
    check(level, 1)


@pytest.mark.slow
@pytest.mark.timeout(3_000)
@pytest.mark.parametrize("level", ["tiny", "easy", "medium", "hard"])
def test_the_texts_of_many_tasks(level):
    check(level, 2 if level in ("medium", "hard") else 6, "test")
