"""Rules for games: the payoff decides, and the prose must stay in character throughout."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.roleplay.leaks import leaks
from hexathlon.evaluators.roleplay.prose import read_prose
from hexathlon.evaluators.roleplay.spoken import SpokenAct
from hexathlon.evaluators.roleplay.style import broken_rules, own_words, without_phrases
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.roleplay.text import found, same_value
from hexathlon.tasks.task import Task

__all__ = ["roleplay_bargain", "roleplay_inquiry"]


def roleplay_bargain(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: object
) -> Verdict:
    """Grade a sale: the gain must reach the goal, or walking away must be right.

    `partial` is the gain as a share of the largest possible one.
    """
    deal, walked = final_state["deal"], final_state["walked"]
    gain = _gain(params, deal) if deal is not None else 0
    if params["feasible"]:
        right = deal is not None and gain >= params["goal"]
    else:
        right = deal is None and walked == params["best"]
    faults, undecided = _prose_faults(task, params, final_state["turns"])
    for turn in final_state["turns"]:
        prose = own_words(turn["reply"], params["rules"])
        if turn["act"] == "offer" and not found(prose, str(turn["typed"]["amount"])):
            faults.append("prose")
    share = max(0.0, min(1.0, gain / params["best"])) if deal is not None else 0.0
    terms = {"gain": float(gain), "deal": float(deal is not None)}
    return _verdict(right, faults, share, terms, undecided)


def _gain(params: Mapping[str, Any], deal: Mapping[str, Any]) -> int:
    costs = params["costs"]
    extra = sum(costs[name][deal[name]] for name in costs)
    return int(deal["amount"]) - int(params["cost"]) - int(extra)


def roleplay_inquiry(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: object
) -> Verdict:
    """Grade an interrogation: exactly the lies were named, each after it was told.

    `partial` is the share of lies rightly named, minus one for each other confrontation.
    """
    lies, turns = params["lies"], final_state["turns"]
    named: set[str] = set()
    wrong = 0
    faults, undecided = _prose_faults(task, params, turns)
    for turn in (turn for turn in turns if turn["act"] == "confront"):
        typed = turn["typed"]
        lie = lies.get(typed["topic"])
        if lie is None or typed["topic"] not in final_state["told"] or not _fits(lie, typed):
            wrong += 1
            continue
        named.add(typed["topic"])
        prose = own_words(turn["reply"], params["rules"])
        if not any(found(prose, value) for value in lie["truth"]):
            faults.append("prose")
    right = final_state["concluded"] and not wrong and named == set(lies)
    share = max(0.0, (len(named) - wrong) / len(lies))
    terms = {"named": len(named) / len(lies), "wrong": float(wrong)}
    return _verdict(right, faults, share, terms, undecided)


def _fits(lie: Mapping[str, Any], typed: Mapping[str, Any]) -> bool:
    return all(
        any(same_value(typed[key], value) for value in lie[key]) for key in ("claim", "truth")
    )


def _prose_faults(
    task: Task, params: Mapping[str, Any], turns: Sequence[Mapping[str, Any]]
) -> tuple[list[str], list[int]]:
    """Return the faults of the replies' prose, and the places of unverified prose."""
    faults, undecided = [], []
    known = [task.instruction]
    for place, turn in enumerate(turns):
        known.append(turn["heard"])
        heard = "\n".join(known[1:])
        broken = broken_rules(turn["reply"], params["rules"], task.params["language"], heard)
        faults += [f"style:{kind}" for kind in broken]
        if any(leaks(turn["reply"], secret, turn["heard"]) for secret in params["secrets"]):
            faults.append("secret")
        reading = read_prose(_spoken(task, params, turn, known))
        faults += reading.faults
        if not reading.decided and not reading.faults:
            undecided.append(place)
    return faults, undecided


def _spoken(
    task: Task, params: Mapping[str, Any], turn: Mapping[str, Any], known: Sequence[str]
) -> SpokenAct:
    typed, act = turn["typed"], turn["act"]
    values = {"offer": [str(typed.get("amount"))], "confront": [typed.get("truth", "")]}
    lie = params.get("lies", {}).get(typed.get("topic"), {}) if act == "confront" else {}
    return SpokenAct(
        act if act in values else "speak", without_phrases(turn["reply"], params["rules"]),
        task.params["language"], known, turn["heard"],
        lie.get("truth", values.get(act, [])), lie.get("claim", []),
    )  # fmt: skip


def _verdict(
    right: bool, faults: list[str], share: float, terms: dict[str, float], undecided: list[int]
) -> Verdict:
    kinds = {fault.split(":")[0] for fault in faults}
    return Verdict(
        score=float(right and not faults),
        partial=share,
        terms={
            "goal": float(right),
            **terms,
            **{f"fault_{kind}": float(kind in kinds) for kind in ("prose", "secret", "style")},
            "unverified_prose": float(bool(undecided)),
        },
        evidence={"faults": sorted(set(faults)), "unverified_prose": undecided},
    )
