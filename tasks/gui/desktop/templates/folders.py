"""Files and folders in the file manager."""

from typing import Any

from hexathlon.tasks.gui.desktop.draft import (
    DesktopDraft,
    DesktopScene,
    DesktopSolver,
    DesktopTemplate,
    Refusal,
)
from hexathlon.tasks.gui.desktop.pilot import DesktopPilot
from hexathlon.tasks.gui.desktop.templates.moves import (
    carry,
    delete,
    look_into,
    make_folder,
    rename,
)
from hexathlon.tasks.gui.desktop.templates.parts import (
    answering,
    done,
    finishing,
    lines,
    refusing,
    text,
)
from hexathlon.tasks.gui.desktop.words import PEOPLE, PLACES, TOPICS, shared
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES"]

_FOLDER: dict[str, Any] = {"kind": "folder"}


def _papers(scene: DesktopScene, topics: list[str]) -> dict[str, str]:
    """Return one text per topic."""
    people = scene.sample(shared(PEOPLE, scene.split), len(topics))
    return {
        topic: lines(f"On the {topic}", f"Written by {person}", f"Part {scene.number(1, 90)}")
        for topic, person in zip(topics, people, strict=True)
    }


def _rename(scene: DesktopScene) -> DesktopDraft:
    topics = scene.sample(shared(TOPICS, scene.split), 6)
    papers = _papers(scene, topics[:5])
    old, near, new = topics[0], topics[1], topics[5]

    def renames(before: str, after: str) -> DesktopSolver:
        def make(pilot: DesktopPilot) -> Script:
            yield from look_into(pilot, "Documents")
            yield from rename(pilot, before, after)

        return done(make)

    def by_menu(pilot: DesktopPilot) -> Script:
        yield from look_into(pilot, "Documents")
        yield from pilot.click("table cell", f"{old}.txt")
        yield from pilot.menu("Edit", "Rename...")
        yield from pilot.until("dialog", "Rename File")
        yield from pilot.keys("ctrl+a")
        yield from pilot.type(f"{new}.txt\n")
        yield from pilot.gone("dialog", "Rename File")

    return DesktopDraft(
        instruction=f"Rename Documents/{old}.txt to {new}.txt.",
        files={f"Documents/{topic}.txt": {"text": each} for topic, each in papers.items()},
        changed={f"Documents/{new}.txt": text(papers[old])},
        deleted=[f"Documents/{old}.txt"],
        solve=renames(f"{old}.txt", f"{new}.txt"),
        alternatives={"by the menu": done(by_menu)},
        mutants={"other file": renames(f"{near}.txt", f"{new}.txt"),
                 "no ending": renames(f"{old}.txt", new),
                 "in capitals": renames(f"{old}.txt", f"{new.upper()}.txt")},
        turns=20,
    )  # fmt: skip


def _gather(scene: DesktopScene) -> DesktopDraft:
    topics = scene.sample(shared(TOPICS, scene.split), 4)
    place, other = scene.sample(shared(PLACES, scene.split), 2)
    names = {}
    for at, topic in enumerate(topics):
        for year in scene.sample(range(2019, 2026), 2):
            names[f"{topic}-{year}.txt"] = (at, year)
    papers = {name: lines(f"{name.partition('-')[0]} of {year}", place)
              for name, (_, year) in names.items()}  # fmt: skip
    mine = [name for name, (at, _) in names.items() if at == 0]
    theirs = [name for name, (at, _) in names.items() if at == 1]

    def gathers(chosen: list[str], folder: str, copy: bool = False) -> DesktopSolver:
        def make(pilot: DesktopPilot) -> Script:
            yield from look_into(pilot, "Documents")
            yield from make_folder(pilot, folder)
            for name in chosen:
                yield from carry(pilot, name, folder, copy=copy)

        return done(make)

    return DesktopDraft(
        instruction=f"In Documents, make a folder named {place} and move both files on the "
        f"{topics[0]} into it.",
        files={f"Documents/{name}": {"text": each} for name, each in papers.items()},
        changed={f"Documents/{place}": _FOLDER,
                 **{f"Documents/{place}/{name}": text(papers[name]) for name in mine}},
        deleted=[f"Documents/{name}" for name in mine],
        solve=gathers(mine, place),
        alternatives={"in reverse": gathers(mine[::-1], place)},
        mutants={"one only": gathers(mine[:1], place), "other files": gathers(theirs, place),
                 "copied": gathers(mine, place, copy=True), "other name": gathers(mine, other)},
        turns=40,
    )  # fmt: skip


