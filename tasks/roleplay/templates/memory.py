"""Memory: facts that the visitor states about themselves and their brother, and later asks for.

Other statements, changes of mind, mix-ups that swap two facts, and questions about the character
separate statement and question. Some questions are about facts never stated.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.roleplay.beat import Beat
from hexathlon.tasks.roleplay.card import NothingLeft, fill, table, valued
from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.task import Level

__all__ = ["memory"]


class _Plan(NamedTuple):
    own: int
    brother: int
    updates: int
    swaps: int
    together: int
    """Number of facts stated in one line."""

    questions: tuple[str, ...]
    between: tuple[str, ...]


_PLANS: Mapping[Level, _Plan] = {
    "tiny": _Plan(2, 0, 0, 0, 1, ("ask", "untold"), ("contradicted",)),
    "easy": _Plan(2, 1, 0, 0, 1, ("ask", "ask", "wrong", "untold"), ("known",)),
    "medium": _Plan(
        3, 2, 1, 0, 1, ("ask", "ask", "ask", "wrong", "right", "untold"), ("known", "omitted")
    ),
    "hard": _Plan(
        4, 3, 2, 1, 2, ("ask",) * 4 + ("wrong", "wrong", "right", "untold", "untold"),
        ("known", "contradicted", "omitted"),
    ),
}  # fmt: skip
_WHOSE = {"own": "my|我", "brother": "my brother's|我哥哥"}
_LINES: Mapping[str, str] = {
    "update": "I must correct myself. {tell}|我得更正一下。{tell}",
    "swap": (
        "Oh dear, as to {label}, I gave you mine for my brother's and his for mine."
        "|哎呀，{label}我把自己的和我哥哥的说反了，要倒过来。"
    ),
    "recall": "Do you remember? {question}|你还记得吗？{question}",
}


class _Memory:
    """The facts that the visitor has stated so far, and those still to come."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.told: dict[tuple[str, str], list[str]] = {}
        self.sentences: list[str] = []

    def tell(self, whose: str, fact: str) -> str:
        value = self._fresh(fact, self.told.get((whose, fact), []))
        self.told.setdefault((whose, fact), []).append(value)
        return self.frame(fact, "tell", whose, v=value)

    def swap(self, fact: str) -> str:
        own, other = self.told["own", fact], self.told["brother", fact]
        now_own, now_other = other[-1], own[-1]
        own.append(now_own)
        other.append(now_other)
        label = BilingualText.parse(table("visitor")["facts"][fact]["label"])[self.stage.language]
        return fill(_LINES["swap"], self.stage.language, {"label": label})

    def frame(self, fact: str, frame: str, whose: str, **values: Any) -> str:
        spec = table("visitor")["facts"][fact][frame]
        text = self.stage.pick(spec) if isinstance(spec, list) else spec
        owner = BilingualText.parse(_WHOSE[whose])[self.stage.language]
        own = {"whose": owner, "Whose": owner[:1].upper() + owner[1:]}
        words = {**self.stage.card["words"], **own, **values}
        return fill(text, self.stage.language, words)

    def wrong(self, key: tuple[str, str]) -> str:
        """Return a currently false value: an earlier one, the brother's, or a new one."""
        whose, fact = key
        current = self.told[key][-1]
        other = self.told.get(("own" if whose == "brother" else "brother", fact), [])
        close = [value for value in (*self.told[key], *other) if value != current]
        return str(self.stage.pick(close)) if close else self._fresh(fact, self.told[key])

    def _fresh(self, fact: str, taken: list[str]) -> str:
        spec = table("visitor")["facts"][fact]
        if spec["kind"] != "count":
            return self.stage.pools.take(spec["kind"])[self.stage.language]
        for _ in range(50):
            value = str(self.stage.pools.number(*spec["range"]))
            if value not in taken:
                return value
        raise NothingLeft(f"no number is left for {fact}")


