"""Task records from stages and games: the instruction, the scene's parameters and the checks."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from hexathlon.tasks.bilingual import BilingualText, Language
from hexathlon.tasks.roleplay.beat import Beat
from hexathlon.tasks.roleplay.card import NothingLeft, table
from hexathlon.tasks.roleplay.game import Game
from hexathlon.tasks.roleplay.hearing import VisitorListener
from hexathlon.tasks.roleplay.reading import CardReader, disagreement
from hexathlon.tasks.roleplay.scenes.compose import DrawnScene, compose_scene
from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.roleplay.telling import instruction
from hexathlon.tasks.roleplay.templates.catalogue import DIALOGUES, GAMES, TWINS
from hexathlon.tasks.roleplay.tools import dialogue_tools, scene_tools
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.source import TaskAddress
from hexathlon.tasks.task import Check, Limits, Task

__all__ = [
    "TWIN_BIT",
    "Unsound",
    "canary",
    "dialogue_task",
    "draw_game",
    "draw_scene",
    "draw_stage",
    "game_task",
    "scene_task",
]

TWIN_BIT = 2
"""Indices that differ only in this bit are twins; a coin drawn for the pair decides which of them
is feasible. The lowest bit selects the language."""

RUBRIC = "roleplay"
"""Rubric for judging what code cannot decide; it never affects the verified score."""

_TRIES = 20
_SPARE_TURNS = 4
_SPARE_ACTS = 12
"""Turns of a scene beyond those that the oracle needs."""


class Unsound(Exception):
    """No draw produced a task on which both derivations agree."""


_Drawn = TypeVar("_Drawn")


@lru_cache(maxsize=256)
def draw_stage(address: TaskAddress, seed: int, **changes: Any) -> Stage:
    """Draw a dialogue until both derivations agree on every beat.

    Raises:
        Unsound: If they never agree, which is a defect of the template.
    """

    def draw(order: TaskSpec) -> Stage:
        stage = DIALOGUES[address.template](order)
        problem = _problem(stage, instruction(_told(stage)), stage.beats)
        if problem:
            raise NothingLeft(problem)
        return stage

    return _drawn(draw, address, seed, changes)


@lru_cache(maxsize=256)
def draw_game(address: TaskAddress, seed: int) -> Game:
    """Draw a game that both of its derivations accept.

    Raises:
        Unsound: If no draw is accepted.
    """
    coin = derive_seed("roleplay-side", seed) % 2
    twin = address.template in TWINS and bool(address.index & TWIN_BIT) != bool(coin)
    return _drawn(GAMES[address.template], address, seed, {"twin": twin})


@lru_cache(maxsize=64)
def draw_scene(address: TaskAddress, seed: int) -> DrawnScene:
    """Draw a scene whose ordinary questions the reader of the card decides in the same way.

    Raises:
        Unsound: If no draw is accepted.
    """

    def draw(order: TaskSpec) -> DrawnScene:
        scene = compose_scene(order)
        problem = _problem(scene.plot.stage, scene.instruction, scene.questions)
        if problem:
            raise NothingLeft(problem)
        return scene

    return _drawn(draw, address, seed, {})


def _drawn(
    draw: Callable[[TaskSpec], _Drawn], address: TaskAddress, seed: int, changes: Mapping[str, Any]
) -> _Drawn:
    problem = ""
    for attempt in range(_TRIES):
        rng = generator_for("roleplay-stage", seed, attempt)
        language: Language = "zh" if address.index % 2 else "en"
        order = TaskSpec(address.template, address.level, address.split, language, rng)
        try:
            return draw(order._replace(**changes))
        except NothingLeft as nothing:
            problem = str(nothing)
    raise Unsound(f"{address}: {problem}")


def _problem(stage: Stage, text: str, beats: Sequence[Beat]) -> str:
    """Describe where the derivation from the agent's text disagrees; empty if it agrees."""
    key = stage.card["setting"]
    reader = CardReader(text, key, stage.language, stage.card["words"])
    listener = VisitorListener(stage.language, stage.card["words"])
    for beat in beats:
        if beat.about == "listening":
            listener.hear(beat.line)
        if beat.query:
            judge = listener if "told" in beat.query else reader
            problem = disagreement(judge.rule(beat.query), beat)
            if problem:
                return problem
    return ""