def _clear_out(scene: DesktopScene) -> DesktopDraft:
    topics = scene.sample(shared(TOPICS, scene.split), 5)
    final = topics[:3]
    files = {f"{topic}-draft.txt": f"draft on the {topic}\n" for topic in topics}
    files |= {f"{topic}.txt": f"On the {topic}, finished.\n" for topic in final}
    gone = [f"{topic}-draft.txt" for topic in final]
    kept = [f"{topic}-draft.txt" for topic in topics[3:]]

    def deletes(chosen: list[str]) -> DesktopSolver:
        def make(pilot: DesktopPilot) -> Script:
            yield from look_into(pilot, "Documents")
            for name in chosen:
                yield from delete(pilot, name)

        return done(make)

    return DesktopDraft(
        instruction="In Documents, delete each draft (…-draft.txt) of which there is a finished "
        "version (the same name without -draft). Keep the other drafts.",
        files={f"Documents/{name}": {"text": each} for name, each in files.items()},
        deleted=[f"Documents/{name}" for name in gone],
        solve=deletes(gone),
        alternatives={"in reverse": deletes(gone[::-1])},
        mutants={"one left": deletes(gone[:2]), "a single draft, too": deletes([*gone, kept[0]]),
                 "finished ones": deletes([f"{topic}.txt" for topic in final])},
        turns=40,
    )  # fmt: skip


def _largest(scene: DesktopScene) -> DesktopDraft | None:
    topics = scene.sample(shared(TOPICS, scene.split), 6)
    sizes = scene.sample(range(120, 980, 7), 6)
    files = {f"{topic}.txt": f"{topic} " + "x" * (size - len(topic) - 2) + "\n"
             for topic, size in zip(topics, sizes, strict=True)}  # fmt: skip
    ranked = sorted(files, key=lambda name: len(files[name]))
    best = max(zip(sizes, topics, strict=True))[1] + ".txt"
    if best != ranked[-1]:
        return None
    return DesktopDraft(
        instruction="Which file in Documents is the largest? Answer with its name.",
        files={f"Documents/{name}": {"text": each} for name, each in files.items()},
        answer=(best, best.removesuffix(".txt")),
        solve=done(lambda pilot: look_into(pilot, "Documents"), best),
        alternatives={"without the ending": answering(best.removesuffix(".txt"))},
        mutants={"second": answering(ranked[-2]), "smallest": answering(ranked[0]),
                 "no answer": done(lambda pilot: look_into(pilot, "Documents")),
                 "two": answering(f"{best}; {ranked[-2]}")},
        turns=15,
    )  # fmt: skip


