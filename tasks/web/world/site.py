"""Base of every site: routes, sessions, notices, late jobs and rendering.

A site is stateless: each request gets the episode's store, look and clock in a `Call`. An author
writes a subclass with a schema, `populate`, and handlers marked `get` and `post`.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib import resources
from typing import Any, ClassVar, NamedTuple, TypeVar
from urllib.parse import quote

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.task import Split
from hexathlon.tasks.web.world.clock import Clock
from hexathlon.tasks.web.world.exchange import Download, WebRequest, WebResponse
from hexathlon.tasks.web.world.looks import Look
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.store import SiteStore
from hexathlon.tasks.web.world.ui import Kit
from hexathlon.tasks.web.world.words import Words

__all__ = [
    "Call",
    "Handler",
    "SESSION_COOKIE",
    "Site",
    "SiteBrief",
    "get",
    "password_of",
    "post",
    "render",
]

Handler = Callable[..., WebResponse]
_Method = TypeVar("_Method", bound=Callable[..., WebResponse])

SESSION_COOKIE = "session"
ENDLESS_SESSION = 10_000
"""Sessions with at least this many actions left never expire."""

_BASE_SCHEMA = """
CREATE TABLE _sessions (token TEXT PRIMARY KEY, person TEXT NOT NULL, last_seen INTEGER NOT NULL);
CREATE TABLE _notices (id INTEGER PRIMARY KEY, person TEXT NOT NULL, kind TEXT NOT NULL,
                       text TEXT NOT NULL);
CREATE TABLE _jobs (id INTEGER PRIMARY KEY, due INTEGER NOT NULL, kind TEXT NOT NULL,
                    subject TEXT NOT NULL);
CREATE TABLE _accounts (login TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL,
                        password TEXT NOT NULL, role TEXT NOT NULL);
"""
"""Tables of every site; those whose names start with an underscore are not business state."""


class SiteBrief(NamedTuple):
    """Input of the generator of a site's initial content."""

    seed: int
    split: Split
    language: Language
    scale: int
    """Size of the content: 1 for tiny, 2 easy, 3 medium, 4 hard."""

    people: tuple[Person, ...]
    """Everybody with an account; the first is the user."""

    clock: Clock


def get(pattern: str) -> Callable[[_Method], _Method]:
    """Mark a handler of GET requests, such as `/issues/{number:int}`."""
    return _marked("GET", pattern)


def post(pattern: str) -> Callable[[_Method], _Method]:
    """Mark a handler of POST requests."""
    return _marked("POST", pattern)


def _marked(method: str, pattern: str) -> Callable[[_Method], _Method]:
    def mark(handler: _Method) -> _Method:
        routes = [*getattr(handler, "__routes__", ()), (method, pattern)]
        handler.__routes__ = routes  # type: ignore[attr-defined]
        return handler

    return mark


@dataclass
class Call:
    """One request being answered."""

    site: "Site"
    request: WebRequest
    store: SiteStore
    look: Look
    language: Language
    clock: Clock
    session_actions: int
    """Actions without a request after which a session expires; never from 10,000 on."""

    login: str = ""
    """Account of the signed-in person; empty if nobody is."""

    def __post_init__(self) -> None:
        self.words = Words(self.site.name, self.language, self.look.wording)
        self.ui = Kit(self.look, self.words, self.language)

    def arg(self, name: str, default: str = "") -> str:
        """Return a query parameter or form field, stripped; the last one of several."""
        for key, value in (*reversed(self.request.form), *reversed(self.request.query)):
            if key == name:
                return value.strip()
        return default

    def args(self, name: str) -> list[str]:
        """Return every value of a query parameter or form field."""
        return [value for key, value in (*self.request.query, *self.request.form) if key == name]

    def number(self, name: str, default: int = 0) -> int:
        """Return a whole number from a query parameter or form field."""
        text = self.arg(name)
        return int(text) if re.fullmatch(r"-?\d{1,15}", text) else default

    def page(self, template: str, status: int = 200, **context: Any) -> WebResponse:
        """Render a page of the site in the episode's look."""
        store, login = self.store, self.login
        notices = store.kept("_notices", login, lambda: store.rows(
            "SELECT kind, text FROM _notices WHERE person = ? ORDER BY id", (login,)
        ))  # fmt: skip
        if notices:
            store.execute("DELETE FROM _notices WHERE person = ?", (login,))
        frame = {
            "layout": f"kit/{self.look.layout}.html",
            "notices": notices,
            "navigation": self._navigation(),
            "site_title": self.words("site_title"),
            "person": self.account(),
        }
        return WebResponse(status, render(self.site.name, template, self, {**frame, **context}))

    def fragment(self, template: str, **context: Any) -> WebResponse:
        """Render a part of a page, which page behaviours put into an element."""
        return WebResponse(200, render(self.site.name, template, self, context))

    def redirect(self, path: str, notice: str = "", kind: str = "success") -> WebResponse:
        """Redirect to a path, where a notice is shown."""
        if notice:
            self.notify(notice, kind)
        return WebResponse(303, location=path)

    def notify(self, text: str, kind: str = "success") -> None:
        """Show a notice on the person's next page."""
        self.store.insert("_notices", person=self.login, kind=kind, text=text)

    def not_found(self) -> WebResponse:
        """Answer that there is no such page."""
        return self.page("kit/problem.html", 404, problem=self.words("not_found"))

    def forbidden(self, reason: str = "") -> WebResponse:
        """Answer that the person may not do this."""
        return self.page("kit/problem.html", 403, problem=reason or self.words("forbidden"))

    def download(self, filename: str, text: str) -> WebResponse:
        """Offer a text file for saving."""
        return WebResponse(200, download=Download(filename, text.encode()))

    def account(self) -> Mapping[str, Any] | None:
        """Return the signed-in person's account, or None."""
        if not self.login:
            return None
        account: Mapping[str, Any] | None = self.store.kept(
            "_accounts", self.login,
            lambda: self.store.row("SELECT * FROM _accounts WHERE login = ?", (self.login,)),
        )  # fmt: skip
        return account

    def later(self, actions: int, kind: str, subject: str) -> None:
        """Schedule a job of the site, to run after `actions` further actions of the agent."""
        due = self.clock.actions + actions
        self.store.insert("_jobs", due=due, kind=kind, subject=subject)

    def date(self, value: str | date) -> str:
        """Write a date or timestamp in the look's style."""
        return self.ui.date(value)

    def _navigation(self) -> list[tuple[str, str, bool]]:
        items = list(self.site.navigation(self))
        if items:
            turn = self.look.order % len(items)
            items = items[turn:] + items[:turn]
        path = self.request.path
        return [(words, url, path == url.partition("?")[0]) for words, url in items]


