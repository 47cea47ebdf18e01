"""Registry of verifiers, and combination of several into one verdict.

A verifier is a pure function of (task, parameters, final state, transcript). The final state is
plain JSON from the environment, so a stored record can be graded again without an environment.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast

from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.task import Task

__all__ = [
    "RegisteredVerifier",
    "UnknownVerifier",
    "Verifier",
    "all_of",
    "gate",
    "get_verifier",
    "register_verifier",
    "verify",
    "weighted",
]

Messages = Sequence[Mapping[str, Any]]
"""Messages in order, each with `role` and `content`."""


class Verifier(Protocol):
    """Grades the end of one episode."""

    def __call__(
        self,
        task: Task,
        params: Mapping[str, Any],
        final_state: Mapping[str, Any],
        transcript: Messages,
    ) -> Verdict:
        """Return the verdict; raise only if the verifier itself is at fault."""
        ...


class UnknownVerifier(Exception):
    """A task names a verifier that is not registered."""


class RegisteredVerifier(NamedTuple):
    """A verifier with the properties stored in records."""

    name: str
    version: str
    deterministic: bool
    function: Verifier


class _Entry(NamedTuple):
    target: str | Verifier
    version: str
    deterministic: bool


_entries: dict[str, _Entry] = {
    "sql_result": _Entry("hexathlon.evaluators.sql.strict:sql_result", "1", True),
    "sql_write": _Entry("hexathlon.evaluators.sql.writes:sql_write", "1", True),
    "sql_script": _Entry("hexathlon.evaluators.sql.scripts:sql_script", "1", True),
    "sql_shift": _Entry("hexathlon.evaluators.sql.shifts:sql_shift", "1", True),
    "sql_impossible": _Entry("hexathlon.evaluators.sql.strict:sql_impossible", "1", True),
    "spider": _Entry("hexathlon.evaluators.sql.spider:spider", "1", True),
    "bird_ex": _Entry("hexathlon.evaluators.sql.bird:bird_ex", "2", True),
    "bird_soft_f1": _Entry("hexathlon.evaluators.sql.bird:bird_soft_f1", "2", True),
    "bird_rves": _Entry("hexathlon.evaluators.sql.bird:bird_rves", "2", False),
    "intercode_iou": _Entry("hexathlon.evaluators.sql.intercode:intercode_iou", "2", True),
    "dbbench": _Entry("hexathlon.evaluators.sql.dbbench:dbbench", "2", True),
    "shopping_order": _Entry("hexathlon.evaluators.shopping.order:shopping_order", "1", True),
    "shopping_shift": _Entry("hexathlon.evaluators.shopping.shift:shopping_shift", "1", True),
    "shopping_loose": _Entry("hexathlon.evaluators.shopping.simulator:shopping_loose", "1", True),
    "shopping_strict": _Entry("hexathlon.evaluators.shopping.simulator:shopping_strict", "1", True),
    "osworld": _Entry("hexathlon.evaluators.gui.osworld.check:osworld", "1", True),
    "android_world": _Entry("hexathlon.evaluators.gui.android_world:android_world", "1", True),
    "gui_replay": _Entry("hexathlon.evaluators.gui.replay:gui_replay", "1", True),
    "webshop": _Entry("hexathlon.evaluators.shopping.webshop:webshop", "1", True),
    "webshop_strict": _Entry("hexathlon.evaluators.shopping.webshop:webshop_strict", "1", True),
    "tau2_db": _Entry("hexathlon.evaluators.shopping.tau2:tau2_db", "1", True),
    "tau2_communicate": _Entry("hexathlon.evaluators.shopping.tau2:tau2_communicate", "1", True),
    "tau2_strict": _Entry("hexathlon.evaluators.shopping.tau2:tau2_strict", "1", True),
    "sql_answer": _Entry("hexathlon.evaluators.sql.answers:sql_answer", "1", True),
    "terminal_tests": _Entry("hexathlon.evaluators.terminal.tests:terminal_tests", "1", True),
    "harbor_reward": _Entry("hexathlon.evaluators.terminal.tests:harbor_reward", "1", True),
    "desktop_state": _Entry("hexathlon.evaluators.gui.desktop:desktop_state", "1", True),
    "web_state": _Entry("hexathlon.evaluators.web.state:web_state", "1", True),
    "gui_state": _Entry("hexathlon.evaluators.gui.state:gui_state", "1", True),
    "miniwob": _Entry("hexathlon.evaluators.web.miniwob:miniwob", "1", True),
    "webarena": _Entry("hexathlon.evaluators.web.webarena:webarena", "1", True),
    "webarena_strict": _Entry("hexathlon.evaluators.web.webarena:webarena_strict", "1", True),
    "webarena_verified": _Entry(
        "hexathlon.evaluators.web.webarena_verified:webarena_verified", "1", True
    ),
    "visualwebarena": _Entry("hexathlon.evaluators.web.visualwebarena:visualwebarena", "1", True),
    "roleplay_dialogue": _Entry(
        "hexathlon.evaluators.roleplay.dialogue:roleplay_dialogue", "1", True
    ),
    "roleplay_judged": _Entry("hexathlon.evaluators.roleplay.judged:roleplay_judged", "1", True),
    "rouge_l": _Entry("hexathlon.evaluators.roleplay.judged:rouge_l", "1", True),
    "roleplay_bargain": _Entry("hexathlon.evaluators.roleplay.games:roleplay_bargain", "1", True),
    "roleplay_inquiry": _Entry("hexathlon.evaluators.roleplay.games:roleplay_inquiry", "1", True),
    "first_error": _Entry("hexathlon.evaluators.roleplay.verdicts:first_error", "1", True),
    "roleplay_verdict": _Entry(
        "hexathlon.evaluators.roleplay.verdicts:roleplay_verdict", "1", True
    ),
    "roleplay_scene": _Entry("hexathlon.evaluators.roleplay.scenes:roleplay_scene", "1", True),
}
_loaded: dict[str, RegisteredVerifier] = {}


def register_verifier(
    name: str, target: str | Verifier, *, version: str, deterministic: bool = True
) -> None:
    """Register a verifier.

    Args:
        name: The name used in a task's checks.
        target: `module:function`, or the function itself.
        version: Incremented whenever the same episode can get another verdict.
        deterministic: Whether grading the same episode twice gives the same verdict.

    Raises:
        ValueError: If the name is taken.
    """
    entry = _Entry(target, version, deterministic)
    if _entries.get(name, entry) != entry:
        raise ValueError(f"the verifier name {name!r} is taken; choose another")
    _entries[name] = entry


def get_verifier(name: str) -> RegisteredVerifier:
    """Return the verifier of this name, importing it on first use.

    Raises:
        UnknownVerifier: If nothing is registered under the name.
    """
    loaded = _loaded.get(name)
    if loaded is None:
        if name not in _entries:
            raise UnknownVerifier(f"there is no verifier {name!r}. Known: {sorted(_entries)}")
        target, version, deterministic = _entries[name]
        if isinstance(target, str):
            module, _, attribute = target.partition(":")
            function = cast("Verifier", getattr(importlib.import_module(module), attribute))
        else:
            function = target
        loaded = _loaded[name] = RegisteredVerifier(name, version, deterministic, function)
    return loaded


def verify(task: Task, final_state: Mapping[str, Any], transcript: Messages) -> Verdict:
    """Apply every check of the task.

    The score is 1 only if each headline check gives 1; the others appear among the terms.
    """
    checks = task.checks
    if len(checks) == 1 and checks[0].headline:
        check = checks[0]
        function = get_verifier(check.name).function
        return function(task, check.params, final_state, transcript)
    headline: dict[str, Verdict] = {}
    beside: dict[str, float] = {}
    for position, check in enumerate(checks):
        verdict = get_verifier(check.name).function(task, check.params, final_state, transcript)
        label = check.name if check.name not in headline else f"{check.name}#{position}"
        if check.headline:
            headline[label] = verdict
        elif verdict.status == "scored":
            beside[label] = verdict.score
            beside.update({f"{label}.{term}": value for term, value in verdict.terms.items()})
    combined = all_of(headline)
    return (
        combined.model_copy(update={"terms": {**combined.terms, **beside}}) if beside else combined
    )


def all_of(verdicts: Mapping[str, Verdict]) -> Verdict:
    """Combine by minimum: every part must hold. Unscored if any part is."""
    return _combine(verdicts, lambda scores: min(scores.values()))


def gate(hard: Mapping[str, Verdict], soft: Verdict) -> Verdict:
    """Combine as the product of the hard scores times the soft score.

    The soft verdict counts only if every hard one scores 1.
    """
    passed = all(verdict.score == 1.0 for verdict in hard.values())
    parts = {**hard, "soft": soft}
    return _combine(parts, lambda scores: scores["soft"] if passed else 0.0)


def weighted(verdicts: Mapping[str, Verdict], weights: Mapping[str, float]) -> Verdict:
    """Combine by weighted mean, with positive weights and the same names as the verdicts.

    Raises:
        ValueError: If the names differ, or a weight is not positive.
    """
    if set(weights) != set(verdicts) or any(not weight > 0 for weight in weights.values()):
        raise ValueError(
            f"expected one positive weight for each of {sorted(verdicts)}, got {dict(weights)}"
        )
    total = sum(weights.values())
    return _combine(
        verdicts, lambda scores: sum(scores[name] * weights[name] for name in scores) / total
    )


def _combine(
    verdicts: Mapping[str, Verdict], rule: Callable[[Mapping[str, float]], float]
) -> Verdict:
    if not verdicts:
        raise ValueError("expected at least one verdict to combine, got none")
    if len(verdicts) == 1:
        return next(iter(verdicts.values()))
    terms: dict[str, float] = {}
    for name, verdict in verdicts.items():
        terms[name] = verdict.score
        terms.update({f"{name}.{term}": value for term, value in verdict.terms.items()})
    partials = [
        verdict.score if verdict.partial is None else verdict.partial
        for verdict in verdicts.values()
    ]
    scored = all(verdict.status == "scored" for verdict in verdicts.values())
    return Verdict(
        score=min(max(rule({name: v.score for name, v in verdicts.items()}), 0.0), 1.0),
        partial=sum(partials) / len(partials),
        terms=terms,
        status="scored" if scored else "unscored",
        evidence={name: verdict.evidence for name, verdict in verdicts.items()},
    )
