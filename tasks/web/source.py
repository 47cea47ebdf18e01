"""The task source `web`: ids, splits, levels, twins and the scripts that validate a task.

Tasks come in pairs (indices 2k and 2k + 1) that share a template and a world; if a template has
twins, one of the two is infeasible. A coin flip per pair decides which. Splits differ in people,
names and looks.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.paired import PairedSource
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.source import Script, TaskAddress, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
)
from hexathlon.tasks.web.templates.table import TEMPLATES, templates_of
from hexathlon.tasks.web.tools import WEB_TOOLS
from hexathlon.tasks.web.trivial import trivial_policies
from hexathlon.tasks.web.world.network import WorldPlan, introduction
from hexathlon.tasks.web.world.sites.table import SITE_NAMES

__all__ = ["WebSource", "source"]

_ATTEMPTS = 400
"""Rare templates need more than 60 in one of some thousand tasks."""
_TASKS_PER_WORLD = 16


class WebSource(PairedSource):
    """Work on generated web sites."""

    name = "web"
    family = "web"
    version = "9"
    sizes: ClassVar[Mapping[Split, int | None]] = {
        "train": None,
        "dev": 12_800,
        "test": 1_600,
        "heldout": 1_600,
    }
    tolerated = {
        "alter:finish.task_type": "the kind of a task is stated for the record, not scored",
        **{
            f"repeat:{tool}": "the trace gets longer; what a second time changes is checked"
            for tool in ("click", "goto", "fill", "select_option", "press", "upload_file")
        },
        **{
            f"{change}:goto": "reading changes nothing; pages that have to be read are checked"
            for change in ("drop", "swap")
        },
        "alter:goto.url": "reading changes nothing; pages that have to be read are checked",
        **{
            f"swap:{tool}": "the fields of a form are filled in any order"
            for tool in ("fill", "select_option")
        },
        "bank_transfer/swap:click": "the fields of a form are filled in any order",
        **{
            f"forum_queue/drop:{tool}": "the form proposes this value already"
            for tool in ("click", "select_option")
        },
        **{
            f"bank_standing/{change}": "the bank refuses the attempt, which leaves nothing"
            for change in (
                "drop:fill",
                "drop:click",
                "swap:click",
                "alter:fill.bid",
                "alter:fill.text",
                "alter:click.bid",
            )
        },
        **{
            f"{template}/{change}": "mails count at the end of the day and records at each "
            "report, so that a later action can make up for it"
            for template in TEMPLATES
            if template.startswith("shift_")
            for change in (
                "drop:click",
                "drop:fill",
                "drop:select_option",
                "swap:click",
                "alter:click.bid",
                "alter:fill.bid",
                "alter:fill.text",
                "alter:select_option.bid",
                "alter:select_option.options",
            )
        },
    }
    late_modules = tuple(f"hexathlon.tasks.web.world.sites.{name}.*" for name in SITE_NAMES)

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
        return Task(
            id=task_id,
            family=self.family,
            generator=self.name,
            version=self.version,
            level=at.level,
            split=at.split,
            seed=derive_seed("web task", task_id, salt or ""),
            instruction=_instruction(draft, TEMPLATES[at.template]),
            params={
                "world": draft.plan.to_json(),
                "salt": salt or "",
                **({"view": "brief"} if draft.brief else {}),
                **({"requests": _later_requests(draft)} if draft.requests else {}),
                **({"records": [list(each) for each in draft.records]} if draft.records else {}),
            },
            tools=WEB_TOOLS,
            limits=Limits(turns=draft.turns),
            checks=(
                Check(
                    name="web_state",
                    params={
                        "changes": draft.changes,
                        "answer": _answer_params(
                            draft.requests[-1].answer if draft.requests else draft.answer
                        ),
                        "evidence": list(draft.evidence),
                        **({"requests": _request_params(draft)} if draft.requests else {}),
                        **({"parts": draft.parts} if draft.parts else {}),
                    },
                ),
            ),
            twin=str(other) if TEMPLATES[at.template].twins else None,
            canary=f"canary-{derive_seed('web canary', task_id):x}",
        )

    def oracle(self, task: Task) -> Script:
        """Solve the task with the tools."""
        draft = _draft_of(task)
        return _run(draft, draft.solve)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct solutions."""
        draft = _draft_of(task)
        return {name: _run(draft, solver) for name, solver in draft.alternatives.items()}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses."""
        draft = _draft_of(task)
        return {name: _run(draft, solver) for name, solver in draft.mutants.items()}

    def thought(self, task: Task, heard: Sequence[str], action: str) -> str:
        """Quote the element or the line of the screen that decides; empty for most templates."""
        thought = _draft_of(task).thought
        return thought(heard[-1]) if thought else ""

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return trivial policies that use a browser."""
        return trivial_policies(task)

    def public_facts(self, task: Task) -> Sequence[str]:
        """Return the sites' addresses, the user's account and the date; none in the brief view."""
        if task.params.get("view") == "brief":
            return ()
        plan = WorldPlan.from_json(task.params["world"])
        return introduction(plan), plan.start[:10]

    def data_files(self) -> Sequence[str]:
        """Return the patterns of pages, labels, schemas and names."""
        return (
            "tasks/web/world/**/*.html",
            "tasks/web/world/**/*.toml",
            "tasks/web/world/**/*.sql",
            "tasks/catalogue/goods/*.txt",
            "tasks/web/world/people.txt",
        )


