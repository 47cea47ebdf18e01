"""tau2's retail checks: `tau2_db` and `tau2_communicate` by its own rule, `tau2_strict` by ours.

tau2 compares a hash of the whole database with that of a database on which the reference actions
were replayed. Here the environment provides the records that differ from the start, and the task
those that should differ; the two are equal exactly when the hashes would be. tau2's COMMUNICATE
searches for a lower-case substring with commas removed, so "10" is found in "2010" and a list of
everything passes; and a silent agent passes if nothing had to be changed. The strict form closes
these: whole tokens, few numbers, no transfer unless requested, and at least one lookup.
"""

import re
from collections.abc import Mapping
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.shopping.world.tables import same
from hexathlon.tasks.task import Task

__all__ = ["tau2_communicate", "tau2_db", "tau2_strict"]

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MAX_NUMBERS = 60
"""With more numbers than this in all messages together, naming the right ones proves nothing."""


def tau2_db(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Compare the changed records with those that the reference actions change."""
    equal = same(final_state.get("changes"), params["expected"])
    return Verdict(score=float(equal), terms={"db": float(equal)})


def tau2_communicate(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Search for every string in some message of the agent, as tau2 does."""
    texts = [text.lower().replace(",", "") for text in _messages(transcript)]
    missing = [s for s in params["strings"] if not any(s.lower() in text for text in texts)]
    return Verdict(score=float(not missing), evidence={"missing": len(missing)})


def tau2_strict(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Require tau2's database, the strings as whole tokens, and evidence of the agent's work."""
    messages = _messages(transcript)
    text = " \n ".join(messages).lower().replace(",", "")
    numbers = len(_NUMBER.findall(text))
    terms = {
        "db": same(final_state.get("changes"), params["expected"]),
        "communicate": all(_mentions(s, text) for s in params["strings"]),
        "no_dump": numbers <= _MAX_NUMBERS,
        "transfer": bool(final_state.get("transferred")) == params["transfer"],
        "looked_up": bool(params["expected"]) or _looked_up(params, final_state),
        "ended": final_state.get("outcome") == "ended",
    }
    values = {name: float(met) for name, met in terms.items()}
    return Verdict(score=float(all(terms.values())), terms=values, partial=_mean(values))


def _looked_up(params: Mapping[str, Any], final_state: Mapping[str, Any]) -> bool:
    """Whether the agent looked up a record that the reference looks up.

    If the reference looks up none, a transfer or the required words are the evidence.
    """
    expected = set(params["looked_at"])
    return not expected or bool(expected.intersection(final_state.get("looked_at", ())))


def _mean(values: Mapping[str, float]) -> float:
    return sum(values.values()) / len(values)


def _mentions(string: str, text: str) -> bool:
    pattern = re.escape(string.lower().replace(",", ""))
    return re.search(rf"(?<![\w.]){pattern}(?![\w]|\.\d)", text) is not None


def _messages(transcript: Messages) -> list[str]:
    return [str(m["content"]) for m in transcript if m["role"] == "assistant" and m["content"]]
