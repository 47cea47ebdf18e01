"""X16: what pages and agents can reach from the browser, and what is noted when they try."""

import gc
import http.client
import json
import socket
import threading

import httpx
import pytest

from hexathlon.envs.web.errors import ActionError
from support.chromium import chromium_or_skip
from support.waiting import wait_until
from support.web_site import HOST, PageNetwork

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def chromium():
    browser = chromium_or_skip()
    yield browser
    browser.close()


@pytest.fixture
def network(chromium):
    network = PageNetwork()
    chromium.open(network)
    return network


@pytest.fixture(scope="module")
def other_server():
    """Another server on loopback; its connections are counted."""
    server = socket.create_server(("127.0.0.1", 0))
    seen: list[object] = []

    def accept() -> None:
        while True:
            try:
                connection, place = server.accept()
            except OSError:
                return
            seen.append(place)
            connection.close()

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()[1], seen
    server.close()


def in_page(chromium, script: str) -> str:
    """Run a script as a hostile page would; return its answer or its error."""
    page = chromium._tab.page
    code = f"async () => {{ try {{ return String(await ({script})) }} catch (e) {{ return 'no: ' + e }} }}"
    return chromium._driver.call(page.evaluate(code))


def test_requests_of_scripts_reach_only_the_site(chromium, network, other_server):
    port, seen = other_server
    for url in (f"http://127.0.0.1:{port}/", f"http://localhost:{port}/", "http://example.com/",
                f"http://[::1]:{port}/", "http://wiki.hexathlon.test/", "file:///etc/passwd",
                f"http://{HOST}:{port}/"):  # fmt: skip
        before = len(chromium.blocked)
        assert in_page(chromium, f"fetch('{url}')").startswith("no:"), url
        chromium.act("noop", {})
        assert len(chromium.blocked) > before, url
    assert seen == []
    assert len(network.trace) == 2


def test_sockets_workers_and_pictures_are_refused(chromium, network, other_server):
    port, seen = other_server
    wait = "new Promise((yes) => {{ const s = new WebSocket('{}'); s.onopen = () => yes('open'); s.onerror = () => yes('no') }})"
    for url in (f"ws://127.0.0.1:{port}/", "ws://example.com/", f"ws://{HOST}/"):
        before = len(chromium.blocked)
        assert in_page(chromium, wait.format(url)).startswith("no"), url
        chromium.act("noop", {})
        assert len(chromium.blocked) > before, url
    worker = "navigator.serviceWorker ? navigator.serviceWorker.register('/assets/site.js') : 'no'"
    assert in_page(chromium, worker).startswith("no")
    picture = "new Promise((yes) => {{ const i = new Image(); i.onerror = () => yes('no'); i.onload = () => yes('shown'); i.src = 'http://127.0.0.1:{}/x.png' }})"
    assert in_page(chromium, picture.format(port)) == "no"
    worker = "new Promise((yes) => { const w = new Worker('data:text/javascript,postMessage(1)'); w.onmessage = () => yes('ran'); w.onerror = () => yes('no') })"
    assert in_page(chromium, worker).startswith("no")
    assert seen == []
    assert len(network.trace) == 2


@pytest.mark.parametrize(
    "url",
    ["http://example.com/y", "http://127.0.0.1:{port}/", "file:///etc/passwd",
     "data:text/html,x", "javascript:document.title='x'", "blob:null/1", "about:blank", "chrome://version",
     "view-source:http://tracker.hexathlon.test/", "http://mail.hexathlon.test/", "about:srcdoc"],
)  # fmt: skip
def test_scripts_cannot_leave(chromium, network, other_server, url):
    port, seen = other_server
    view = chromium.view()
    in_page(chromium, f"void (location.href = {json.dumps(url.format(port=port))})")
    try:
        chromium.act("noop", {})
    except ActionError as error:
        assert "outside the sites" in str(error)
    assert chromium.view() == view
    assert seen == []


@pytest.mark.parametrize("url", ["http://example.com/pop", "http://127.0.0.1:{port}/",
                                 "data:text/html,x", "file:///etc/passwd"])  # fmt: skip
def test_windows_that_lead_outside_are_closed(chromium, network, other_server, url):
    port, seen = other_server
    in_page(chromium, f"void window.open({json.dumps(url.format(port=port))})")
    for _ in range(3):
        chromium.act("noop", {})
    assert [place for _, place in chromium.view().tabs if not place.startswith("about:")] == [
        f"http://{HOST}/"
    ]
    assert seen == []