def _told(stage: Stage) -> dict[str, Any]:
    return {**stage.card, "rules": [rule for rule in stage.rules if "from" not in rule]}


def dialogue_task(address: TaskAddress, name: str, version: str, seed: int, stage: Stage) -> Task:
    """Return the task of a stage."""
    manner = table("visitor")["manners"][stage.manner]["note"]
    told = set(map(str, stage.card["attributes"].values()))
    later = [str(event["year"]) for event in stage.card["later"] if str(event["year"]) not in told]
    ahead = [stage.card["next_ruler"]["name"], *later] if stage.card.get("show_later") else []
    params: dict[str, Any] = {
        "mode": "dialogue", "language": stage.language, "setting": stage.card["setting"],
        "character": stage.card["name"], "manner": BilingualText.parse(manner)[stage.language],
        "lines": [_line(beat) for beat in stage.beats],
        "agenda": _agenda(stage),
        "hidden": [value for secret in stage.secrets for value in secret["values"]],
    }  # fmt: skip
    check = Check(
        name="roleplay_dialogue",
        params={
            "beats": [beat.expectation() for beat in stage.beats],
            "rules": stage.rules, "secrets": stage.secrets, "later": ahead,
        },
    )  # fmt: skip
    return Task(
        id=str(address), family="roleplay", generator=name, version=version,
        level=address.level, split=address.split, seed=seed,
        instruction=instruction(_told(stage)), params=params, tools=dialogue_tools(),
        limits=Limits(turns=len(stage.beats) + _SPARE_TURNS), checks=(check,), rubric=RUBRIC,
        canary=canary(name, seed),
    )  # fmt: skip


def game_task(address: TaskAddress, name: str, version: str, seed: int, game: Game) -> Task:
    """Return the task of a game."""
    stage = game.stage
    params = {
        "language": stage.language, "setting": stage.card["setting"],
        "character": stage.card["name"], **game.params,
    }  # fmt: skip
    truth = {"rules": stage.rules, "secrets": stage.secrets, **game.truth}
    return Task(
        id=str(address), family="roleplay", generator=name, version=version,
        level=address.level, split=address.split, seed=seed,
        instruction=instruction(_told(stage), game.answering), params=params, tools=game.tools,
        limits=Limits(turns=game.turns), checks=(Check(name=game.check, params=truth),),
        rubric=RUBRIC, canary=canary(name, seed),
    )  # fmt: skip


def scene_task(
    address: TaskAddress, name: str, version: str, seed: int, scene: DrawnScene, turns: int
) -> Task:
    """Return the task of a scene; `turns` is the length of the oracle's solution."""
    return Task(
        id=str(address), family="roleplay", generator=name, version=version,
        level=address.level, split=address.split, seed=seed, instruction=scene.instruction,
        params=scene.params, tools=scene_tools(), limits=Limits(turns=turns + _SPARE_ACTS),
        checks=(Check(name="roleplay_scene", params=scene.truth),), rubric=RUBRIC,
        canary=canary(name, seed),
    )  # fmt: skip


def canary(name: str, seed: int) -> str:
    """Return the string that marks a task's ground truth."""
    return f"hexathlon-{name}-{derive_seed('roleplay-canary', seed):016x}"


def _line(beat: Beat) -> dict[str, Any]:
    keep = dict.fromkeys((*beat.keep, *beat.claim))  # the claim first, then its short form
    line: dict[str, Any] = {"text": beat.line, "keep": list(keep)}
    if beat.choice:
        line |= {"choice": beat.choice, "options": list(beat.options)}
    return line


def _agenda(stage: Stage) -> dict[str, Any] | None:
    if not stage.slots:
        return None
    return {
        "goal": "-", "slots": stage.slots, "patience": 1_000, "language": stage.language,
    }  # fmt: skip
