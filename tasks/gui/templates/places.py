"""Work with places on the map."""

from hexathlon.tasks.gui.operations.finding import found, tab
from hexathlon.tasks.gui.operations.operation import done, in_sequence
from hexathlon.tasks.gui.operations.planning import add_event
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.appointments import new_event
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    row_added,
)
from hexathlon.tasks.gui.templates.scripts import answered, only_in, refused, template
from hexathlon.tasks.gui.world.apps.maps.maps import open_on, route_metres, route_minutes
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES", "findable_places"]

_ENGLISH = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def findable_places(scene: GuiScene, plan: PhonePlan) -> list[PhoneRow]:
    """Return places whose name no other place contains."""
    rows = scene.rows(plan, "maps.places")
    return [row for row in rows if only_in(rows, row["name"], ("name", "address"))]


@template("maps_save", "easy", "medium", apps=("maps",))
def save_place(scene: GuiScene) -> GuiDraft | None:
    """Save a place in a list; at `medium`, with a note."""
    plan = scene.plan()
    saved = {row["place"] for row in scene.rows(plan, "maps.saved")}
    places = [row for row in findable_places(scene, plan) if row["id"] not in saved]
    row, near = scene.sample(places, 2)
    name, other = scene.sample(("favourites", "want", "recommended"), 2)
    medium = scene.level == "medium"
    note = scene.say(f"Ask for table {scene.number(2, 40)}", f"要{scene.number(2, 40)}号桌")

    def solver(place: PhoneRow, into: str, text: str = note) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from found("maps", place["name"])(pilot)
            yield from pilot.press("maps", "save_place")
            yield from pilot.tap_entry(pilot.words("maps", into))
            if medium:
                yield from pilot.tap_entry(pilot.words("maps", "add_note"))
                yield from pilot.fill(pilot.words("maps", "note"), text)
                yield from pilot.tap("button", pilot.words("maps", "save"))
            yield from pilot.done()

        return run

    shown = scene.word("maps", name)
    more = scene.say(f' with the note "{note}"' if medium else "",
                     f"，备注“{note}”" if medium else "")  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(f'Save the place {row["name"]} in the list "{shown}"{more}.',
                  f"把地点“{row['name']}”收藏到“{shown}”{more}。"),
        solver(row, name),
        changes=row_added("maps.saved", {"place": row["id"], "list": name,
                                         "note": note if medium else ""}),
        alternatives={"again": in_sequence(tab("maps", "saved_places"), solver(row, name))},
        mutants={"near": solver(near, name), "list": solver(row, other), "nothing": done},
        turns=40,
    )  # fmt: skip


@template("maps_best", "medium", apps=("maps",))
def best_place(scene: GuiScene) -> GuiDraft | None:
    """Find the best-rated place of a kind that is open at a given time, perhaps step-free."""
    plan = scene.plan()
    kind = scene.pick(("cafe", "restaurant", "pharmacy", "bakery", "museum", "gym", "cinema"))
    rows = [row for row in scene.rows(plan, "maps.places") if row["kind"] == kind]
    weekday, hour = scene.number(1, 7), f"{scene.number(8, 20):02d}:{scene.pick((15, 45))}"
    more = bool(scene.number(0, 1))
    fit = [row for row in rows if row["step_free"] or not more]
    fit = [row for row in fit if open_on(row, weekday, hour)]
    best = sorted(fit, key=lambda row: -row["rating"])
    top = max(rows, key=lambda row: row["rating"], default=None)
    if len(best) < 2 or best[0]["rating"] == best[1]["rating"] or top is None or top is best[0]:
        return None
    if sum(row["rating"] == top["rating"] for row in rows) > 1:
        return None
    right = best[0]
    # Second derivation: by elimination.
    left = {row["id"] for row in rows}
    for row in rows:
        start, _, end = row["hours"].partition("-")
        if (
            str(weekday) in row["closed"]
            or not start <= hour < end
            or (more and not row["step_free"])
            or row["rating"] < right["rating"]
        ):
            left.discard(row["id"])
    if left != {right["id"]}:
        return None
    day = scene.say(_ENGLISH[weekday - 1], f"星期{'一二三四五六日'[weekday - 1]}")
    word = scene.word("maps", kind)
    free = scene.say(", has step-free access" if more else "", "且有无障碍通道" if more else "")
    look = found("maps", right["name"])
    return GuiDraft(
        plan,
        scene.say(f"Which place listed under {word} is open on a {day} at {hour}{free}, and has "
                  "the best rating? Answer with its name and its telephone number.",
                  f"在“{word}”类地点中，{day}{hour}营业{free}的，哪一家评分最高？请回答名称和电话。"),
        in_sequence(look, answered(right["name"], right["phone"])),
        answer=GuiAnswer(data=(right["name"], right["phone"])),
        alternatives={"at_once": answered(right["name"], right["phone"])},
        mutants={"top": answered(top["name"], top["phone"]),
                 "second": answered(best[1]["name"], best[1]["phone"]),
                 "mixed": answered(right["name"], top["phone"])},
        turns=60,
    )  # fmt: skip


