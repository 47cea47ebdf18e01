"""Tasks on sites outside the process, in Chromium, on a server of ours."""

import json
import re
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import gymnasium
import pytest

from hexathlon.envs.web.chromium.driver import PROGRAMS
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.taskset import shared_taskset
from support.web_external import raw_task

pytest.importorskip("playwright")
if not any(map(shutil.which, PROGRAMS)):
    pytest.skip("there is no Chromium", allow_module_level=True)

PAGE = """<html><head><title>{title}</title></head><body><h1>{title}</h1><p id="state">{state}</p>
<a href="/issues/105">issue</a> <a href="http://127.0.0.1:9/">other port</a> <a href="/away">away</a>
<form method="post" action="/issues/105/comments"><label>Comment <input name="comment"/></label>
<button>Send</button></form></body></html>"""

TASKS = [
    raw_task(0, ["url_match", "program_html"], reference_url="__GITLAB__/issues/105", program_html=[
        {"url": "last", "locator": "document.querySelector('#state').outerText",
         "required_contents": {"exact_match": "It works"}},
        {"url": "__GITLAB__/issues/105", "locator": "",
         "required_contents": {"must_include": ["It works"]}},
        {"url": "last", "locator": "document.querySelector('#nothing').outerText",
         "required_contents": {"exact_match": ""}}]),
]  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    state = "empty"

    def do_GET(self):
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/secret")
            self.end_headers()
            return
        body = PAGE.format(title=self.path, state=type(self).state).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        sent = self.rfile.read(int(self.headers["content-length"])).decode()
        type(self).state = sent.partition("=")[2].replace("+", " ")
        self.send_response(303)
        self.send_header("Location", "/issues/105")
        self.end_headers()

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def env(tmp_path, monkeypatch):
    Handler.state = "empty"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    (tmp_path / "webarena").mkdir()
    (tmp_path / "webarena" / "test.raw.json").write_text(json.dumps(TASKS))
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    shared_taskset.cache_clear()  # it may have cached tasks of another folder under the same ids
    env = gymnasium.make(
        "hexathlon/Web-v0",
        taskset="webarena",
        split="test",
        backend="chromium",
        sites={"gitlab": f"http://127.0.0.1:{server.server_port}"},
    ).unwrapped
    yield env
    env.close()
    server.shutdown()
    server.server_close()
    thread.join()


def call(env, name, **arguments):
    return env.step(json.dumps({"name": name, "arguments": arguments}))


def number(screen, name):
    return re.search(rf"\[(\d+)\] {name}", screen)[1]


def test_a_task_on_another_server(env):
    task_id = get_source("webarena").address("test", 0)
    screen, _ = env.reset(seed=1, options={"task": task_id})
    assert "# /issues" in screen
    for link in ('link "other port"', 'link "away"'):
        shown = call(env, "click", bid=number(screen, link))[0]
        assert "outside the sites" in shown, shown
        assert "secret" not in call(env, "noop")[0].partition("Page:")[2]
        screen = call(env, "goto", url=env.network.start_url)[0]
    refused = call(env, "goto", url="file:///etc/passwd")[0]
    assert "outside the sites" in refused
    call(env, "fill", bid=number(screen, "textbox"), text="It works")
    screen = call(env, "click", bid=number(screen, 'button "Send"'))[0]
    assert "It works" in screen, screen
    _, reward, terminated, _, info = call(env, "finish", answer="")
    assert terminated and reward == 1, info
    final = env.final_state()
    assert len(final["blocked"]) >= 3
    posts = [each for each in final["network"] if each["request"]["method"] == "POST"]
    assert len(posts) == 1 and posts[0]["response"]["status"] == 303
    assert "comment=It+works" in posts[0]["request"]["postData"]["text"]
    assert not any(
        "x-hexathlon" in header["name"].lower()
        for each in final["network"]
        for header in each["request"]["headers"]
    )
