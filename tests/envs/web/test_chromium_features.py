"""Every feature of the sites' pages: the twin and Chromium say and show the same."""

import difflib
import re

import pytest

from hexathlon.envs.web.errors import ActionError
from hexathlon.envs.web.twin.twin import TwinBrowser
from support.chromium import chromium_or_skip
from support.web_site import PageNetwork

pytestmark = pytest.mark.browser
HOME = "http://tracker.hexathlon.test"


class Pair:
    """The same actions in both; every difference fails the test."""

    def __init__(self, chromium) -> None:
        self.browsers = TwinBrowser(), chromium
        self.networks = PageNetwork(), PageNetwork()
        for browser, network in zip(self.browsers, self.networks, strict=True):
            browser.open(network)
        self.check("open")

    def act(self, name: str, **arguments: object) -> str:
        answers = []
        for browser in self.browsers:
            try:
                answers.append(browser.act(name, arguments))
            except ActionError as error:
                answers.append(f"Error: {error}")
        assert answers[0] == answers[1], (name, arguments)
        self.check(f"{name} {arguments}")
        return answers[0]

    def check(self, what: str) -> None:
        twin, real = (browser.view() for browser in self.browsers)
        rows = difflib.unified_diff(twin.text.split("\n"), real.text.split("\n"), n=0, lineterm="")
        assert "\n".join(rows) == "", what
        assert twin[:2] == real[:2], what
        assert self.networks[0].trace == self.networks[1].trace, what
        assert self.networks[0].files == self.networks[1].files, what
        assert self.browsers[0].blocked == self.browsers[1].blocked, what

    def bid(self, role: str, name: str = "") -> str:
        quoted = f' "{re.escape(name)}"' if name else ""
        found = re.search(rf"\[(\d+)\] {role}{quoted}", self.text)
        assert found, (role, name, self.text)
        return found[1]

    def click(self, role: str, name: str = "") -> str:
        return self.act("click", bid=self.bid(role, name))

    @property
    def text(self) -> str:
        return self.browsers[0].view().text


@pytest.fixture(scope="module")
def chromium():
    browser = chromium_or_skip()
    yield browser
    browser.close()


@pytest.fixture
def pair(chromium):
    return Pair(chromium)


LINKS = ("Next", "In a tab", "Below", "Save", "Keep", "Away", "Elsewhere", "Script", "Data", "File",
         "Loopback", "Circle", "Same", "Wiki", "Plain", "link", "cell", "Step", "Leave")  # fmt: skip


@pytest.mark.parametrize("name", LINKS)
def test_links_and_history(pair, name):
    pair.click("link", name)
    pair.act("go_back")
    pair.act("go_forward")
    pair.act("noop")


def test_links_that_lead_outside_are_refused_and_named(pair):
    for name in ("Elsewhere", "Script", "Data", "File", "Loopback", "Away"):
        assert "outside the sites" in pair.click("link", name)
    assert "outside the sites" in pair.click("button", "Steal")
    assert len(pair.browsers[1].blocked) == 7


def test_hidden_parts_dialogs_and_details(pair):
    pair.click("button", "Toggle")
    pair.click("link", "inside")
    pair.act("go_back")
    pair.click("button", "Open")
    pair.act("press", bid=pair.bid("textbox", "Reason"), key_comb="Escape")
    pair.click("button", "Open")
    pair.click("button", "Cancel")
    pair.click("disclosure", "Details")
    pair.click("link", "deep")
    pair.act("go_back")
    pair.click("button", "Inner")
    pair.click("button", "Close")


def test_forms_in_dialogs_and_answers_to_forms(pair):
    pair.click("button", "Open")
    pair.click("button", "Do it")  # 422: the answer to a form
    pair.act("go_back")
    pair.click("button", "Open")
    pair.act("fill", bid=pair.bid("textbox", "Reason"), text="because")
    pair.click("button", "Do it")
    pair.act("go_back")
    pair.act("go_back")


def test_fragments_and_optimistic_updates(pair):
    pair.click("button", "Load")
    pair.click("button", "Like")
    assert pair.networks[1].likes == 1
    pair.act("dblclick", bid=pair.bid("button", "Load"))
    pair.click("link", "more")


def test_fields(pair):
    for role, name, text in (
        ("textbox", "Name", "Zoë & co"), ("textbox", "Text", "x\ny  z"), ("date", "", "2026-02-31"),
        ("date", "", "soon"), ("date", "", "2026-02-28"), ("spinbutton", "", "1e3"),
        ("spinbutton", "", "many"), ("spinbutton", "", "1_0"), ("spinbutton", "", " 3"),
        ("textbox", "Secret", "abc"), ("textbox", "Locked", "abc"), ("textbox", "Off", "abc"),
        ("checkbox", "", "x"),
    ):  # fmt: skip
        pair.act("fill", bid=pair.bid(role, name), text=text)
    pair.click("checkbox")
    pair.act("dblclick", bid=pair.bid("checkbox"))
    pair.click("radio", "Large")
    kind = pair.bid("combobox", "Kind")
    for options in ("Alpha", "Gamma", ["Alpha", "Beta"], [], "b"):
        pair.act("select_option", bid=kind, options=options)
    pair.act("select_option", bid=pair.bid("listbox", "Many"), options=["one", "three"])
    pair.act("select_option", bid=pair.bid("checkbox"), options="x")
    pair.act("upload_file", bid=pair.bid("file"), file="missing.txt")
    pair.act("upload_file", bid=pair.bid("file"), file="note.txt")
    pair.act("upload_file", bid=pair.bid("checkbox"), file="note.txt")
    for bid in (kind, pair.bid("checkbox"), pair.bid("file"), pair.bid("textbox", "Name"), "999"):
        for name in ("hover", "focus"):
            pair.act(name, bid=bid)
        for key in ("a", "Tab", "Escape", "Control+A"):
            pair.act("press", bid=bid, key_comb=key)
    pair.click("combobox", "Kind")
    pair.act("press", bid=kind, key_comb="Enter")
    pair.act("press", bid=pair.bid("checkbox"), key_comb="Space")
    pair.act("clear", bid=pair.bid("textbox", "Secret"))
    pair.click("button", "Save all")
    pair.act("go_back")


