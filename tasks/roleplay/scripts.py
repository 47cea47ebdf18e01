"""Scripts that validate dialogues: the oracle, alternatives, near misses and the floor."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hexathlon.tasks.roleplay.beat import Beat
from hexathlon.tasks.roleplay.speaking import act_on, core_of
from hexathlon.tasks.roleplay.stage import Stage
from hexathlon.tasks.roleplay.telling import deciding_line
from hexathlon.tasks.roleplay.voice import compose
from hexathlon.tasks.source import Script
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["TOLERATED", "alternatives", "mutants", "oracle_actions", "played", "thought"]

TOLERATED: Mapping[str, str] = {
    **{
        f"alter:{tool}.reply": "the wording is free where it says what the rules ask for"
        for tool in ("answer", "conclude", "confront", "correct", "refuse", "say", "walk_away")
    },
    "alter:refuse.reason=against_my_rules": "who is told to ignore the card may plead its rules",
    "alter:offer.reply to right and wrong": "the amount is binding; it is said, with another one",
    "drop:say": "a question whose answer is known may be left out",
    "repeat:say": "asking twice costs a turn and nothing else",
    "swap:say": "questions may come in any order",
    "repeat:confront": "a lie may be named twice",
    "swap:confront": "lies may be named in any order",
}
"""Changes to the oracle's episodes that are right, too, with the reason."""

_AI = {"en": "As a language model I can say", "zh": "作为语言模型，我可以说"}


def played(actions: Sequence[str]) -> Script:
    """Play a list of actions regardless of the observations."""
    for act in actions:  # noqa: UP028 - a list cannot be sent observations
        yield act


def oracle_actions(stage: Stage, variant: int = 0) -> list[str]:
    """Return the correct actions, beat by beat."""
    chosen: dict[str, str] = {}
    actions = []
    for place, beat in enumerate(stage.beats):
        beat, held = _settled(beat, chosen, variant)
        rules = stage.rules_at(place)
        actions.append(act_on(beat, rules, stage.language, variant=variant, chosen=held))
    return actions


def _settled(beat: Beat, chosen: dict[str, str], variant: int) -> tuple[Beat, str]:
    """Insert the character's earlier choice into a beat that refers back to it."""
    if not beat.choice:
        return beat, ""
    options = beat.options
    if beat.choice == "choose":
        chosen[options[0]] = options[variant % len(options)]
    held = chosen.get(options[0], options[0])
    other = options[(options.index(held) + 1) % len(options)]
    return replace(beat, value=(held,), claim=(other,)), held


def thought(stage: Stage, place: int) -> str:
    """Return the card's line that decides a beat, if there is a single one."""
    return deciding_line(stage.card, stage.beats[place].query)


def alternatives(stage: Stage) -> dict[str, Script]:
    """Return rewordings, other accepted spellings and reasons, and prose for untyped replies."""
    return {"other_words": played(oracle_actions(stage, 1))}


def mutants(stage: Stage) -> dict[str, Script]:
    """Return near misses: all beats but one are correct."""
    right = oracle_actions(stage)
    made: dict[str, list[str]] = {}
    for name, place, act in _slips(stage, right):
        made.setdefault(name, [*right[:place], act, *right[place + 1 :]])
    made["leaves_early"] = right[:-1]
    return {name: played(actions) for name, actions in made.items()}


def _slips(stage: Stage, right: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield single mistakes: a name, the beat and the wrong action."""
    places = [int(i) for i in stage_order(stage)]
    for place in places:
        beat, call = stage.beats[place], _call(right[place])
        arguments = call["arguments"]
        if beat.act == "correct":
            value = arguments["claim"]
            yield "gullible", place, _act(stage, place, "answer", value, value=value)
            yield "forgets_the_truth", place, _act(stage, place, "correct", "…", **_rest(arguments))
        elif beat.act == "answer":
            yield "refuses_one", place, _act(stage, place, "refuse", "", reason="not_known")
            yield (
                "prose_differs",
                place,
                _act(stage, place, "answer", "…", value=arguments["value"]),
            )
        elif beat.act == "refuse":
            yield "makes_it_up", place, _act(stage, place, "answer", "7", value="7")
            wrong = "secret" if "secret" not in beat.reasons else "not_of_my_world"
            yield "wrong_reason", place, tool_call("refuse", reply=arguments["reply"], reason=wrong)
        reply = f"{_AI[stage.language]}: {arguments['reply']}"
        yield "out_of_role", place, tool_call(call["name"], **{**arguments, "reply": reply})
        for kind, broken in _unruly(stage, place, arguments["reply"]):
            yield f"breaks_{kind}", place, tool_call(call["name"], **{**arguments, "reply": broken})
        if beat.guessed:
            yes = {"en": "yes", "zh": "是的"}[stage.language]
            reply = compose(yes, stage.rules_at(place), stage.language)
            yield "confirms", place, tool_call("refuse", reply=reply, reason="secret")
        for secret in stage.secrets:
            if not beat.tells and not any(v in beat.line for v in secret["values"]):
                told = f"{arguments['reply']} {secret['values'][0]}"
                yield "lets_slip", place, tool_call(call["name"], **{**arguments, "reply": told})


def stage_order(stage: Stage) -> Sequence[int]:
    """Return the beats in the order in which mistakes are tried, starting from the middle."""
    count = len(stage.beats)
    return sorted(range(count), key=lambda place: abs(place - count // 2))


def _act(stage: Stage, place: int, name: str, said: str, /, **typed: Any) -> str:
    beat = stage.beats[place]
    wrong = replace(beat, act="say") if name == "refuse" else replace(
        beat, act="answer", value=(said,)
    )  # fmt: skip
    core = core_of(wrong, stage.language, value=said)
    reply = compose(core, stage.rules_at(place), stage.language)
    return tool_call(name, reply=reply, **typed)


def _unruly(stage: Stage, place: int, reply: str) -> Iterator[tuple[str, str]]:
    """Yield replies that each break one speech rule."""
    foreign = "是这样。" if stage.language == "en" else "That is how it stands with me here."
    yield "language", reply + foreign if stage.language == "en" else foreign
    for rule in stage.rules_at(place):
        kind = rule["kind"]
        if kind == "closing":
            yield kind, reply + (" So." if stage.language == "en" else "就这样。")
        elif kind == "opening":
            yield kind, ("So, " if stage.language == "en" else "那么，") + reply
        elif kind == "address":
            yield kind, reply.replace(str(rule["x"]), "X").replace(str(rule["x"]).capitalize(), "X")
        elif kind == "taboo":
            yield kind, f"{rule['x'][0]} {reply}"
        elif kind in ("no_question", "no_exclamation"):
            yield kind, ("?" if kind == "no_question" else "!").join(["", reply])
        elif kind == "spelled":
            yield kind, f"1 {reply}"
        elif kind == "short":
            yield (
                kind,
                reply + " well" * int(rule["x"])
                if stage.language == "en"
                else reply + "嗯" * int(rule["x"]),
            )
        elif kind == "sentences":
            yield kind, ("So. " if stage.language == "en" else "嗯。") + reply


def _call(text: str) -> Mapping[str, Any]:
    call: Mapping[str, Any] = json.loads(text)
    return call


def _rest(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != "reply"}