class _Route(NamedTuple):
    method: str
    pattern: re.Pattern[str]
    numbers: frozenset[str]
    handler: str


class Site(ABC):
    """One site. Subclasses set the class attributes and mark handlers with `get` and `post`."""

    name: ClassVar[str]
    """Name of the site and of its folder below `sites/`."""

    schema: ClassVar[str] = ""
    """SQL that creates the business tables."""

    volatile: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Columns, by table, that verification ignores, such as times of new rows."""

    requires_login: ClassVar[bool] = True
    open_paths: ClassVar[Sequence[str]] = ()
    """Path prefixes that need no session, besides the sign-in page."""

    _routes: ClassVar[list[_Route]] = []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._routes = [
            _route(method, pattern, name)
            for name in dir(cls)
            for method, pattern in getattr(getattr(cls, name, None), "__routes__", ())
        ]

    @abstractmethod
    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill the business tables of a new store."""

    @abstractmethod
    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the items of the main navigation: label and path."""

    def run_job(self, call: Call, kind: str, subject: str) -> None:
        """Run a job scheduled by `Call.later`."""
        raise NotImplementedError(f"{self.name} has no job {kind!r}")

    @property
    def host(self) -> str:
        """Host name of the site."""
        return f"{self.name}.hexathlon.test"

    def role_of(self, brief: SiteBrief, person: Person) -> str:
        """Return the role of a person's account; `member` by default."""
        return "member"

    def admits(self, call: Call) -> bool:
        """Return whether a signed-in person may use the site at all; everybody by default."""
        return True

    def new_store(self, brief: SiteBrief) -> SiteStore:
        """Make a store with accounts and content."""
        store = SiteStore()
        store.script(_BASE_SCHEMA + self.schema)
        store.execute("BEGIN")
        for person in brief.people:
            store.insert(
                "_accounts", login=person.login, name=person.name, email=person.email,
                password=password_of(person.login), role=self.role_of(brief, person),
            )  # fmt: skip
        self.populate(store, brief)
        store.execute("COMMIT")
        return store

    def handle(self, call: Call) -> WebResponse:
        """Answer one request."""
        self._run_due_jobs(call)
        token = call.request.cookies.get(SESSION_COOKIE, "")
        call.login = self._signed_in(call, token)
        path = call.request.path
        if path == "/sign-in":
            return self._sign_in(call)
        if path == "/sign-out":
            call.store.execute("DELETE FROM _sessions WHERE token = ?", (token,))
            return WebResponse(303, location="/sign-in", cookies={SESSION_COOKIE: ""})
        if path == "/calendar-panel":
            return _calendar_panel(call)
        if self.requires_login and not call.login and not path.startswith(tuple(self.open_paths)):
            return self._to_sign_in(call, expired=bool(token))
        if call.login and not self.admits(call):
            return call.forbidden()
        for route in self._routes:
            found = route.pattern.fullmatch(path) if route.method == call.request.method else None
            if found:
                values: dict[str, Any] = found.groupdict()
                values.update({name: int(values[name]) for name in route.numbers})
                response: WebResponse = getattr(self, route.handler)(call, **values)
                return response
        return call.not_found()

    def sign_in(self, store: SiteStore, login: str, clock: Clock) -> str:
        """Open a session for an account; return its token, the value of the session cookie."""
        count = store.value("SELECT count(*) FROM _sessions")
        token = f"{derive_seed('session', self.name, login, clock.actions, count):016x}"
        store.insert("_sessions", token=token, person=login, last_seen=clock.actions)
        return token

    def _signed_in(self, call: Call, token: str) -> str:
        session = call.store.kept(
            "_sessions", token,
            lambda: call.store.row("SELECT * FROM _sessions WHERE token = ?", (token,)),
        )  # fmt: skip
        if session is None:
            return ""
        if call.session_actions >= ENDLESS_SESSION:
            return str(session["person"])
        if call.clock.actions - session["last_seen"] > call.session_actions:
            call.store.execute("DELETE FROM _sessions WHERE token = ?", (token,))
            return ""
        if session["last_seen"] != call.clock.actions:
            call.store.execute(
                "UPDATE _sessions SET last_seen = ? WHERE token = ?", (call.clock.actions, token)
            )
        return str(session["person"])

    def _to_sign_in(self, call: Call, *, expired: bool) -> WebResponse:
        target = call.request.path if call.request.method == "GET" else "/"
        if expired:
            call.notify(call.words("session_expired"), "warning")
        return WebResponse(303, location=f"/sign-in?next={quote(target)}")

    def _sign_in(self, call: Call) -> WebResponse:
        target = call.arg("next") or "/"
        if not target.startswith("/") or target.startswith("//"):
            target = "/"
        if call.request.method == "GET":
            return call.page("kit/sign_in.html", target=target, problem="", login_value="")
        login = call.arg("login").lower()
        right = call.store.row(
            "SELECT login FROM _accounts WHERE (login = ? OR lower(email) = ?) AND password = ?",
            (login, login, call.arg("password")),
        )
        if right is None:
            problem = call.words("wrong_password")
            return call.page("kit/sign_in.html", 422, target=target, problem=problem,
                             login_value=login)  # fmt: skip
        token = self.sign_in(call.store, right["login"], call.clock)
        return WebResponse(303, location=target, cookies={SESSION_COOKIE: token})

    def _run_due_jobs(self, call: Call) -> None:
        first = call.store.kept("_jobs", "", lambda: call.store.value("SELECT min(due) FROM _jobs"))
        if first is None or first > call.clock.actions:
            return
        due = call.store.rows(
            "SELECT * FROM _jobs WHERE due <= ? ORDER BY id", (call.clock.actions,)
        )
        for job in due:
            call.store.execute("DELETE FROM _jobs WHERE id = ?", (job["id"],))
            self.run_job(call, job["kind"], job["subject"])


