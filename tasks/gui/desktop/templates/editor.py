"""Plain text files in the editor."""

from hexathlon.tasks.gui.desktop.draft import (
    DesktopDraft,
    DesktopScene,
    DesktopSolver,
    DesktopTemplate,
    Refusal,
)
from hexathlon.tasks.gui.desktop.pilot import DesktopPilot
from hexathlon.tasks.gui.desktop.templates.moves import append_line, rewrite, save_new
from hexathlon.tasks.gui.desktop.templates.parts import done, lines, refusing
from hexathlon.tasks.gui.desktop.templates.parts import text as plain
from hexathlon.tasks.gui.desktop.words import GOODS, PEOPLE, PLACES, TOPICS, shared
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES"]


def _append(scene: DesktopScene) -> DesktopDraft:
    goods = scene.sample(shared(GOODS, scene.split), scene.number(5, 7))
    topic, other = scene.sample(shared(TOPICS, scene.split), 2)
    new, wrong = goods.pop(), goods.pop()
    amount = scene.number(3, 40)
    path, beside = f"Documents/{topic}.txt", f"Documents/{other}.txt"
    before = lines(*(f"{scene.number(2, 40)} x {each}" for each in goods))
    line = f"{amount} x {new}"

    def adds(place: str, text: str, save: bool = True) -> DesktopSolver:
        return done(lambda pilot: append_line(pilot, place, text, save=save))

    return DesktopDraft(
        instruction=f"Add the line '{line}' at the end of {path}.",
        files={path: {"text": before}, beside: {"text": before}},
        changed={path: plain(before + line)},
        solve=adds(path, line),
        alternatives={"rewritten": done(lambda pilot: rewrite(pilot, path, before + line + "\n"))},
        mutants={
            "other amount": adds(path, f"{amount + 1} x {new}"),
            "other goods": adds(path, f"{amount} x {wrong}"),
            "other file": adds(beside, line),
            "not saved": adds(path, line, False),
        },
        turns=12,
    )  # fmt: skip


def _new_file(scene: DesktopScene) -> DesktopDraft:
    person, other = scene.sample(shared(PEOPLE, scene.split), 2)
    place = scene.pick(shared(PLACES, scene.split))
    topic, wrong = scene.sample(shared(TOPICS, scene.split), 2)
    day = scene.number(2, 28)
    folder = "Letters"
    path = f"{folder}/{topic}.txt"
    text = f"Dear {person},\nwe meet in {place} on day {day}.\nBring the papers on the {topic}."

    def writes(where: str, content: str) -> DesktopSolver:
        return done(lambda pilot: save_new(pilot, where, content))

    return DesktopDraft(
        instruction=f"Write a new text file {path} with these three lines:\n{text}",
        files={f"{folder}/old.txt": {"text": f"Dear {other},\nthank you.\n"}},
        changed={path: plain(text)},
        solve=writes(path, text),
        alternatives={"line break at the end": writes(path, text + "\n")},
        mutants={
            "other person": writes(path, text.replace(person, other)),
            "other name": writes(f"{folder}/{wrong}.txt", text),
            "other folder": writes(f"{topic}.txt", text),
            "a line short": writes(path, text.rpartition("\n")[0]),
        },
        turns=16,
    )


def _drop_lines(scene: DesktopScene) -> DesktopDraft | None:
    names = scene.sample(shared(PEOPLE, scene.split), scene.number(9, 14))
    states = ["confirmed", "cancelled", "waiting"]
    rows = [[name, scene.pick(states), scene.number(1, 6)] for name in names]
    gone = [row for row in rows if row[1] == "cancelled" and row[2] >= 3]
    near = [row for row in rows if row[1] == "cancelled" and row[2] < 3]
    if len(gone) < 2 or not near:
        return None
    path = "Documents/guests.txt"

    def listed(kept: list[list[object]]) -> str:
        return lines(*(f"{name}; {state}; {seats} seats" for name, state, seats in kept))

    def writes(kept: list[list[object]], save: bool = True) -> DesktopSolver:
        content = listed(kept)
        return done(lambda pilot: rewrite(pilot, path, content, save=save))

    kept = [row for row in rows if row not in gone]
    places = [rows.index(row) for row in gone]
    return DesktopDraft(
        instruction=f"In {path}, delete the lines of guests who cancelled three or more seats. "
        "Leave the other lines as they are.",
        files={path: {"text": listed(rows)}},
        changed={path: plain(listed(kept))},
        solve=writes(kept),
        alternatives={"line by line": done(lambda pilot: _delete_lines(pilot, path, places))},
        mutants={
            "all cancelled": writes([row for row in rows if row[1] != "cancelled"]),
            "one left": writes([row for row in rows if row not in gone[1:]]),
            "one too many": writes([row for row in kept if row is not kept[0]]),
            "not saved": writes(kept, False),
        },
        turns=40,
    )  # fmt: skip


