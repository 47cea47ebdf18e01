"""The service desk as a world: records, a written policy, and a customer to serve."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hexathlon.envs.shopping import pages
from hexathlon.envs.shopping.customer import Customer, as_question
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import open_catalogue
from hexathlon.tasks.shopping.service.casework import changed_since
from hexathlon.tasks.shopping.world.desk.desk import ServiceDesk, subject_of
from hexathlon.tasks.shopping.world.desk.desk_tools import DESK_WRITES
from hexathlon.tasks.shopping.world.desk.policy import DeskPolicy, policy_text
from hexathlon.tasks.shopping.world.desk.records import service_base
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.tables import Record, TableChanges, Tables
from hexathlon.tasks.shopping.world.wording import say
from hexathlon.tasks.task import Task

__all__ = ["ServiceWorld"]


class _State(NamedTuple):
    """The episode's changes, except records."""

    writes: tuple[str, ...] = ()
    offers: tuple[tuple[str, bool], ...] = ()
    answer: tuple[str, str, int] | None = None
    """Reason, record, paragraph."""

    finished: bool = False
    warned: bool = False
    """Whether the clerk was told once that nothing had been done."""


class ServiceWorld:
    """One case at the desk."""

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        self._task = task
        params = task.params
        self._language: Language = params["language"]
        where = params["catalogue"]
        self._catalogue = open_catalogue(where["seed"], where["size"])
        self._base = service_base(where["seed"], where["size"], self._language)
        self._policy = DeskPolicy.from_json(params["policy"])
        self._patch: dict[str, Record] = {f"{t}/{key}": r for t, key, r in params["patch"]}
        self._state = _State()
        self._desk = self._opened(tuple((t, key, r) for t, key, r in params["patch"]))
        script = params.get("user")
        self._customer = Customer(script, int(rng.integers(1 << 31))) if script else None

    @property
    def closed(self) -> bool:
        """Whether the case was finished or declined."""
        return self._state.finished or self._state.answer is not None

    def opening(self) -> str:
        """Return the instruction, and the customer's first words if there is a customer."""
        if self._customer is None:
            return self._task.instruction
        return f"{self._task.instruction}\n\n{self._customer.opening()}"

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run one tool."""
        match name:
            case "read_policy":
                return policy_text(self._policy, self._language)
            case "open_item":
                return self._item(**arguments)
            case "ask_user":
                return self.say(as_question(arguments["question"]))
            case "tell_user":
                return self.say(arguments["message"])
            case "propose":
                return self._propose(**arguments)
            case "report_impossible":
                self._state = self._state._replace(
                    answer=(
                        arguments["reason"],
                        arguments["record"].strip(),
                        int(arguments["paragraph"]),
                    )
                )
                return self._words("Declined.", "已拒绝。")
            case "finish_case":
                return self._finish()
        result = self._desk.call(name, arguments)
        if name in DESK_WRITES:
            writes = (*self._state.writes, subject_of(name, arguments))
            self._state = self._state._replace(writes=writes)
        return result

    def say(self, text: str) -> str:
        """Pass prose to the customer."""
        if self._customer is None:
            return self._words(
                "The customer only left a message: call one of the tools.",
                "顾客只是留了言，请调用工具。",
            )
        return self._customer.hear(text)

    def save(self) -> tuple[_State, TableChanges, Any]:
        """Return the state."""
        customer = self._customer.save() if self._customer else None
        return self._state, self._desk.tables.changes(), customer

    def load(self, payload: tuple[_State, TableChanges, Any]) -> None:
        """Restore a state."""
        self._state, changes, customer = payload
        self._desk = self._opened(changes)
        if self._customer is not None:
            self._customer = self._customer.resumed(customer)

    def final_state(self) -> dict[str, Any]:
        """Return the changed records, proposals and actions, and the answer."""
        state = self._state
        return {
            "orders": [],
            "changes": changed_since(self._desk.tables, self._patch),
            "answer": dict(zip(("reason", "record", "paragraph"), state.answer, strict=True))
            if state.answer
            else None,
            "writes": list(state.writes),
            "offers": [{"subject": s, "accepted": accepted} for s, accepted in state.offers],
            "asked": list(self._customer.revealed) if self._customer else [],
            "outcome": "ended" if self.closed else "open",
        }

    def _item(self, item: str) -> str:
        try:
            return pages.item_text(self._catalogue.product(item.strip().upper()), self._language)
        except KeyError:
            raise DeskProblem(
                self._words(f"there is no item {item[:60]!r}", f"没有商品 {item[:60]!r}")
            ) from None

    def _finish(self) -> str:
        """Close the case; a clerk who has changed nothing is warned once."""
        if not self._state.writes and not self._state.warned:
            self._state = self._state._replace(warned=True)
            return self._words(
                "Nothing has been done yet. Do what was asked, or decline it with "
                "report_impossible; call finish_case again to close the case as it is.",
                "还没有做任何改动。请按要求办理，或用 report_impossible 拒绝；"
                "再次调用 finish_case 则就此结案。",
            )
        self._state = self._state._replace(finished=True)
        return self._words("The case is closed.", "已结案。")

    def _propose(self, action: str, arguments: Mapping[str, Any]) -> str:
        if self._customer is None:
            raise DeskProblem(self._words("there is nobody to ask", "没有可以询问的顾客"))
        subject = subject_of(action, arguments)
        heard = self._customer.agree(subject)
        if heard.judged:
            offers = (*self._state.offers, (subject, heard.accepted))
            self._state = self._state._replace(offers=offers)
        return heard.text

    def _opened(self, changes: TableChanges) -> ServiceDesk:
        return ServiceDesk(Tables(self._base, changes), self._catalogue, self._language)

    def _words(self, en: str, zh: str) -> str:
        return say(self._language, en, zh)
