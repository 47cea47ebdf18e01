"""Composition of a scene: threads, ordinary questions, order, sheet, and what is checked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.roleplay.beat import Beat
from hexathlon.tasks.roleplay.card import NothingLeft, table
from hexathlon.tasks.roleplay.lexicon import SETTINGS
from hexathlon.tasks.roleplay.scenes import threads_goods as goods
from hexathlon.tasks.roleplay.scenes import threads_words as words
from hexathlon.tasks.roleplay.scenes.order import PlacedMoment, in_order
from hexathlon.tasks.roleplay.scenes.plot import Due, Plot, SceneMoment
from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.roleplay.telling import card_sections
from hexathlon.tasks.roleplay.text import found

__all__ = ["SCENES", "THREADS", "UNSEEN_THREADS", "DrawnScene", "compose_scene"]

SCENES = ("scene_evening", "scene_vigil", "scene_journey", "scene_fair")
"""Templates; they differ in place and company."""

THREADS: Mapping[str, Callable[[Plot], None]] = {
    "errand": words.errand, "confidence": words.confidence, "misquote": words.misquote,
    "ownword": words.ownword, "alibi": words.alibi, "warning": words.warning,
    "detour": words.detour, "custody": goods.custody, "deal": goods.deal, "tab": goods.tab,
    "authority": goods.authority, "queue": goods.queue, "lifted": words.lifted,
    "lapse": goods.lapse, "namesakes": goods.namesakes, "timed": goods.timed,
    "visits": words.visits,
}  # fmt: skip
UNSEEN_THREADS = ("lifted", "lapse", "namesakes", "visits")
"""Kinds of threads that occur in test and held-out tasks only."""

_SETTINGS = tuple(key for key in SETTINGS if key not in ("starship", "radio"))
_QUESTIONS = (
    "known", "known", "contradicted", "omitted", "presupposed", "life_year", "world_contradicted",
    "life_contradicted", "foreign", "untold", "world_year", "confirmed", "later_year",
)  # fmt: skip
_SHORTEST, _LONGEST = 44, 60


class DrawnScene(NamedTuple):
    """A composed scene."""

    plot: Plot
    line: Sequence[PlacedMoment]
    instruction: str
    params: dict[str, Any]
    truth: dict[str, Any]
    questions: Sequence[Beat]
    """The ordinary questions among the moments."""

    def place(self, key: str) -> int:
        """Return the place of a moment."""
        return next(i for i, placed in enumerate(self.line) if placed.moment.key == key)


def compose_scene(order: TaskSpec) -> DrawnScene:
    """Compose the scene of a task.

    Raises:
        NothingLeft: If a draw leads nowhere; the caller draws again.
    """
    stage = Stage.opened(order._replace(settings=_SETTINGS), told=9)
    stage.card["rules"] = stage.rules
    stage.card["show_later"] = True
    kinds = _kinds(stage)
    plot = Plot(stage, int(stage.rng.integers(5, 7)), "namesakes" in kinds)
    for kind in kinds:
        THREADS[kind](plot)
    questions = _ask(plot)
    line = in_order(plot.moments, stage.rng)
    _count_visits(line)
    return DrawnScene(
        plot, line, _instruction(plot), _params(plot, line), _truth(plot, line), questions
    )


def _kinds(stage: Stage) -> list[str]:
    """Draw the threads, with one to three unseen kinds in test and heldout."""
    usual = [kind for kind in THREADS if kind not in UNSEEN_THREADS]
    count = int(stage.rng.integers(7, 10))
    extra: list[str] = []
    if stage.order.split in ("test", "heldout"):
        extra = stage.some(UNSEEN_THREADS, int(stage.rng.integers(1, 4)))
    # Homes are given to namesakes first.
    return [*sorted(extra, reverse=True), *stage.some(usual, count - len(extra))]


def _ask(plot: Plot) -> list[Beat]:
    """Add ordinary questions until the evening is long enough, and small talk.

    Returns:
        The questions.
    """
    stage = plot.stage
    names = stage.some(_QUESTIONS, len(_QUESTIONS))
    wanted = int(stage.rng.integers(_SHORTEST, _LONGEST + 1)) - len(plot.moments)
    questions: list[Beat] = []
    for number, name in enumerate(names[: max(4, wanted)]):
        (beat,) = stage.ask(name)
        if any(found(claim, value) for claim in beat.claim for value in beat.value):
            raise NothingLeft(f"{beat.value[0]} is part of the claim {beat.claim[0]}")
        speaker = int(stage.rng.integers(len(plot.figures)))
        plot.moments.append(_question(f"question.{number}", speaker, beat))
        questions.append(beat)
    for number in range(2):
        speaker = int(stage.rng.integers(len(plot.figures)))
        plot.add(f"small.{number}", speaker, plot.small_talk(), asks=False)
    return questions


def _count_visits(line: Sequence[PlacedMoment]) -> None:
    """Fill in how often a figure came, where that is asked."""
    for place, placed in enumerate(line):
        figure = placed.moment.visits_of
        if figure is None:
            continue
        there = [figure in other.present for other in line[:place]]
        if any(other.moment.unless and figure in other.present for other in line[:place]):
            raise NothingLeft("a visit may fall through")
        count = sum(now and not before for before, now in zip([False, *there], there, strict=False))
        if count < 2:
            raise NothingLeft("hardly any visits to count")
        placed.moment.accept = ({"act": "answer", "value": [str(count)]},)


def _question(key: str, speaker: int, beat: Beat) -> SceneMoment:
    accept: dict[str, Any] = {"act": beat.act}
    if beat.act == "refuse":
        accept["reasons"] = list(beat.reasons)
    else:
        accept["value"] = list(beat.value)
    if beat.act == "correct":
        accept["claim"] = list(beat.claim)
    accepted = [accept]
    if beat.act == "answer" and any(value in beat.line for value in beat.value):
        accepted.append({"act": "agree"})
    return SceneMoment(key, speaker, beat.line, accepted)


def _instruction(plot: Plot) -> str:
    stage, language = plot.stage, plot.language
    heads = {**table("telling")["heads"], **table("scenes")["heads"]}
    card = [section for section in card_sections(stage.card) if section[0] != "scene"]
    a, b, c = plot.cast(3)
    intro = table("scenes")["stage"][stage.order.template]["intro"]
    tonight = [
        plot.filled(intro), plot.say("sheet", "situation"), plot.say("sheet", "friend", A=a),
        plot.say("sheet", "wary", B=b), plot.say("sheet", "fond", C=c),
    ]  # fmt: skip
    fixed = ("promise", "confidence", "owing", "keeping", "danger", "eyes", "favour")
    rules = [*(plot.say("sheet", name) for name in fixed), *plot.rules.values()]
    acts = _acts(plot)
    sections = [*card, ("house", tonight), ("rules", stage.some(rules, len(rules))), ("acts", acts)]
    play = BilingualText.parse(table("telling")["sentences"]["play"])[language]
    parts = [
        f"# {BilingualText.parse(heads[head])[language]}\n"
        + "\n".join(f"- {text}" for text in lines)
        for head, lines in sections
    ]
    return "\n\n".join([play.replace("{name}", stage.card["name"]), *parts])


def _acts(plot: Plot) -> list[str]:
    """Return the lines that explain the tools."""
    return [BilingualText.parse(text)[plot.language] for text in table("scenes")["acts"]["lines"]]


def _params(plot: Plot, line: Sequence[PlacedMoment]) -> dict[str, Any]:
    place = {placed.moment.key: i for i, placed in enumerate(line)}
    return {
        "mode": "scene", "language": plot.language, "setting": plot.stage.card["setting"],
        "character": plot.stage.card["name"], "template": plot.stage.order.template,
        "currency": plot.currency,
        "figures": [
            {"name": figure.name, "trade": figure.trade, "names": list(plot.names(i))}
            for i, figure in enumerate(plot.figures)
        ],
        "moments": [_line(placed) for placed in line],
        "goods": list(plot.goods),
        "received": {item: place[key] for item, key in plot.received.items()},
        "limits": {
            item: {str(figure): limit for figure, limit in limits.items()}
            for item, limits in plot.limits.items()
        },
        "gossip": _confidences(plot, place),
    }  # fmt: skip


def _line(placed: PlacedMoment) -> dict[str, Any]:
    moment = placed.moment
    return {
        "speaker": moment.speaker, "present": list(placed.present), "text": moment.line,
        "asks": moment.asks, "bell": placed.bell, "narration": moment.narration,
        "variants": [dict(variant) for variant in moment.variants], "unless": moment.unless,
        "choice": dict(moment.choice),
    }  # fmt: skip


def _confidences(plot: Plot, place: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {
            "thread": item.thread, "values": list(item.values), "allowed": list(item.allowed),
            "since": place[item.since] if item.since else 0,
            "until": place[item.until] if item.until else len(place),
        }
        for item in plot.confidences
    ]  # fmt: skip


def _truth(plot: Plot, line: Sequence[PlacedMoment]) -> dict[str, Any]:
    place = {placed.moment.key: i for i, placed in enumerate(line)}
    return {
        "rules": plot.stage.rules,
        "moments": [
            {
                "thread": placed.moment.thread, "accept": [dict(a) for a in placed.moment.accept],
                "guess": placed.moment.guess,
            }
            for placed in line
        ],
        "dues": [
            {**asdict(due), "what": list(due.what), **_window(due, line, place)}
            for due in plot.dues
        ],
        "confidences": _confidences(plot, place),
    }  # fmt: skip


def _window(due: Due, line: Sequence[PlacedMoment], place: Mapping[str, int]) -> dict[str, int]:
    """Return the first and the last place at which something can be done."""
    first, last = place[due.since], place[due.at]
    if due.bell:
        first = next(i for i, placed in enumerate(line) if placed.bell == due.bell)
    if due.until == "visit":
        while last + 1 < len(line) and due.to in line[last + 1].present:
            last += 1
    else:
        last = len(line) - 1
    return {"at": first, "until": last}
