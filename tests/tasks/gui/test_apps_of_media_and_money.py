"""Files, gallery, music, podcasts, expenses, bank and shop: every screen, and what taps change."""

import pytest

from hexathlon.tasks.bilingual import LANGUAGES
from hexathlon.tasks.gui.world.apps.table import app_named
from hexathlon.tasks.gui.world.kit.events import PhoneEvent
from hexathlon.tasks.gui.world.kit.looks import LOOKS, Appearance
from hexathlon.tasks.gui.world.system.phone import Phone
from hexathlon.tasks.gui.world.system.plan import PhonePlan

APPS = ("gallery", "files", "music", "podcasts", "expenses", "bank", "shop")
_MOST_SCREENS = 70


def phone(language="en", look="pebble", **settings):
    plan = PhonePlan(11, "train", language, 1, "2026-03-05T09:00:00", **settings)
    return Phone(plan, Appearance(LOOKS[look]))


def tap(device, name, role=None):
    device.begin_action()
    for node in device.nodes():
        title = (node.text or node.label).partition(" | ")[0]
        if title == name and role in (None, node.role):
            assert device.tap(node) == ""
            return
    raise AssertionError(f"no {name!r} on {[node.text or node.label for node in device.nodes()]}")


def nodes_to_follow(device):
    """Elements that open a screen or a menu, or change only what the screen shows."""
    followed = {}
    choices = device.core.top.params.get("choices", ())
    for node in device.nodes():
        event = node.on
        if isinstance(event, PhoneEvent) and event.name == "chosen":
            event = choices[event.params["place"]][1]
        if isinstance(event, PhoneEvent) and event.kind in ("go", "put", "menu"):
            followed[event.kind, event.name, repr(event.params)] = node
    return followed


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("app", APPS)
def test_every_screen_opens_and_looking_changes_nothing(app, language):
    device = phone(language)
    device.open_app(app)
    seen, opened, visited = set(), {"home"}, 0
    waiting = [device.save()]
    while waiting and visited < _MOST_SCREENS:
        here = waiting.pop(0)
        device.load(here)
        visited += 1
        name, nodes = device.core.top.name, nodes_to_follow(device)
        for key, node in nodes.items():
            # One entry of a list stands for all; of chips and menus, each is tried.
            step = (name, *key[: 2 if key[0] == "go" and name != "menu" else 3])
            if step in seen:
                continue
            seen.add(step)
            device.load(here)
            device.begin_action()
            device.tap(node)
            assert device.nodes(), step
            assert device.changes() == {}, step
            if device.core.top.app == app:
                opened.add(device.core.top.name)
            waiting.append(device.save())
    screens = {each.removeprefix("screen_") for each in dir(app_named(app))
               if each.startswith("screen_")}  # fmt: skip
    # Forms behind entries that this small phone may lack.
    assert screens - opened <= {"receive", "checkout", "dispute", "add_to", "order", "entry", "line", "move", "budget",
                                "category", "edit_order"}, screens - opened  # fmt: skip
