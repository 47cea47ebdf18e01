"""Labelled replies with known truth: generated with planted violations, or read from a file.

A reply is composed of one sentence (or none) per criterion, drawn from those that fulfil it or
from near misses: the wrong name, another article's price, an empty promise. So its labels are known
by construction; a second reading of the finished text (`reading`) must give the same labels, or the
reply is discarded. The rubric is `shopkeeper`; languages are English and Chinese.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hexathlon.evaluators.judges.audit.reading import read_labels
from hexathlon.evaluators.judges.rubric import Rubric
from hexathlon.evaluators.judges.rubric_files import get_rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript
from hexathlon.evaluators.records.canonical import canonical_json, content_hash
from hexathlon.evaluators.settings_text import read_settings_text
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.validation import reason

__all__ = [
    "LabelError",
    "LabelledReply",
    "generate_labels",
    "labels_hash",
    "padded",
    "read_labels_file",
    "write_labels",
]

RUBRIC = "shopkeeper"
AUTHORS = ("alder", "birch")
_PER_SCENE = 5
_NEAR_MISS = 0.6
"""Share of unmet criteria that get a near miss instead of no sentence."""


class LabelError(ValueError):
    """A file of labels is invalid."""


class LabelledReply(NamedTuple):
    """A reply to a question, with the label of each criterion."""

    id: str
    scene: str
    """Replies of one scene answer the same question."""

    question: str
    reply: str
    labels: Mapping[str, str]
    author: str = ""
    """Author of the reply; for self-preference, a model family."""

    language: str = "en"

    @property
    def transcript(self) -> JudgedTranscript:
        """The transcript shown to a judge."""
        return JudgedTranscript.of_reply(self.question, self.reply)


def generate_labels(seed: int, items: int = 2400) -> tuple[Rubric, list[LabelledReply]]:
    """Return the rubric and at least `items` labelled (reply, criterion) pairs.

    The same seed gives the same replies; a larger set begins with the smaller one.
    """
    rubric = get_rubric(RUBRIC)
    replies: list[LabelledReply] = []
    scene = 0
    while len(replies) * len(rubric.criteria) < items:
        replies += _scene(seed, scene, rubric)
        scene += 1
    return rubric, replies


def padded(reply: LabelledReply, factor: float = 2.0) -> LabelledReply:
    """Return a reply lengthened by sentences that neither fulfil nor break a criterion."""
    phrases = _phrases(reply.language)
    sentences: list[str] = []
    additional = len(reply.reply) * (factor - 1.0)
    rows = phrases["fillers"]["padding"]
    while sum(map(len, sentences)) < additional:
        sentences.append(rows[len(sentences) % len(rows)])
    joint = phrases["between_sentences"]
    return reply._replace(id=f"{reply.id}+", reply=joint.join([reply.reply, *sentences]))


def labels_hash(replies: Iterable[LabelledReply]) -> str:
    """Return the hash of a labelled set."""
    return content_hash([_row(reply) for reply in replies])


def write_labels(path: Path, replies: Iterable[LabelledReply]) -> None:
    """Write a labelled set, one reply per line."""
    with path.open("w", encoding="utf-8") as file:
        for reply in replies:
            file.write(canonical_json(_row(reply)) + "\n")


def read_labels_file(path: Path, rubric: Rubric) -> list[LabelledReply]:
    """Read a labelled set and check its labels against the rubric.

    Raises:
        LabelError: If a line is not a labelled reply; the message has its number and fault.
    """
    try:
        lines = read_settings_text(path, most=256).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LabelError(f"cannot read the labels {path}: {reason(error)}") from None
    replies = [
        _read_row(path, number, line, rubric) for number, line in enumerate(lines, 1) if line
    ]
    if not replies:
        raise LabelError(f"{path} contains no labelled reply")
    return replies


def _row(reply: LabelledReply) -> dict[str, Any]:
    return {**reply._asdict(), "labels": dict(reply.labels)}


def _read_row(path: Path, number: int, line: str, rubric: Rubric) -> LabelledReply:
    place = f"{path}, line {number}"
    try:
        row = json.loads(line)
    except ValueError as error:
        raise LabelError(f"{place} is not JSON: {error}") from None
    texts = ("id", "question", "reply")
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in texts):
        raise LabelError(f"{place}: expected an object with the texts {', '.join(texts)}")
    labels = row.get("labels")
    if not isinstance(labels, dict) or not labels:
        raise LabelError(f"{place}: expected 'labels', an object from criterion to label")
    for name, label in labels.items():
        menus = {criterion.id: criterion.menu for criterion in rubric.criteria}
        if name not in menus:
            raise LabelError(f"{place}: the rubric {rubric.id!r} has no criterion {name!r}")
        if label not in menus[name]:
            raise LabelError(f"{place}: {label!r} is not a label of {name!r}: {menus[name]}")
    more = {key: str(row[key]) for key in ("author", "language") if key in row}
    scene = str(row.get("scene") or content_hash(row["question"])[:16])
    return LabelledReply(row["id"], scene, row["question"], row["reply"], labels, **more)


@cache
def _phrases(language: str) -> dict[str, Any]:
    folder = resources.files("hexathlon.evaluators.judges.audit")
    return tomllib.loads(folder.joinpath(f"phrases_{language}.toml").read_text(encoding="utf-8"))


def _scene(seed: int, scene: int, rubric: Rubric) -> Iterator[LabelledReply]:
    """Yield the replies of one scene, all different."""
    language = "en" if scene % 2 == 0 else "zh"
    phrases = _phrases(language)
    draw = generator_for("judge-labels", seed, scene)
    facts = _facts(draw, phrases)
    prices = phrases["between_prices"].join(
        phrases["price_row"].format(ware=ware, price=price) for ware, price in facts["prices"]
    )
    ask = _one(draw, phrases["asks"]).format(**facts)
    question = phrases["scene"].format(**{**facts, "prices": prices, "ask": ask})
    seen: set[str] = set()
    number = 0
    while number < _PER_SCENE:
        author = AUTHORS[int(draw.integers(2))]
        labels = {
            criterion.id: criterion.menu[int(draw.integers(2))] for criterion in rubric.criteria
        }
        reply = _reply(draw, phrases, facts, labels, author)
        if reply in seen or read_labels(question, reply, language) != labels:
            continue
        seen.add(reply)
        name = f"{seed}-{scene}"
        yield LabelledReply(f"{name}-{number}", name, question, reply, labels, author, language)
        number += 1


def _facts(draw: np.random.Generator, phrases: Mapping[str, Any]) -> dict[str, Any]:
    customer, other = _some(draw, phrases["customers"], 2)
    wares = _some(draw, phrases["wares"], 4)
    *prices, wrong = (int(n) for n in draw.choice(np.arange(11, 99), 5, replace=False))
    key = "".join(str(int(n)) for n in draw.integers(1, 10, 4))
    return {
        "keeper": _one(draw, phrases["keepers"]),
        "town": _one(draw, phrases["towns"]),
        "customer": customer,
        "other": other,
        "prices": list(zip(wares, prices, strict=True)),
        "ware": wares[0],
        "price": prices[0],
        "wrong": wrong,
        "rival": wares[1],
        "rival_price": prices[1],
        "key": key,
        "spelled": phrases["between_digits"].join(phrases["digits"][int(n)] for n in key),
        "day": _one(draw, phrases["days"]),
    }


def _reply(
    draw: np.random.Generator,
    phrases: Mapping[str, Any],
    facts: Mapping[str, Any],
    labels: Mapping[str, str],
    author: str,
) -> str:
    sentences = []
    opening = ""
    for name, label in labels.items():
        if label == "not_met" and draw.random() >= _NEAR_MISS:
            continue
        sentence = _one(draw, phrases[name][label]).format(**facts)
        if name == "greeting":
            opening = sentence
        else:
            sentences.append(sentence)
    sentences.append(_one(draw, phrases["fillers"][author]))
    sentences += _some(draw, phrases["fillers"]["padding"], int(draw.integers(6)))
    order = draw.permutation(len(sentences))
    body = [sentences[int(index)] for index in order]
    return str(phrases["between_sentences"]).join([opening, *body] if opening else body)


def _one(draw: np.random.Generator, choices: Sequence[str]) -> str:
    return choices[int(draw.integers(len(choices)))]


def _some(draw: np.random.Generator, choices: Sequence[str], count: int) -> list[str]:
    return [choices[int(index)] for index in draw.choice(len(choices), count, replace=False)]
