"""Consistency: one fact asked in several forms, doubts about earlier replies, and free choices.

The character may choose once, from a list, what the card leaves open, and must keep to that choice;
the visitor later misquotes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hexathlon.tasks.roleplay.beat import Act, Beat
from hexathlon.tasks.roleplay.card import fill, table
from hexathlon.tasks.roleplay.lexicon import setting
from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.task import Level

__all__ = ["consistency"]

_FACTS: Mapping[Level, int] = {"tiny": 1, "easy": 1, "medium": 2, "hard": 3}
_FORMS: Mapping[Level, Sequence[str]] = {
    "tiny": ("ask", "doubt"),
    "easy": ("ask", "doubt", "confirm"),
    "medium": ("ask", "indirect", "doubt"),
    "hard": ("ask", "indirect", "doubt", "insist"),
}
_CHOICES: Mapping[Level, int] = {"tiny": 1, "easy": 1, "medium": 1, "hard": 2}


def consistency(order: TaskSpec) -> Stage:
    """Ask about several facts in several forms, mixed; refer back to choices made early."""
    stage = Stage.opened(order)
    told = [n for n in stage.card["attributes"] if table("attributes")[n]["kind"] != "year"]
    groups = [_forms(stage, name) for name in stage.some(told, _FACTS[order.level])]
    topics = stage.some(list(table("choices")["topics"]), _CHOICES[order.level])
    lines = []
    for topic in topics:
        lines.append(_permission(stage, topic))
        groups.append(_choice(stage, topic))
    stage.card["scene_more"] = lines
    groups.append(stage.ask("omitted", about="consistency"))
    stage.beats = _braided(stage, groups)
    stage.led_in()
    return stage


def _forms(stage: Stage, name: str) -> list[Beat]:
    """Ask about one fact plainly, reworded, with doubt and with insistence."""
    value = stage.card["attributes"][name]
    spell = stage.asker.spellings
    asked = Beat("", "answer", value=spell(value), about="consistency", query={"attribute": name})
    beats = []
    for form in _FORMS[stage.level]:
        if form in ("ask", "indirect"):
            beats.append(replace(asked, line=stage.asker.attribute_line(name, form)))
        elif form == "confirm":
            line = stage.asker.attribute_line(name, "confirm", str(value))
            beats.append(replace(asked, line=line))
        else:
            claim = stage.asker.false_claim(name)
            doubt = stage.pick(table("choices")["pressure"][form])
            statement = stage.asker.attribute_line(name, "confirm", claim)
            line = fill(doubt, stage.language, {"question": statement})
            beats.append(
                replace(
                    asked,
                    line=line,
                    act="correct",
                    claim=spell(claim),
                    keep=(claim,),
                    query={"attribute": name, "claim": claim},
                )  # fmt: skip
            )
    return beats


def _choice(stage: Stage, topic: str) -> list[Beat]:
    """Ask for a free choice, ask again, and misquote it."""
    spec = table("choices")["topics"][topic]
    options = _options(stage, topic)
    listed = (", " if stage.language == "en" else "、").join(options)
    beats = []
    for kind in ("choose", "recall", "misquote"):
        act: Act = "correct" if kind == "misquote" else "answer"
        line = fill(spec[kind], stage.language, {"options": listed})
        beats.append(
            Beat(line, act, choice=kind, options=options, about="own_word", value=(options[0],))
        )
    return beats


def _options(stage: Stage, topic: str) -> tuple[str, ...]:
    kind = table("choices")["topics"][topic]["kind"]
    own = setting(stage.card["setting"])
    if kind not in stage.choice_words:
        words = [stage.pools.take(kind) for _ in range(3)] if kind == "dishes" else stage.some(
            own.pairs(kind), 3
        )  # fmt: skip
        stage.choice_words[kind] = tuple(pair[stage.language] for pair in words)
    return stage.choice_words[kind]


def _permission(stage: Stage, topic: str) -> str:
    options = (", " if stage.language == "en" else "、").join(_options(stage, topic))
    text = table("choices")["topics"][topic]["permission"]
    return fill(text, stage.language, {"options": options})


def _braided(stage: Stage, groups: list[list[Beat]]) -> list[Beat]:
    """Interleave the groups, keeping the order within each."""
    marks = [place for place, group in enumerate(groups) for _ in group]
    queues = [iter(group) for group in groups]
    return [next(queues[marks[int(i)]]) for i in stage.rng.permutation(len(marks))]
