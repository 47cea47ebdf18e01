"""The sites' own endpoints, called directly: no input raises, and none is answered with an error page."""

import re
from importlib import resources
from pathlib import Path

import pytest

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.web.world.exchange import Upload, WebRequest
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan, people_of
from hexathlon.tasks.web.world.site import SESSION_COOKIE
from hexathlon.tasks.web.world.sites.table import SITE_NAMES, site_named

VALUES = (
    "", "0", "1", "-1", "9" * 15, "9" * 19, "9" * 400, "1.5", "1e309", "nan", "inf", "-0", "١٢", "²",
    "x" * 3_000, "'", '"', "%", "_", "\\", "\x00", "\n", "2026-03-02", "2026-02-30", "9999-12-31",
    "0001-01-01", "2026-13", "25:61", "24:00", "=A1", "=SUM(A1:ZZ9999)", "=A1/0", "=((((", "[", "(?",
    "en", "True", "中", "\u202e", "a,b", "{{7*7}}", "</p>", "-99999999999", "1 000,00", "on",
)  # fmt: skip
FILES = (b"", b"\xff\xfe", b"a,b\n1,2\n" * 50, b"\x00" * 100)
PLACEHOLDER = re.compile(r"\(\?P<\w+>(\[0-9\]|\[\^/\])(?:\{1,15\}|\+)\)")


class Fuzzer:
    """Requests to all routes of a site, by the user and by staff, with values of its own records."""

    def __init__(self, name: str, seed: int) -> None:
        self.site, self.rng = site_named(name), generator_for("web endpoints", name, seed)
        plan = WorldPlan((name,), 5, "train", "en", 2, "2026-03-02T09:00:00")
        self.network = Network(plan, LOOKS["harbour"])
        store = self.network.store(name)
        staff = store.rows("SELECT login FROM _accounts WHERE role <> 'member' LIMIT 2")
        logins = dict.fromkeys([people_of(plan)[0].login, *(row["login"] for row in staff)])
        self.tokens = [self.site.sign_in(store, login, self.network.clock) for login in logins]
        self.known, self.fields = self._known(store), self._fields(name)
        self.start = self.network.save()

    def _known(self, store) -> list[str]:
        tables = store.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        values = [
            str(value)
            for table in tables
            if not table["name"].startswith("_")
            for row in store.rows(f"SELECT * FROM {table['name']} LIMIT 6")
            for value in row.values()
            if value is not None and len(str(value)) < 60
        ]
        return list(dict.fromkeys(values))

    def _fields(self, name: str) -> list[str]:
        folder = resources.files(f"hexathlon.tasks.web.world.sites.{name}")
        assert isinstance(folder, Path)
        source = "\n".join(
            path.read_text()
            for path in sorted(folder.rglob("*"))
            if path.suffix in (".py", ".html")
        )
        found = re.findall(
            r'(?:\.args?|\.number)\("(\w+)"|name="(\w+)"|FormField\(\s*"(\w+)"', source
        )
        return sorted({word for words in found for word in words if word})

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def request(self) -> WebRequest:
        route = self.pick(self.site._routes)
        numbers = ["0", "1", "2", "9" * 15, *filter(str.isdecimal, self.known)]

        def place(found) -> str:
            pool = numbers if found[1] == "[0-9]" else [*self.known, *VALUES]
            return self.pick(pool).replace("/", "") or "x"

        path = PLACEHOLDER.sub(place, route.pattern.pattern).replace("\\", "")
        pairs = tuple(
            (self.pick(self.fields), self.pick(self.pick((VALUES, self.known))))
            for _ in range(int(self.rng.integers(8)))
        )
        query, form = (pairs, ()) if route.method == "GET" else ((), pairs)
        files = {}
        if route.method == "POST" and self.rng.random() < 0.2:
            files = {self.pick(self.fields): Upload(self.pick(VALUES), self.pick(FILES))}
        cookies = {SESSION_COOKIE: self.pick(self.tokens)}
        return WebRequest(route.method, self.site.host, path, query, form, files, cookies)


def fuzz(name: str, seed: int, requests: int) -> set[int]:
    """Send requests; return the statuses of the answers."""
    fuzzer, statuses = Fuzzer(name, seed), set()
    for number in range(requests):
        request = fuzzer.request()
        status = fuzzer.network.handle(request).status
        assert status in (200, 303, 403, 404, 422), (status, request)
        statuses.add(status)
        fuzzer.network.after_action()
        if number % 300 == 299:
            fuzzer.network.load(fuzzer.start)
    fuzzer.network.close()
    return statuses


@pytest.mark.parametrize("name", SITE_NAMES)
def test_no_request_ends_an_episode(name):
    assert {200, 303, 404} <= fuzz(name, 1, 250)


@pytest.mark.slow
@pytest.mark.parametrize("name", SITE_NAMES)
def test_no_request_of_many_ends_an_episode(name):
    assert {200, 303, 404, 422} <= fuzz(name, 2, 8_000)
