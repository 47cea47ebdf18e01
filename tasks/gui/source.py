"""The task source `gui`: ids, splits, levels, twins and the scripts that validate a task.

Tasks come in pairs (indices 2k and 2k + 1) that share a template and a phone; where a template has
twins, one of them is infeasible. A coin drawn for the pair decides which. Splits differ in people,
texts and looks.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    PhoneScript,
    UserFact,
)
from hexathlon.tasks.gui.templates.table import TEMPLATES, templates_of
from hexathlon.tasks.gui.tools import PHONE_TOOLS
from hexathlon.tasks.gui.trivial import phone_policies
from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.paired import PairedSource
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.source import Script, TaskAddress, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task

__all__ = ["GuiSource", "source"]

_ATTEMPTS = 120
_TASKS_PER_PHONE = 16


class GuiSource(PairedSource):
    """Work on a simulated phone."""

    name = "gui"
    family = "gui"
    version = "11"
    sizes: ClassVar[Mapping[Split, int | None]] = {
        "train": None, "dev": 12_800, "test": 1_600, "heldout": 1_600,
    }  # fmt: skip
    tolerated = {
        "alter:status.reason": "the kind of obstacle is stated for the record, not scored",
        "drop:navigate_home": "any app can be opened from any other",
        "drop:ask_user": "the fact can be guessed, and a right guess is right",
        "alter:ask_user.question": "any wording that names the fact, or a right guess",
        **{
            f"repeat:{tool}": "what a second time changes is checked"
            for tool in ("click", "open_app", "scroll", "navigate_home", "answer", "ask_user",
                         "input_text", "wait", "navigate_back", "swipe", "long_press")
        },
    }  # fmt: skip
    late_modules = tuple(f"hexathlon.tasks.gui.world.apps.{name}.*" for name in APP_NAMES)

    def templates_of(self, level: Level) -> Sequence[str]:
        """Return the names of the templates with tasks of a level."""
        return templates_of(level)

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id gives the same task in every process.

        Raises:
            UnknownTask: If the address does not exist, or the salt is missing.
        """
        at = self.checked(task_id, salt)
        draft = _kept_draft(task_id, salt or "")
        other = TaskAddress(self.name, at.template, at.level, at.split, at.index ^ 1)
        last = draft.requests[-1].answer if draft.requests else draft.answer
        return Task(
            id=task_id,
            family=self.family,
            generator=self.name,
            version=self.version,
            level=at.level,
            split=at.split,
            seed=derive_seed("gui task", task_id, salt or ""),
            instruction=_instruction(draft, twins=TEMPLATES[at.template].twins),
            params={
                "world": draft.plan.to_json(),
                "salt": salt or "",
                **({"view": "brief"} if draft.brief else {}),
                **({"facts": [_fact_json(fact) for fact in draft.facts]} if draft.facts else {}),
                **({"requests": _later_requests(draft)} if draft.requests else {}),
            },
            tools=PHONE_TOOLS,
            limits=Limits(turns=draft.turns),
            checks=(
                Check(
                    name="gui_state",
                    params={
                        "changes": draft.changes,
                        "answer": _answer_json(last),
                        **({"requests": _request_params(draft)} if draft.requests else {}),
                        **({"parts": draft.parts} if draft.parts else {}),
                    },
                ),
            ),
            twin=str(other) if TEMPLATES[at.template].twins else None,
            canary=f"canary-{derive_seed('gui canary', task_id):x}",
        )

    def oracle(self, task: Task) -> Script:
        """Solve the task with the tools."""
        draft = _draft_of(task)
        return _run(draft, draft.solve)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct solutions."""
        draft = _draft_of(task)
        return {name: _run(draft, script) for name, script in draft.alternatives.items()}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses."""
        draft = _draft_of(task)
        return {name: _run(draft, script) for name, script in draft.mutants.items()}

    def thought(self, task: Task, heard: Sequence[str], action: str) -> str:
        """Quote the element or the line of the screen that decides; empty for most templates."""
        thought = _draft_of(task).thought
        return thought(heard[-1]) if thought else ""

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return trivial phone users."""
        return phone_policies(task)

    def data_files(self) -> Sequence[str]:
        """Return the pattern of the label files."""
        return ("tasks/gui/world/**/*.toml",)


def _draft(at: TaskAddress, salt: str) -> GuiDraft:
    """Draw a task; a pure function of its address and the salt."""
    template = TEMPLATES[at.template]
    pair = ("gui", at.template, at.level, at.split, at.index // 2, salt)
    side = (at.index + derive_seed("side", *pair)) % 2
    chinese = template.bilingual and derive_seed("language", *pair) % 4 == 0
    language: Language = "zh" if chinese else "en"
    for attempt in range(_ATTEMPTS):
        # Twins share every draw; other pairs differ from the first one onwards.
        own = () if template.twins else (side,)
        world = at.index // _TASKS_PER_PHONE + 1_000_003 * (attempt // 8)
        seed = derive_seed("gui world", at.level, at.split, world, salt) % 1_000_000_000
        rng = generator_for(*pair, attempt, *own)
        feasible = side == 0 or not template.twins
        draft = template.draw(GuiScene(rng, at.level, at.split, language, feasible, seed))
        if draft is not None:
            return draft
    raise GenerationExhausted(f"{at}: no instance in {_ATTEMPTS} attempts")


def _instruction(draft: GuiDraft, *, twins: bool) -> str:
    """Return the request; twins add how to report a refusal, shifts add their first request."""
    parts = [draft.instruction, *(each.text for each in draft.requests[:1])]
    if twins:
        parts.append(
            "如果无法按要求完成，请报告infeasible，并在record中写明造成阻碍的条目。"
            if draft.plan.language == "zh"
            else "If it cannot be done as asked, report infeasible, with the entry that stands in "
            "the way as the record."
        )
    return "\n\n".join(parts)


def _answer_json(answer: GuiAnswer) -> dict[str, Any]:
    return {
        "status": answer.status,
        "data": None if answer.data is None else list(answer.data),
        "record": answer.record,
        "ordered": answer.ordered,
    }


def _fact_json(fact: UserFact) -> dict[str, Any]:
    return {"words": list(fact.words), "text": fact.text}


def _request_params(draft: GuiDraft) -> list[dict[str, Any]]:
    """Return what the verifier needs to know about the requests of a shift."""
    return [
        {"answer": _answer_json(each.answer), "part": each.part,
         "then": each.part if each.then is None else each.then,
         **({"whole": True} if each.whole else {})}
        for each in draft.requests
    ]  # fmt: skip


def _later_requests(draft: GuiDraft) -> list[dict[str, Any]]:
    """Return what the environment shows and changes after each report but the last."""
    return [
        {"text": each.text, "edits": [list(edit) for edit in each.edits],
         "notices": list(each.notices)}
        for each in draft.requests[1:]
    ]  # fmt: skip


def _draft_of(task: Task) -> GuiDraft:
    return _kept_draft(task.id, str(task.params["salt"]))


@lru_cache(maxsize=4)
def _kept_draft(task_id: str, salt: str) -> GuiDraft:
    return _draft(parse_address(task_id), salt)


def _run(draft: GuiDraft, script: PhoneScript) -> Script:
    return script(PhonePilot(draft.plan.language))


def source() -> GuiSource:
    """Create the source for the registry."""
    return GuiSource()
