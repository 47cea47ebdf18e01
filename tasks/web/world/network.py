"""The network of an episode: sites behind hosts, their stores, the clock and the trace.

It answers requests, keeps what the verifier needs, and is saved and restored as one small value.
"""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.task import Split
from hexathlon.tasks.web.world.clock import Clock
from hexathlon.tasks.web.world.exchange import Download, TraceEvent, WebRequest, WebResponse
from hexathlon.tasks.web.world.looks import Look
from hexathlon.tasks.web.world.people import Person, draw_people
from hexathlon.tasks.web.world.site import SESSION_COOKIE, Call, SiteBrief, password_of
from hexathlon.tasks.web.world.sites.table import site_at, site_named
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = [
    "NOW",
    "Edit",
    "Network",
    "NetworkState",
    "WorldPlan",
    "introduction",
    "people_of",
    "state_diff",
]

_UNUSABLE = (
    ArithmeticError,
    ValueError,
    RecursionError,
    sqlite3.DataError,
    sqlite3.OperationalError,
)
"""Errors of handlers that come from input: dates out of range, numbers and queries too large."""

MAX_TRACE = 600
"""Maximum number of requests in the trace, far above an episode's budget of actions."""

NOW = "{now}"
"""Value that an edit during an episode replaces with the time at which it is made."""

Edit = tuple[str, str, Sequence[Any]]
"""A change that a task makes to a site's initial content: site, SQL, values."""