def _file_letters(scene: DesktopScene) -> DesktopDraft | None:
    places = scene.sample(shared(PLACES, scene.split), 3)
    topics = scene.sample(shared(TOPICS, scene.split), 5)
    homes = [scene.pick(places) for _ in topics]
    senders = [scene.pick(places) for _ in topics]
    if homes == senders or len(set(homes)) < 2:
        return None
    letters = {
        f"{topic}.txt": lines(f"From our office in {sender}", f"Concerns the {topic}",
                              f"To be kept in {home}")
        for topic, home, sender in zip(topics, homes, senders, strict=True)
    }  # fmt: skip
    kept = {name: each.rpartition("kept in ")[2].strip() for name, each in letters.items()}
    if list(kept.values()) != homes:
        return None
    by_sender = dict(zip(letters, senders, strict=True))
    first = next(iter(kept))
    wrong = next(place for place in places if place != kept[first])

    def files_away(where: dict[str, str]) -> DesktopSolver:
        def make(pilot: DesktopPilot) -> Script:
            yield from look_into(pilot, "Letters")
            for name, place in where.items():
                yield from carry(pilot, name, place)

        return done(make)

    reverse = dict(reversed(list(kept.items())))
    return DesktopDraft(
        instruction="Each letter in Letters says in which place it is to be kept. Move each into "
        "the folder of that place in Letters.",
        files={**{f"Letters/{name}": {"text": each} for name, each in letters.items()},
               **{f"Letters/{place}": {"folder": True} for place in places}},
        changed={f"Letters/{place}/{name}": text(letters[name]) for name, place in kept.items()},
        deleted=[f"Letters/{name}" for name in letters],
        solve=files_away(kept),
        alternatives={"in reverse": files_away(reverse)},
        mutants={"by the sender": files_away(by_sender),
                 "one left": files_away(dict(list(kept.items())[1:])),
                 "one wrong": files_away({**kept, first: wrong})},
        turns=60,
    )  # fmt: skip


def _archive(scene: DesktopScene) -> DesktopDraft:
    topics = scene.sample(shared(TOPICS, scene.split), 5)
    people = scene.sample(shared(PEOPLE, scene.split), 5)
    topic, near = topics[0], topics[1]
    holds = {each: "open" for each in topics}
    holds[near] = f"on hold for {people[0]}"
    if not scene.feasible:
        holds[topic], holds[near] = holds[near], f"on hold for {people[1]}"
    else:
        holds[topics[2]] = f"on hold for {people[1]}"
    register = lines(*(f"{each}: {holds[each]}" for each in sorted(topics)))
    papers = _papers(scene, topics)
    owner = people[0]

    def archives(name: str, copy: bool = False) -> DesktopSolver:
        def make(pilot: DesktopPilot) -> Script:
            yield from look_into(pilot, "Documents")
            yield from carry(pilot, f"{name}.txt", "Archive", copy=copy)

        return done(make)

    right, refusal = archives(topic), refusing("on_hold", owner)
    files: dict[str, dict[str, Any]] = {
        f"Documents/{each}.txt": {"text": paper} for each, paper in papers.items()
    }
    files |= {"Documents/Archive": {"folder": True}, "holds.txt": {"text": register}}
    common: dict[str, Any] = {
        "instruction": f"Move Documents/{topic}.txt into Documents/Archive, unless holds.txt says "
        "that the paper is on hold; the record is then the name of the person it is on hold for.",
        "files": files,
        "turns": 20,
    }
    if not scene.feasible:
        return DesktopDraft(
            **common,
            refusal=Refusal("on_hold", owner),
            solve=refusal,
            alternatives={"in capitals": refusing("on_hold", owner.upper())},
            mutants={"moved": right, "other person": refusing("on_hold", people[1]),
                     "complete": finishing()},
        )  # fmt: skip
    return DesktopDraft(
        **common,
        changed={f"Documents/Archive/{topic}.txt": text(papers[topic])},
        deleted=[f"Documents/{topic}.txt"],
        solve=right,
        alternatives={"looked first": lambda pilot: _looking(pilot, right)},
        mutants={"copied": archives(topic, copy=True), "other paper": archives(near),
                 "refused": refusal},
    )  # fmt: skip


def _looking(pilot: DesktopPilot, solver: Any) -> Script:
    yield from pilot.open("Text Editor", "holds.txt")
    yield from pilot.until("text")
    yield from solver(pilot)


TEMPLATES = (
    DesktopTemplate("rename-file", ("tiny", "easy"), _rename),
    DesktopTemplate("gather-files", ("easy", "medium"), _gather),
    DesktopTemplate("clear-out", ("medium",), _clear_out),
    DesktopTemplate("largest-file", ("easy",), _largest),
    DesktopTemplate("file-letters", ("hard",), _file_letters),
    DesktopTemplate("archive-paper", ("easy", "medium"), _archive, reason="on_hold"),
)
