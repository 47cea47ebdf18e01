"""Tools of the role-play event: one speech act each, with the spoken words in `reply`."""

from typing import Any

from hexathlon.tasks.roleplay.beat import REASONS
from hexathlon.tasks.task import ToolSchema

__all__ = ["bargain_tools", "dialogue_tools", "inquiry_tools", "scene_tools"]

_REPLY = {"type": "string", "maxLength": 2_000}
_SHORT = {"type": "string", "maxLength": 200}


def _schema(name: str, description: str, /, **properties: dict[str, Any]) -> ToolSchema:
    parameters = {
        "type": "object", "properties": {"reply": _REPLY, **properties},
        "required": ["reply", *properties],
    }  # fmt: skip
    return ToolSchema(name=name, description=description, parameters=parameters)


_SAY = _schema("say", "Say something that is none of the other acts. Plain text does the same.")
_ANSWER = _schema(
    "answer", "Answer a question. `value` is the bare name or number, which `reply` names too.",
    value=_SHORT,
)  # fmt: skip
_CORRECT = _schema(
    "correct",
    "Contradict what the other speaker claims or takes for granted: `claim` is their value, "
    "`truth` the right one, which `reply` names too.",
    claim=_SHORT, truth=_SHORT,
)  # fmt: skip
_REFUSE = _schema(
    "refuse", "Decline to say or do something, with the kind of reason.",
    reason={"type": "string", "enum": list(REASONS)},
)  # fmt: skip


def dialogue_tools() -> tuple[ToolSchema, ...]:
    """Return the four speech acts of a conversation; every task offers all of them."""
    return (_SAY, _ANSWER, _CORRECT, _REFUSE)


def bargain_tools(terms: dict[str, list[str]], highest: int) -> tuple[ToolSchema, ...]:
    """Return the speech acts of a negotiation: ask, offer, walk away.

    Args:
        terms: The options for each term of the deal.
        highest: Largest amount that can be named.
    """
    amount = {"type": "integer", "minimum": 0, "maximum": highest}
    choices = {name: {"type": "string", "enum": options} for name, options in terms.items()}
    return (
        _SAY,
        _schema("offer", "Offer a deal: the price and the other terms.", amount=amount, **choices),
        _schema(
            "walk_away",
            "End without a deal because none can reach your goal; `best` is the largest gain that "
            "a deal with this buyer could bring you.",
            best={"type": "integer", "minimum": -highest, "maximum": highest},
        ),
    )


def inquiry_tools(topics: list[str]) -> tuple[ToolSchema, ...]:
    """Return the speech acts of an interrogation: ask, confront with a lie, conclude."""
    return (
        _SAY,
        _schema(
            "confront",
            "Name a statement that your papers prove false: its topic, what was claimed, and what "
            "the papers show.",
            topic={"type": "string", "enum": topics},
            claim=_SHORT,
            truth=_SHORT,
        ),
        _schema("conclude", "End the interrogation; all lies must have been confronted before."),
    )


def scene_tools() -> tuple[ToolSchema, ...]:
    """Return the speech acts of a scene: four responses, two things of one's own accord, talk."""
    to = {"type": "string", "maxLength": 200, "description": "Name of somebody present."}
    return (
        _SAY,
        _ANSWER,
        _schema("agree", "Promise or grant what was asked, or confirm what is right."),
        _CORRECT,
        _REFUSE,
        _schema(
            "tell",
            "Of your own accord, pass on a fact to somebody present. `value` is the bare name, "
            "place or number, which `reply` names too.",
            to=to, value=_SHORT,
        ),
        _schema(
            "give",
            "Of your own accord, hand over a thing, or offer it for sale, to somebody present. "
            "`price` is what you ask for it, 0 for nothing; `reply` names a price too.",
            to=to, what=_SHORT, price={"type": "integer", "minimum": 0, "maximum": 400},
        ),
    )  # fmt: skip