def _delete_lines(pilot: DesktopPilot, path: str, places: list[int]) -> Script:
    yield from pilot.open("Text Editor", path)
    yield from pilot.until("text")
    yield from pilot.keys("ctrl+home")
    at = 0
    for gone, place in enumerate(places):
        yield from pilot.keys(*["down"] * (place - gone - at), "shift+down", "delete")
        at = place - gone
    yield from pilot.keys("ctrl+s")
    yield from pilot.gone("frame", "*", starts=True)


def _form(scene: DesktopScene) -> DesktopDraft:
    people = scene.sample(shared(PEOPLE, scene.split), scene.number(6, 8))
    places = scene.sample(shared(PLACES, scene.split), 8)[: len(people)]
    numbers = scene.sample(range(1000, 9999), len(people))
    phones = [f"0{scene.number(200, 899)} {scene.number(10000, 99999)}" for _ in people]
    wanted, wrong = 1, 2
    number = numbers[wanted]
    form, register = "Documents/form.txt", "Documents/register.txt"
    blank = lines("Member number: " + str(number), "Name:", "Town:", "Telephone:")
    left = {wanted + 2 if scene.feasible else wanted: scene.number(5000, 5999)}
    listing = lines(*(
        f"{numbers[at]} left the club, notice {left[at]}" if at in left
        else f"{numbers[at]} {people[at]}, {places[at]}, tel. {phones[at]}"
        for at in range(len(people))
    ))  # fmt: skip
    notice = str(next(iter(left.values())))

    def filled(name: int, town: int, phone: int) -> str:
        return lines(f"Member number: {number}", f"Name: {people[name]}",
                      f"Town: {places[town]}", f"Telephone: {phones[phone]}")  # fmt: skip

    def writes(content: str) -> DesktopSolver:
        return done(lambda pilot: rewrite(pilot, form, content))

    right = writes(filled(wanted, wanted, wanted))
    refusal = refusing("left", notice)
    return DesktopDraft(
        instruction=f"Fill in {form} with the data of that member in {register}: after each colon "
        "a space and the entry. Should the member have left, the record is the number of the "
        "notice.",
        files={form: {"text": blank}, register: {"text": listing}},
        changed={form: plain(filled(wanted, wanted, wanted))} if scene.feasible else {},
        refusal=None if scene.feasible else Refusal("left", notice),
        solve=right if scene.feasible else refusal,
        alternatives={"field by field": done(lambda pilot: _fill(
            pilot, form, [people[wanted], places[wanted], phones[wanted]]))
        } if scene.feasible else {"with a full stop": refusing("left", f"{notice}.")},
        mutants={
            "next member's town": writes(filled(wanted, wrong, wanted)),
            "next member": writes(filled(wrong, wrong, wrong)),
            "refused" if scene.feasible else "filled in": refusal if scene.feasible else right,
            "other record": refusing("left", str(number)),
        },
        turns=20,
    )  # fmt: skip


def _fill(pilot: DesktopPilot, path: str, entries: list[str]) -> Script:
    yield from pilot.open("Text Editor", path)
    yield from pilot.until("text")
    yield from pilot.keys("ctrl+home")
    for entry in entries:
        yield from pilot.keys("down", "end")
        yield from pilot.type(f" {entry}")
    yield from pilot.keys("ctrl+s")
    yield from pilot.gone("frame", "*", starts=True)


TEMPLATES = (
    DesktopTemplate("append-line", ("tiny", "easy"), _append),
    DesktopTemplate("new-letter", ("easy",), _new_file),
    DesktopTemplate("drop-lines", ("medium",), _drop_lines),
    DesktopTemplate("member-form", ("easy", "medium"), _form, reason="left"),
)
