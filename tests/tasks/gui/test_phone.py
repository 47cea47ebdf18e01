"""The phone: taps hit what is drawn, and every gesture and key does what a user expects."""

import pytest

from hexathlon.tasks.bilingual import LANGUAGES
from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.apps.table import app_named
from hexathlon.tasks.gui.world.kit.looks import LOOKS, SCREEN_SIZES, Appearance
from hexathlon.tasks.gui.world.kit.metrics import ellipsize, text_width, wrap
from hexathlon.tasks.gui.world.kit.words import labels_of
from hexathlon.tasks.gui.world.phone.core import ScreenState
from hexathlon.tasks.gui.world.system.explore import reachable_screens
from hexathlon.tasks.gui.world.system.phone import Phone, PhoneRefusal
from hexathlon.tasks.gui.world.system.plan import PhonePlan, TimedEvent


def phone(look="pebble", language="en", size=SCREEN_SIZES[0], **settings):
    plan = PhonePlan(7, "train", language, 2, "2026-03-05T09:00:00", **settings)
    return Phone(plan, Appearance(LOOKS[look], size=size))


def named(device, name, role=None):
    """The node of the first element with this name."""
    for node in device.nodes():
        title = (node.text or node.label).partition(" | ")[0]
        if title == name and role in (None, node.role):
            return node
    raise AssertionError(
        f"no {role or 'element'} {name!r} on {[n.text or n.label for n in device.nodes()]}"
    )


def tap(device, name, role=None):
    device.begin_action()
    assert device.tap(named(device, name, role)) == ""
    device.end_action()


@pytest.mark.parametrize("app", APP_NAMES)
def test_the_first_screen_of_an_app_fits_every_look_size_and_language(app):
    for look in LOOKS:
        for language in LANGUAGES:
            for size in SCREEN_SIZES:
                device = phone(look, language, size)
                device.open_app(app)
                for node in device.nodes():
                    assert 0 <= node.left < node.right <= size[0], (look, language, node.text)
                    assert 0 <= node.top < node.bottom <= size[1], (look, language, node.text)


@pytest.mark.parametrize("app", APP_NAMES)
def test_taps_hit_what_is_drawn(app):
    """A tap in the middle of an element touches it, or one drawn later above that pixel."""
    device = phone()
    device.open_app(app)
    nodes = device.nodes()
    for place, node in enumerate(nodes):
        if node.on is None and not node.kind:
            continue
        x, y = (node.left + node.right) // 2, (node.top + node.bottom) // 2
        hit = device.node_at(x, y)
        assert hit is node or nodes.index(hit) > place


@pytest.mark.parametrize("app", [*APP_NAMES, "system"])
def test_labels_of_an_app_have_both_languages_and_titles(app):
    labels = labels_of(app)
    for key, texts in labels.items():
        assert all(texts[language] for language in LANGUAGES), key
    assert app == "system" or "app_title" in labels


@pytest.mark.parametrize("app", APP_NAMES)
def test_first_content_is_the_same_in_every_phone_of_a_seed_and_differs_between_splits(app):
    def content(split, seed=7):
        plan = PhonePlan(seed, split, "en", 2, "2026-03-05T09:00:00")
        return {f"{app}.{name}": plan.table(f"{app}.{name}") for name in app_named(app).tables}

    assert content("train") == content("train")
    assert content("train") != content("train", seed=8)
    if app != "settings":
        assert content("train") != content("test")


def test_the_back_stack_keeps_screens_and_the_keyboard_closes_first():
    device = phone()
    device.open_app("contacts")
    tap(device, "New contact")
    tap(device, "Name", "textbox")
    assert device.core.focus == "name"
    device.back()
    assert device.core.focus == "" and device.core.top.name == "edit"
    device.back()
    assert device.core.top == ScreenState("contacts", "home")
    device.back()
    assert device.app_name == "launcher"


def test_typed_text_goes_into_the_focused_field_and_only_there():
    device = phone()
    with pytest.raises(PhoneRefusal, match="tap one first"):
        device.type_text("lost")
    device.open_app("contacts")
    tap(device, "New contact")
    tap(device, "Name", "textbox")
    device.type_text("Ada")
    device.type_text(" Moss")
    assert named(device, "Name", "textbox").value == "Ada Moss"
    tap(device, "Phone", "textbox")
    assert "only digits" in device.type_text("none")
    device.type_text("555 12")
    assert named(device, "Phone", "textbox").value == "555 12"
    tap(device, "Save")
    rows = [
        row for row in device.core.table("contacts.contacts").values() if row["name"] == "Ada Moss"
    ]
    assert [row["phone"] for row in rows] == ["555 12"]
    assert set(device.changes()) == {"contacts.contacts"}