@template("maps_route", "easy", "medium", apps=("maps",))
def tell_route(scene: GuiScene) -> GuiDraft | None:
    """Report how long a route takes by one mode of travel."""
    plan = scene.plan()
    one, two = scene.sample(findable_places(scene, plan), 2)
    mode, other = scene.sample(("walk", "bus", "car"), 2)
    minutes = route_minutes(route_metres(one, two), mode)
    wrong = route_minutes(route_metres(one, two), other)
    if minutes == wrong:
        return None

    def look(first: PhoneRow, second: PhoneRow) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from found("maps", second["name"])(pilot)
            yield from pilot.tap("button", pilot.words("maps", "directions"))
            yield from pilot.tap_entry(pilot.words("maps", "my_location"))
            yield from pilot.fill(pilot.words("maps", "search"), first["name"])
            yield from pilot.tap_entry(first["name"])
            yield from pilot.tap("radio", pilot.words("maps", mode))

        return run

    means = {"walk": ("on foot", "步行"), "bus": ("by bus", "坐公交"), "car": ("by car", "开车")}
    shown = scene.say(*means[mode])
    return GuiDraft(
        plan,
        scene.say(f"How many minutes does it take to get from {one['name']} to {two['name']} "
                  f"{shown}?",
                  f"从“{one['name']}”到“{two['name']}”，{shown}需要多少分钟？"),
        in_sequence(look(one, two), answered(minutes)), answer=GuiAnswer(data=(minutes,)),
        alternatives={"back": in_sequence(look(two, one), answered(minutes))},
        mutants={"other_mode": in_sequence(look(one, two), answered(wrong)),
                 "off": answered(minutes + 1), "silent": in_sequence(look(one, two), done)},
    )  # fmt: skip


@template("maps_visit", "medium", apps=("maps", "calendar"), twins=True)
def plan_visit(scene: GuiScene) -> GuiDraft | None:
    """Put a visit to a place into the calendar, if the place is open then."""
    plan = scene.plan()
    rows = scene.rows(plan, "maps.places")
    place = scene.pick([row for row in findable_places(scene, plan)
                        if only_in(rows, row["address"], ("name", "address"))])  # fmt: skip
    offset = scene.number(2, 30)
    day = scene.day(plan, offset)
    weekday = (scene.today(plan).weekday() + offset) % 7 + 1
    far = (weekday + 2) % 7 + 1
    plan = plan.with_edits(
        [
            (
                "maps.places",
                "put",
                {
                    "id": place["id"],
                    "hours": "09:00-18:00",
                    "closed": str(far if scene.feasible else weekday),
                },
            )
        ]
    )
    title = scene.say(f"Visit {scene.number(2, 90)}", f"走访{scene.number(2, 90)}")
    start, end = "12:00", "13:00"
    facts = {"title": title, "day": day, "start": start, "end": end, "place": place["name"]}
    look = found("maps", place["address"], place["name"])
    force = in_sequence(add_event(**facts), done)
    right = force if scene.feasible else refused(place["name"], "not_possible")
    return GuiDraft(
        plan,
        scene.say(f'Put "{title}" into the calendar: {scene.day_words(day)}, {start} to {end}, '
                  f"at the place at {place['address']}; enter its name as the map has it. Do this "
            "only if it is open then; if it is closed, the record is that name.",
                  f"在日历中添加“{title}”：{scene.day_words(day)} {start}至{end}，"
                  f"地点填地图上{place['address']}那一家的名称。前提是那里当时营业；"
                  "若不营业，阻碍条目为其名称。"),
        in_sequence(look, right), changes=new_event(plan, **facts) if scene.feasible else {},
        answer=GuiAnswer() if scene.feasible else GuiAnswer("infeasible", None, place["name"]),
        alternatives={"at_once": right},
        mutants={"one_sided": refused(place["name"]) if scene.feasible else force,
                 "no_place": in_sequence(add_event(**{**facts, "place": ""}), done),
                 "other_record": refused(place["address"])},
        turns=60,
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (save_place, best_place, tell_route, plan_visit)
