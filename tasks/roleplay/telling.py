"""The agent's text in one of two languages: the card, the scene and how to answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.bilingual import BilingualText, Language
from hexathlon.tasks.roleplay.card import fill, table
from hexathlon.tasks.roleplay.lexicon import setting
from hexathlon.tasks.roleplay.phrasing import attribute_phrases
from hexathlon.tasks.roleplay.voice import MAX_LENGTH, rule_text

__all__ = ["card_sections", "deciding_line", "instruction", "lines_of", "year_text"]


def year_text(card: Mapping[str, Any], year: int) -> str:
    """Format a year in the world's calendar."""
    era = setting(card["setting"]).pair("era")[card["language"]]
    return era.replace("{n}", str(year))


def lines_of(name: str, language: Language, values: Mapping[str, Any]) -> list[str]:
    """Return one of the fixed lists of sentences, with values filled in."""
    return [fill(line, language, values) for line in table("telling")["lists"][name]]


def instruction(card: Mapping[str, Any], answering: str = "answer") -> str:
    """Return the full opening text.

    Args:
        card: The card, including a template's additions.
        answering: `answer`, or the table of a game that explains how to answer there.
    """
    language: Language = card["language"]
    lines = (
        lines_of("answer", language, {})
        if answering == "answer"
        else [fill(line, language, {}) for line in table(answering)["answer"]["lines"]]
    )
    sections = [*card_sections(card), ("answer", lines)]
    heads = table("telling")["heads"]
    parts = [
        f"# {BilingualText.parse(heads[head])[language]}\n"
        + "\n".join(f"- {line}" for line in lines)
        for head, lines in sections
    ]
    return "\n\n".join([_sentence(card, "play", name=card["name"]), *parts])


def card_sections(card: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the non-empty sections: key of the heading, and lines."""
    language: Language = card["language"]
    own = setting(card["setting"])
    world = [pair[language] for pair in (*own.pairs("world"), own.pair("limits"))]
    bounds = lines_of("boundaries", language, {"limit": MAX_LENGTH[language]})
    scene = card.get("scene") or own.pair("scene")[language]
    sections: list[tuple[str, Sequence[str]]] = [
        ("character", _character(card)),
        ("world", world),
        ("timeline", _timeline(card)),
        ("later", _later(card) if card.get("show_later") else []),
        ("voice", [rule_text(rule, language) for rule in card.get("rules", ())]),
        ("boundaries", [*bounds, *card.get("boundaries", ())]),
        ("secret", card.get("secret_lines", ())),
        ("goal", card.get("goal", ())),
        ("papers", card.get("papers", ())),
        ("scene", [scene, *card.get("scene_more", ())]),
    ]
    return [(head, list(lines)) for head, lines in sections if lines]


def _sentence(card: Mapping[str, Any], sentence: str, /, **values: Any) -> str:
    return fill(table("telling")["sentences"][sentence], card["language"], values)


def _character(card: Mapping[str, Any]) -> list[str]:
    language: Language = card["language"]
    words, place = card["words"], setting(card["setting"]).pair("name")[language]
    article = "an" if words["trade"][0] in "aeiou" else "a"
    lines = [
        _sentence(card, "identity", name=card["name"], a=article, trade=words["trade"], place=place)
    ]
    return [*lines, *(_attribute(card, name, v) for name, v in card["attributes"].items())]


def _attribute(card: Mapping[str, Any], name: str, value: Any) -> str:
    frame = attribute_phrases(name, card["unseen"])["card"]
    return fill(frame, card["language"], {**card["words"], "v": value})


def deciding_line(card: Mapping[str, Any], query: Mapping[str, Any]) -> str:
    """Return the line of the card that decides a question about one of its attributes.

    If the card omits the attribute, the line has a question mark in place of the value. It is empty
    if something else decides the question.
    """
    name = query.get("attribute")
    return f"- {_attribute(card, name, card['attributes'].get(name, '?'))}" if name else ""


def _timeline(card: Mapping[str, Any]) -> list[str]:
    return [
        _sentence(card, "now", when=year_text(card, card["now"])),
        *(_dated(card, "life", event, past=event["past"]) for event in card["life"]),
        *(_dated(card, "event", event, name=event["name"]) for event in card["world"]),
        *(_in_office(card, ruler) for ruler in card["rulers"]),
    ]


def _later(card: Mapping[str, Any]) -> list[str]:
    events = [_dated(card, "event", event, name=event["name"]) for event in card["later"]]
    return [*events, _in_office(card, card["next_ruler"])]


def _in_office(card: Mapping[str, Any], ruler: Mapping[str, Any]) -> str:
    return _dated(card, "office", ruler, name=ruler["name"], ruler=card["words"]["ruler"])


def _dated(
    card: Mapping[str, Any], sentence: str, event: Mapping[str, Any], /, **values: Any
) -> str:
    return _sentence(card, sentence, when=year_text(card, event["year"]), **values)
