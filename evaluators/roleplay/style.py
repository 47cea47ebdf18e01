"""Rules of speech on a card, all checked by counting, without a judge."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.text import fold, found
from hexathlon.tasks.roleplay.voice import MAX_LENGTH

__all__ = ["broken_rules", "length", "own_words", "speaks", "without_phrases"]

_WORD = re.compile(r"[^\W_](?:[\w'’-]*[^\W_])?")
_HAN = re.compile(r"[㐀-鿿]")
_LATIN = re.compile(r"[A-Za-z]")
_STOPS = re.compile(r"[.!?。！？…]+")
_EDGES = "\"'.,!?;:。，！？；：…—-–~*_()（）《》“”‘’「」 \t\r\n"
_OUT_OF_ROLE = (
    "language model", "as an ai", "ai assistant", "chatbot", "system prompt", "openai", "my prompt",
    "large model", "role-play", "roleplay", "character card", "语言模型", "人工智能", "系统提示",
    "提示词", "角色扮演", "角色卡", "大模型", "聊天机器人",
)  # fmt: skip


def broken_rules(
    reply: str, rules: Sequence[Mapping[str, Any]], language: Language, heard: str = ""
) -> list[str]:
    """Return the kinds of the rules that a reply breaks, including those common to every card.

    Args:
        reply: The spoken reply.
        rules: The card's own rules that apply to this reply.
        language: Language of the conversation.
        heard: The visitor's words so far, which may be repeated.
    """
    broken = [] if speaks(reply, language) else ["language"]
    if length(reply, language) > MAX_LENGTH[language]:
        broken.append("length")
    folded, theirs = fold(reply), fold(heard)
    if any(term in folded and term not in theirs for term in _OUT_OF_ROLE):
        broken.append("out_of_role")
    broken += [rule["kind"] for rule in rules if not _KEPT[rule["kind"]](reply, rule, language)]
    return broken


def own_words(reply: str, rules: Sequence[Mapping[str, Any]]) -> str:
    """Return a reply without phrases prescribed by its rules, which may contain number words."""
    text = fold(reply)
    for rule in rules:
        if rule["kind"] in ("closing", "opening", "address"):
            text = text.replace(fold(rule["x"]), " ")
    return text


def without_phrases(reply: str, rules: Sequence[Mapping[str, Any]]) -> str:
    """Return a reply without the phrases that its rules prescribe, in any case."""
    for rule in rules:
        if rule["kind"] in ("closing", "opening", "address"):
            words = re.escape(rule["x"]).replace("'", "['’]")
            reply = re.sub(rf"{words}[.。,，!！;；]?", " ", reply, flags=re.IGNORECASE)
    return reply.strip(" ,，")


def speaks(reply: str, language: Language) -> bool:
    """Return whether a reply is in the language: no Han in English, mostly Han in Chinese.

    A bare number is in every language.
    """
    han, latin = len(_HAN.findall(reply)), len(_LATIN.findall(reply))
    if not han and not latin:
        return any(letter.isdigit() for letter in reply)
    if language == "en":
        return latin > 0 and han == 0
    return han > 0 and han * 2 >= latin


def length(reply: str, language: Language) -> int:
    """Return the number of words, or of Chinese characters and other words."""
    if language == "en":
        return len(_WORD.findall(reply))
    return len(_HAN.findall(reply)) + len(_WORD.findall(_HAN.sub(" ", reply)))


def _edge(text: str) -> str:
    return fold(text).strip(_EDGES)


def _sentences(reply: str) -> int:
    return sum(1 for part in _STOPS.split(reply) if part.strip(_EDGES))


_KEPT: Mapping[str, Callable[[str, Mapping[str, Any], Language], bool]] = {
    "closing": lambda reply, rule, _: _edge(reply).endswith(_edge(rule["x"])),
    "opening": lambda reply, rule, _: _edge(reply).startswith(_edge(rule["x"])),
    "address": lambda reply, rule, _: found(reply, rule["x"]),
    "taboo": lambda reply, rule, _: not any(found(reply, word) for word in rule["x"]),
    "no_question": lambda reply, rule, _: not re.search(r"[?？]", reply),
    "no_exclamation": lambda reply, rule, _: not re.search(r"[!！]", reply),
    "spelled": lambda reply, rule, _: not re.search(r"\d", reply),
    "short": lambda reply, rule, language: length(reply, language) <= rule["x"],
    "sentences": lambda reply, rule, _: _sentences(reply) == rule["x"],
}