def memory(order: TaskSpec) -> Stage:
    """Let the visitor state, change and mix up facts, then ask for them."""
    plan = _PLANS[order.level]
    stage = Stage.opened(order)
    memories = _Memory(stage)
    facts = stage.some(list(table("visitor")["facts"]), plan.own)
    told = [("own", fact) for fact in facts]
    told += [("brother", fact) for fact in stage.some(facts, plan.brother)]
    told = stage.some(told, len(told))
    opening = _tellings(memories, told, plan.together)
    later = _changes(memories, told, plan)
    questions = _questions(memories, plan)
    between = stage.ask(*plan.between, about="card")
    middle = _interleaved(stage, later, stage.shuffled(between))
    stage.beats = [*opening, *middle, *stage.shuffled(questions)]
    _give_slots(stage, memories)
    stage.led_in()
    return stage


def _tellings(memories: _Memory, told: list[tuple[str, str]], together: int) -> list[Beat]:
    joiner = " " if memories.stage.language == "en" else ""
    sentences = [memories.tell(whose, fact) for whose, fact in told]
    values = [memories.told[key][-1] for key in told]
    return [
        Beat(
            joiner.join(sentences[i : i + together]), "say", about="listening",
            keep=tuple(values[i : i + together]),
        )
        for i in range(0, len(sentences), together)
    ]  # fmt: skip


def _changes(memories: _Memory, told: list[tuple[str, str]], plan: _Plan) -> list[Beat]:
    stage = memories.stage
    beats = []
    both = [fact for whose, fact in told if whose == "brother"]
    for fact in stage.some(both, plan.swaps):
        beats.append(Beat(memories.swap(fact), "say", about="listening"))
    for whose, fact in stage.some(told, plan.updates):
        line = fill(_LINES["update"], stage.language, {"tell": memories.tell(whose, fact)})
        keep = (memories.told[whose, fact][-1],)
        beats.append(Beat(line, "say", about="listening", keep=keep))
    return beats


def _interleaved(stage: Stage, first: list[Beat], second: list[Beat]) -> list[Beat]:
    """Interleave two lists, keeping the order within each."""
    marks = [0] * len(first) + [1] * len(second)
    queues = (iter(first), iter(second))
    return [next(queues[marks[int(i)]]) for i in stage.rng.permutation(len(marks))]


def _questions(memories: _Memory, plan: _Plan) -> list[Beat]:
    stage = memories.stage
    changed = [key for key, values in memories.told.items() if len(values) > 1]
    plain = [key for key in memories.told if key not in changed]
    keys = iter([*stage.some(changed, len(changed)), *stage.some(plain, len(plain))])
    facts = table("visitor")["facts"]
    never = [(w, f) for w in _WHOSE for f in facts if (w, f) not in memories.told]
    missing = iter(stage.some(never, len(never)))
    beats = []
    for kind in plan.questions:
        key = next(missing) if kind == "untold" else next(keys, None)
        if key is None:  # every stated fact has been asked for
            key = stage.pick(list(memories.told))
        beats.append(_question(memories, kind, key))
    return beats


def _question(memories: _Memory, kind: str, key: tuple[str, str]) -> Beat:
    whose, fact = key
    stage = memories.stage
    if kind in ("ask", "untold"):
        question = memories.frame(fact, "ask", whose)
        line = fill(_LINES["recall"], stage.language, {"question": question})
        if kind == "untold":
            return Beat(line, "refuse", reasons=("not_known",), about="memory", query={"told": key})
        value = stage.asker.spellings(memories.told[key][-1])
        return Beat(line, "answer", value=value, about="memory", query={"told": key})
    truth = memories.told[key][-1]
    claim = truth if kind == "right" else memories.wrong(key)
    line = memories.frame(fact, "confirm", whose, c=claim)
    spell = stage.asker.spellings
    query = {"told": key, "claim": claim}
    if kind == "right":
        return Beat(line, "answer", value=spell(truth), about="memory", keep=(claim,), query=query)
    return Beat(
        line, "correct", value=spell(truth), claim=spell(claim), about="memory", keep=(claim,),
        query=query,
    )  # fmt: skip


def _give_slots(stage: Stage, memories: _Memory) -> None:
    """Let the visitor answer questions about facts that no longer change."""
    facts = table("visitor")["facts"]
    for (whose, fact), values in memories.told.items():
        if whose == "own" and len(values) == 1:
            phrases = [BilingualText.parse(text)[stage.language] for text in facts[fact]["phrases"]]
            say = memories.frame(fact, "tell", whose, v="{value}")
            stage.slots[fact] = {
                "value": values[0],
                "ask": phrases,
                "say": [valued(say, values[0])],
            }