def test_a_window_of_the_site_becomes_a_tab(chromium, network):
    in_page(chromium, "void window.open('/next')")
    for _ in range(20):
        chromium.act("noop", {"wait_ms": 0})
        if len(chromium.view().tabs) == 2:
            break
    chromium.act("tab_focus", {"index": 1})
    assert chromium.view().tabs[1] == ("Next", f"http://{HOST}/next")


def test_no_more_windows_than_tabs_are_allowed(chromium, network):
    in_page(chromium, "void [...Array(30)].forEach(() => window.open('/next'))")
    for _ in range(5):
        chromium.act("noop", {})
    assert len(chromium.view().tabs) <= 8


def test_scripts_cannot_see_or_change_how_the_page_is_read(chromium, network):
    assert in_page(chromium, "typeof hx + typeof window.hx") == "undefinedundefined"
    in_page(chromium, "void (Array.prototype.push = JSON.stringify = () => 'mine')")
    in_page(chromium, "void (window.WeakMap = window.setTimeout = null)")
    in_page(chromium, "void (document.querySelector('h1').textContent = 'Changed')")
    chromium.act("noop", {})
    assert "# Changed" in chromium.view().text


def test_a_page_that_never_settles_is_a_fault_and_not_a_score(chromium, network, monkeypatch):
    from hexathlon.envs.errors import EnvFault
    from hexathlon.envs.web.chromium import tab

    monkeypatch.setattr(tab, "_SECONDS", 1.0)
    in_page(chromium, "void document.documentElement.setAttribute('data-busy', '')")
    with pytest.raises(EnvFault):
        chromium.act("noop", {})


def test_the_server_answers_nobody_without_the_secret(chromium, network):
    port = chromium._driver.server.port
    for host in (HOST, "127.0.0.1", "example.com"):
        for path in ("/", "/assets/kit.css", "/next"):
            for secret in ("", "0" * 32):
                answer = httpx.get(
                    f"http://127.0.0.1:{port}{path}",
                    headers={"host": host, "x-hexathlon-episode": secret},
                )
                assert (answer.status_code, answer.content) == (421, b"")
    secret = chromium._served.secret
    answer = httpx.get(
        f"http://127.0.0.1:{port}/next", headers={"host": HOST, "x-hexathlon-episode": secret}
    )
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert (
        "unsafe-inline'"
        not in answer.headers["content-security-policy"]
        .partition(";")[2]
        .partition("style-src-attr")[0]
    )
    chromium.close()
    gone = httpx.get(
        f"http://127.0.0.1:{port}/next", headers={"host": HOST, "x-hexathlon-episode": secret}
    )
    assert gone.status_code == 421


@pytest.mark.parametrize(
    "path",
    ["/assets/../network.py", "/assets/%2e%2e/network.py", "/assets/..%2fnetwork.py", "/assets//etc/passwd",
     "/assets/%2fetc%2fpasswd", "/assets/kit.css%00.py", "/assets/site.css/../../sites/bank/site.py",
     "/../../etc/passwd", "/assets/..\\network.py", "/proc/self/environ", "/favicon.ico"],
)  # fmt: skip
def test_files_and_the_process_of_the_server_are_out_of_reach(chromium, network, path):
    connection = http.client.HTTPConnection("127.0.0.1", chromium._driver.server.port, timeout=60)
    headers = {"host": HOST, "x-hexathlon-episode": chromium._served.secret}
    connection.request("GET", path, headers=headers)  # as written: nothing is normalised
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == 404 or path.startswith(("/..", "/proc"))  # a page of the site
    assert b"import " not in body and b"root:" not in body and b"PATH=" not in body


def test_hosts_of_other_episodes_are_refused(chromium, network):
    """The secret opens one episode's hosts; another episode's are not known to it."""
    second, other = chromium_or_skip(), PageNetwork()
    second.open(other)
    port = chromium._driver.server.port
    before = len(other.trace)
    for host in (
        "shop.hexathlon.test",
        "127.0.0.1",
        f"127.0.0.1:{port}",
        "localhost",
        f"{HOST}.",
        f"{HOST}:{port}",
    ):
        answer = httpx.get(
            f"http://127.0.0.1:{port}/next",
            headers={"host": host, "x-hexathlon-episode": chromium._served.secret},
        )
        assert (answer.status_code, answer.content) == (421, b""), host
    assert len(other.trace) == before
    second.close()


