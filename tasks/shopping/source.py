"""The task source `shopping`: ids, splits, levels, twins and the scripts that validate a task.

Tasks come in pairs (indices 2k and 2k + 1) that share a template and a scene; where a template has
twins, the two differ only in the deciding fact. A coin drawn for the pair decides which index gets
which side. Splits use different catalogues, so knowledge of one split's products, customers and
orders does not transfer to another.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import open_catalogue
from hexathlon.tasks.catalogue.ranking import ranking_digest
from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.paired import PairedSource
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.shopping.giveaway import given_away
from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.scripts import (
    store_alternatives,
    store_mutants,
    store_oracle,
    store_policies,
)
from hexathlon.tasks.shopping.service.casework import (
    case_params,
    case_truth,
    instruction_of,
    service_tools,
)
from hexathlon.tasks.shopping.service.household_scripts import (
    household_alternatives,
    household_calls,
    household_mutants,
    household_oracle,
    household_policies,
)
from hexathlon.tasks.shopping.service.scripts import (
    service_alternatives,
    service_mutants,
    service_one_sided,
    service_oracle,
    service_policies,
    service_thought,
)
from hexathlon.tasks.shopping.service.shift_scripts import (
    rehearsed,
    shift_alternatives,
    shift_mutants,
    shift_oracle,
    shift_policies,
)
from hexathlon.tasks.shopping.service.talk_scripts import (
    talk_alternatives,
    talk_calls,
    talk_mutants,
    talk_oracle,
    talk_policies,
)
from hexathlon.tasks.shopping.templates.case import ServiceCase
from hexathlon.tasks.shopping.templates.draft import ShoppingDraft, order_of
from hexathlon.tasks.shopping.templates.household.compose import HouseDraft
from hexathlon.tasks.shopping.templates.shifts.compose import ShiftDraft
from hexathlon.tasks.shopping.templates.table import TEMPLATES, groups_of, templates_of
from hexathlon.tasks.shopping.templates.talks.compose import TalkDraft
from hexathlon.tasks.shopping.templates.words import sentences
from hexathlon.tasks.shopping.world.household.house_tools import HOUSE_TOOLS
from hexathlon.tasks.shopping.world.settings import open_settings
from hexathlon.tasks.shopping.world.shift.tools import SHIFT_TOOLS
from hexathlon.tasks.shopping.world.talk.talk_tools import TALK_TOOLS
from hexathlon.tasks.shopping.world.tools import store_tools
from hexathlon.tasks.source import Script, TaskAddress
from hexathlon.tasks.task import LEVELS, Check, Level, Limits, Split, Task, ToolSchema

__all__ = ["CATALOGUE_SIZES", "ShoppingSource", "source"]

CATALOGUE_SIZES: dict[Level, int] = {
    "tiny": 4_000,
    "easy": 4_000,
    "medium": 10_000,
    "hard": 30_000,
}
_DRAWN_AS = "1"
"""Seed component independent of `version`, which can change without redrawing all tasks."""
_CATALOGUES: dict[Split, int] = {"train": 8, "dev": 1, "test": 1, "heldout": 1}
"""Number of catalogues per split."""
_STRICT = 8
"""Attempts in which rankings that leave out a request's unwanted values must fail, too."""
_SLACK = 1.15
"""Budget of turns of a day, as a multiple of the oracle's."""
_CASE_TURNS = 50
_BUDGET = 1.4
"""Budget of turns of a household or a conversation, as a multiple of the oracle's."""
_ATTEMPTS, _MOVE_AFTER = 600, 50
"""Maximum attempts per instance, and the number of attempts after which the next catalogue is
tried: a small catalogue may contain no target that suits a template."""
_KEPT_TWINS = 8