def test_ways_to_send_a_form(pair):
    pair.act("fill", bid=pair.bid("textbox", "Name"), text="")
    pair.act("press", bid=pair.bid("textbox", "Name"), key_comb="Enter")
    pair.act("go_back")
    pair.click("button", "Preview")
    pair.act("go_back")
    pair.act("fill", bid=pair.bid("searchbox"), text="ä ö+=%")
    pair.act("press", bid=pair.bid("searchbox"), key_comb="Enter")
    pair.act("go_back")
    pair.act("press", bid=pair.bid("button", "Find"), key_comb="Enter")
    pair.act("go_back")
    pair.act("press", bid=pair.bid("link", "Next"), key_comb="Enter")
    pair.act("go_back")
    pair.act("press", bid=pair.bid("radio", "Large"), key_comb="Space")
    pair.act("press", bid=pair.bid("checkbox"), key_comb="Enter")


def test_frames(pair):
    pair.click("link", "Step")
    pair.act("fill", bid=pair.bid("textbox", "Say"), text="hi")
    pair.click("button", "Send")
    pair.act("go_back")
    pair.click("link", "Leave")
    pair.act("go_back")


def test_tabs(pair):
    pair.click("button", "Find")
    pair.act("new_tab")
    pair.act("tab_focus", index=0)
    pair.act("tab_focus", index=7)
    pair.act("tab_focus", index=1)
    pair.act("goto", url="http://wiki.hexathlon.test/x")
    pair.act("go_back")
    pair.act("tab_close")
    pair.act("tab_close")
    for _ in range(8):
        pair.click("link", "Back home") if "Back home" in pair.text else None
        pair.click("link", "In a tab")


def test_dragging(pair):
    card, zone, link = pair.bid("draggable"), pair.bid("drop zone"), pair.bid("link")
    pair.act("drag_and_drop", from_bid=link, to_bid=zone)
    pair.act("drag_and_drop", from_bid=card, to_bid=link)
    pair.act("drag_and_drop", from_bid=card, to_bid=zone)


ADDRESSES = (
    "http://example.com/", "file:///etc/passwd", "data:text/html,x", f"view-source:{HOME}/",
    "javascript:1", "http://127.0.0.1:80/", "http://[::1]/", "http://localhost/", "about:blank",
    "ftp://tracker.hexathlon.test/", f"{HOME}:8080/", "HTTP://tracker.hexathlon.test/next",
    "http://user@tracker.hexathlon.test/", "//tracker.hexathlon.test/", "", "chrome://version",
    "http://TRACKER.hexathlon.test/next", HOME, f"{HOME}/next?x=ä b", f"{HOME}/a%20b",
    f"{HOME}/a b", f"{HOME}/审", f"{HOME}/next/../next", "http://mail.hexathlon.test/",
    f"{HOME}/next#part", f"{HOME}/file", f"{HOME}/away", f"{HOME}/loop", f" {HOME}/next ",
)  # fmt: skip


def test_addresses(pair):
    for url in ADDRESSES:
        pair.act("goto", url=url)
    pair.act("go_back")


def test_a_state_is_restored_with_everything_that_was_entered(pair):
    pair.act("fill", bid=pair.bid("textbox", "Name"), text="Zoë")
    pair.act("fill", bid=pair.bid("textbox", "Text"), text="one\ntwo")
    pair.act("select_option", bid=pair.bid("combobox", "Kind"), options="Alpha")
    pair.act("upload_file", bid=pair.bid("file"), file="note.txt")
    pair.click("checkbox")
    pair.click("radio", "Large")
    pair.click("link", "Step")
    pair.click("disclosure")
    pair.click("button", "Toggle")
    pair.click("button", "Load")
    pair.act("new_tab")
    pair.act("goto", url=f"{HOME}/next")
    pair.act("tab_focus", index=0)
    states = [browser.save() for browser in pair.browsers]
    assert states[1] == pair.browsers[1].save()
    pair.click("button", "Save all")
    for browser, network, state in zip(pair.browsers, pair.networks, states, strict=True):
        browser.load(state, network)
    pair.check("restored")
    pair.click("button", "Open")
    opened = pair.browsers[1].save()
    pair.browsers[1].load(opened, pair.networks[1])
    pair.check("restored with a dialog")
    pair.click("button", "Cancel")
    pair.click("button", "Save all")
    pair.act("go_back")
    pair.act("tab_focus", index=1)