def _draft(at: TaskAddress, salt: str) -> WebDraft:
    """Draw a task; a pure function of its address and the salt."""
    template = TEMPLATES[at.template]
    pair = ("web", at.template, at.level, at.split, at.index // 2, salt)
    side = (at.index + derive_seed("side", *pair)) % 2
    chinese = template.bilingual and derive_seed("language", *pair) % 4 == 0
    language: Language = "zh" if chinese else "en"
    for attempt in range(_ATTEMPTS):
        # Twins share every draw; other pairs differ from the first one onwards.
        own = () if template.twins else (side,)
        world = at.index // _TASKS_PER_WORLD + 1_000_003 * (attempt // 8)
        seed = derive_seed("web world", at.level, at.split, world, salt) % 1_000_000_000
        rng = generator_for(*pair, attempt, *own)
        feasible = side == 0 or not template.twins
        scene = WebScene(rng, at.level, at.split, language, feasible, seed)
        draft = template.draw(scene)
        if draft is not None:
            return draft
    raise GenerationExhausted(f"{at}: no instance in {_ATTEMPTS} attempts")


def _instruction(draft: WebDraft, template: WebTemplate) -> str:
    """Return the request; twins add the refusal status, shifts add their first request."""
    parts = [draft.instruction, *(each.text for each in draft.requests[:1])]
    if template.twins and template.refusal not in draft.instruction:
        parts.append(
            f"如需报告无法完成，status用{template.refusal}。"
            if draft.plan.language == "zh"
            else "If it comes to reporting that it cannot be done, the status is "
            f"{template.refusal}."
        )
    return "\n\n".join(parts)


def _answer_params(answer: ExpectedAnswer) -> dict[str, Any]:
    return {
        "status": answer.status,
        "data": None if answer.data is None else list(answer.data),
        "record": answer.record,
        "ordered": answer.ordered,
    }


def _request_params(draft: WebDraft) -> list[dict[str, Any]]:
    """Return the verifier's parameters for the requests of a shift."""
    return [
        {
            "answer": _answer_params(each.answer),
            "part": each.part,
            **({"records": list(each.records)} if each.records else {}),
        }
        for each in draft.requests
    ]


def _later_requests(draft: WebDraft) -> list[dict[str, Any]]:
    """Return what the environment shows and changes after each report but the last."""
    return [
        {
            "text": each.text,
            "edits": [[site, sql, list(values)] for site, sql, values in each.edits],
        }
        for each in draft.requests[1:]
    ]


def _draft_of(task: Task) -> WebDraft:
    return _kept_draft(task.id, str(task.params["salt"]))


@lru_cache(maxsize=4)
def _kept_draft(task_id: str, salt: str) -> WebDraft:
    return _draft(parse_address(task_id), salt)


def _run(draft: WebDraft, solver: Solver) -> Script:
    pilot = Pilot(draft.plan.language, brief=draft.brief)
    return solver(pilot)


def source() -> WebSource:
    """Create the source for the registry."""
    return WebSource()
