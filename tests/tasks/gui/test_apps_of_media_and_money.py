"""Files, gallery, music, podcasts, expenses, bank, shop, transit: screens, and effects of taps."""

import pytest

from hexathlon.tasks.bilingual import LANGUAGES
from hexathlon.tasks.gui.world.apps.table import app_named
from hexathlon.tasks.gui.world.kit.events import PhoneEvent
from hexathlon.tasks.gui.world.kit.looks import LOOKS, Appearance
from hexathlon.tasks.gui.world.system.phone import Phone
from hexathlon.tasks.gui.world.system.plan import PhonePlan

APPS = ("gallery", "files", "music", "podcasts", "expenses", "bank", "shop", "transit")
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
            # One entry of a list stands for all; every chip and menu is tried.
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
    # Forms behind entries that this small phone may not have.
    assert screens - opened <= {"receive", "checkout", "dispute", "add_to", "order",
                                "entry", "line", "move", "budget",
                                "category", "edit_order", "ride"}, screens - opened  # fmt: skip


def test_money_is_sent_only_after_confirmation_and_within_the_balance():
    device = phone(front=("bank", "transfer", {"payee": 3, "amount": "12.50", "reference": "R 1"}))
    before = device.core.table("bank.accounts")[1]["balance"]
    tap(device, "Continue")
    assert device.changes() == {}
    tap(device, "Send", "button")
    assert device.core.table("bank.accounts")[1]["balance"] == before - 1250
    assert set(device.changes()) == {"bank.accounts", "bank.entries"}
    poor = phone(front=("bank", "transfer", {"payee": 3, "amount": "999999"}))
    tap(poor, "Continue")
    assert poor.core.top.name == "transfer" and poor.changes() == {}


def test_money_that_has_come_in_is_not_shown_as_sent():
    entry = {"id": 900, "account": 1, "title": "Ada", "kind": "transfer", "day": "2026-03-02"}
    entry |= dict.fromkeys(("reference", "note", "disputed", "category"), "") | {"card": 0}
    shown = {}
    for amount in (5000, -5000):
        edits = (("bank.entries", "put", {**entry, "amount": amount}),)
        device = phone(front=("bank", "entry", {"id": 900}), edits=edits)
        shown[amount] = {element.text for element in device.elements()}
    assert "Type | Incoming" in shown[5000] and "Type | Transfers" in shown[-5000]


def test_an_order_takes_the_cart_and_a_voucher_only_on_its_terms():
    plan_edits = (("shop.cart", "put", {"id": 1, "product": 1, "count": 2}),)
    device = phone(front=("shop", "checkout", {}), edits=plan_edits)
    price = device.core.table("shop.products")[1]["price"]
    goods = sum(
        device.core.table("shop.products")[row["product"]]["price"] * row["count"]
        for row in device.core.table("shop.cart").values()
    )
    assert goods >= 2 * price
    tap(device, "Place order")
    tap(device, "Order now")
    order = list(device.core.table("shop.orders").values())[-1]
    assert order["status"] == "placed" and order["total"] == goods + 390
    assert not device.core.table("shop.cart")


def test_receipts_show_what_the_bank_took():
    plan = PhonePlan(11, "train", "en", 3, "2026-03-05T09:00:00")
    entries = {(row["title"], row["day"], -row["amount"])
               for row in plan.table("bank.entries").values()}  # fmt: skip
    receipts = [row for row in plan.table("gallery.photos").values() if row["kind"] == "receipt"]
    assert len(receipts) >= 3
    for row in receipts:
        firm, day, *items, total = row["lines"]
        cents = [round(float(line.split()[-1]) * 100) for line in (*items, total)]
        assert sum(cents[:-1]) == cents[-1] and (firm, day, cents[-1]) in entries


@pytest.mark.parametrize("app", APPS)
def test_a_copy_of_a_phone_is_independent(app):
    device = phone()
    device.open_app(app)
    other = phone()
    other.load(device.save())
    assert other.elements() == device.elements()
    other.home()
    device.nodes()
    assert device.core.top.app == app and other.core.top.app != app
