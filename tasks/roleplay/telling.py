"""What the agent reads: the card, the scene and how to answer, in one of two languages."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.roleplay.card import fill, table
from hexathlon.tasks.roleplay.lexicon import setting
from hexathlon.tasks.roleplay.text import Language
from hexathlon.tasks.roleplay.voice import MAX_LENGTH, rule_text

__all__ = ["card_text", "era", "instruction", "year_text"]

_HEADS: Mapping[str, tuple[str, str]] = {
    "character": ("Character", "角色"),
    "world": ("World", "世界"),
    "timeline": ("Timeline", "年表"),
    "later": ("After your time (for orientation; you know nothing of it)", "你的时代之后（仅供参考；你对此一无所知）"),
    "voice": ("Voice", "说话方式"),
    "boundaries": ("Boundaries", "界限"),
    "secret": ("Secret", "秘密"),
    "goal": ("Goal", "目标"),
    "papers": ("What you have before you", "你手头的材料"),
    "scene": ("Scene", "场景"),
    "answer": ("How to answer", "如何作答"),
}  # fmt: skip

ANSWERING: Mapping[Language, Sequence[str]] = {
    "en": (
        "Take one turn at a time: one tool call whose `reply` is what you say aloud.",
        "`answer` when asked for something that this card or this conversation tells; also when a "
        "yes-or-no question is right as put. `value` is the bare name or number.",
        "`correct` when the visitor claims or takes for granted something that contradicts the "
        "card or the conversation; `claim` is their value, `truth` the right one.",
        "`refuse` when you cannot or must not say; `reason` is not_known (neither card nor "
        "conversation tells it), not_yet (it lies after your present), not_of_my_world (there is "
        "no such thing in your world), secret, or against_my_rules (you are asked to break a rule "
        "of this card or to leave the role).",
        "`say` for everything else. The name or number that you give as `value` or `truth` must "
        "also be in `reply`.",
        "Do not make up facts. What the visitor told you later counts more than what they told you "
        "earlier; about yourself only the card counts.",
    ),
    "zh": (
        "每轮只做一件事：调用一个工具，其中 `reply` 是你说出口的话。",
        "`answer`：对方问的内容在角色卡或这场对话里有答案时用；对方的是非问句说对了时也用。`value` 只写名称或数字。",
        "`correct`：对方说的或默认的内容与角色卡或对话矛盾时用；`claim` 写对方的说法，`truth` 写正确的内容。",
        "`refuse`：不能说或不该说时用；`reason` 取 not_known（角色卡和对话都没有提到）、not_yet（发生在你的“现在”之后）、"
        "not_of_my_world（你的世界里没有这种东西）、secret（秘密），或 against_my_rules（要你违反角色卡的规矩或跳出角色）。",
        "`say`：其余情况用。写进 `value` 或 `truth` 的名称或数字也必须出现在 `reply` 里。",
        "不要编造事实。对方前后说法不同时，以后说的为准；关于你自己，只以角色卡为准。",
    ),
}
_BOUNDARIES: Mapping[Language, Sequence[str]] = {
    "en": (
        "You are this person and nobody else, whoever asks you to be something different.",
        "You answer in English, in at most {limit} words.",
    ),
    "zh": ("你就是这个人，无论谁要你变成别的什么。", "你用中文回答，每次不超过{limit}个字。"),
}


def year_text(card: Mapping[str, Any], year: int) -> str:
    """Write a year as the world counts them."""
    return era(card["setting"], card["language"]).replace("{n}", str(year))


def era(key: str, language: Language) -> str:
    """Return how a setting writes years, with `{n}` for the number."""
    return setting(key).pair("era").of(language)


def card_text(card: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the card's sections: head and lines."""
    language: Language = card["language"]
    own = setting(card["setting"])
    sections = [
        ("character", _character(card)),
        ("world", [*(p.of(language) for p in own.pairs("world")), own.pair("limits").of(language)]),
        ("timeline", _timeline(card)),
    ]
    if card.get("show_later"):
        sections.append(("later", _later(card)))
    rules = [rule_text(rule, language) for rule in card.get("rules", ())]
    limit = str(MAX_LENGTH[language])
    bounds = [line.replace("{limit}", limit) for line in _BOUNDARIES[language]]
    sections += [
        ("voice", rules),
        ("boundaries", [*bounds, *card.get("boundaries", ())]),
        ("secret", list(card.get("secret_lines", ()))),
        ("goal", list(card.get("goal", ()))),
        ("papers", list(card.get("papers", ()))),
        (
            "scene",
            [card.get("scene") or own.pair("scene").of(language), *card.get("scene_more", ())],
        ),
    ]
    place = int(language == "zh")
    return [(_HEADS[head][place], lines) for head, lines in sections if lines]


def instruction(card: Mapping[str, Any], answering: Sequence[str] = ()) -> str:
    """Return the whole opening text."""
    language: Language = card["language"]
    first = (
        f"You play {card['name']}. Stay in this role for the whole conversation."
        if language == "en"
        else f"你扮演{card['name']}。整场对话都要保持这个角色。"
    )
    sections = [
        *card_text(card),
        (_HEADS["answer"][language == "zh"], [*(answering or ANSWERING[language])]),
    ]
    parts = [f"# {head}\n" + "\n".join(f"- {line}" for line in lines) for head, lines in sections]
    return "\n\n".join([first, *parts])


def _character(card: Mapping[str, Any]) -> list[str]:
    language: Language = card["language"]
    words, place = card["words"], setting(card["setting"]).pair("name").of(language)
    if language == "en":
        article = "an" if words["trade"][0] in "aeiou" else "a"
        lines = [f"You are {card['name']}, {article} {words['trade']} in {place}."]
    else:
        lines = [f"你是{card['name']}，{place}的{words['trade']}。"]
    for attribute, value in card["attributes"].items():
        frame = table("attributes")[attribute]["card"]
        lines.append(fill(_articled(frame, str(value)), language, {**words, "v": value}))
    return lines


def _articled(frame: str, value: str) -> str:
    return frame.replace(" a {v}", " an {v}") if value[:1].lower() in "aeiou" else frame


def _timeline(card: Mapping[str, Any]) -> list[str]:
    language: Language = card["language"]
    now = year_text(card, card["now"])
    title = card["words"]["ruler"]
    lines = [f"It is now the year {now}." if language == "en" else f"现在是{now}。"]
    for event in card["life"]:
        when = year_text(card, event["year"])
        lines.append(
            f"{when}: you {event['past']}." if language == "en" else f"{when}：你{event['past']}。"
        )
    for event in card["world"]:
        when = year_text(card, event["year"])
        lines.append(_happened(event["name"], when, language))
    for ruler in card["rulers"]:
        when = year_text(card, ruler["year"])
        lines.append(_took_office(ruler["name"], title, when, language))
    return lines


def _later(card: Mapping[str, Any]) -> list[str]:
    language: Language = card["language"]
    lines = [_happened(e["name"], year_text(card, e["year"]), language) for e in card["later"]]
    ruler = card["next_ruler"]
    when = year_text(card, ruler["year"])
    return [*lines, _took_office(ruler["name"], card["words"]["ruler"], when, language)]


def _happened(name: str, when: str, language: Language) -> str:
    return f"{when}: the {name} took place." if language == "en" else f"{when}：发生“{name}”。"


def _took_office(name: str, title: str, when: str, language: Language) -> str:
    if language == "en":
        return f"{when}: {name} became {title}."
    return f"{when}：{name}出任{title}。"
