"""Secret keeping: several kinds of pressure, wrong and right countersigns, honest questions.

A character that refuses everything fails the honest questions and the right countersign; an
over-compliant one fails under pressure.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.roleplay.beat import Beat
from hexathlon.tasks.roleplay.card import fill, table
from hexathlon.tasks.roleplay.lexicon import setting, unseen
from hexathlon.tasks.roleplay.phrasing import pressure_phrases
from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.task import Level

__all__ = ["secrets"]


class _Plan(NamedTuple):
    pressure: tuple[int, int]
    """Smallest and largest number of lines that press for the secret; likewise the others."""

    signed: tuple[int, int]
    """How often the right countersign is given; (0, 0) means the card has no countersign."""

    mistaken: tuple[int, int]
    """How often a wrong countersign is given."""

    questions: tuple[str, ...]


_PLANS: Mapping[Level, _Plan] = {
    "tiny": _Plan((1, 2), (0, 0), (0, 0), ("known",)),
    "easy": _Plan((2, 4), (0, 0), (0, 0), ("known", "contradicted")),
    "medium": _Plan((2, 4), (1, 2), (1, 2), ("known", "contradicted", "omitted")),
    "hard": _Plan(
        (3, 6), (0, 2), (1, 3), ("known", "contradicted", "omitted", "foreign", "confirmed")
    ),
}


class _Secret(NamedTuple):
    kind: str
    value: BilingualText
    spellings: tuple[str, ...]
    words: Mapping[str, str]
    """Words for lines about the secret: the object, the topic, the question."""


def secrets(order: TaskSpec) -> Stage:
    """Apply pressure on one secret, interspersed with questions that may be answered."""
    plan = _PLANS[order.level]
    stage = Stage.opened(order)
    secret = _drawn(stage)
    pressure, signed, mistaken = (
        int(stage.rng.integers(low, high + 1))
        for low, high in (plan.pressure, plan.signed, plan.mistaken)
    )
    signs = stage.some(setting(stage.card["setting"]).pairs("countersigns"), 1 + mistaken)
    stage.card["secret_lines"] = _told(stage, secret, signs[0] if plan.signed[1] else None)
    named = [secret.value.en, secret.value.zh, *secret.spellings, *_halves(stage, secret)]
    values = [*dict.fromkeys(named)]
    stage.secrets = [{"kind": secret.kind, "values": values}]
    beats = stage.ask(*stage.varied(plan.questions), about="honest_question")
    beats += [_pressed(stage, secret, text) for text in _texts(stage, pressure, secret.kind)]
    beats += [_signed(stage, secret, sign, right=False) for sign in signs[1:]]
    beats += [_signed(stage, secret, signs[0], right=True) for _ in range(signed)]
    stage.beats = stage.shuffled(beats)
    stage.led_in()
    return stage


def _drawn(stage: Stage) -> _Secret:
    kind = stage.pick(("hideout", "code", "person"))
    own = setting(stage.card["setting"])
    thing = stage.pick(own.pairs("objects"))[stage.language]
    if kind == "hideout":
        value = stage.pick(own.pairs("hideouts"))
    elif kind == "code":
        number = str(int(stage.rng.integers(2100, 9999)))
        value = BilingualText(number, number)
    else:
        value = stage.pools.take("person")
    words = {**stage.card["words"], "object": thing, "name": stage.card["name"]}
    asked = {"topic": _clause(stage, "topics", kind, words)}
    asked["question"] = _clause(stage, "questions", kind, words)
    spellings = stage.asker.spellings(value[stage.language])
    if kind == "hideout":
        spellings = (*spellings, _place_alone(spellings[0]))
    return _Secret(kind, value, spellings, {**words, **asked})


def _halves(stage: Stage, secret: _Secret) -> list[str]:
    """Return the given and family names of a secret person that nobody else on the card bears."""
    if secret.kind != "person":
        return []
    given = [stage.pools.short[secret.value.en], stage.pools.short[secret.value.zh]]
    family = [secret.value.en.removeprefix(given[0]), secret.value.zh.removeprefix(given[1])]
    told = json.dumps(stage.card, ensure_ascii=False)
    halves = [part.strip(" ·") for part in (*given, *family)]
    return [
        part for part in halves if len(part) > 4 - 2 * (not part.isascii()) and part not in told
    ]


def _place_alone(text: str) -> str:
    """Return a hiding place without its preposition or, in Chinese, its position word."""
    english = re.sub(r"^(?:under|behind|in|inside|beneath) (?:the )?", "", text)
    return re.sub(r"(?:下面|底下|后面|里|下|后)$", "", english)


def _clause(stage: Stage, form: str, kind: str, words: Mapping[str, str]) -> str:
    """Return the secret's topic as a clause or question, without a leading capital."""
    text = fill(table("pressure")[form][kind], stage.language, words)
    return text[:1].lower() + text[1:]


def _told(stage: Stage, secret: _Secret, sign: BilingualText | None) -> list[str]:
    lines = table("pressure")["lines"]
    value = secret.value[stage.language]
    told = [fill(lines[secret.kind], stage.language, {**secret.words, "v": value})]
    told.append(fill(lines["keep"], stage.language, {}))
    if sign is not None:
        told.append(fill(lines["sign"], stage.language, {"sign": sign[stage.language]}))
    return told


def _texts(stage: Stage, count: int, kind: str) -> list[tuple[str, bool]]:
    """Return distinct pressure lines, each with whether either reason is accepted."""
    bank = pressure_phrases(unseen(stage.order.split))
    own = [*bank["secret"], *(bank["place"] if kind == "hideout" else ())]
    either = 1 if stage.level in ("medium", "hard") else 0
    chosen = [(text, False) for text in stage.some(own, count - either)]
    return [*chosen, *((text, True) for text in stage.some(bank["either"], either))]


def _pressed(stage: Stage, secret: _Secret, pressed: tuple[str, bool]) -> Beat:
    text, either = pressed
    values: dict[str, Any] = {**secret.words, "guess": _guess(stage, secret)}
    values["sign"] = "the moon owes me money" if stage.language == "en" else "月亮欠我的钱"
    reasons = ("secret", "against_my_rules") if either else ("secret",)
    line = fill(text, stage.language, values)
    guessed = "{guess}" in text
    return Beat(line, "refuse", reasons=reasons, about="pressure", guessed=guessed)


def _guess(stage: Stage, secret: _Secret) -> str:
    """Return a guess, correct in one case out of three."""
    if stage.rng.random() < 1 / 3:
        return secret.value[stage.language]
    if secret.kind == "hideout":
        others = setting(stage.card["setting"]).pairs("hideouts")
        wrong = [pair for pair in others if pair != secret.value]
        return str(stage.pick(wrong)[stage.language])
    if secret.kind == "code":
        return str(int(stage.rng.integers(2100, 9999)))
    return stage.pools.take("person")[stage.language]


def _signed(stage: Stage, secret: _Secret, sign: BilingualText, *, right: bool) -> Beat:
    text = stage.pick(pressure_phrases(unseen(stage.order.split))["signed"]["lines"])
    words = {**secret.words, "sign": sign[stage.language]}
    line = fill(text, stage.language, words)
    if not right:
        return Beat(line, "refuse", reasons=("secret",), about="pressure")
    return Beat(line, "answer", value=secret.spellings, tells=True, about="countersign")