def test_the_keyboard_types_by_touch():
    device = phone()
    device.open_app("contacts")
    tap(device, "New contact")
    tap(device, "Name", "textbox")
    for key in ("shift", "a", "d", "a", " ", "symbols", "4", "erase", "symbols", "x"):
        node = next(n for n in device.scene.nodes if n.role == "key" and n.text.lower() == key)
        device.tap_at((node.left + node.right) // 2, (node.top + node.bottom) // 2)
    assert named(device, "Name", "textbox").value == "Ada x"


def test_a_field_that_the_keyboard_would_cover_is_scrolled_into_view():
    device = phone()
    device.open_app("contacts")
    tap(device, "New contact")
    device.tap(named(device, "Note", "textbox"))
    field = named(device, "Note", "textbox")
    keyboard = min(node.top for node in device.scene.nodes if node.role == "key")
    assert field.focused and field.bottom <= keyboard


def test_pickers_set_days_times_and_options():
    device = phone(front=("contacts", "edit", {}))
    tap(device, "Birthday", "picker")
    tap(device, "Previous month")
    day = next(node for node in device.nodes() if node.label == "2026-02-14")
    device.tap(day)
    tap(device, "OK")
    assert device.core.top.values["birthday"] == "2026-02-14"
    tap(device, "Group", "picker")
    tap(device, "Friends")
    assert device.core.top.values["group"] == "friends"


def test_a_dialog_covers_the_screen_below():
    device = phone()
    device.open_app("notes")
    item = next(node for node in device.nodes() if node.role == "item")
    device.tap(item)
    key = device.core.top.params["id"]
    tap(device, "More options")
    tap(device, "Delete")
    assert all(node.role != "text" or node.top > 100 for node in device.nodes())
    assert device.tap_at(20, 60) != ""  # the back button lies under the dialog
    tap(device, "Delete", "button")
    assert key not in device.core.table("notes.notes")


def test_a_tap_beside_a_menu_closes_it():
    device = phone()
    device.open_app("notes")
    tap(device, "More options")
    assert device.core.top.name == "menu"
    device.tap_at(100, 1000)
    assert device.core.top == ScreenState("notes", "home")


def test_shared_text_arrives_in_the_chosen_app():
    device = phone()
    device.open_app("notes")
    device.tap(next(node for node in device.nodes() if node.role == "item"))
    row = device.core.table("notes.notes")[device.core.top.params["id"]]
    tap(device, "More options")
    tap(device, "Share")
    tap(device, "Messages")
    assert device.core.top.app == "messages"
    assert named(device, "Message", "textbox").value == row["text"]
    device.back()
    assert device.core.top.app == "notes"


def test_recent_apps_reopen_where_they_were_left():
    device = phone()
    device.open_app("contacts")
    tap(device, "New contact")
    device.open_app("notes")
    device.recents()
    assert [node.text.partition(" | ")[0] for node in device.nodes() if node.role == "item"] == [
        "Notes",
        "Contacts",
    ]
    tap(device, "Contacts")
    assert device.core.top == ScreenState("contacts", "edit", {}, {})


def test_notifications_arrive_on_time_and_open_their_subject():
    notice = {"app": "notes", "title": "Reminder", "text": "Look", "screen": "archived"}
    device = phone(events=(TimedEvent(2, notice=notice),))
    for _ in range(2):
        assert not device.core.table("system.notices")
        device.begin_action()
        device.end_action()
    device.swipe(200, 3, 200, 600)
    tap(device, "Notes: Reminder")
    assert (device.core.top.app, device.core.top.name) == ("notes", "archived")
    assert not device.core.table("system.notices") and device.changes() == {}


def test_an_incoming_call_interrupts_and_can_be_declined():
    device = phone(events=(TimedEvent(1, call={"name": "Ada", "number": "555"}),))
    device.begin_action()
    device.open_app("notes")
    device.end_action()
    assert device.core.top.name == "call"
    tap(device, "Decline")
    assert device.core.top == ScreenState("notes", "home") and device.changes() == {}


def test_quick_settings_and_sliders_write_settings():
    device = phone()
    device.open_shade()
    tap(device, "Wi-Fi", "chip")
    slider = named(device, "Brightness", "slider")
    device.tap(slider, slider.right - 1)
    changed = {pair[1]["id"] for pair in device.changes()["settings.values"]["changed"]}
    assert changed == {"wifi", "brightness"}


def test_the_theme_of_the_settings_changes_the_pixels():
    paint = pytest.importorskip("hexathlon.tasks.gui.world.kit.paint")
    device = phone(front=("settings", "section", {"name": "display"}))
    painter = paint.ScreenPainter(device.appearance.size)
    light = painter.paint(device.scene).mean()
    tap(device, "Dark theme")
    assert painter.paint(device.scene).mean() < light / 2


def test_partial_painting_equals_full_painting():
    paint = pytest.importorskip("hexathlon.tasks.gui.world.kit.paint")
    device = phone("linen")
    painter = paint.ScreenPainter(device.appearance.size)
    steps = [
        lambda: device.open_app("contacts"), lambda: device.scroll("down"),
        lambda: tap(device, "Create contact"),
        lambda: tap(device, "Name", "textbox"), lambda: device.type_text("Ada"),
        lambda: device.back(), lambda: tap(device, "Birthday", "picker"), lambda: device.back(),
        lambda: device.open_shade(), lambda: device.home(),
    ]  # fmt: skip
    for step in steps:
        step()
        anew = paint.ScreenPainter(device.appearance.size).paint(device.scene)
        assert (painter.paint(device.scene) == anew).all()


def test_a_copy_is_independent():
    device = phone()
    device.open_app("notes")
    saved = device.save()
    other = Phone(device.plan, device.appearance)
    other.load(saved)
    assert other.elements() == device.elements()
    other.tap(next(node for node in other.nodes() if node.role == "item"))
    assert device.core.top == ScreenState("notes", "home")
    assert other.core.top.name == "note"


def test_metrics_do_not_depend_on_a_font():
    assert text_width("Wi-Fi 中", 20) == 70
    assert ellipsize("Harbour Street", 20, 80) == "Harbo…"
    assert wrap("one two three 四五六", 20, 100) == ("one two", "three 四五", "六")


@pytest.mark.parametrize("app", APP_NAMES)
@pytest.mark.parametrize("look", ["slate", "orchid"])
def test_every_reachable_screen_is_drawn_in_both_languages(app, look):
    for language in LANGUAGES:
        device = phone(look, language)
        before = device.save()
        found = reachable_screens(device, app, most=120)
        assert found[0].name == "home" and len(found) > 1
        assert device.save() == before
        for screen in found:
            device.load(screen.state)
            assert device.elements()


@pytest.mark.parametrize("app", APP_NAMES)
def test_actions_of_one_screen_have_different_names(app):
    """Scripts and agents find buttons by name; those of entries of lists may repeat."""
    for look in LOOKS:
        device = phone(look)
        for screen in reachable_screens(device, app, most=60):
            device.load(screen.state)
            area = device.scene.areas[-1].bounds if device.scene.areas else None
            names = [
                node.text or node.label
                for node in device.nodes()
                if node.role in ("menuitem", "tab", "textbox")
                or (node.role == "button" and not (area and area.contains(node.left, node.top)))
            ]
            names = [name for name in names if name]
            assert len(names) == len(set(names)), (look, screen.name, sorted(names))


def call_after(actions):
    return (TimedEvent(actions, call={"name": "Ada", "number": "555"}),)


def test_a_call_comes_in_after_the_action():
    device = phone(events=call_after(1))
    device.begin_action()
    device.open_app("notes")
    assert not device.ringing
    device.end_action()
    assert device.ringing


@pytest.mark.parametrize("leave", [Phone.home, Phone.back, lambda each: each.open_app("clock")])
def test_a_call_that_is_left_without_an_answer_is_missed_once(leave):
    device = phone(events=call_after(1))
    device.open_app("notes")
    device.begin_action()
    device.end_action()
    leave(device)
    device.home()
    assert not device.ringing
    assert [row["kind"] for row in device.core.table("phone.incoming").values()] == ["missed"]
    notices = [row for row in device.core.table("system.notices").values()]
    assert [(row["title"], row["text"]) for row in notices] == [("Ada", "Missed call")]
    assert device.changes() == {}


def test_a_call_that_was_answered_or_declined_leaves_no_notice():
    for button in ("Answer", "Decline"):
        device = phone(events=call_after(1))
        device.begin_action()
        device.end_action()
        tap(device, button)
        device.home()
        assert not device.core.table("system.notices")


@pytest.mark.parametrize("look", LOOKS)
def test_a_form_with_one_action_shows_it_in_the_bar(look):
    device = phone(look, front=("notes", "edit", {}))
    bottom = max(node.bottom for node in device.nodes() if node.role == "heading")
    names = labels_of("notes")["save"]["en"]
    assert any(node.top < bottom and (node.text or node.label) in names for node in device.nodes())


def test_pinned_notes_say_so():
    device = phone(front=("notes", "home", {}))
    rows = device.plan.table("notes.notes").values()
    row = next(row for row in rows if not row["pinned"] and not row["archived"])
    changed = {**row, "pinned": True, "changed": "2026-03-04 10:00"}
    device.intervene([("notes.notes", "put", changed)])
    assert "Pinned" in named(device, row["title"], "item").text
