"""Pages of a notebook."""

from typing import Any

from hexathlon.tasks.gui.desktop.documents import notebook
from hexathlon.tasks.gui.desktop.draft import (
    DesktopDraft,
    DesktopScene,
    DesktopSolver,
    DesktopTemplate,
)
from hexathlon.tasks.gui.desktop.pilot import DesktopPilot
from hexathlon.tasks.gui.desktop.templates.moves import open_page, save_page, turn_to
from hexathlon.tasks.gui.desktop.templates.parts import answering, done, lines, page
from hexathlon.tasks.gui.desktop.words import GOODS, PEOPLE, PLACES, TOPICS, shared
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES"]

_BOOK = "Notes"


def _title(name: str) -> str:
    return f"====== {name} ======\n"


def _pages(scene: DesktopScene, names: list[str]) -> dict[str, str]:
    """Return a home page and pages with a few lines each."""
    goods = scene.sample(shared(GOODS, scene.split), 3 * len(names))
    texts = {"Home": _title("Home") + lines("Everything is on pages of its own.")}
    for at, name in enumerate(names):
        texts[name] = _title(name) + lines(*(
            f"{scene.number(2, 60)} {each}" for each in goods[3 * at : 3 * at + 3]
        ))  # fmt: skip
    return texts


def _path(name: str) -> str:
    return f"{_BOOK}/{name.replace(' ', '_')}.txt"


def _write_at_end(pilot: DesktopPilot, name: str, text: str, *, save: bool = True) -> Script:
    yield from open_page(pilot, _BOOK, name)
    yield from pilot.keys("ctrl+end")
    yield from pilot.type(text)
    if save:
        yield from save_page(pilot)


def _append(scene: DesktopScene) -> DesktopDraft:
    names = [each.capitalize() for each in scene.sample(shared(TOPICS, scene.split), 4)]
    texts = _pages(scene, names)
    place, other = scene.sample(shared(PLACES, scene.split), 2)
    line = f"Send it to {place} by day {scene.number(2, 28)}"

    def adds(name: str, text: str) -> DesktopSolver:
        return done(lambda pilot: _write_at_end(pilot, name, text))

    return DesktopDraft(
        instruction=f"In the notebook {_BOOK}, add the line '{line}' at the end of the page "
        f"{names[1]}.",
        files=notebook(_BOOK, texts),
        changed={_path(names[1]): page(texts[names[1]] + line)},
        solve=adds(names[1], line),
        alternatives={"line break at the end": adds(names[1], line + "\n")},
        mutants={"other page": adds(names[2], line),
                 "other place": adds(names[1], line.replace(place, other)),
                 "twice": adds(names[1], f"{line}\n{line}")},
        turns=20,
    )  # fmt: skip


def _new_page(scene: DesktopScene) -> DesktopDraft:
    topics = [each.capitalize() for each in scene.sample(shared(TOPICS, scene.split), 5)]
    texts = _pages(scene, topics[:3])
    new, other = topics[3], topics[4]
    people = scene.sample(shared(PEOPLE, scene.split), 3)
    text = lines(*people)

    def writes(name: str, content: str) -> DesktopSolver:
        return done(lambda pilot: _write_at_end(pilot, name, content))

    return DesktopDraft(
        instruction=f"In the notebook {_BOOK}, make a new page {new} and write these names on it, "
        f"one a line, in this order: {', '.join(people)}.",
        files=notebook(_BOOK, texts),
        changed={_path(new): page(_title(new) + text)},
        solve=writes(new, text),
        alternatives={"without the last line break": writes(new, text.removesuffix("\n"))},
        mutants={"other name": writes(other, text), "a name short": writes(new, lines(*people[:2])),
                 "other order": writes(new, lines(*people[::-1])),
                 "on an old page": writes(topics[0], text)},
        turns=20,
    )  # fmt: skip


def _tick_off(scene: DesktopScene) -> DesktopDraft | None:
    names = [each.capitalize() for each in scene.sample(shared(TOPICS, scene.split), 3)]
    texts = _pages(scene, names)
    goods = scene.sample(shared(GOODS, scene.split), scene.number(5, 7))
    people = scene.sample(shared(PEOPLE, scene.split), 2)
    owners = [scene.pick(people) for _ in goods]
    mine = [at for at, owner in enumerate(owners) if owner == people[0]]
    theirs = [at for at, owner in enumerate(owners) if owner != people[0]]
    if not 2 <= len(mine) <= 3 or not theirs:
        return None

    def listed(ticked: list[int]) -> str:
        return _title(names[0]) + lines(*(
            f"[{'*' if at in ticked else ' '}] buy {each} ({owners[at]})"
            for at, each in enumerate(goods)
        ))  # fmt: skip

    texts[names[0]] = listed([])

    def ticks(chosen: list[int]) -> DesktopSolver:
        def make(pilot: DesktopPilot) -> Script:
            yield from open_page(pilot, _BOOK, names[0])
            for at in chosen:
                yield from pilot.keys("ctrl+home", *["down"] * (at + 1), "f12")
            yield from save_page(pilot)

        return done(make)

    return DesktopDraft(
        instruction=f"On the page {names[0]} of the notebook {_BOOK}, tick off the purchases that "
        f"{people[0]} was to make. The others stay open.",
        files=notebook(_BOOK, texts),
        changed={_path(names[0]): page(listed(mine))},
        solve=ticks(mine),
        alternatives={"in reverse": ticks(mine[::-1])},
        mutants={"the other's": ticks(theirs), "one left": ticks(mine[:-1]),
                 "all": ticks(list(range(len(goods))))},
        turns=60,
    )  # fmt: skip


def _scattered(scene: DesktopScene) -> DesktopDraft | None:
    names = [each.capitalize() for each in scene.sample(shared(TOPICS, scene.split), 4)]
    item = scene.pick(shared(GOODS, scene.split))
    texts = _pages(scene, names)
    counts = [scene.number(3, 40) for _ in names]
    if any(f" {item}\n" in each for each in texts.values()):
        return None
    for name, count in zip(names, counts, strict=True):
        texts[name] += f"{count} {item}\n"
    texts[names[3]] += f"no {item} after all, sent back\n"
    total = sum(counts[:3])
    check = 0
    for name in names:
        body = texts[name]
        if "sent back" not in body:
            check += int(body.rpartition(f" {item}\n")[0].rpartition("\n")[2])
    if check != total:
        return None

    def reads(pilot: DesktopPilot) -> Script:
        yield from open_page(pilot, _BOOK, names[0])
        for name in names[1:]:
            yield from turn_to(pilot, name)

    return DesktopDraft(
        instruction=f"The pages of the notebook {_BOOK} list what was bought. How many {item} "
        "were bought and kept, over all pages? Answer with the number.",
        files=notebook(_BOOK, texts),
        answer=(str(total), f"{total} {item}"),
        solve=done(reads, str(total)),
        alternatives={"with the word": done(reads, f"{total} {item}")},
        mutants={"all pages": answering(str(sum(counts))), "one page": answering(str(counts[0])),
                 "one more": answering(str(total + 1)), "no answer": done(reads)},
        turns=40,
    )  # fmt: skip


TEMPLATES: tuple[Any, ...] = (
    DesktopTemplate("page-line", ("tiny", "easy"), _append),
    DesktopTemplate("new-page", ("easy",), _new_page),
    DesktopTemplate("tick-off", ("medium",), _tick_off),
    DesktopTemplate("scattered-purchases", ("medium",), _scattered),
)
