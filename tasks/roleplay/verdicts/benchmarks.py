"""Benchmarks of judges: `step-errors` asks for the first wrong step, `procedures` for failures.

Templates are the kinds of errors, so that results by template are detection rates by kind; the
agent does not see them. Train, dev, test and held-out tasks differ in procedures, wares and names.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.tasks.roleplay.verdicts.one_turn import OneTurnSource
from hexathlon.tasks.roleplay.verdicts.paths import PATTERNS, ReckoningPath, draw_path
from hexathlon.tasks.roleplay.verdicts.procedures import (
    FAILURES,
    Procedure,
    critical_statement,
    draw_procedure,
)
from hexathlon.tasks.roleplay.verdicts.source import played_once, verdict
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script, TaskAddress
from hexathlon.tasks.task import Level, Split, Task

__all__ = ["ProcedureSource", "StepErrorSource", "procedures_source", "step_errors_source"]

_INVENTED = "This sentence is nowhere in the text."


class _JudgeBenchmark(OneTurnSource):
    """Tasks with one stratum for each kind of error."""

    per_stratum: ClassVar[Mapping[Split, int]] = {"dev": 100, "test": 100, "heldout": 100}


class StepErrorSource(_JudgeBenchmark):
    """Reckonings with at most one planted error, after Socratic-PRMBench's six patterns."""

    name = "step-errors"
    check = "first_error"
    strata: Sequence[tuple[str, Level]] = tuple((name, "easy") for name in (*PATTERNS, "sound"))

    def data_files(self) -> Sequence[str]:
        """Return the patterns of names and settings."""
        return ("tasks/roleplay/names.toml", "tasks/roleplay/settings/*.toml")

    def content(
        self, address: TaskAddress, seed: int
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return the question, its steps and the number of the first wrong one."""
        path = _path(address.template, address.split, seed)
        params = {"question": path.question, "steps": list(path.steps)}
        return path.question, params, {"turn": path.error}

    def public_facts(self, task: Task) -> Sequence[str]:
        """Return the steps that are judged."""
        return tuple(map(str, task.params["steps"]))

    def oracle(self, task: Task) -> Script:
        """Name the first wrong step, or that there is none."""
        path = _path(task.template, task.split, task.seed)
        yield _first_error(path.steps, path.error)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return the same verdict with other evidence of the same step."""
        path = _path(task.template, task.split, task.seed)
        words = path.steps[(path.error or 1) - 1].split(" ")
        part = " ".join(words[: max(3, len(words) - 1)])
        return {"part": played_once(_verdict_on_step(part, path.error))}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses: another step, the opposite label, invented evidence, prose."""
        path = _path(task.template, task.split, task.seed)
        other = 1 + (path.error or 0) % len(path.steps)
        opposite = None if path.error else len(path.steps)
        return {
            "other_step": played_once(_first_error(path.steps, other)),
            "opposite": played_once(_first_error(path.steps, opposite)),
            "invented_evidence": played_once(_verdict_on_step(_INVENTED, path.error)),
            "prose": played_once(f"The first error is in step {path.error}."),
        }

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return judges that always name the first or the last step, or none."""
        steps = list(map(str, task.params["steps"]))
        choices = {"always_first": 1, "always_last": len(steps), "always_sound": None}
        return {name: played_once(_first_error(steps, turn)) for name, turn in choices.items()}


class ProcedureSource(_JudgeBenchmark):
    """Procedures with and without critical failures, after How2Bench."""

    name = "procedures"
    check = "roleplay_verdict"
    strata: Sequence[tuple[str, Level]] = tuple(
        (name, "easy") for name in (*FAILURES, "harmless", "sound", "remarked")
    )

    def data_files(self) -> Sequence[str]:
        """Return the pattern of the table of procedures."""
        return ("tasks/roleplay/verdicts/procedures.toml",)

    def content(
        self, address: TaskAddress, seed: int
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return the statement, the procedure, and whether it has a critical failure."""
        drawn = _procedure(address.template, address.split, seed)
        params = {"statement": critical_statement(), "question": drawn.goal, "reply": drawn.text}
        truth = {"label": _label(drawn.critical), "evidence": drawn.evidence}
        return critical_statement(), params, truth

    def public_facts(self, task: Task) -> Sequence[str]:
        """Return the lines of the procedure that is judged."""
        return str(task.params["reply"]).split("\n")

    def oracle(self, task: Task) -> Script:
        """Give the right label with the failing step."""
        drawn = _procedure(task.template, task.split, task.seed)
        yield verdict(drawn.evidence, _label(drawn.critical))

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return the right label with the whole procedure as evidence."""
        drawn = _procedure(task.template, task.split, task.seed)
        return {"whole": played_once(verdict(drawn.text, _label(drawn.critical)))}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses: the opposite label, invented evidence, an abstention."""
        drawn = _procedure(task.template, task.split, task.seed)
        label = _label(drawn.critical)
        return {
            "opposite": played_once(verdict(drawn.evidence, _label(not drawn.critical))),
            "invented_evidence": played_once(verdict(_INVENTED, label)),
            "abstention": played_once(verdict(drawn.evidence, "cannot_tell")),
        }

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return judges that always see a failure, or never."""
        reply = str(task.params["reply"])
        return {f"always_{label}": played_once(verdict(reply, label))
                for label in ("met", "not_met")}  # fmt: skip


def _path(template: str, split: Split, seed: int) -> ReckoningPath:
    return draw_path(template, split, generator_for("step-errors", seed))


def _procedure(template: str, split: Split, seed: int) -> Procedure:
    return draw_procedure(template, split, generator_for("procedures", seed))


def _label(critical: bool) -> str:
    return "met" if critical else "not_met"


def _first_error(steps: Sequence[str], turn: int | None) -> str:
    return _verdict_on_step(steps[(turn or 1) - 1], turn)


def _verdict_on_step(evidence: str, turn: int | None) -> str:
    label = "no_error" if turn is None else "error"
    return json.dumps({"evidence": evidence, "turn": turn, "label": label}, ensure_ascii=False)


def step_errors_source() -> StepErrorSource:
    """Create the source for the registry."""
    return StepErrorSource()


def procedures_source() -> ProcedureSource:
    """Create the source for the registry."""
    return ProcedureSource()
