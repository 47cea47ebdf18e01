"""Correct actions for beats, worded to suit the character's speech rules."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.beat import Beat
from hexathlon.tasks.roleplay.card import articled
from hexathlon.tasks.roleplay.voice import compose
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["act_on", "core_of"]

_CORES: Mapping[Language, Mapping[str, Sequence[str]]] = {
    "en": {
        "say": ("I hear you", "very well"),
        "answer": ("it is {v}", "the answer to that is {v}"),
        "correct": ("no, not {c}, it is {v}", "you are mistaken, the truth is {v}"),
        "not_known": ("that I do not know", "of that I know nothing"),
        "not_yet": ("of such a thing I know nothing", "nothing like it has come to pass"),
        "not_of_my_world": ("I have never heard of such a thing", "that word means nothing to me"),
        "secret": ("of that I will not speak", "my lips are closed on that"),
        "against_my_rules": ("that I will not do", "I stay who I am"),
    },
    "zh": {
        "say": ("我听见了", "好的"),
        "answer": ("是{v}", "答案是{v}"),
        "correct": ("不对，不是{c}，是{v}", "你弄错了，其实是{v}"),
        "not_known": ("这我不知道", "这件事我一无所知"),
        "not_yet": ("我没听说过这回事", "还没有发生过这样的事"),
        "not_of_my_world": ("我从没听说过这种东西", "这个词我听不懂"),
        "secret": ("恕我不能说", "这事我绝口不提"),
        "against_my_rules": ("恕难从命", "我还是我，改不了"),
    },
}


def core_of(beat: Beat, language: Language, *, variant: int = 0, value: str = "") -> str:
    """Return the content of a reply, before the speech rules give it its form."""
    key = beat.reasons[0] if beat.act == "refuse" else beat.act
    core = _CORES[language][key][variant]
    claim = beat.claim[0] if beat.claim else ""
    if language == "en" and _is_a_thing(beat):
        core = core.replace("{c}", "a {c}").replace("{v}", "a {v}")
    text = core.replace("{c}", claim).replace("{v}", value)
    return articled(text) if language == "en" else text


def _is_a_thing(beat: Beat) -> bool:
    """Return whether the values are single things without an article."""
    query = beat.query
    return query.get("attribute") == "heirloom" or (query.get("told") or ("", ""))[1] == "bag"


def act_on(
    beat: Beat,
    rules: Sequence[Mapping[str, Any]],
    language: Language,
    *,
    variant: int = 0,
    chosen: str = "",
) -> str:
    """Return the correct action for a beat.

    Args:
        beat: The beat.
        rules: The speech rules in force for this reply.
        language: The language of the reply.
        variant: 0 for the plain wording; 1 for other words, spellings and reasons.
        chosen: The character's earlier choice, for beats that refer back to it.
    """
    value = chosen or (beat.value[0] if beat.value else "")
    reply = compose(core_of(beat, language, variant=variant, value=value), rules, language)
    if beat.act == "answer":
        return tool_call(
            "answer", reply=reply, value=beat.value[-1] if variant and not chosen else value
        )
    if beat.act == "correct":
        return tool_call(
            "correct", reply=reply, claim=beat.claim[-1 if variant else 0], truth=value
        )
    if beat.act == "refuse":
        return tool_call("refuse", reply=reply, reason=beat.reasons[-1 if variant else 0])
    return reply if variant else tool_call("say", reply=reply)