@dataclass(frozen=True)
class WorldPlan:
    """Specification of a task's sites; JSON in the task's parameters."""

    sites: tuple[str, ...]
    """Names of the sites, starting with that of the first tab."""

    seed: int
    split: Split
    language: Language
    scale: int
    """Size of the content: 1 for tiny, 2 easy, 3 medium, 4 hard."""

    start: str
    """Time at the start, an ISO timestamp."""

    people: int = 24
    session_actions: int = 10_000
    """Actions without a request after which a session expires; never from 10,000 on."""

    signed_in: bool = True
    """Whether the user has a session on every site at the start."""

    edits: tuple[Edit, ...] = ()
    files: Mapping[str, str] | None = None
    """Text files on the user's computer, for uploads."""

    path: str = "/"
    """Path of the page that the first tab opens."""

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return {
            "sites": list(self.sites), "seed": self.seed, "split": self.split,
            "language": self.language, "scale": self.scale, "start": self.start,
            "people": self.people, "session_actions": self.session_actions,
            "signed_in": self.signed_in,
            "edits": [[site, sql, list(values)] for site, sql, values in self.edits],
            "files": dict(self.files or {}), "path": self.path,
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "WorldPlan":
        """Read a plan from its JSON form."""
        edits = tuple((site, sql, tuple(values)) for site, sql, values in data["edits"])
        return cls(**{**data, "sites": tuple(data["sites"]), "edits": edits})

    def with_edits(self, edits: Sequence[Edit]) -> "WorldPlan":
        """Return the plan with further edits."""
        return replace(self, edits=(*self.edits, *edits))


class NetworkState(NamedTuple):
    """Everything that changes in an episode; immutable."""

    clock: Clock
    blobs: tuple[tuple[str, bytes], ...]
    trace: tuple[TraceEvent, ...]
    requests: int
    files: tuple[tuple[str, bytes], ...]
    events: tuple[Edit, ...] = ()


def people_of(plan: WorldPlan) -> tuple[Person, ...]:
    """Return the people of a plan; the first is the user."""
    return _people(plan.seed, plan.split, plan.language, plan.people)


def introduction(plan: WorldPlan) -> str:
    """Return the text that gives the agent the sites' addresses and the user's account."""
    login = people_of(plan)[0].login
    urls = " ".join(f"http://{site_named(name).host}/" for name in plan.sites)
    password = password_of(login)
    if plan.language == "zh":
        return f"网站：{urls}\n用户在各网站的账号：{login}，密码：{password}"
    return f"Sites: {urls}\nThe user's account on each: {login}, password {password}"


class Network:
    """The sites of one episode.

    Args:
        plan: Specification of the sites.
        look: The look of every site.
    """

    def __init__(self, plan: WorldPlan, look: Look) -> None:
        self.plan = plan
        self.look = look
        self.clock = Clock.parse(plan.start)
        self._stores = {name: SiteStore(blob) for name, blob in initial_blobs(plan)}
        self._trace: tuple[TraceEvent, ...] = ()
        self._requests = 0
        self._interventions: tuple[Edit, ...] = ()
        self.files: dict[str, bytes] = {
            name: text.encode() for name, text in (plan.files or {}).items()
        }

    @property
    def start_url(self) -> str:
        """The URL of the first tab."""
        return f"http://{site_named(self.plan.sites[0]).host}{self.plan.path}"

    @property
    def hosts(self) -> dict[str, str]:
        """Host of every site, by name."""
        return {name: site_named(name).host for name in self.plan.sites}

    def store(self, site: str) -> SiteStore:
        """Return the store of a site."""
        return self._stores[site]

    def start_cookies(self) -> dict[str, dict[str, str]]:
        """Sign the user in if the plan requires it; return the cookies to set, by host."""
        if not self.plan.signed_in:
            return {}
        login = people_of(self.plan)[0].login
        return {
            site.host: {SESSION_COOKIE: site.sign_in(self._stores[site.name], login, self.clock)}
            for site in map(site_named, self.plan.sites)
        }

    def knows(self, host: str) -> bool:
        """Return whether a host belongs to the episode."""
        site = site_at(host)
        return site is not None and site.name in self._stores

    def handle(self, request: WebRequest) -> WebResponse:
        """Answer a request and add it to the trace."""
        site = site_at(request.host)
        if site is None or site.name not in self._stores:
            return WebResponse(
                421, "This host is not part of the episode.", media_type="text/plain"
            )
        call = Call(
            site,
            request,
            self._stores[site.name],
            self.look,
            self.plan.language,
            self.clock,
            self.plan.session_actions,
        )
        try:
            response = site.handle(call)
        except _UNUSABLE:
            # No input may end an episode; the trace shows the status.
            response = call.page("kit/problem.html", 500, problem=call.words("broken"))
        self._requests += 1
        if len(self._trace) < MAX_TRACE:
            event = TraceEvent(request.method, request.host, request.path, request.query,
                               request.form, response.status)  # fmt: skip
            self._trace = (*self._trace, event)
        return response

    def receive(self, download: Download) -> None:
        """Save a downloaded file."""
        self.files[download.filename] = download.content

    def intervene(self, edits: Sequence[Edit]) -> None:
        """Apply changes that other people make during the episode, not the agent."""
        for site, sql, values in edits:
            told = tuple(self.clock.stamp if value == NOW else value for value in values)
            self._stores[site].execute(sql, told)
            self._interventions = (*self._interventions, (site, sql, told))

    def record_values(self, records: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the present values of records; None for those that do not exist.

        Args:
            records: Site, table, key column, key and column of each.
        """
        return [
            self._stores[site].value(f"SELECT {column} FROM {table} WHERE {name} = ?", (key,))
            for site, table, name, key, column in records
        ]

    def after_action(self) -> None:
        """Advance the clock by one action of the agent."""
        self.clock = self.clock.after_action()

    def save(self) -> NetworkState:
        """Return the state; unchanged sites share their blobs."""
        blobs = tuple((name, store.save()) for name, store in self._stores.items())
        return NetworkState(self.clock, blobs, self._trace, self._requests,
                            tuple(self.files.items()), self._interventions)  # fmt: skip

    def load(self, state: NetworkState) -> None:
        """Restore a state; the stores are opened when they are first used."""
        self.close()
        self.clock, self._trace, self._requests = state.clock, state.trace, state.requests
        self._interventions = state.events
        self._stores = {name: SiteStore(blob) for name, blob in state.blobs}
        self.files = dict(state.files)

    def close(self) -> None:
        """Release the stores."""
        for store in self._stores.values():
            store.close()

    def final_state(self) -> dict[str, Any]:
        """Return changes of business state, by site and table, and the trace, as JSON."""
        before = dict(initial_blobs(self.plan.with_edits(self._interventions)))
        changes = {}
        for name, store in self._stores.items():
            difference = state_diff(before[name], store)
            if difference:
                changes[name] = difference
        return {
            "changes": changes,
            "trace": [event.to_json() for event in self._trace],
            "requests": self._requests,
            "look": self.look.name,
        }


def state_diff(before: bytes, after: SiteStore) -> dict[str, Any]:
    """Return what changed in a site since a saved state.

    Returns:
        By table: `added` rows, `removed` rows, and `changed` rows as [before, after]; tables whose
        names start with an underscore are left out. Rows are paired by their first column.
    """
    changes: dict[str, Any] = {}
    for table, (older, newer) in after.touched(before).items():
        old, new = _by_key(older), _by_key(newer)
        if old == new:
            continue
        changes[table] = {
            "added": [row for key, row in new.items() if key not in old],
            "removed": [row for key, row in old.items() if key not in new],
            "changed": [
                [old[key], row] for key, row in new.items() if key in old and old[key] != row
            ],
        }
    return changes


def _by_key(rows: Sequence[StoreRow]) -> dict[Any, StoreRow]:
    return {next(iter(row.values())): row for row in rows}


@lru_cache(maxsize=512)
def _people(seed: int, split: Split, language: Language, count: int) -> tuple[Person, ...]:
    rng = generator_for("web people", seed)
    return tuple(draw_people(count, split, language, rng))


def initial_blobs(plan: WorldPlan) -> tuple[tuple[str, bytes], ...]:
    """Return the initial state of every site of a plan, by name; cached while in use."""
    return _edited(json.dumps(plan.to_json(), sort_keys=True))


@lru_cache(maxsize=128)
def _edited(text: str) -> tuple[tuple[str, bytes], ...]:
    plan = WorldPlan.from_json(json.loads(text))
    blobs = []
    for name in plan.sites:
        blob = _base_blob(
            name, plan.seed, plan.split, plan.language, plan.scale, plan.people, plan.start
        )
        edits = [edit for edit in plan.edits if edit[0] == name]
        if edits:
            store = SiteStore(blob)
            for _, sql, values in edits:
                store.execute(sql, values)
            blob = store.save()
            store.close()
        blobs.append((name, blob))
    return tuple(blobs)


@lru_cache(maxsize=128)
def _base_blob(
    name: str, seed: int, split: Split, language: Language, scale: int, count: int, start: str
) -> bytes:
    people = _people(seed, split, language, count)
    site_seed = int(hashlib.sha256(f"{name} {seed}".encode()).hexdigest()[:15], 16)
    brief = SiteBrief(site_seed, split, language, scale, people, Clock.parse(start))
    store = site_named(name).new_store(brief)
    blob = store.save()
    store.close()
    return blob