def test_episodes_do_not_see_each_other(chromium, network):
    second = chromium_or_skip()
    other = PageNetwork()
    second.open(other)
    before = len(network.trace)
    second.act("goto", {"url": f"http://{HOST}/next?mine=1"})
    assert len(network.trace) == before
    assert len(other.trace) == 3
    second.close()


def test_an_error_of_a_site_reaches_the_caller(chromium):
    class Broken(PageNetwork):
        def _answer(self, request):
            if request.path == "/next":
                raise KeyError("a bug of the site")
            return super()._answer(request)

    chromium.open(Broken())
    with pytest.raises(KeyError, match="a bug of the site"):
        chromium.act("goto", {"url": f"http://{HOST}/next"})


def test_a_browser_that_died_is_a_fault_and_the_next_episode_runs(chromium):
    from hexathlon.envs.errors import EnvFault

    chromium.open(PageNetwork())
    chromium._driver.call(chromium._driver._browser.close())
    with pytest.raises(EnvFault, match="the tab was closed"):
        chromium.act("noop", {})
    chromium.open(PageNetwork())
    assert "# Start" in chromium.view().text


def test_a_wrong_setting_names_what_is_missing(monkeypatch):
    from hexathlon.envs.errors import BackendMissing
    from hexathlon.envs.web.chromium.driver import chromium_path

    monkeypatch.setenv("HEXATHLON_CHROMIUM", "no-such-browser")
    with pytest.raises(BackendMissing, match="no-such-browser"):
        chromium_path()
    monkeypatch.delenv("HEXATHLON_CHROMIUM")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BackendMissing, match="chromium-headless-shell"):
        chromium_path()


def test_nothing_of_an_episode_is_left_to_the_next(chromium):
    chromium.open(PageNetwork())
    first = chromium._served.secret
    in_page(chromium, "void (localStorage.a = sessionStorage.a = window.name = 'left')")
    in_page(chromium, "void (document.cookie = 'a=left')")
    in_page(chromium, "new Promise((yes) => (indexedDB.open('left').onsuccess = yes))")
    chromium.act("new_tab", {})
    chromium.act("goto", {"url": f"http://{HOST}/next"})
    context, second = chromium._context, PageNetwork()
    chromium.open(second)
    assert chromium._context is context
    assert len(chromium.view().tabs) == len(context.pages) == 1
    left = "[localStorage.length, sessionStorage.length, window.name, document.cookie, (await indexedDB.databases()).length].join()"
    assert in_page(chromium, f"(async () => {left})()") == "0,0,,,0"
    assert chromium.blocked == ()
    assert chromium._served.secret != first
    assert first not in chromium._driver.server._episodes
    chromium.act("goto", {"url": f"http://{HOST}/next"})
    assert [event.path for event in second.trace] == ["/", "/frame", "/next"]


def test_a_context_is_replaced_after_many_requests(chromium, monkeypatch):
    """Playwright keeps every request of a context: those of closed ones are gone."""
    from hexathlon.envs.web.chromium import session

    def requests() -> int:
        held = chromium._driver._playwright._impl_obj._connection._objects.values()
        return sum(type(each).__name__ == "Request" for each in list(held))

    chromium.close()
    monkeypatch.setattr(session, "_MAX_REQUESTS", 6)
    contexts, before = set(), requests()
    for _ in range(9):
        chromium.open(PageNetwork())  # two requests
        contexts.add(chromium._context)
    assert len(contexts) == 3
    assert requests() - before <= 3 * 8  # of one context: pages, frames, styles and scripts


def test_a_browser_that_was_never_closed_leaves_no_context(chromium):
    driver = chromium._driver
    chromium.close()
    before, served = driver.contexts, driver.server.episodes
    left = chromium_or_skip()
    left.open(PageNetwork())
    assert (driver.contexts, driver.server.episodes) == (before + 1, served + 1)
    with pytest.raises(ActionError):
        left.act("click", {"bid": "999"})
    del left

    def gone() -> bool:  # a listener that runs in the driver's thread may still hold the browser
        gc.collect()
        driver.call(driver.abandoned())
        return (driver.contexts, driver.server.episodes) == (before, served)

    wait_until(gone, seconds=60.0)
