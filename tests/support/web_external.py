"""A stand-in for a browser of external sites: the twin on the tracker, with a stored trace."""

import re
from collections.abc import Mapping
from typing import Any

from hexathlon.envs.web.browser import View
from hexathlon.envs.web.external import ExternalSites
from hexathlon.envs.web.page.node import PageNode, iterate, text_of
from hexathlon.envs.web.twin.twin import TwinBrowser
from hexathlon.evaluators.web.events import har_entry
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan

PLAN = WorldPlan(("tracker",), 5, "train", "en", 1, "2026-03-02T09:00:00")
SITES = {"gitlab": "http://tracker.hexathlon.test"}


class TrackerBrowser:
    """Opens the tracker where a task asks for GitLab; reads texts by tag name or whole pages."""

    blocked: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.inner = Network(PLAN, LOOKS["harbour"])
        self.twin = TwinBrowser()
        self.reads: list[str] = []

    def open(self, network: ExternalSites) -> None:
        self.network, self.seen = network, 0
        self.twin.open(self.inner)
        self.act("goto", {"url": network.start_url})

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        remark = self.twin.act(name, arguments)
        events = self.inner.final_state()["trace"]
        for method, url, form, status in events[self.seen :]:
            self.network.record(har_entry(method, url, form, status))
        self.seen = len(events)
        return remark

    def view(self) -> View:
        return self.twin.view()

    def current_url(self) -> str:
        view = self.twin.view()
        return view.tabs[view.current][1]

    def read(self, url: str, expression: str, prepare: tuple[str, ...]) -> str:
        self.reads.append(url)
        if url:
            self.act("goto", {"url": url})
        body: PageNode = self.twin.save().tabs[0].page.body
        if not expression:
            return text_of(body)
        tag = re.fullmatch(r"document\.querySelector\('(\w+)'\)\.outerText", expression)
        assert tag, expression
        return next((text_of(node) for _, node in iterate(body) if node.tag == tag[1]), "")

    def save(self) -> Any:
        return self.twin.save()

    def load(self, state: Any, network: Network) -> None:
        self.twin.load(state, network)

    def close(self) -> None:
        self.inner.close()


def raw_task(number: int, eval_types: list[str], **rules: Any) -> dict[str, Any]:
    """A task in WebArena's form, on the tracker."""
    return {
        "sites": ["gitlab"], "task_id": number, "require_login": True, "storage_state": "",
        "start_url": "__GITLAB__/issues", "geolocation": None, "intent_template": "",
        "instantiation_dict": {}, "intent": rules.pop("intent", "Do it."), "require_reset": False,
        "intent_template_id": number,
        "eval": {"eval_types": eval_types, "reference_answers": None, "reference_url": "",
                 "program_html": [], "string_note": "", **rules},
    }  # fmt: skip