def _calendar_panel(call: Call) -> WebResponse:
    """Answer one month of a date picker."""
    name = re.sub(r"\W", "", call.arg("field"))
    month = call.arg("month")
    first = call.clock.today.replace(day=1)
    if re.fullmatch(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])", month):
        first = date.fromisoformat(f"{month}-01")
    before, after = (
        f"/calendar-panel?field={name}&month={near:%Y-%m}"
        for near in (first - timedelta(days=1), first + timedelta(days=32))
    )
    last = (first + timedelta(days=32)).replace(day=1) - timedelta(days=1)
    days = [(day, first.replace(day=day).isoformat()) for day in range(1, last.day + 1)]
    return call.fragment("kit/calendar_panel.html", field=name, days=days, before=before,
                         after=after, title=f"{first:%Y-%m}")  # fmt: skip


def password_of(login: str) -> str:
    """Return the password of an account, which tasks reveal if signing in is part of the work."""
    return f"{login.partition('.')[2] or login}-{derive_seed('password', login) % 10_000:04d}"


def _route(method: str, pattern: str, handler: str) -> _Route:
    numbers = frozenset(re.findall(r"\{(\w+):int\}", pattern))
    expression = re.sub(r"\{(\w+):int\}", r"(?P<\1>[0-9]{1,15})", pattern)
    expression = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", expression)
    return _Route(method, re.compile(expression), numbers, handler)


def render(site: str, template: str, call: Call, context: Mapping[str, Any]) -> str:
    """Render a template of a site, or one of the kit's, whose names start with `kit/`."""
    name = template if template.startswith("kit/") else f"{site}/{template}"
    text: str = _templates().get_template(name).render(
        {"call": call, "t": call.words, "ui": call.ui, "look": call.look, "lang": call.language,
         **context}
    )  # fmt: skip
    return text


@cache
def _templates() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    class PageEnvironment(Environment):
        """Looks attributes up in rows first, since most attributes in templates are columns."""

        def getattr(self, obj: Any, attribute: str) -> Any:
            if obj.__class__ is dict and attribute in obj:
                return obj[attribute]
            return super().getattr(obj, attribute)

    folder = resources.files("hexathlon.tasks.web.world")

    def load(name: str) -> str:
        package, _, path = name.partition("/")
        place = (
            folder.joinpath("kit", path)
            if package == "kit"
            else folder.joinpath("sites", package, "templates", path)
        )
        return place.read_text("utf-8")

    return PageEnvironment(
        loader=FunctionLoader(load), autoescape=True, undefined=StrictUndefined, auto_reload=False,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