class ShoppingSource(PairedSource):
    """Purchases and customer service in generated shops."""

    name = "shopping"
    family = "shopping"
    version = "9"
    sizes: ClassVar[Mapping[Split, int | None]] = {
        "train": None, "dev": 25_800, "test": 1_200, "heldout": 1_200,
    }  # fmt: skip
    tolerated = {
        f"alter:{tool}.item": "any product may be looked at; the pages seen are part of the state"
        for tool in ("open_item", "read_reviews", "read_specification")
    }

    def __init__(self) -> None:
        self._beside: OrderedDict[tuple[str, str | None], Task] = OrderedDict()
        """Twins drawn beside the latest tasks, which are usually wanted next, by id and salt."""

    def templates_of(self, level: Level) -> Sequence[str]:
        """Return the names of the templates with tasks of a level."""
        return templates_of(level)

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`; a long prefix covers all levels and templates.

        At `hard`, the groups of templates take turns; at `medium`, every other pair has a template
        of a group and the remaining pairs have one of the others.
        """
        chosen = level or LEVELS[index % len(LEVELS)]
        number = index if level else index // len(LEVELS)
        names = [name for name in templates_of(chosen) if not TEMPLATES[name].group]
        groups = groups_of(chosen)
        pair = number // 2
        # Over two rounds, every template has its turn, whether their number is even or odd.
        turn = pair + (pair // len(names) if names and len(names) % 2 == 0 else 0)
        if not names:
            name = _taking_turns(groups, pair)
        elif groups and turn % 2:
            name = _taking_turns(groups, pair // 2)
        else:
            name = names[pair % len(names)]
        return str(TaskAddress(self.name, name, chosen, split, number))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id gives the same task in every process.

        Raises:
            UnknownTask: If the address does not exist, or the salt is missing.
        """
        address = self.checked(task_id, salt)
        known = self._beside.get((task_id, salt))
        if known is not None:
            return known
        pair = ("shopping", _DRAWN_AS, address.template, address.level, address.split,
                address.index // 2, salt or "")  # fmt: skip
        template = TEMPLATES[address.template]
        side = _side(address, pair)
        for attempt in range(_ATTEMPTS):
            task = self._attempt(task_id, address, pair, side, salt, attempt)
            if task is None:
                continue
            # An attempt counts for both twins or for neither, so that they share their scene.
            if template.twins:
                other = replace(address, index=address.index ^ 1)
                beside = self._attempt(str(other), other, pair, 1 - side, salt, attempt)
                if beside is None:
                    continue
                self._beside[beside.id, salt] = beside
                while len(self._beside) > _KEPT_TWINS:
                    self._beside.popitem(last=False)
            return task
        raise GenerationExhausted(f"{task_id}: no instance in {_ATTEMPTS} attempts")

    def _attempt(
        self,
        task_id: str,
        address: TaskAddress,
        pair: tuple[str | int, ...],
        side: int,
        salt: str | None,
        attempt: int,
    ) -> Task | None:
        """Return the task that an attempt yields, or None."""
        template = TEMPLATES[address.template]
        # Twins share the scene; other pairs differ from the first draw onwards.
        own = () if template.twins else (side,)
        rng = generator_for(*pair, attempt, *own)
        scene = _scene(address, side, rng, pair, salt, attempt // _MOVE_AFTER)
        made = template.make(scene)
        if isinstance(made, ShoppingDraft):
            if given_away(scene, made, strictly=attempt < _STRICT):
                return None
            return self._purchase(task_id, address, scene, made)
        if isinstance(made, ShiftDraft):
            return self._shift(task_id, address, made)
        if isinstance(made, HouseDraft):
            return self._household(task_id, address, made)
        if isinstance(made, TalkDraft):
            return self._talk(task_id, address, made)
        if made is None:
            return None
        return self._case(task_id, address, scene, made, dialogue=template.dialogue)

    def oracle(self, task: Task) -> Script:
        """Solve the task with the tools."""
        return {
            "store": store_oracle,
            "service": service_oracle,
            "shift": shift_oracle,
            "household": household_oracle,
            "talk": talk_oracle,
        }[task.params["world"]](task)

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        """Return alternative correct solutions."""
        return {
            "store": store_alternatives,
            "service": service_alternatives,
            "shift": shift_alternatives,
            "household": household_alternatives,
            "talk": talk_alternatives,
        }[task.params["world"]](task)

    def mutants(self, task: Task) -> Mapping[str, Script]:
        """Return near misses."""
        return {
            "store": store_mutants,
            "service": service_mutants,
            "shift": shift_mutants,
            "household": household_mutants,
            "talk": talk_mutants,
        }[task.params["world"]](task)

    def policies(self, task: Task) -> Mapping[str, Script]:
        """Return trivial shoppers."""
        return {
            "store": store_policies,
            "service": service_policies,
            "shift": shift_policies,
            "household": household_policies,
            "talk": talk_policies,
        }[task.params["world"]](task)

    def one_sided(self, task: Task) -> Mapping[str, Script]:
        """Return the clerks that ignore the policy, `always_does` and `always_declines`.

        They read the expected answer to find the order, so their rates are upper bounds. Purchases
        have none.
        """
        return service_one_sided(task) if task.params["world"] == "service" else {}

    def thought(self, task: Task, heard: Sequence[str], action: str) -> str:
        """Explain what a service clerk looks for and finds; empty for shoppers."""
        return service_thought(task, heard, action) if task.params["world"] == "service" else ""

    def data_files(self) -> Sequence[str]:
        """The categories of goods, and what customers say about them."""
        return (
            "tasks/catalogue/goods/*.txt",
            "tasks/shopping/phrases.txt",
            "tasks/shopping/plain_phrases.txt",
        )

    def dependencies(self) -> Mapping[str, str]:
        """Return digests of numpy's draws and of the search ranking; see `given_away`."""
        return {**super().dependencies(), "tantivy": ranking_digest()}

    def _purchase(
        self, task_id: str, address: TaskAddress, scene: ShoppingScene, draft: ShoppingDraft
    ) -> Task:
        params = {
            "world": "store",
            "catalogue": {"seed": scene.catalogue.seed, "size": scene.catalogue.size},
            "language": scene.language,
            **draft.params,
        }
        settings = open_settings(params)
        truth = {
            "orders": [order_of(settings, draft)] if draft.answer is None else [],
            "changes": {},
            "answer": draft.answer,
            "wanted": [list(wish) for wish in draft.wanted],
            "lures": [lure.as_json() for lure in draft.lures],
            "confirm": draft.dialogue,
            "plan": _plan_of(draft),
        }
        beside = {"wanted": truth["wanted"]}
        turns = 60 if draft.dialogue else 50
        return self._task(
            task_id,
            address,
            instruction=sentences(scene, draft.instruction) + _limit(scene, turns),
            params=params,
            tools=store_tools(dialogue=draft.dialogue, personal=draft.personal),
            limits=Limits(turns=turns),
            checks=(
                Check(name="shopping_order", params=truth),
                Check(name="shopping_loose", params=beside, headline=False),
                Check(name="shopping_strict", params=beside, headline=False),
            ),
            twin=draft.twin,
        )

    def _case(
        self,
        task_id: str,
        address: TaskAddress,
        scene: ShoppingScene,
        case: ServiceCase,
        *,
        dialogue: bool,
    ) -> Task | None:
        params = case_params(scene, case, dialogue=dialogue)
        truth = case_truth(scene, case, params, dialogue=dialogue)
        if truth is None:
            return None
        return self._task(
            task_id,
            address,
            instruction=sentences(scene, instruction_of(scene, case, dialogue=dialogue))
            + _limit(scene, _CASE_TURNS),
            params=params,
            tools=service_tools(dialogue=dialogue),
            limits=Limits(turns=_CASE_TURNS),
            checks=(Check(name="shopping_order", params=truth),),
            twin=case.twin,
        )

    def _shift(self, task_id: str, address: TaskAddress, draft: ShiftDraft) -> Task | None:
        """Return a day; None if a defect does not show in the reference."""
        truth = {"closes": draft.closes, "plans": draft.plans, "traps": draft.traps}
        calls, affected = rehearsed(draft.params, truth)
        if not all(affected.issuperset(defect["affects"]) for defect in draft.params["defects"]):
            return None
        turns = math.ceil(_SLACK * calls)
        return self._task(
            task_id,
            address,
            instruction=draft.instruction + _stated(draft.params["language"], turns),
            params=draft.params,
            tools=SHIFT_TOOLS,
            limits=Limits(turns=turns),
            checks=(Check(name="shopping_shift", params=truth),),
            twin=False,
        )

    def _household(self, task_id: str, address: TaskAddress, draft: HouseDraft) -> Task:
        return self._budgeted(
            task_id, address, draft.instruction, draft.params, HOUSE_TOOLS,
            household_calls(draft.plans),
            {"closes": draft.closes, "plans": draft.plans, "traps": draft.twists},
        )  # fmt: skip

    def _talk(self, task_id: str, address: TaskAddress, draft: TalkDraft) -> Task:
        return self._budgeted(
            task_id, address, draft.instruction, draft.params, TALK_TOOLS, talk_calls(draft.plan),
            {"closes": [draft.close], "plans": [draft.plan], "traps": draft.twists},
        )  # fmt: skip

    def _budgeted(
        self,
        task_id: str,
        address: TaskAddress,
        instruction: str,
        params: Mapping[str, Any],
        tools: Sequence[ToolSchema],
        calls: int,
        truth: Mapping[str, Any],
    ) -> Task:
        """Return a task whose instruction states a budget of actions."""
        turns = math.ceil(_BUDGET * calls)
        return self._task(
            task_id,
            address,
            instruction=instruction + _stated(params["language"], turns),
            params=params,
            tools=tuple(tools),
            limits=Limits(turns=turns),
            checks=(Check(name="shopping_shift", params=dict(truth)),),
            twin=False,
        )

    def _task(self, task_id: str, address: TaskAddress, *, twin: bool, **fields: Any) -> Task:
        other = TaskAddress(
            self.name, address.template, address.level, address.split, address.index ^ 1
        )
        return Task(
            id=task_id,
            family=self.family,
            generator=self.name,
            version=self.version,
            level=address.level,
            split=address.split,
            seed=derive_seed("shopping task", task_id),
            twin=str(other) if twin else None,
            canary=f"canary-{derive_seed('shopping canary', task_id):x}",
            **fields,
        )


def _taking_turns(groups: Sequence[Sequence[str]], number: int) -> str:
    """Return a template: the groups take turns, and within each its templates."""
    group = groups[number % len(groups)]
    return group[number // len(groups) % len(group)]


def _side(address: TaskAddress, pair: tuple[str | int, ...]) -> int:
    return (address.index + derive_seed("side", *pair)) % 2


def _scene(
    address: TaskAddress,
    side: int,
    rng: Any,
    pair: tuple[str | int, ...],
    salt: str | None,
    moves: int,
) -> ShoppingScene:
    number = address.index // 400 % _CATALOGUES[address.split] + 1_000 * moves
    seed = derive_seed("shopping catalogue", address.split, number, salt or "") % 1_000_000_000
    language: Language = "zh" if derive_seed("language", *pair) % 2 else "en"
    catalogue = open_catalogue(seed, CATALOGUE_SIZES[address.level])
    return ShoppingScene(catalogue, rng, language, address.level, address.split, side)


def _plan_of(draft: ShoppingDraft) -> dict[str, Any]:
    return {
        "lines": [[line.product.id, line.variant.id, line.quantity] for line in draft.lines],
        "coupons": list(draft.coupons),
        "wrong_coupons": {name: list(codes) for name, codes in draft.wrong_coupons.items()},
        "address": draft.address,
        "speed": draft.speed,
        "answer": draft.answer,
        "asks": list(draft.asks),
        "changes": draft.changes,
        "near": [[near.label, near.line, near.product.id, near.variant.id] for near in draft.near],
    }


def _limit(scene: ShoppingScene, turns: int) -> str:
    """Return the sentence that states a budget at `medium`, where it can run out."""
    return _stated(scene.language, turns) if scene.level == "medium" else ""


def _stated(language: str, turns: int) -> str:
    """Return the sentence that states a budget of actions."""
    return f" You have {turns} actions." if language == "en" else f"共可操作{turns}次。"


def source() -> ShoppingSource:
    """Create the source for the registry; catalogues are opened when a task is built."""
    return ShoppingSource()
